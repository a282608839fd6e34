"""Plain test functions over benchmark rows: parametrization, and what the fixtures give."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.engine.plan import Cell, Job, Verdict
from pytest_benchkit.errors import BenchkitError, DataMissing, SkipTask
from pytest_benchkit.harnesses.direct import MOST_TOKENS, messages_of
from pytest_benchkit.perturbations import CLEAN
from pytest_benchkit.plugin.options import in_force
from pytest_benchkit.plugin.selection import rows_of
from pytest_benchkit.plugin.session import BenchSession, bench_of
from pytest_benchkit.reply import Exchange, Reply
from pytest_benchkit.score import Outcome, Score

if TYPE_CHECKING:
    from pytest_benchkit.suite import Suite
    from pytest_benchkit.task import Message, Task

NOTES = pytest.StashKey["RecordNotes"]()
NEEDS = "needs a model: run pytest with --bench-model=NAME"


class AskFailed(BenchkitError):
    """A request of a test function came to nothing; the text is the failure's."""


class RecordNotes:
    """What a test function adds to its record, and the exchanges it made."""

    def __init__(self) -> None:
        self.score: float | None = None
        self.extra: dict[str, Any] = {}
        self.exchange: Exchange | None = None
        self.messages: list[Message] = []
        self.started = time.time()

    def __call__(self, *, score: float | None = None, **extra: Any) -> None:
        """Sets the score (0..1) and adds values to ``extra``; they become plain JSON on the way."""
        if score is not None:
            self.score = Score(score).value
        self.extra.update(extra)


class AskingModel:
    """The model of a test function. Requests share the run's slots, retries and limits."""

    def __init__(self, bench: BenchSession, name: str, notes: RecordNotes) -> None:
        self._bench = bench
        self._notes = notes
        self.name = name

    def ask(self, prompt: str | list[Message], *, max_tokens: int | None = None, **sampling: float) -> Reply:
        """Asks once and waits for the :class:`~pytest_benchkit.Reply`.

        Raises :class:`AskFailed` with the server's words when there is none, ``TypeError`` for a sampling
        field that does not exist.
        """
        from pytest_benchkit.models.base import ChatRequest
        from pytest_benchkit.settings import SAMPLING

        if unknown := set(sampling) - set(SAMPLING):
            raise TypeError(f"ask() got the unknown sampling field {sorted(unknown)[0]!r}")
        dispatcher = self._bench.dispatcher
        spec = self._bench.spec(self.name)
        if dispatcher is None or spec is None or self.name not in dispatcher.lanes:
            raise AskFailed(f"{self.name}: the engine is not running")
        settings = spec.settings
        fields = {name: getattr(settings, name) for name in SAMPLING}
        fields.update(sampling)
        request = ChatRequest(
            messages_of(prompt, settings.system),
            max_tokens=max_tokens or settings.max_tokens or MOST_TOKENS,
            seed=settings.seed,
            sampling={name: value for name, value in fields.items() if value is not None},
            identity="test",
        )
        __tracebackhide__ = True  # the user's line is of interest, not ours
        exchange = dispatcher.ask(dispatcher.lanes[self.name], request)
        self._notes.exchange = exchange
        self._notes.messages = list(request.messages)
        if exchange.failure is not None:
            raise AskFailed(f"{self.name}: {exchange.failure.kind}: {exchange.failure.message}")
        return exchange.reply


# ---------------------------------------------------------------------- parametrization


def parametrize(metafunc: pytest.Metafunc) -> None:
    """One test per task and model for a function marked ``bench_suite``; one per model for a function
    that only uses ``bench_model``."""
    marker = metafunc.definition.get_closest_marker("bench_suite")
    if not in_force(metafunc.config):
        argument = "bench_task" if "bench_task" in metafunc.fixturenames else "bench_model"
        if argument in metafunc.fixturenames:
            skipped = pytest.param(None, marks=pytest.mark.skip(reason=NEEDS), id="no-model")
            metafunc.parametrize(argument, [skipped], indirect=True)
        return
    bench = bench_of(metafunc.config)
    if marker is None:
        metafunc.parametrize("bench_model", bench.model_names, indirect=True)
        return
    if len(marker.args) != 1 or not isinstance(marker.args[0], str):
        raise pytest.UsageError(f'{metafunc.definition.nodeid}: write @pytest.mark.bench_suite("KEY")')
    if "bench_task" not in metafunc.fixturenames:
        raise pytest.UsageError(
            f"{metafunc.definition.nodeid}: a bench_suite test takes the fixture bench_task"
        )
    try:
        jobs, ids = _jobs(bench, marker.args[0], metafunc.function.__name__)
    except DataMissing as error:
        # fetched or refused before collection when it was wanted: what is left here was ruled out
        missing = pytest.param(None, marks=pytest.mark.skip(reason=str(error)), id="no-data")
        metafunc.parametrize("bench_task", [missing], indirect=True)
        return
    except BenchkitError as error:
        raise pytest.Collector.CollectError(f"{metafunc.definition.nodeid}: {error}") from None
    metafunc.parametrize("bench_task", jobs, ids=ids, indirect=True)


def _jobs(bench: BenchSession, key: str, function: str) -> tuple[list[Job], list[str]]:
    suite_class = bench.scan.find(key)
    jobs: list[Job] = []
    ids: list[str] = []
    for slice_ in bench.scan.slices.get(key, [None]):
        suite: Suite = bench.suite(suite_class, slice_.variant if slice_ else None)
        rows = rows_of(slice_, suite.index, suite.key)
        for model in bench.model_names:
            for cell in bench.cells(suite, model, slice_, function):
                words = bench.axes_words(cell)
                jobs += [Job(cell, row) for row in rows]
                ids += ["-".join([*words, suite.index.ids[row]]) for row in rows]
    return jobs, ids


# ---------------------------------------------------------------------- fixtures


def job_of(item: pytest.Item) -> Job | None:
    """The job of a function item marked ``bench_suite``."""
    callspec = getattr(item, "callspec", None)
    job = callspec.params.get("bench_task") if callspec is not None else None
    return job if isinstance(job, Job) else None


def _cell(request: pytest.FixtureRequest) -> Cell | None:
    job = job_of(request.node)
    return job.cell if job else None


def task_of(request: pytest.FixtureRequest) -> Task:
    job = job_of(request.node)
    if job is None:
        raise pytest.UsageError('bench_task needs a test marked @pytest.mark.bench_suite("KEY")')
    try:
        return job.cell.task(job.row)
    except SkipTask as reason:
        pytest.skip(f"{reason.detail}: {reason}")


def model_of(request: pytest.FixtureRequest) -> AskingModel:
    bench = bench_of(request.config)
    cell = _cell(request)
    name = cell.model if cell else str(getattr(request, "param", bench.model_names[0]))
    return AskingModel(bench, name, notes_of(request))


def harness_of(request: pytest.FixtureRequest) -> str:
    bench_of(request.config)
    cell = _cell(request)
    return cell.harness if cell else "direct"


def perturbation_of(request: pytest.FixtureRequest) -> str:
    bench_of(request.config)
    cell = _cell(request)
    return cell.perturbation if cell else CLEAN


def notes_of(request: pytest.FixtureRequest) -> RecordNotes:
    stash = request.node.stash
    if NOTES not in stash:
        stash[NOTES] = RecordNotes()
    notes: RecordNotes = stash[NOTES]
    return notes


# ---------------------------------------------------------------------- the record


def close_record(item: pytest.Item, report: pytest.TestReport, bench: BenchSession) -> None:
    """Writes the record of a finished test function that is marked ``bench_suite``."""
    job = job_of(item)
    if job is None or bench.dispatcher is None:
        return
    from pytest_benchkit.engine.outcome import Classified, one_line

    notes: RecordNotes = item.stash.get(NOTES, None) or RecordNotes()
    exchange = notes.exchange or Exchange(Reply(), tries=0)
    words = str(report.longrepr).strip().splitlines()
    if report.passed:
        value, outcome, reason = 1.0, Outcome.CORRECT, "the test passed"
    elif report.skipped:
        value, outcome, reason = 0.0, Outcome.SKIPPED, "the test was skipped"
    else:
        crash = getattr(report.longrepr, "reprcrash", None)
        message = str(getattr(crash, "message", words[-1] if words else "the test failed"))
        is_miss = report.when == "call" and message.startswith(("assert", "AssertionError", "Failed"))
        value = 0.0
        outcome = Outcome.INCORRECT if is_miss else Outcome.HARNESS_ERROR
        reason = message.splitlines()[0] if message.strip() else "the test failed"
    detail = exchange.failure.kind if exchange.failure is not None else "test"
    if notes.score is not None and outcome.counted:
        value = notes.score
        if 0.0 < value < 1.0:
            outcome = Outcome.PARTIAL
    record = bench.dispatcher.recorder.record(
        job,
        job.cell.suite.tasks[job.row],
        notes.messages,
        exchange,
        Score(value) if outcome.counted else None,
        Classified(outcome, None if outcome.counted else detail),
        one_line(reason),
        started=notes.started,
        store_prompts="auto",
        extra=notes.extra,
    )
    bench.sink(record)
    report.bench = Verdict.of(record, stored=True).plain()  # type: ignore[attr-defined]

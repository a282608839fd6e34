"""One benchmark session in one process: what was asked, the models, the store, the engine."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.engine.plan import NOT_ASKED, Cell, Job, Verdict
from pytest_benchkit.errors import UsageProblem
from pytest_benchkit.models.profiles import ModelSpec, resolve_model
from pytest_benchkit.perturbations import CLEAN, name_of
from pytest_benchkit.plugin.asked import BenchOptions
from pytest_benchkit.plugin.scan import Scan

if TYPE_CHECKING:
    from pytest_benchkit.engine.budget import Budget
    from pytest_benchkit.engine.dispatcher import Dispatcher
    from pytest_benchkit.engine.preflight import Preflight, Prepared
    from pytest_benchkit.models.base import Model
    from pytest_benchkit.plugin.collection import TaskItem
    from pytest_benchkit.plugin.early import EarlyStop
    from pytest_benchkit.plugin.selection import Slice
    from pytest_benchkit.runs.journal import Journal
    from pytest_benchkit.runs.record import TaskRecord
    from pytest_benchkit.runs.store import RunStore
    from pytest_benchkit.suite import Suite

STASH = pytest.StashKey["BenchSession"]()
PLACEHOLDER = "model"
"""Stands in item names for the model of a ``--collect-only`` without ``--bench-model``."""


def bench_of(config: pytest.Config) -> BenchSession:
    """The session's benchmark state. Raises ``pytest.UsageError`` when no bench option is in force."""
    try:
        return config.stash[STASH]
    except KeyError:
        raise pytest.UsageError(
            "this needs a model: run pytest with --bench-model=NAME (demo needs no server)"
        ) from None


class BenchSession:
    """State shared by the hooks. The controller owns the store; an xdist worker owns a spool."""

    def __init__(self, config: pytest.Config, options: BenchOptions) -> None:
        self.config = config
        self.options = options
        self.registered = _registered_models(config)
        self.replayed: Path | None = None
        names = options.models
        if options.replay is not None:
            names = self._replay(options.replay)
        self.specs: list[ModelSpec] = [
            resolve_model(
                name,
                command_line=options.command_line,
                environ=options.environ,
                profiles=options.profiles,
                ini=options.ini,
                registered=frozenset(self.registered),
            )
            for name in names
        ]
        slugs = [spec.slug for spec in self.specs]
        for slug in slugs:
            if slugs.count(slug) > 1:
                raise UsageProblem(
                    f"two --bench-model values are both {slug!r} in test names; give one a profile"
                )
        self.scan = Scan(config, self._benches(), [*(slugs or [PLACEHOLDER]), *options.perturbations, "r"])
        self.run_dir: Path | None = None
        self.session_number = 0
        self.store: RunStore | None = None
        self.spool: Journal | None = None
        self.known: dict[str, dict[str, Any]] = {}
        self.stale: set[str] = set()
        """Keys of stored rows that measured something else than today's suites and models."""
        self.prepared: list[Prepared] = []
        self.preflight: Preflight | None = None
        self.dispatcher: Dispatcher | None = None
        self.jobs: list[Job] = []
        self.not_asked: dict[str, int] = {}
        self.stop_reason: str | None = None
        self._budget: Budget | None = None
        self.moved: list[str] = []
        """Models of a resumed run that are now served at another address."""
        self.signal: int | None = None
        """The signal that ends this session, other than Ctrl-C's."""
        self.with_installed = False
        self.lengths: dict[str, float] = {}
        self._suites: dict[tuple[type[Suite], str | None], Suite] = {}
        self._cells: dict[tuple[Suite, str, str, int, str | None], Cell] = {}
        self.plan_keys: list[str | None] = []
        self.whole: dict[str, Any] | None = None
        """The plan of which this session runs a part (``--bench-shard``)."""
        self.said: list[str] = []
        self.notes: list[str] = []
        """Lines for after collection: during it pytest captures whatever is printed."""
        self.results: dict[str, Any] | None = None
        self.early: EarlyStop | None = None
        self._task_ids: dict[str, frozenset[str]] = {}
        self._last_path: Path | None = None
        self._relays: dict[Path, Any] = {}

    def _replay(self, name: str) -> tuple[str, ...]:
        """Registers each model of a stored run as one that gives its stored replies again."""
        from pytest_benchkit.engine.replay import ReplayModel
        from pytest_benchkit.runs.store import named_run, read_info

        config = self.config
        path = named_run(name, default_runs_root(config), config.invocation_params.dir, "--bench-replay")
        self.replayed = path
        stored = tuple(str(model["name"]) for model in read_info(path).get("models", []))
        names = tuple(model for model in stored if not self.options.models or model in self.options.models)
        if not names:
            raise UsageProblem(f"--bench-replay={name}: that run holds the models {', '.join(stored)}")
        replay: list[ReplayModel] = []

        def factory() -> Model:
            if not replay:
                replay.append(ReplayModel(path))
            return replay[0]

        self.registered.update(dict.fromkeys(names, factory))
        return names

    def _benches(self) -> tuple[str, ...]:
        """The ``--bench`` values; a replay without any takes the suites of the replayed run."""
        if self.options.benches or self.replayed is None:
            return self.options.benches
        from pytest_benchkit.runs.store import read_info

        return tuple(suite["name"] for suite in read_info(self.replayed).get("suites", []))

    @property
    def asked(self) -> dict[str, Any]:
        """What a line asks for, whatever its settings: by this a resume finds its run."""
        config = self.config
        paths = [] if self.with_installed else sorted(str(argument) for argument in config.args)
        return {
            "models": [spec.name for spec in self.specs],
            "benches": list(self.options.benches),
            "paths": paths,
            "keyword": config.getoption("keyword", "") or "",
            "markers": config.getoption("markexpr", "") or "",
            "only": sorted(self.options.only or ()),
            **({"perturbations": list(self.options.perturbations)} if self.options.perturbations else {}),
            **({"repeats": self.options.repeats} if self.options.repeats > 1 else {}),
            **({"shard": list(self.options.shard)} if self.options.shard else {}),
        }

    # ------------------------------------------------------------------ names

    @property
    def worker(self) -> dict[str, Any] | None:
        """What the controller told this xdist worker; ``None`` on the controller."""
        value: dict[str, Any] | None = getattr(self.config, "workerinput", None)
        return value

    @property
    def dry(self) -> bool:
        """Whether nothing is to be asked: items are only collected, or their fixtures only planned."""
        option = self.config.option
        return any(getattr(option, name, False) for name in ("collectonly", "setupplan", "setuponly"))

    @property
    def early_stop(self) -> str:
        """``off``, ``certain`` or ``sprt``, in every process."""
        return str(self.config.getoption("bench_early_stop", "off"))

    @property
    def distributed(self) -> bool:
        """Whether this is the controller of a session whose items run in xdist workers."""
        config = self.config
        return (
            self.worker is None
            and config.getoption("dist", "no") != "no"
            and bool(config.getoption("tx", None))
            and not self.dry
        )

    @property
    def model_names(self) -> list[str]:
        return [spec.name for spec in self.specs] or [PLACEHOLDER]

    def spec(self, name: str) -> ModelSpec | None:
        return next((spec for spec in self.specs if spec.name == name), None)

    def suite(self, suite_class: type[Suite], variant: str | None) -> Suite:
        """The one instance of a suite in this process. Raises :class:`UsageProblem` for no such variant."""
        key = (suite_class, variant)
        if key not in self._suites:
            if variant is not None and variant not in suite_class.variants:
                known = ", ".join(suite_class.variants) or "none"
                raise UsageProblem(
                    f"--bench={suite_class.key}:{variant}: no such variant or slice; variants: {known}; "
                    "a slice is N or head:N"
                )
            try:
                self._suites[key] = suite_class(variant) if variant is not None else suite_class()
            except Exception as error:
                words = f"{type(error).__name__}: {error}"
                raise UsageProblem(f"the suite {suite_class.key} cannot be made: {words}") from None
        return self._suites[key]

    def task_ids(self, name: str) -> frozenset[str] | None:
        """The task ids of a suite by its name in records; ``None`` for one this session does not run."""
        if name not in self._task_ids and (suite := self.suite_named(name)) is not None:
            self._task_ids[name] = frozenset(suite.index.ids)
        return self._task_ids.get(name)

    def suite_named(self, name: str) -> Suite | None:
        """A suite by its name in records; ``None`` for one this session does not run."""
        key, _, variant = name.partition(":")
        for (suite_class, other), suite in self._suites.items():
            if suite_class.key == key and (other == (variant or None) or variant not in suite.variants):
                return suite
        return None

    def cells(
        self, suite: Suite, model: str, slice_: Slice | None = None, function: str | None = None
    ) -> list[Cell]:
        """The clean cell and its perturbed twins. Those of a test function stand apart from the suite's own
        (``gsm8k:test_tone``)."""
        mine = [p for p in self.options.perturbations if name_of(p) in suite.perturbations]
        axes = [(p, repeat) for repeat in range(self.options.repeats) for p in (CLEAN, *mine)]
        return [self._cell(suite, model, p, repeat, slice_, function) for p, repeat in axes]

    def _cell(
        self,
        suite: Suite,
        model: str,
        perturbation: str,
        repeat: int,
        slice_: Slice | None,
        function: str | None,
    ) -> Cell:
        key = (suite, model, perturbation, repeat, function)
        if key not in self._cells:
            selection: dict[str, object] = {"kind": "all"}
            if slice_ is not None:
                rows = len(suite.index)
                selection = slice_.describe(rows)
                first = model == self.model_names[0] and not repeat and perturbation == CLEAN
                if function is None and first and (slice_.count or 0) > rows:
                    self.notes.append(f"{suite.key} has {rows} rows, {slice_.count} were asked for")
            variant = function or suite.variant
            self._cells[key] = Cell(
                suite,
                model,
                perturbation=perturbation,
                repeat=repeat,
                selection=selection,
                variant=variant,
            )
        return self._cells[key]

    def item_prefix(self, cell: Cell) -> str:
        """``gsm8k[qwen3.8b-direct-``: what all item names of a cell begin with."""
        variant = [cell.variant] if cell.variant else []
        return f"{cell.suite.key}[{'-'.join([*self.axes_words(cell), *variant])}-"

    def axes_words(self, cell: Cell) -> list[str]:
        """What names of a cell's tests say of its axes; those that are plain are left out."""
        spec = self.spec(cell.model)
        words = [spec.slug if spec else PLACEHOLDER, cell.harness]
        if cell.perturbation != CLEAN:
            words.append(cell.perturbation)
        if cell.repeat:
            words.append(f"r{cell.repeat}")
        return words

    def hook_of(self, item: TaskItem) -> Any:
        """The hook relay of an item's file, looked up once per file."""
        relay = self._relays.get(item.path)
        if relay is None:
            relay = self._relays[item.path] = item.ihook
        return relay

    @cached_property
    def call_reports_suffice(self) -> bool:
        """Whether a stored row may be reported by one report: nobody listens for starts and teardowns."""
        listeners = any(self.config.getoption(name, None) for name in ("xmlpath", "htmlpath"))
        return not listeners and self.config.get_verbosity() <= 0

    def same_file(self, item: TaskItem) -> bool:
        """Whether the item reported before this one was of the same file."""
        last, self._last_path = self._last_path, item.path
        return last is item.path

    # ------------------------------------------------------------------ saying

    def say(self, line: str) -> None:
        """A line for the user, from any thread: shown at once, escaped, never markup."""
        from pytest_benchkit.engine.outcome import CONTROL

        text = CONTROL.sub(lambda m: m.group().encode("unicode_escape", "replace").decode(), line)
        self.said.append(text)
        if self.worker is not None:
            self._say_to_controller(text)
            return
        terminal = self.config.pluginmanager.get_plugin("benchkit-terminal")
        if terminal is not None and self.config.get_verbosity() >= -1:
            terminal.show(f"bench: {text}")

    def _say_to_controller(self, text: str) -> None:
        if self.run_dir is not None:
            from pytest_benchkit.runs.plain import line

            folder = self.run_dir / "spool"
            with (folder / f"{self.worker_id}.say").open("ab") as file:
                file.write(line(text))

    @property
    def worker_id(self) -> str:
        return str(self.worker["workerid"]) if self.worker else "main"

    # ------------------------------------------------------------------ asking

    def start_engine(self, shares: Mapping[str, int]) -> Dispatcher:
        """Starts this process's engine with its share of each model's slots."""
        from pytest_benchkit.engine.decided import Decided
        from pytest_benchkit.engine.dispatcher import Dispatcher
        from pytest_benchkit.engine.lanes import build_lane
        from pytest_benchkit.engine.records import Recorder
        from pytest_benchkit.models.limits import SharedHold

        spool = self.run_dir / "spool" if self.worker and self.run_dir else None
        hold_file = spool / "holds" if spool else None
        engine: list[Dispatcher] = []
        lanes = {}
        for slot, prepared in enumerate(self.prepared):
            spec = self.spec(prepared.name)
            if spec is None or not shares.get(prepared.name, 0):
                continue
            lanes[prepared.name] = build_lane(
                spec,
                prepared,
                share=shares[prepared.name],
                hold=SharedHold(hold_file, slot),
                lag=lambda: engine[0].lag_s if engine else 0.0,
                say=self.say,
                registered=self.registered,
            )
        dispatcher = Dispatcher(
            lanes,
            self.sink,
            Recorder(self.session_number, self.worker_id),
            excerpt=self._excerpt,
            budget=self.budget(),
            decided=Decided(self.run_dir) if self.early_stop != "off" and self.run_dir else None,
            say=self.say,
        )
        engine.append(dispatcher)
        self.dispatcher = dispatcher
        dispatcher.start()
        return dispatcher

    def budget(self) -> Budget | None:
        """What the run may spend and has spent, all processes together; ``None`` without a limit."""
        from pytest_benchkit.engine.budget import Budget, Spending

        if self._budget is None and self.specs and self.run_dir is not None:
            shared = self.run_dir / "spool" / "spending" if (self.run_dir / "spool").is_dir() else None
            place = 1 + int(self.worker_id.lstrip("gw")) if self.worker else 0
            self._budget = Budget.of(self.specs[0].settings, Spending(shared, place))
        return self._budget

    def sink(self, record: TaskRecord) -> None:
        """Makes a finished task durable: in the store, or in this worker's spool."""
        if self.store is not None:
            self.store.append(record)
        elif self.spool is not None:
            from pytest_benchkit.runs.plain import line

            self.spool.append(line(record))

    def _excerpt(self, record: TaskRecord) -> str | None:
        modes = [self.options.verbose]
        if self.config.getoption("htmlpath", None):
            modes.append(self.options.html_rows)
        if "all" not in modes and (record["outcome"] == "correct" or "missed" not in modes):
            return None
        from pytest_benchkit.reports.excerpt import excerpt

        text: str = excerpt(record)
        return text

    def verdict_of(self, item: TaskItem) -> Verdict:
        """The verdict on an item's task: from an earlier session, else from the engine. Blocks."""
        job = item.job
        stored = self.known.get(job.key)
        if stored is not None:
            return Verdict.of(stored, stored=True)
        if self.dispatcher is None:
            return Verdict(job.key, NOT_ASKED, "not asked: the engine is not running")
        return self.dispatcher.wait(job)

    def last_outcomes(self) -> dict[str, str]:
        """The last known outcome of each row, by key, for ``--bench-only``."""
        if self.worker is not None and self.run_dir is not None:
            import json

            outcomes: dict[str, str] = json.loads((self.run_dir / "spool" / "last.json").read_bytes())
            return outcomes
        from pytest_benchkit.plugin.controller import last_outcomes

        return last_outcomes(self)

    @property
    def suites(self) -> list[Suite]:
        """The suites of this session so far."""
        return list(self._suites.values())

    def suite_metrics(self) -> dict[str, Callable[[Sequence[Mapping[str, Any]]], dict[str, float]]]:
        """Each suite's own metrics by the suite's name in records."""
        return {
            f"{suite.key}:{variant}" if variant else suite.key: suite.metrics
            for (_, variant), suite in self._suites.items()
        }

    def dispatch_order(self, jobs: Sequence[Job]) -> list[Job]:
        """Jobs without a stored verdict, longest expected first where lengths are known (LA-9)."""
        asked = [job for job in jobs if job.key not in self.known]
        if not self.lengths:
            return asked
        typical = sorted(self.lengths.values())[len(self.lengths) // 2]
        models = {name: place for place, name in enumerate(self.model_names)}
        return sorted(asked, key=lambda job: (models[job.cell.model], -self.lengths.get(job.key, typical)))


def _registered_models(config: pytest.Config) -> dict[str, Callable[[], Model]]:
    found: dict[str, Callable[[], Model]] = {}
    answers: Iterable[Mapping[str, Callable[[], Model]] | None] = config.hook.pytest_benchkit_models(
        config=config
    )
    for models in answers:
        found.update(models or {})
    return found


def default_runs_root(config: pytest.Config) -> Path:
    return config.rootpath / ".benchkit" / "runs"

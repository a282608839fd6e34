"""One model's side of a run: its slots, its settings, and the rules that end its part (H-13, H-14)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from pytest_benchkit.engine.loops.watch import Board
from pytest_benchkit.engine.sizing import ModelSizer
from pytest_benchkit.models.limits import Slots
from pytest_benchkit.score import Outcome
from pytest_benchkit.settings import Settings

if TYPE_CHECKING:
    from pytest_benchkit.engine.plan import Job
    from pytest_benchkit.models.base import Model
    from pytest_benchkit.reply import Exchange, Failure

BREAKER = 8
"""Finished tasks in a row of one (model, suite) with the same error that stop the pair."""
BUDGET_AFTER = 20
"""Tasks before the error budget of a model counts."""
CONTEXT = frozenset({"context_too_small", "context_cut"})
REFUSALS = 2
"""Refusing answers in a row that stop a model after its first success; before it, one does."""


class Lane:
    """A model with its request slots and its health. Used on the event loop only."""

    def __init__(
        self,
        name: str,
        model: Model,
        slots: Slots,
        settings: Settings,
        origins: Mapping[str, str],
        *,
        endpoint: str = "",
        window: int | None = None,
        sizer: ModelSizer | None = None,
        say: Callable[[str], None] = lambda line: None,
    ) -> None:
        self.name = name
        self.model = model
        self.decides: bool = getattr(model, "decides", False)
        self.slots = slots
        self.settings = settings
        self.origins = origins
        self.endpoint = endpoint or name
        self.window = window
        self.sizer = sizer or ModelSizer(window)
        self.board = Board()
        self.served_id = name
        self.evict = "never"
        """When the model is unloaded, as far as it is this process's to do: see ``engine.eviction``."""
        self.stopped: str | None = None
        self.started = 0
        """Tasks being asked, those that wait for a retry included."""
        self._say = say
        self._successes = 0
        self._refusals = 0
        self._finished = 0
        self._errors = 0
        self._streak: dict[str, tuple[str, int]] = {}
        self._stopped_suites: dict[str, str] = {}
        self._told: set[tuple[str, str]] = set()
        self.retries: dict[str, int] = defaultdict(int)

    def why_not(self, job: Job) -> str | None:
        """Why this job is no longer asked; ``None`` when it is."""
        return self.stopped or self._stopped_suites.get(job.cell.name)

    def stop(self, why: str) -> None:
        if self.stopped is None:
            self.stopped = why
            self._say(f"{self.name}: {why}; remaining tasks are not asked")

    def note_exchange(self, exchange: Exchange, suite: str | None = None) -> None:
        """Looks at an exchange the moment it ends, before another request leaves in its place."""
        for retry in exchange.retries:
            self.retries[retry.cause] += 1
        failure = exchange.failure
        if failure is None or failure.category == "loop":  # the server did its part
            self._successes += 1
            self._refusals = 0
        elif failure.category == "stop":
            self.stop(_words(failure))
        elif failure.category == "refusing":
            self._refusals += 1
            if not self._successes or self._refusals >= REFUSALS:
                self.stop(_words(failure))
        if suite is not None and failure is not None:
            if failure.kind in CONTEXT:
                self._tell_context(suite, failure)
            elif failure.category == "skip":
                self._tell_once(suite, failure.kind, f"rows are skipped, {failure.kind}: {failure.message}")
            elif failure.category not in ("deadline", "loop"):
                self._count_streak(suite, failure.kind, _words(failure))

    def note_outcome(self, suite: str, outcome: Outcome) -> None:
        """Counts a finished task against the error budget of the model (``--bench-max-errors``)."""
        self._finished += 1
        if outcome is not Outcome.HARNESS_ERROR:
            self._streak.pop(suite, None)
            return
        self._errors += 1
        limit, is_share = self.settings.max_errors
        if is_share:
            limit *= self._finished
        if self._finished >= BUDGET_AFTER and self._errors > limit:
            self.stop(f"{self._errors} of {self._finished} tasks were errors (--bench-max-errors)")

    def note_crash(self, suite: str, words: str) -> None:
        """A scorer of ours that raises for a reason other than the text."""
        self._count_streak(suite, "scorer_crash", words)

    def _count_streak(self, suite: str, kind: str, words: str) -> None:
        last, count = self._streak.get(suite, (kind, 0))
        count = count + 1 if last == kind else 1
        self._streak[suite] = (kind, count)
        self._tell_once(suite, kind, words)
        if count >= BREAKER and suite not in self._stopped_suites:
            why = f"{BREAKER} tasks in a row ended with {kind}"
            self._stopped_suites[suite] = why
            self._say(f"{self.name} {suite}: {why}; its remaining tasks are not asked")

    def _tell_context(self, suite: str, failure: Failure) -> None:
        """A window that is too small is a matter of configuration: told once, not once a row (O-4)."""
        need, window = failure.need_tokens, failure.window_tokens
        numbers = f" (needs {need} tokens, the window is {window})" if need and window else ""
        words = f"rows are skipped, {failure.kind}: {failure.message}{numbers}"
        self._tell_once(suite, failure.kind, words)

    def _tell_once(self, suite: str, kind: str, words: str) -> None:
        if (suite, kind) not in self._told:
            self._told.add((suite, kind))
            self._say(f"{self.name} {suite}: {words}")


def _words(failure: Failure) -> str:
    status = f"HTTP {failure.status} " if failure.status else ""
    where = f" at {failure.where}" if failure.where else ""
    return f"{status or failure.kind + ' '}{where.strip()}: {failure.message}".replace(" :", ":")

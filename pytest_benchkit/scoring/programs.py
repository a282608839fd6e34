"""Judges programs that a model wrote (PG-1 to PG-11): :func:`run`.

A suite says what the program is (:class:`Program`) and how it is judged (:class:`Trial`: trusted Python
that asks the program for values and asserts on them; :mod:`pytest_benchkit.scoring.programs_trials` has
those of the usual benchmarks). The program runs in a worker inside the sandbox, the trial in a judge of its
own, and only plain data goes from one to the other: exit status, output and files of the program prove
nothing.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pytest_benchkit.errors import SandboxError
from pytest_benchkit.sandbox import pool, probe
from pytest_benchkit.sandbox.conversation import ASLEEP, JUDGE_LOST, KILLED, Conversation, Ended
from pytest_benchkit.sandbox.limits import Limits

if TYPE_CHECKING:
    from pytest_benchkit.sandbox.pool import Pool

PASSED = "passed"
CATEGORIES = (
    "syntax",
    "name_missing",
    "exception",
    "wrong_value",
    "time",
    "memory",
    "bad_exit",
    "not_plain_data",
)
"""What a miss can be (PG-9); all that may be shown to the model."""
OFFICIAL_WALL_S = 3.0
"""Upstream's limit for HumanEval and CRUXEval (PG-11)."""
MOST_SOURCE = 1 << 20


@dataclass(frozen=True, slots=True)
class Program:
    """A candidate: its source as it is to be run, and the name that is called. Without ``entry`` only
    expressions are evaluated."""

    source: str
    entry: str | None = None


@dataclass(frozen=True, slots=True)
class Trial:
    """How a program is judged: trusted Python that runs in the judge, never beside the program.

    Its names: ``candidate(*args, **kwargs)``, under the name ``entry`` too;
    ``call(args, kwargs={}, seconds=None)``, the same with a limit of CPU seconds for this call;
    ``evaluate(expression, seconds=None)`` and ``execute(statements, seconds=None)`` in the program's
    namespace, for text of ours; ``data``, the plain data given here; ``note(name, value)``, kept in
    :attr:`Verdict.notes`; ``spent()``, CPU seconds of the last call by the program's own clock (for
    programs of ours only). It passes by reaching its end after at least one answer. An answer that is none
    ends it at once, whatever it catches.
    """

    source: str
    data: Any = None
    entry: str | None = None


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of a program.

    ``category`` is ``passed`` or one of :data:`CATEGORIES`, ``detail`` the name of an exception or a few
    words: never a test or a value. ``cpu_s`` is absent where the backend cannot measure it. ``retried``:
    the first attempt ran into time; ``time_only``: the second, alone, did so too. ``over_3s``: upstream's
    limit would have ended it.
    """

    passed: bool
    category: str
    detail: str = ""
    notes: dict[str, Any] = field(default_factory=dict)
    cpu_s: float | None = None
    wall_s: float = 0.0
    retried: bool = False

    @property
    def time_only(self) -> bool:
        return self.category == "time"

    @property
    def over_3s(self) -> bool:
        used = self.wall_s if self.cpu_s is None else self.cpu_s
        return used > OFFICIAL_WALL_S

    @property
    def feedback(self) -> str:
        """What the model may be told."""
        words = self.category.replace("_", " ")
        return f"{words}: {self.detail}" if self.detail and self.category == "exception" else words


def run(program: Program, trial: Trial, limits: Limits | None = None) -> Verdict:
    """Judges a program; blocks while it does. Safe to call from many threads: as many programs run at once as
    there are cores, the others wait for their turn.

    Raises nothing for what a program does. Raises :class:`~pytest_benchkit.errors.SkipTask` where there is no
    isolation, and :class:`~pytest_benchkit.errors.SandboxError` when the sandbox fails or the trial itself is
    broken.
    """
    shared = pool.shared(probe.require())
    if len(program.source) > MOST_SOURCE:
        return Verdict(False, "syntax", "source too large")
    limits = limits or Limits()
    ended: Ended | None = None
    try:
        ended = attempt(shared, program, trial, limits)
    except SandboxError:
        if shared.closed:
            raise
    retried = ended is None or _may_be_the_machine(ended)
    if ended is None or retried:
        ended = attempt(shared, program, trial, limits, alone=True)
    return Verdict(
        ended.category == PASSED,
        ended.category,
        ended.detail,
        ended.notes,
        ended.cpu_s,
        ended.wall_s,
        retried,
    )


def _may_be_the_machine(ended: Ended) -> bool:
    """Whether a full machine could have caused this miss: then the program is run once more, alone."""
    if ended.detail == ASLEEP:
        return False
    return ended.category in ("time", "memory") or ended.detail in (JUDGE_LOST, KILLED)


def attempt(shared: Pool, program: Program, trial: Trial, limits: Limits, *, alone: bool = False) -> Ended:
    """One run of a program in a fresh worker."""
    with shared.worker(limits, alone=alone) as worker:
        talk = Conversation(shared, worker, limits)
        return talk.run(program.source, program.entry, (trial.source, trial.entry, trial.data))

"""What a benchmark is: :class:`Suite`. One subclass per file, as short as the idea.

A suite is importable and testable without pytest: build it, call ``prompt``, call ``score``.
"""

from __future__ import annotations

import difflib
import inspect
import re
import sys
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from pytest_benchkit.errors import SuiteError
from pytest_benchkit.task import Message, Task, TaskIndex, TaskSource

if TYPE_CHECKING:
    from pytest_benchkit.decisions import Decision
    from pytest_benchkit.reply import Reply
    from pytest_benchkit.score import Score
    from pytest_benchkit.sizing import Sizer

KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class Suite(ABC):
    """A benchmark: rows, how to ask about one, how to score the reply.

    Subclasses set ``key`` and ``data`` and write :meth:`prompt` and :meth:`score`. The class docstring's
    first line is the description that ``benchkit list`` shows; deviations from the official protocol are
    declared in it.

    Raises :class:`~pytest_benchkit.errors.SuiteError` when the class is defined with a key that is not
    lower-case words joined by dashes, or with a public name that looks like a misspelt hook.
    """

    key: ClassVar[str]
    data: ClassVar[TaskSource]
    variants: ClassVar[Mapping[str, TaskSource]] = {}
    """Other rows under a name of their own (``--bench=KEY:VARIANT``), never mixed with ``data``."""
    version: ClassVar[int] = 1
    """Bumped when prompt or scoring changes on purpose."""
    scoring: ClassVar[Literal["binary", "graded"]] = "binary"
    extracts: ClassVar[bool] = True
    """Whether an absent ``Score.extracted`` means that the reply held no answer."""
    metric_kinds: ClassVar[Mapping[str, str]] = {}
    """Kind of each of the suite's own metrics, by name or glob, for gates: ``proportion``, ``mean01``,
    ``count``, ``rate``, ``duration``, ``quantile`` or ``composite``."""
    beside: ClassVar[tuple[str, ...]] = ()
    """Own metrics without which the score misleads: shown under every table of scores."""
    totals: ClassVar[frozenset[str]] = frozenset()
    """Own metrics that are about all rows of ``data`` or a variant: absent, with the reason, when only a part
    was asked or rows were skipped, so that no gate takes them from a sample. With any, ``transport_errors``
    counts the failed requests, which are outside of them."""
    in_overall: ClassVar[bool] = True
    not_comparable: ClassVar[str | None] = "own protocol"
    """Why the score cannot be set beside published ones; ``None`` when it can."""
    harnesses: ClassVar[tuple[str, ...]] = ("direct",)
    perturbations: ClassVar[tuple[str, ...]] = ()
    needs: ClassVar[frozenset[str]] = frozenset()
    """What rows need of the machine or the model: ``sandbox``, ``browser``, ``images``, ``tools``."""
    requires: ClassVar[Mapping[str, str]] = {}
    """Modules that scoring imports and what pip installs to get each, for libraries that the plugin itself
    does not need: a run is refused with the command before anything is asked."""
    sampling: ClassVar[Mapping[str, float]] = {"temperature": 0.0}
    """Declared protocol; an effective value that differs is reported as a deviation."""
    max_tokens: ClassVar[int | None] = None
    loop_kill: ClassVar[bool] = True
    store_prompts: ClassVar[bool] = True
    """``False`` keeps prompt and reply text out of records (data whose authors ask for it)."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        hooks = [name for name in dir(Suite) if not name.startswith("_")] + ["key", "data"]
        for name in vars(cls):
            if name.startswith("_") or name in hooks:
                continue
            if near := difflib.get_close_matches(name, hooks, n=1, cutoff=0.8):
                raise SuiteError(f"{cls.__qualname__}.{name} looks like a misspelt {near[0]!r}: rename it")
        key = cls.__dict__.get("key")
        if key is not None and not (isinstance(key, str) and KEY.fullmatch(key)):
            raise SuiteError(f"{cls.__qualname__}.key is {key!r}: write lower-case words joined by dashes")
        module = sys.modules.get(cls.__module__)
        if file := getattr(module, "__file__", None):
            for source in (cls.__dict__.get("data"), *cls.__dict__.get("variants", {}).values()):
                if hasattr(source, "bind"):
                    source.bind(Path(file).parent)

    def __init__(self, variant: str | None = None) -> None:
        if variant is not None and variant not in self.variants:
            known = ", ".join(self.variants) or "none"
            raise SuiteError(f"{self.key} has no variant {variant!r}; it has: {known}")
        self.variant = variant
        self.source: TaskSource = self.data if variant is None else self.variants[variant]

    @abstractmethod
    def prompt(self, task: Task) -> str | list[Message]:
        """What the model is asked: one user message, or the whole list of chat messages."""

    @abstractmethod
    def score(self, task: Task, reply: Reply) -> Score:
        """The verdict on ``reply.answer`` (and ``reply.tool_calls``). Total: any text gives a Score."""

    def fit(self, task: Task, sizer: Sizer) -> Task:
        """The row as it is asked of one model: ``prompt``, ``score`` and the other hooks get what this gives.

        For prompts whose size depends on the model's window and tokenizer. Called in a thread before the
        request. May raise :class:`~pytest_benchkit.errors.SkipTask` (``context_too_small``).
        """
        return task

    def size_samples(self) -> Mapping[str, str]:
        """Some 2,000 characters of each kind of content that :meth:`fit` sizes, by its name: sent once before
        a run to a server that counts tokens in its replies only."""
        return {}

    def prompt_tokens(self, task: Task) -> int | None:
        """A bound on the tokens of the prompt, template included, where :meth:`fit` made sure of one."""
        return None

    def max_tokens_for(self, task: Task) -> int | None:
        """The most tokens of an answer, unless the user says otherwise; ``None`` for the usual limit."""
        return self.max_tokens

    def tools(self, task: Task) -> Sequence[Mapping[str, Any]] | None:
        """Tool definitions in the OpenAI form to send with the request, if any.

        In a suite that ``needs`` tools a list, an empty one too, says that the row is about calling: it is
        skipped where the server refuses tools. ``None`` is asked without them.
        """
        return None

    def decision(self, task: Task) -> Decision | None:
        """The row as a question with known answers, for decision models; ``None`` takes no part."""
        return None

    def sample_replies(self, task: Task) -> tuple[str | Reply, str | Reply] | None:
        """A reply that scores 1 and one that scores 0, for the ``demo`` model and for tests; a
        :class:`~pytest_benchkit.reply.Reply` where the answer is not text alone (tool calls)."""
        return None

    def feedback(self, task: Task, score: Score) -> str | None:
        """What a repair round may tell the model; never the gold, a hidden test or an option letter."""
        return score.feedback

    def repair_limit(self, task: Task) -> int | None:
        """The most repair rounds of a task; ``None`` for as many as the user asks for.

        With k known answers k - 2: one more would leave a single answer that was not marked wrong yet.
        """
        question = self.decision(task)
        return None if question is None else max(0, len(question.criteria) - 2)

    def metrics(self, rows: Sequence[Mapping[str, Any]]) -> dict[str, float]:
        """The suite's own metrics, from its records in the denominator (see :mod:`pytest_benchkit.runs`)."""
        return {}

    @classmethod
    def describe(cls) -> str:
        """First line of the docstring."""
        return (inspect.getdoc(cls) or inspect.getdoc(sys.modules.get(cls.__module__)) or "").split("\n")[0]

    @cached_property
    def tasks(self) -> Sequence[Task]:
        """All rows in upstream's order, read at first use."""
        return self.source.load()

    @cached_property
    def index(self) -> TaskIndex:
        """Ids, categories and groups of the rows, read at first use without the rows."""
        return self.source.index()

"""Scores one exchange. Whatever a reply does to a scorer is the model's miss (O-2, O-3)."""

from __future__ import annotations

import math
import time
from typing import NamedTuple

from pytest_benchkit.errors import SandboxError
from pytest_benchkit.reply import Exchange, Reply
from pytest_benchkit.score import Score
from pytest_benchkit.suite import Suite
from pytest_benchkit.task import Task

HARMLESS = "I do not know."


class Judged(NamedTuple):
    score: Score | None
    flags: tuple[str, ...] = ()
    crash: str | None = None
    detail: str = "scorer_crash"


def judge(suite: Suite, task: Task, exchange: Exchange) -> Judged:
    """Runs the suite's scorer on the answer; the reply's ``timing.score_ms`` is set.

    A scorer that raises on this reply, then not on a harmless text, then on this reply once more was broken
    by the reply: a miss with flag ``scorer_raised``. One that raises on both texts is our fault: ``crash``
    says what it raised, ``detail`` what kind of fault that is. One that does not raise again was not ready
    (a library that another thread was loading): its second verdict stands.
    """
    if exchange.failure is not None:
        return Judged(None)
    reply = exchange.reply
    started = time.perf_counter()
    try:
        return Judged(_scored(suite, task, visible(reply)))
    except SandboxError as error:
        return Judged(None, crash=str(error), detail="sandbox_failed")
    except (Exception, SystemExit) as error:
        return _judged_again(suite, task, reply, f"{type(error).__name__}: {error}")
    finally:
        reply.timing.score_ms = round((time.perf_counter() - started) * 1000, 3)


def _judged_again(suite: Suite, task: Task, reply: Reply, words: str) -> Judged:
    """Whose fault it is that the scorer raised ``words``."""
    try:
        expected = _scored(suite, task, Reply.of(HARMLESS)).expected
    except (Exception, SystemExit):
        return Judged(None, crash=f"the scorer of {suite.key} raised {words}")
    try:
        return Judged(_scored(suite, task, visible(reply)))
    except SandboxError as error:
        return Judged(None, crash=str(error), detail="sandbox_failed")
    except (Exception, SystemExit) as error:
        reason = f"the reply broke the scorer: {type(error).__name__}: {error}"
        return Judged(Score(0.0, expected=expected, rule="none", reason=reason), ("scorer_raised",))


def visible(reply: Reply) -> Reply:
    """What a scorer may see of a reply: answer, tool calls, how it ended; never thinking. Counts are
    for rows whose size matters."""
    return Reply(
        text=reply.answer,
        answer=reply.answer,
        refusal=reply.refusal,
        tool_calls=reply.tool_calls,
        finish_reason=reply.finish_reason,
        finish_raw=reply.finish_raw,
        usage=reply.usage,
        flags=list(reply.flags),
    )


def _scored(suite: Suite, task: Task, reply: Reply) -> Score:
    score = suite.score(task, reply)
    if not isinstance(score, Score) or math.isnan(score.value):
        raise TypeError(f"score() returned {type(score).__name__}, not a Score")
    return score

"""One watched request: channels, states (section 9.2), tries, the countdown, and what is stored (L-8)."""

from __future__ import annotations

from dataclasses import asdict

from pytest_benchkit.engine.loops.verdict import examine
from pytest_benchkit.engine.loops.watch import LARGEST, Board, Watch
from pytest_benchkit.reply import Loop, Reply
from tests.support.loop_texts import SENTENCE, prose

LONG = SENTENCE * 100
SHORT = SENTENCE * 12
CYCLE = ("period", "repetitions", "span", "onset")


def state(thinking: str = "", answer: str = "") -> str:
    return examine(Reply(answer=answer, thinking=thinking)).state


def known(loop: Loop) -> set[str]:
    return {name for name, value in asdict(loop).items() if value is not None}


def test_states() -> None:
    assert state() == "unavailable"
    assert state(" \n", "  ") == "unavailable"
    assert state("hm", "seven") == "observing"
    assert state(prose(30), prose(40)) == "clear"
    assert state(prose(200) + prose(200)) == "suspected"
    assert state(SHORT) == "looping"
    assert state("", SHORT) == "looping"
    assert state(prose(200), SHORT) == "looping"
    assert state(SHORT, "7") == "recovered"
    assert state(SHORT, SHORT) == "looping"
    assert state(SHORT + prose(200)) == "recovered"
    assert state(SHORT + prose(200, 1), prose(200, 2)) == "recovered"
    assert state("", SHORT + prose(200)) == "recovered"


def test_what_is_known_of_each_state() -> None:
    always = {"state", "killed"}
    assert known(examine(Reply())) == always
    clear = examine(Reply.of(prose(200)))
    assert known(clear) == always | {"share", "likeness"}
    assert clear.share == 0.0
    recovered = examine(Reply.of("7", thinking=SHORT))
    assert known(recovered) == always | {"kind", "channel", "share", "likeness", *CYCLE}
    assert (recovered.kind, recovered.channel, recovered.period) == ("exact_cycle", "thinking", 16)
    assert (recovered.repetitions, recovered.span, recovered.onset) == (12, 192, 0)
    watch = Watch(100)
    watch.see([("answer", prose(200) + LONG)])
    killed = watch.report(Reply())
    assert known(killed) == set(asdict(killed))
    assert killed.killed_at is not None
    assert killed.onset is not None
    assert killed.span is not None
    assert killed.killed_at == killed.onset + killed.span - 1


def test_signals_of_overlap() -> None:
    once, twice = prose(400), prose(200) * 2
    loop = examine(Reply.of(twice))
    assert (loop.state, loop.kind) == ("suspected", "overlap")
    assert loop.share is not None
    assert 0.4 < loop.share <= 0.5
    assert loop.likeness is not None
    assert loop.likeness > 0.72
    loop = examine(Reply.of(once))
    assert loop.share == 0.0
    # twenty words twice are enough, nineteen are not
    assert examine(Reply.of(once + prose(20, 5) + once[:7] + "x " + prose(20, 5))).state == "suspected"
    assert examine(Reply.of(prose(400) + prose(400)[-60:])).state == "clear"


def test_channels_are_apart() -> None:
    watch = Watch(1024)
    for _ in range(100):
        assert watch.see([("thinking", SENTENCE[:30]), ("answer", "tea "), ("tool", SENTENCE * 9)]) is None
    assert watch.see([("answer", "tea " * 1200)]) is not None


def test_another_try_begins_anew() -> None:
    watch = Watch(1024)
    watch.begin()
    assert watch.see([("answer", SENTENCE * 60)]) is None
    watch.begin()
    assert watch.see([("answer", SENTENCE * 60)]) is None
    assert watch.see([("answer", SENTENCE * 60)]) is not None
    watch.begin()
    assert watch.failure is None


def test_the_failure_is_told_in_words() -> None:
    watch = Watch(1024)
    failure = watch.see([("answer", LONG)])
    assert failure is not None
    assert failure.message == "16 words and marks came 71 times on end in the answer"
    assert not failure.retryable
    failure = Watch(1024).see([("thinking", "no " * 3000)])
    assert failure is not None
    assert failure.message == "one word or mark came 1174 times on end in the thinking"


def test_off_ends_nothing() -> None:
    watch = Watch(0)
    assert watch.see([("answer", LONG)]) is None
    assert watch.left is None
    loop = watch.report(Reply.of(LONG))
    assert (loop.state, loop.killed) == ("looping", False)


def test_a_reply_that_was_not_streamed_is_examined() -> None:
    assert Watch(1024).report(Reply.of(LONG)).state == "looping"
    assert Watch(1024).report(Reply()).state == "unavailable"


def test_text_that_turns_out_to_be_thinking() -> None:
    """S-28: only the closing tag came, so what was seen as answer is thinking."""
    watch = Watch(1024)
    watch.see([("answer", SHORT + "</think> seven")])
    loop = watch.report(Reply.of("seven", thinking=SHORT))
    assert (loop.state, loop.channel) == ("recovered", "thinking")


def test_what_was_seen_is_not_examined_again() -> None:
    watch = Watch(1024)
    watch.see([("thinking", "  " + SHORT), ("answer", "\n" + prose(90))])
    reply = Reply.of(prose(90).strip(), thinking=SHORT.strip())
    assert watch.report(reply) == examine(reply)
    assert watch.report(reply) == examine(reply)


def test_a_flood_in_one_piece_is_examined_later() -> None:
    watch = Watch(1024)
    flood = "tea " * (LARGEST // 4 + 1)
    assert watch.see([("answer", flood), ("answer", LONG)]) is None
    assert watch.report(Reply.of(flood + LONG)).state == "looping"


def test_the_board_tells_of_the_oldest() -> None:
    board = Board()
    first, second = Watch(1024, board), Watch(300, board)
    assert board.countdown is None
    first.see([("answer", SHORT)])
    second.see([("answer", SHORT)])
    oldest = first.left
    assert oldest is not None
    assert board.countdown == oldest
    first.see([("answer", SENTENCE)])
    assert board.countdown == oldest - 16
    first.see([("answer", "now something else ")])
    assert board.countdown == second.left
    second.end()
    assert board.countdown is None

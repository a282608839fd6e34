"""The screen that pytest, tests and our line share, seen by a small model of a terminal."""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from typing import TextIO, cast

import pytest

from pytest_benchkit.plugin.live import Log, log_line
from pytest_benchkit.plugin.screen import Screen, Watched
from pytest_benchkit.runs.progress import Progress, Tally
from tests.support import screen as model
from tests.support.rows import cell, row


class Pipe:
    """A file whose other end is fed to a model terminal of 20 × 4."""

    def __init__(self) -> None:
        self._read, write = os.pipe()
        self.file = os.fdopen(write, "w", encoding="utf-8")
        self.terminal = model.Screen(20, 4)

    def look(self) -> list[str]:
        self.file.flush()
        os.set_blocking(self._read, False)
        try:
            # a terminal line turns LF into CR LF
            self.terminal.feed(os.read(self._read, 65536).decode().replace("\n", "\r\n"))
        except BlockingIOError:
            pass
        return self.terminal.display

    def close(self) -> None:
        self.file.close()
        os.close(self._read)


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[Pipe]:
    monkeypatch.setattr(Screen, "width", 20)
    made = Pipe()
    yield made
    made.close()


def watched(pipe: Pipe, *, live: bool = True) -> tuple[Screen, TextIO]:
    screen = Screen(pipe.file, live=live)
    return screen, cast("TextIO", Watched(pipe.file, screen))


def test_line_is_below_and_gone_before_other_output(pipe: Pipe) -> None:
    screen, file = watched(pipe)
    file.write("a.py ..")
    screen.draw("12/40")
    assert pipe.look() == ["a.py ..", "12/40", "", ""]
    file.write(".")
    assert pipe.look() == ["a.py ...", "", "", ""]
    screen.draw("13/40 and more than fits")
    assert pipe.look()[:2] == ["a.py ...", "13/40 and more than"]
    screen.close()
    file.write("\nend")
    assert pipe.look() == ["a.py ...", "end", "", ""]


def test_line_at_the_last_row_scrolls(pipe: Pipe) -> None:
    screen, file = watched(pipe)
    file.write("1\n2\n3\n4 ..")
    screen.draw("live")
    assert pipe.look() == ["2", "3", "4 ..", "live"]
    file.write(".\n5")
    screen.draw("live")
    assert pipe.look() == ["3", "4 ...", "5", "live"]
    screen.close()
    assert pipe.look() == ["3", "4 ...", "5", ""]


def test_shown_lines_stand_on_their_own(pipe: Pipe) -> None:
    screen, file = watched(pipe)
    file.write("...")
    screen.draw("live")
    screen.show("note")
    screen.draw("live")
    assert pipe.look() == ["...", "note", "", "live"]
    file.write("..")
    assert pipe.look() == ["...", "note", "..", ""]
    screen.close()


def test_nothing_is_drawn_behind_the_last_column(pipe: Pipe) -> None:
    screen, file = watched(pipe)
    file.write("x" * 20)
    screen.draw("live")
    assert pipe.look()[1] == ""
    file.write("\n\x1b[31my\x1b[0m")
    screen.draw("live")
    assert pipe.look() == ["x" * 20, "y", "live", ""]
    screen.close()


def test_offered_lines_wait_for_the_end_of_a_line(pipe: Pipe) -> None:
    screen, file = watched(pipe, live=False)
    screen.offer("at once")
    file.write("...")
    screen.offer("later")
    assert pipe.look() == ["at once", "...", "", ""]
    file.write(".\n")
    assert pipe.look() == ["at once", "....", "later", ""]
    file.write("..")
    screen.offer("now")
    screen.show_offered()
    assert pipe.look() == ["later", "..", "now", ""]
    screen.close()


def test_a_reader_that_left_stops_nothing() -> None:
    read, write = os.pipe()
    file = os.fdopen(write, "w")
    screen = Screen(file, live=False)
    os.close(read)
    screen.show("into nothing")
    screen.close()
    file.close()
    assert file.closed


def test_lines_of_many_threads_stay_whole(pipe: Pipe) -> None:
    screen, _ = watched(pipe, live=False)
    threads = [threading.Thread(target=lambda n=n: screen.show(f"line {n}")) for n in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    pipe.look()
    assert sorted(pipe.terminal.text) == sorted(f"line {n}" for n in range(12))
    screen.close()


# ---------------------------------------------------------------------- log lines


def test_log_says_first_last_and_now_and_then() -> None:
    log, axes = Log(), ("s", "m", "direct", "none")
    said = []
    for done in range(1, 1320):  # one a second: 5 % come every 66 s
        if log.due(axes, Tally(planned=1319, done=done), float(done)):
            said.append(done)
    assert said[0] == 1
    assert said[-1] == 1319
    assert len(said) <= 22
    slow = Log()
    due = [d for d in range(1, 101) if slow.due(axes, Tally(planned=100, done=d), d * 20.0)]
    assert due == [1, *range(6, 100, 5), 100]  # 5 % take longer than 30 s
    assert log.open_cells() == []


def test_log_quotes_what_has_blanks() -> None:
    from datetime import UTC, datetime

    progress = Progress(0.0)
    progress.plan([cell(2, "s", 'my "own" model')])
    axes = progress.add(row(0, model='my "own" model'), 1.0)
    line = log_line(progress, axes, 1.0, 3, datetime(2026, 1, 1, 12, 3, 11, tzinfo=UTC))
    assert line == (
        'bench t=12:03:11Z suite=s model="my \\"own\\" model" done=1/2 score=100 half=39.7 err=0 retry=0 '
        "inflight=3 tok_s=- eta=-"
    )

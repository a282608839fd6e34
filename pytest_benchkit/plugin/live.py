"""What a running session shows of itself: a live line on a terminal, log lines elsewhere (TTY-3..6).

Log lines have one stable form, ``bench t=12:03:11Z suite=gsm8k model=qwen3:8b done=412/1319 score=86.4
half=3.3 err=0 retry=3 inflight=16 tok_s=1204 eta=190s``; what is not known is ``-``. Perturbed rows have a
field ``perturbation`` behind the model.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from pytest_benchkit.perturbations import CLEAN
from pytest_benchkit.reports.format import UNKNOWN, decimals, percent, rate, safe, seconds
from pytest_benchkit.runs.progress import Axes, Progress, Tally

if TYPE_CHECKING:
    from pytest_benchkit.plugin.screen import Screen

REDRAW_S = 0.25
LOG_SHARE, LOG_S = 0.05, 30.0
PATIENCE_S = 1.0
"""How long a log line waits for pytest to end the line that it is writing."""


class Live:
    """Shows the progress of a session until :meth:`close`. ``in_flight`` tells how many requests are open,
    ``plan`` the cells that are planned (they may become known late), ``countdown`` in how many symbols the
    oldest loop is ended."""

    def __init__(
        self,
        screen: Screen,
        *,
        plan: Callable[[], list[Mapping[str, Any]]],
        in_flight: Callable[[], int | None],
        known: Callable[[], list[Mapping[str, Any]]],
        countdown: Callable[[], int | None] = lambda: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._screen = screen
        self._plan, self._in_flight, self._clock = plan, in_flight, clock
        self._countdown = countdown
        self._lock = threading.Lock()
        self.progress = Progress(clock())
        self.progress.recall(known())
        self._log = Log()
        self._offered_at = 0.0
        self._paused = False
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        if screen.live:
            self._thread = threading.Thread(target=self._redraw, name="benchkit-live", daemon=True)
            self._thread.start()

    def add(self, record: Mapping[str, Any]) -> None:
        """Takes a finished task, from any thread."""
        now = self._clock()
        with self._lock:
            progress = self.progress
            if not progress.current or progress.tallies[progress.current].planned is None:
                progress.plan(self._plan())
            axes = progress.add(record, now)
            due = not self._screen.live and self._log.due(axes, progress.tallies[axes], now)
            line = self._log_line(axes, now) if due else None
        if line is not None:
            self._offered_at = now
            self._screen.offer(line)
        elif now - self._offered_at > PATIENCE_S:
            self._screen.show_offered()

    def pause(self) -> None:
        """Nothing is drawn until :meth:`go_on`: a debugger has the terminal."""
        self._paused = True
        self._screen.erase()

    def go_on(self) -> None:
        self._paused = False

    def close(self) -> None:
        """Takes the line away; elsewhere, says how cells stand that have not said their end."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()
        elif not self._screen.live:
            now = self._clock()
            for axes in self._log.open_cells():
                self._screen.show(self._log_line(axes, now))
        self._screen.close()

    # ------------------------------------------------------------------ the line

    def _redraw(self) -> None:
        while not self._over.wait(REDRAW_S):
            if self._paused:
                continue
            with self._lock:
                self.progress.plan(self._plan())
                now, width = self._clock(), self._screen.width
                line = live_line(self.progress, now, self._in_flight(), width, loop=self._countdown())
            if line:
                self._screen.draw(line)

    def _log_line(self, axes: Axes, now: float) -> str:
        return log_line(self.progress, axes, now, self._in_flight(), datetime.now(UTC))


class Log:
    """Which moments of a cell deserve a log line: its first task, its last, and every 5 % or 30 s between,
    whichever is later."""

    def __init__(self) -> None:
        self._said: dict[Axes, tuple[int, float, bool]] = {}

    def due(self, axes: Axes, tally: Tally, now: float) -> bool:
        if axes in self._said:
            done, then, over = self._said[axes]
            step = LOG_SHARE * (tally.planned or 0)
            if over or not (tally.over or (tally.done - done >= step and now - then >= LOG_S)):
                return False
        self._said[axes] = (tally.done, now, tally.over)
        return True

    def open_cells(self) -> list[Axes]:
        """Cells that began and have not ended."""
        return [axes for axes, (_, _, over) in self._said.items() if not over]


def live_line(
    progress: Progress, now: float, in_flight: int | None, width: int, *, loop: int | None = None
) -> str:
    """The line for a terminal: suite, model, done, score, and as much of the rest as fits. ``loop``: symbols
    until the oldest loop is ended."""
    axes = progress.current
    if axes is None:
        axes = next(iter(progress.tallies), None)
    if axes is None:
        return ""
    tally = progress.tallies[axes]
    names = [axes[0], axes[1], *([axes[3]] if axes[3] != CLEAN else [])]
    parts = [safe(" ".join(names)), f"{tally.done}/{tally.planned or '?'}"]
    if tally.score is not None:
        parts.append(f"{percent(tally.score, tally.scored)} ±{_half(tally)}")
    eta = progress.eta_s(now)
    parts.append(f"ETA {UNKNOWN if eta is None else seconds(max(1.0, round(eta))).replace('.0 s', ' s')}")
    if in_flight is not None:
        parts.append(f"{in_flight} in flight")
    if loop is not None:
        parts.append(f"loop ends in {loop}")
    if (speed := progress.tok_s(now)) is not None:
        parts.append(f"{rate(speed)} tok/s")
    if tally.errors:
        parts.append(f"{tally.errors} error{'s' * (tally.errors != 1)}")
    if tally.retries:
        parts.append(f"{tally.retries} retr{'ies' if tally.retries != 1 else 'y'}")
    if len(progress.tallies) > 1:
        parts.append(f"all {progress.done}/{progress.planned}")
    while len(parts) > 2 and len("  ".join(parts)) >= width:
        parts.pop()
    return "  ".join(parts)


def log_line(progress: Progress, axes: Axes, now: float, in_flight: int | None, moment: datetime) -> str:
    """The line for a log, see the module's text."""
    tally = progress.tallies[axes]
    speed, eta = progress.tok_s(now), progress.eta_s(now)
    values = {
        "t": f"{moment:%H:%M:%SZ}",
        "suite": axes[0],
        "model": axes[1],
        **({"perturbation": axes[3]} if axes[3] != CLEAN else {}),
        "done": f"{tally.done}/{'-' if tally.planned is None else tally.planned}",
        "score": "-" if tally.score is None else percent(tally.score, tally.scored),
        "half": "-" if tally.half is None else _half(tally),
        "err": str(tally.errors),
        "retry": str(tally.retries),
        "inflight": "-" if in_flight is None else str(in_flight),
        "tok_s": "-" if speed is None else rate(speed),
        "eta": "-" if eta is None else f"{eta:.0f}s",
    }
    return "bench " + " ".join(f"{name}={_quoted(value)}" for name, value in values.items())


def _half(tally: Tally) -> str:
    half = tally.half
    return UNKNOWN if half is None else f"{100 * half:.{max(1, decimals(tally.scored))}f}"


def _quoted(value: str) -> str:
    """Quoted when a blank, a quote or an equals sign would end the value early."""
    text = safe(value)
    if text and not any(c in text for c in ' "=\\'):
        return text
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'

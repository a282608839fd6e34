"""Progress: a live line on a real pseudo-terminal, log lines elsewhere."""

from __future__ import annotations

import re
import sys
import time

import pytest

from tests.integration.conftest import Project, answering, marked
from tests.support.fakeserver import FakeServer
from tests.support.screen import Terminal, run_in_terminal

LIVE = re.compile(r"^sums m  (\d+)/(\d+)  ")
LOG = re.compile(
    r'bench t=\d\d:\d\d:\d\dZ suite=(\S+) model=("[^"]*"|\S+) done=(\d+)/(\d+) score=(-|[\d.]+) '
    r"half=(-|[\d.]+) err=(\d+) retry=(\d+) inflight=(-|\d+) tok_s=(-|[\d.]+) eta=(-|\d+s)"
)


def in_terminal(
    project: Project, *words: str, columns: int = 100, rows: int = 24, **more: object
) -> Terminal:
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "bench_sums.py", *words]
    return run_in_terminal(command, project.pytester.path, columns=columns, rows=rows, **more)  # type: ignore[arg-type]


def live_lines(terminal: Terminal) -> list[re.Match[str]]:
    return [found for display in terminal.seen for line in display if (found := LIVE.match(line))]


@pytest.mark.parametrize("words", [(), ("-v",), ("-q",), ("-s",), ("--capture=sys",)])
def test_live_line_comes_and_leaves_nothing(project: Project, words: tuple[str, ...]) -> None:
    project.suite(60)
    with FakeServer(answering(0.15)) as server:
        found = in_terminal(project, f"--bench-model=m@{server.url}", *words, rows=12)
    assert found.ret == 0, found.raw
    lines = live_lines(found)
    assert len(lines) > 1
    counts = [int(line[1]) for line in lines]
    assert counts == sorted(counts)
    assert {line[2] for line in lines} == {"60"}
    text = found.screen.text
    assert not [line for line in text if LIVE.match(line) or "16 in flight  " in line]
    assert "ETA" not in "\n".join(text)
    assert any(re.search(r"sums +m +100 \[94, 100\] +60", line) for line in text)
    assert not [line for line in text if line.startswith("bench t=")]


def test_letters_stay_whole_under_the_live_line(project: Project) -> None:
    project.suite(60)
    with FakeServer(answering(0.1)) as server:
        found = in_terminal(project, f"--bench-model=m@{server.url}", columns=60)
    letters = "".join(re.findall(r"(?:^bench_sums\.py )?(\.+)", "\n".join(found.screen.text)))
    assert letters.count(".") >= 60
    assert [line for line in found.screen.text if line.endswith("[100%]")]


PRINTING = """
import time
import pytest

@MARKED("sums")
def test_tone(bench_task, bench_model):
    print("begin", bench_task.id, end=" ")
    time.sleep(0.05)
    print("end", bench_task.id)
"""


def test_output_of_tests_is_intact_under_s(project: Project) -> None:
    (project.pytester.path / "test_tone.py").write_text(marked(PRINTING))
    with FakeServer(answering(0.1)) as server:
        found = in_terminal(project, f"--bench-model=m@{server.url}", "-s", "test_tone.py")
    text = "\n".join(found.screen.text)
    for number in range(12):
        assert f"begin {number:02d} end {number:02d}" in text


def test_live_line_counts_for_all_workers(project: Project) -> None:
    project.suite(40)
    with FakeServer(answering(0.2)) as server:
        found = in_terminal(project, f"--bench-model=m@{server.url}", "-n2")
    assert found.ret == 0, found.raw
    lines = live_lines(found)
    assert lines
    assert max(int(line[1]) for line in lines) > 8
    assert not [line for line in found.screen.text if LIVE.match(line)]


@pytest.mark.parametrize("words", [("--color=no",), ("-qq",)])
def test_no_cursor_control_without_colour_or_when_quiet(project: Project, words: tuple[str, ...]) -> None:
    environ = {"PY_COLORS": "0"} if "--color=no" in words else {}
    with FakeServer(answering(0.1)) as server:
        found = in_terminal(project, f"--bench-model=m@{server.url}", *words, environ=environ)
    assert found.ret == 0
    assert "\x1b7" not in found.raw
    if "--color=no" in words:
        assert "\x1b" not in found.raw
        assert LOG.search(found.raw)


def test_a_debugger_has_the_terminal_to_itself(project: Project) -> None:
    (project.pytester.path / "test_stop.py").write_text(
        "def test_stop():\n    import time\n    time.sleep(0.6)\n    assert 0\n"
    )
    project.suite(200)
    before: list[int] = []

    def keys(screen: object) -> bytes | None:
        if before or "(Pdb)" not in "\n".join(getattr(screen, "display", [])):
            return None
        before.append(1)
        time.sleep(0.7)
        return b"q\n"

    with FakeServer(answering(0.1)) as server:
        found = in_terminal(project, f"--bench-model=m@{server.url}", "--pdb", "test_stop.py", keys=keys)
    assert before, found.raw
    prompt = next(display for display in found.seen if any("(Pdb)" in line for line in display))
    assert prompt[-1] == "" or not LIVE.match(prompt[-1])
    after = found.raw.split("(Pdb)", 1)[1].split("q\r\n")[0]
    assert "\x1b7" not in after


# ---------------------------------------------------------------------- log lines


def test_log_lines_parse_and_are_few(project: Project) -> None:
    project.suite(300)
    result = project.run("--bench-model=demo", "bench_sums.py", process=True)
    lines = [line for line in result.outlines if line.startswith("bench t=")]
    matches = [LOG.fullmatch(line) for line in lines]
    assert all(matches)
    assert 2 <= len(lines) <= 50
    last = matches[-1]
    assert last is not None
    entry = project.results()["results"][0]["metrics"]
    assert (last[3], last[4]) == ("300", "300")
    assert float(last[5]) == pytest.approx(100 * entry["score"], abs=0.05)
    assert float(last[6]) == pytest.approx(50 * (entry["score_ci_high"] - entry["score_ci_low"]), abs=0.06)
    assert "\x1b" not in result.stdout.str()


def test_log_lines_of_workers_and_of_an_unfinished_run(project: Project) -> None:
    project.suite(40)
    result = project.run("--bench-model=demo:0.5", "-n2", "bench_sums.py", process=True)
    lines = [m for line in result.outlines if (m := LOG.fullmatch(line))]
    assert lines[-1][3] == "40"
    result = project.run("--bench-model=demo:0", "--bench-strict", "-x", "bench_sums.py", process=True)
    assert result.ret == 1
    assert [line for line in result.outlines if LOG.fullmatch(line)]


def test_letters_are_not_torn_by_log_lines(project: Project) -> None:
    project.suite(100)
    result = project.run("--bench-model=demo:1", "bench_sums.py", process=True)
    letters = 0
    for line in result.outlines:
        if found := re.fullmatch(r"(?:bench_sums\.py )?(\.+)(?: +\[ *\d+%\])?", line):
            letters += len(found[1])
    assert letters == 100

"""The table of results and the lines around it."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys

import pytest

from tests.integration.conftest import Project, answering
from tests.support.fakeserver import Exchange, FakeServer

TABLE = re.compile(r"=+ benchmarks =+")
ROW = re.compile(r"^sums +(\S+) +(\S+) (\[[^\]]*\]) +(\d+)")


def test_header_names_model_and_folder(project: Project) -> None:
    result = project.run("--bench-model=demo", "bench_sums.py")
    result.stdout.fnmatch_lines(
        ["bench: demo: demo, * in flight (simulated)", "bench: records in .benchkit/runs/*"]
    )


def test_unrelated_project_sees_nothing_of_us(pytester: pytest.Pytester) -> None:
    pytester.makepyfile("def test_one(): pass")
    result = pytester.runpytest_inprocess()
    assert "bench:" not in result.stdout.str()
    assert "benchmarks" not in result.stdout.str()


def test_table_prints_the_numbers_of_the_document(project: Project) -> None:
    result = project.run("--bench-model=demo", "bench_sums.py")
    (row,) = [m for line in result.outlines if (m := ROW.match(line))]
    metrics = project.results()["results"][0]["metrics"]
    low, high = 100 * metrics["score_ci_low"], 100 * metrics["score_ci_high"]
    assert (row[2], row[3], row[4]) == (f"{100 * metrics['score']:.0f}", f"[{low:.0f}, {high:.0f}]", "12")
    result.stdout.fnmatch_lines(["demo: simulated replies; its tokens and times are made up"])
    last = result.outlines[-1]
    assert last == f"results: .benchkit/runs/{project.newest.name}/results.json"
    assert (project.pytester.path / last.removeprefix("results: ")).is_file()


def test_quieter_and_quieter(project: Project) -> None:
    shown = {}
    modes: list[tuple[str, ...]] = [(), ("-q",), ("-qq",), ("--no-summary",), ("-p", "no:terminal")]
    for words in modes:
        result = project.run("--bench-model=demo", "bench_sums.py", *words, process=True)
        assert result.ret == 0
        text = result.stdout.str()
        shown[words] = (bool(TABLE.search(text)), "results: " in text)
    assert shown == {
        (): (True, True),
        ("-q",): (True, True),
        ("-qq",): (False, True),
        ("--no-summary",): (False, False),
        ("-p", "no:terminal"): (False, False),
    }


def test_missed_rows_are_listed_on_request(project: Project) -> None:
    expected = "MISSED bench_sums.py::sums[[]demo.0-direct-00] - answered -1, expected 0 [[]rule: whole]"
    for word in ("-rm", "-rA", "-ra"):
        project.run("--bench-model=demo:0", "bench_sums.py", word).stdout.fnmatch_lines([expected])
    for word in ("-q", "-rs"):
        project.run("--bench-model=demo:0", "bench_sums.py", word).stdout.no_fnmatch_line("MISSED *")


def test_reason_beside_a_miss_with_v(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "160")
    result = project.run("--bench-model=demo:0", "bench_sums.py", "-v", process=True)
    result.stdout.fnmatch_lines(["*direct-00] MISSED (answered -1, expected 0 [[]rule: whole])*"])


def test_stopped_run_says_how_to_go_on_and_that_works(project: Project) -> None:
    result = project.run("--bench-model=demo:0.5", "--bench-strict", "-x", "bench_sums.py")
    assert result.ret == 1
    result.stdout.fnmatch_lines(["INCOMPLETE (stopped): * of 12 rows done"])
    (line,) = [line for line in result.outlines if line.startswith("go on with: ")]
    assert result.outlines[-1].startswith("results: ")
    command = shlex.split(line.removeprefix("go on with: "))
    assert command[0] == "pytest"
    run = project.newest
    words = [word for word in command[1:] if word not in ("-x", "-p", "no:cacheprovider")]
    again = project.run(*words)
    assert project.runs == [run]
    assert len({record["key"] for record in project.records(run)}) == 12
    again.stdout.no_fnmatch_line("go on with: *")
    again.stdout.no_fnmatch_line("INCOMPLETE*")


def test_rows_that_all_failed_have_no_score(project: Project) -> None:
    async def broken(exchange: Exchange) -> None:
        await exchange.json({"error": {"message": "the \x1b[31mdisk is full"}}, 400)

    def chat(number: int) -> bool:
        return number == 1  # the warm-up

    good = answering()

    async def handle(exchange: Exchange) -> None:
        await (good if chat(exchange.request.number) else broken)(exchange)

    with FakeServer(handle) as server:
        result = project.run(f"--bench-model=m@{server.url}", "bench_sums.py", process=True)
    assert result.ret == 1
    text = result.stdout.str()
    assert re.search(r"^sums +m +– .*\b0 of 12", text, re.M)
    assert re.search(r"^sums: 0 of 12 rows counted; \d+ errors? \(http_400\)", text, re.M)
    assert "\x1b" not in text
    assert not re.search(r"(?<![\d.])0\.0(?!\d)", text.split("benchmarks")[1])


def test_two_models_have_two_rows_and_an_overall_needs_two_suites(project: Project) -> None:
    other = (
        (project.pytester.path / "bench_sums.py")
        .read_text()
        .replace('"sums"', '"more"')
        .replace("Sums", "More")
    )
    (project.pytester.path / "bench_more.py").write_text(other)
    result = project.run("--bench-model=demo", "--bench-model=demo:1", "bench_sums.py", "bench_more.py")
    lines = result.outlines
    assert len([line for line in lines if re.match(r"(sums|more) +demo", line)]) == 4
    result.stdout.fnmatch_lines(["overall demo:1: macro 100 *, micro 100 *, n 24, 2 suites"])
    assert len([line for line in lines if line.startswith("overall ")]) == 2
    assert len(project.results()["overall"]) == 2


def test_colour_only_when_wanted(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ("--bench-model=demo", "bench_sums.py")
    assert "\x1b[1msuite" in project.run(*words, "--color=yes", process=True).stdout.str()
    assert "\x1b" not in project.run(*words, "--color=no", process=True).stdout.str()
    monkeypatch.setenv("NO_COLOR", "1")
    assert "\x1b" not in project.run(*words, process=True).stdout.str()


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_poor_stdout_gets_stand_ins(project: Project, encoding: str) -> None:
    async def down(exchange: Exchange) -> None:
        await exchange.json({"error": {"message": "weg – ü 漢"}}, 400)

    with FakeServer(down) as server:
        words = [
            "-p",
            "no:cacheprovider",
            f"--bench-model=m@{server.url}",
            "--bench-warmup=0",
            "bench_sums.py",
        ]
        done = subprocess.run(
            [sys.executable, "-m", "pytest", *words],
            cwd=project.pytester.path,
            env={**os.environ, "PYTHONIOENCODING": encoding, "LC_ALL": "C"},
            capture_output=True,
            check=False,
        )
    text = done.stdout.decode(encoding)
    assert done.returncode == 1
    assert b"Traceback" not in done.stdout + done.stderr
    assert re.search(r"^sums +m +[-–] .*0 of 12", text, re.M)
    assert (project.newest / "results.json").is_file()


def test_other_plugins_may_add_columns(project: Project) -> None:
    project.pytester.makeconftest(
        "def pytest_benchkit_columns(config, result):\n"
        "    return {'planned': str(result['metrics']['planned'])}\n"
    )
    result = project.run("--bench-model=demo", "bench_sums.py")
    result.stdout.fnmatch_lines(["suite * planned", "sums *12"])


def test_verbose_prints_the_texts_of_missed_rows(project: Project) -> None:
    result = project.run("--bench-model=demo:0", "--bench-verbose", "bench_sums.py::sums[demo.0-direct-03]")
    result.stdout.fnmatch_lines(
        [
            "row: sums|03|demo:0|direct|none|0",
            "outcome: incorrect",
            "reason: answered -1, expected 6 [[]rule: whole]",
            "prompt:",
            "| What is 3+3?",
            "reply:",
            "| -1",
        ],
        consecutive=False,
    )
    quiet = project.run("--bench-model=demo:1", "--bench-verbose", "bench_sums.py")
    quiet.stdout.no_fnmatch_line("row: *")
    every = project.run("--bench-model=demo:1", "--bench-verbose=all", "bench_sums.py")
    assert len([line for line in every.outlines if line.startswith("row: ")]) == 12
    workers = project.run("--bench-model=demo:0", "--bench-verbose", "-n2", "bench_sums.py", process=True)
    assert len([line for line in workers.outlines if line.startswith("row: ")]) == 12


def test_a_reply_cannot_command_the_runner(project: Project) -> None:
    from tests.support.fakeserver import replying

    with FakeServer(replying("::error::x\n##[error]y\n\x1b[2J")) as server:
        result = project.run(f"--bench-model=m@{server.url}", "--bench-verbose", "-s", "-rm", "bench_sums.py")
    for line in result.outlines:
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
        assert "\x1b[2J" not in line

"""What belongs to a run and what does not: resumed lines, changed data, repeated items, empty runs."""

from __future__ import annotations

import json
from typing import Any

import pytest

from pytest_benchkit.cli import main
from tests.integration.conftest import SUITE, Project, answering
from tests.integration.gate_project import thresholds
from tests.support.fakeserver import Exchange, FakeServer, Request, replying


def test_a_bare_resume_takes_the_run_of_the_same_line(project: Project, server: FakeServer) -> None:
    other = SUITE.replace("Sums", "More").replace('"sums"', '"more"').replace("COUNT", "5")
    (project.pytester.path / "bench_more.py").write_text(other)
    with FakeServer(replying("x")) as bad:
        bad.chat = _refusing
        project.run(f"--bench-model=m@{bad.url}", "bench_more.py")  # stays incomplete, and is the newest
    first = project.newest
    project.run(f"--bench-model=m@{server.url}", "bench_sums.py")
    result = project.run(f"--bench-model=m@{server.url}", "bench_sums.py", "--bench-resume")
    assert result.ret == 0
    assert project.info(first)["complete"] is False
    assert len(project.runs) == 2
    result = project.run("--bench-model=demo", "bench_sums.py", "--bench-resume")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no earlier run in * has these models, suites and paths*"])


async def _refusing(exchange: Exchange) -> None:
    await exchange.json({"error": {"message": "no"}}, 401)


def test_run_dir_with_resume_goes_on_there(project: Project) -> None:
    project.run("--bench-model=demo", "--bench-run-dir=out", "bench_sums.py")
    result = project.run("--bench-model=demo", "--bench-run-dir=out", "--bench-resume", "bench_sums.py")
    assert result.ret == 0
    assert project.runs == []
    assert len(project.info(project.pytester.path / "out")["sessions"]) == 2


@pytest.mark.parametrize("words", [["-k", "nothing_of_it"], ["--bench-only=error"], ["nofile.py"]])
def test_a_session_that_plans_nothing_leaves_no_run(project: Project, words: list[str]) -> None:
    project.run("--bench-model=demo", "bench_sums.py")
    before = project.runs
    project.run("--bench-model=demo", *(words if "nofile.py" in words else [*words, "bench_sums.py"]))
    assert project.runs == before


def test_another_address_is_said_beside_the_score(project: Project, server: FakeServer) -> None:
    broken = True

    async def chat(exchange: Exchange) -> None:
        if broken and "3+3" in exchange.request.prompt:
            await exchange.json({"error": {"message": "x"}}, 418)
        else:
            await answering()(exchange)

    with FakeServer(chat) as first:
        project.run(f"--bench-model=m@{first.url}", "bench_sums.py")
    result = project.run(f"--bench-model=m@{server.url}", "bench_sums.py", "--bench-resume")
    assert result.ret == 0
    result.stdout.fnmatch_lines(["*rows of http://* and of http://* are in one score*"])


@pytest.mark.parametrize("rows", [6, 15])
def test_changed_data_leaves_old_rows_out_of_the_score(project: Project, rows: int) -> None:
    project.suite(10)
    project.run("--bench-model=demo", "bench_sums.py")
    project.suite(rows)
    words = ["--bench-resume", "--bench-resume-changed=ask", "bench_sums.py"]
    assert project.run("--bench-model=demo", *words).ret == 0
    metrics = project.results()["results"][0]["metrics"]
    assert metrics["planned"] == rows
    assert metrics["samples"] == rows
    assert len(project.records()) == 10 + rows  # nothing measured is lost


def test_a_path_given_twice_asks_and_counts_once(project: Project, server: FakeServer) -> None:
    words = ["--keep-duplicates", "bench_sums.py", "bench_sums.py"]
    result = project.run(f"--bench-model=m@{server.url}", "--bench-warmup=0", *words)
    assert result.ret == 0
    assert server.counts.chat == 12
    assert project.results()["results"][0]["metrics"]["planned"] == 12


def test_an_item_that_runs_again_keeps_its_first_score(project: Project) -> None:
    """What pytest-rerunfailures does with a row that --bench-strict fails."""
    (project.pytester.path / "conftest.py").write_text(
        "import pytest\n"
        "from _pytest.runner import runtestprotocol\n"
        "def pytest_runtest_protocol(item, nextitem):\n"
        "    runtestprotocol(item, nextitem=nextitem, log=False)\n"
        "    runtestprotocol(item, nextitem=nextitem)\n"
        "    return True\n"
    )
    seen: set[str] = set()

    def answer(request: Request) -> str:
        number = int(request.prompt.split("+")[-1].rstrip("?"))
        again = request.prompt in seen
        seen.add(request.prompt)
        return str(2 * number) if again or number % 2 == 0 else "-1"

    with FakeServer(replying(answer)) as server:
        project.run(f"--bench-model=m@{server.url}", "--bench-warmup=0", "--bench-strict", "bench_sums.py")
    assert server.counts.chat == 12
    assert project.results()["results"][0]["metrics"]["score"] == 0.5


def test_all_rows_skipped_is_not_green(project: Project) -> None:
    project.suite(3, SUITE.replace('return f"What', 'return "word " * 400 + f"What'))
    with FakeServer(answering()) as server:
        result = project.run(
            f"--bench-model=m@{server.url}", "--bench-context=256", "--bench-warmup=0", "bench_sums.py"
        )
    assert result.parseoutcomes() == {"skipped": 3}
    assert result.ret == pytest.ExitCode.TESTS_FAILED
    result.stdout.fnmatch_lines(["*nothing was measured: all 3 rows were skipped*"])


def test_a_broken_suite_file_stops_no_other(project: Project) -> None:
    (project.pytester.path / "bench_bad.py").write_text("import nosuch_helper  # pytest_benchkit\n")
    result = project.run("--bench-model=demo:1", "--bench=sums", process=True)
    assert result.parseoutcomes()["passed"] == 12
    result.stdout.fnmatch_lines(["*bench_bad.py cannot be imported: ModuleNotFoundError*passed over*"])
    result = project.run("--bench-model=demo:1", "--bench=bad", process=True)
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*bench_bad.py cannot be imported*"])
    result = project.run("--bench-model=demo:1", "bench_bad.py", "bench_sums.py", process=True)
    assert result.ret == pytest.ExitCode.INTERRUPTED
    assert "INTERNALERROR" not in result.stdout.str()


@pytest.mark.parametrize(
    "change",
    [
        ("data = Rows", "data = 5 or Rows"),
        ('key = "sums"', 'key = "sums"\n    def __init__(self): raise ValueError("no")'),
        ('return f"What', 'raise SystemExit(3)\n        return f"What'),
        ("found = reply", "raise SystemExit(3)\n        found = reply"),
    ],
)
def test_faults_of_a_suite_are_never_internal_errors(project: Project, change: tuple[str, str]) -> None:
    project.suite(4, SUITE.replace(*change))
    result = project.run("--bench-model=demo", "bench_sums.py", process=True)
    assert result.ret in (1, 2, 4)  # failed rows, a collection error, or refused
    text = result.stdout.str() + result.stderr.str()
    assert "INTERNALERROR" not in text
    assert "Traceback" not in text


def test_a_suite_of_a_base_of_ones_own_is_found(project: Project) -> None:
    (project.pytester.path / "mybase.py").write_text(SUITE.replace("COUNT", "3"))
    (project.pytester.path / "bench_mine.py").write_text(
        "import pathlib, sys\nsys.path.insert(0, str(pathlib.Path(__file__).parent))\n"
        'from mybase import Sums as Base\n\n\nclass Mine(Base):\n    """Mine."""\n\n    key = "mine"\n'
    )
    result = project.run("--bench-model=demo:1", "--bench=mine", process=True)
    assert result.parseoutcomes() == {"passed": 3}


def test_a_scorer_that_hangs_does_not_hold_the_run(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_benchkit.engine import dispatcher

    monkeypatch.setattr(dispatcher, "SCORING_DEADLINE_S", 1.0)
    hung = SUITE.replace(
        "found = reply", 'import time\n        time.sleep(5 if task.id == "3" else 0)\n        found = reply'
    )
    project.suite(6, hung)
    result = project.run("--bench-model=demo:1", "bench_sums.py")
    assert result.parseoutcomes() == {"passed": 5, "errors": 1}
    error = next(r for r in project.records() if r["outcome"] == "harness_error")
    assert "did not return within 1 s" in error["reason"]


def test_a_dead_server_costs_few_errors(project: Project) -> None:
    project.suite(100)

    async def chat(exchange: Exchange) -> None:
        if exchange.request.number > 20:
            await exchange.drop()
        else:
            await answering()(exchange)

    with FakeServer(chat) as server:
        words = [f"--bench-model=m@{server.url}", "--bench-inflight=4", "--bench-connect-timeout=1"]
        result = project.run(*words, "--bench-max-errors=100%", "--bench-warmup=0", "bench_sums.py")
    errors = [r for r in project.records() if r["outcome"] == "harness_error"]
    assert 8 <= len(errors) <= 8 + 2 * 4
    assert result.parseoutcomes()["not"] >= 60  # not asked


def test_setup_plan_asks_nothing(project: Project, server: FakeServer) -> None:
    result = project.run(f"--bench-model=m@{server.url}", "--setup-plan", "bench_sums.py")
    assert result.ret == 0
    assert server.counts.connections == 0
    assert project.runs == []


@pytest.mark.parametrize("dist", ["worksteal", "loadscope", "loadfile"])
def test_other_xdist_schedulers_measure_the_same(project: Project, dist: str) -> None:
    result = project.run("--bench-model=demo", "-n", "2", "--dist", dist, "bench_sums.py", process=True)
    assert result.ret == 0
    assert len(project.records()) == 12


def test_secrets_of_any_kind_stay_off_the_disk(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHKIT_API_KEY", "sk-canary-55")
    for word in ('--bench-extra-body={"api_key": "sk-1"}', "--bench-base-url=http://127.0.0.1:1/?key=sk-1"):
        result = project.run("--bench-model=m", word, "bench_sums.py")
        assert result.ret == pytest.ExitCode.USAGE_ERROR

    async def echo(exchange: Exchange) -> None:
        key = exchange.request.headers["authorization"]
        message = {"role": "assistant", "content": f"you sent {key}"}
        body = {"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]}
        await exchange.json(body, headers=[f"X-Request-Id: {key}"])

    with FakeServer(echo) as server:
        project.run(f"--bench-model=m@{server.url}", "--junitxml=r.xml", "-v", "bench_sums.py")
    stored = b"".join(p.read_bytes() for p in project.newest.rglob("*") if p.is_file())
    assert b"sk-canary-55" not in stored + (project.pytester.path / "r.xml").read_bytes()
    assert b"you sent Bearer ***" in stored


@pytest.mark.parametrize("key", ["sk-\u00e9", "a\nb", "   "])
def test_unusable_keys_are_refused(project: Project, monkeypatch: pytest.MonkeyPatch, key: str) -> None:
    monkeypatch.setenv("BENCHKIT_API_KEY", key)
    result = project.run("--bench-model=m@http://127.0.0.1:9", "bench_sums.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*BENCHKIT_API_KEY holds no usable key*"])


def test_an_address_needs_no_scheme(project: Project, server: FakeServer) -> None:
    result = project.run(f"--bench-model=m@127.0.0.1:{server.port}", "bench_sums.py")
    assert result.parseoutcomes() == {"passed": 12}
    result = project.run("--bench-model=m@ftp://x", "bench_sums.py")
    result.stderr.fnmatch_lines(["*an address must be http:// or https://*"])


def described(project: Project) -> tuple[Any, ...]:
    """What the run in ``r`` says of its only cell."""
    folder = project.pytester.path / "r"
    entry = project.results(folder)["results"][0]
    info = project.info(folder)
    return entry["selection"], entry["metrics"]["planned"], entry["metrics"]["samples"], info["complete"]


def test_a_resume_with_fewer_repeats_stays_a_run_of_all(project: Project) -> None:
    thresholds(project, "metrics.score = { min = 0.1 }")
    line = ("bench_sums.py", "--bench-model=demo:0.5")
    project.run(*line, "--bench-repeats=3", "--bench-run-dir=r")
    project.run(*line, "--bench-resume=r")
    assert described(project) == ({"kind": "all", "rows": 12, "repeats": 3}, 36, 36, True)
    found = json.loads((project.pytester.path / "r/gate.json").read_bytes())["gates"][0]
    assert found["reasons"][0]["code"] == "repeats-mismatch"
    stored = main(["gate", "judge", str(project.pytester.path / "r"), "--checkpoint=org/demo"])
    again = json.loads((project.pytester.path / "r/gate.json").read_bytes())["gates"][0]
    assert (stored, again["reasons"]) == (0, found["reasons"])


@pytest.mark.parametrize(
    ("first", "then", "selection", "planned", "complete"),
    [
        (["--bench=sums:8"], ["--bench=sums:4"], {"kind": "sample", "n": 8}, 8, True),
        (["--bench=sums:4"], ["--bench=sums:8"], {"kind": "sample", "n": 8}, 8, True),
        (["--bench=sums:head:8"], ["--bench=sums:head:2"], {"kind": "head", "n": 8}, 8, True),
        ([], ["-k", "3"], {"kind": "all"}, 12, True),
        (["-k", "3"], ["-k", "4"], {"kind": "ids", "n": 2}, 2, True),
        (["-k", "3"], ["-k", "4", "--bench=sums:head:8"], {"kind": "ids", "n": 2}, 2, True),
    ],
)
def test_a_resume_with_another_slice_says_what_the_rows_are(
    project: Project,
    first: list[str],
    then: list[str],
    selection: dict[str, Any],
    planned: int,
    complete: bool,
) -> None:
    project.suite(12)
    line = ("bench_sums.py", "--bench-model=demo:0.5")
    project.run(*line, *first, "--bench-run-dir=r")
    project.run(*line, *then, "--bench-resume=r")
    assert described(project) == ({**selection, "rows": 12}, planned, planned, complete)

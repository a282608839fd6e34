"""Plain test functions over benchmark rows: the marker, the fixtures, their records."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Project, marked
from tests.support.fakeserver import FakeServer

FUNCTIONS = """
import enum
import pathlib
import pytest


class Colour(enum.Enum):
    RED = 1


@MARKED("sums")
def test_tone(bench_task, bench_model, bench_harness, bench_perturbation, bench_record):
    reply = bench_model.ask(f"What is {bench_task['question']}?")
    bench_record(place=pathlib.Path("/x"), colour=Colour.RED, odd="\\ud800")
    bench_record(axes=(bench_harness, bench_perturbation))
    assert reply.answer == bench_task["answer"], "wrong sum"


def test_free(bench_model):
    assert bench_model.ask("What is 4+4?").answer == "8"


def test_ordinary():
    pass
"""


@pytest.fixture
def functions(project: Project) -> Project:
    (project.pytester.path / "test_tone.py").write_text(marked(FUNCTIONS))
    return project


@pytest.mark.parametrize("workers", ["0", "2"])
def test_marked_functions_run_once_a_row(functions: Project, server: FakeServer, workers: str) -> None:
    model = f"--bench-model=m@{server.url}"
    result = functions.run(model, "test_tone.py", "-n", workers, process=True)
    assert result.parseoutcomes() == {"passed": 12 + 1 + 1}
    records = functions.records()
    assert {r["suite"] for r in records} == {"sums:test_tone"}
    assert {r["outcome"] for r in records} == {"correct"}
    extra = records[0]["extra"]
    assert extra["place"] == "/x"
    assert extra["colour"] == 1
    assert extra["axes"] == ["direct", "none"]
    assert extra["odd"] == "\ud800"
    assert records[0]["reply"]["answer"].isdigit()


def test_a_failed_assertion_is_incorrect_and_fails(functions: Project) -> None:
    from tests.support.fakeserver import replying

    with FakeServer(replying("8")) as server:
        result = functions.run(f"--bench-model=m@{server.url}", "test_tone.py")
    assert result.parseoutcomes() == {"passed": 3, "failed": 11}
    outcomes = [r["outcome"] for r in functions.records()]
    assert sorted(outcomes) == ["correct"] + ["incorrect"] * 11
    assert all("wrong sum" in r["reason"] for r in functions.records() if r["outcome"] == "incorrect")


def test_slices_apply_to_functions(functions: Project) -> None:
    result = functions.run("--bench-model=demo", "--bench=sums:3", "test_tone.py", "--collect-only", "-q")
    assert sum("test_tone[" in line for line in result.outlines) == 3


def test_without_paths_only_benchmarks_run(functions: Project, server: FakeServer) -> None:
    result = functions.run(f"--bench-model=m@{server.url}", "-k", "sums or tone")
    assert result.parseoutcomes()["passed"] == 24
    assert "test_ordinary" not in result.stdout.str()


def test_without_a_model_marked_functions_are_skipped_with_the_reason(functions: Project) -> None:
    result = functions.run("test_tone.py", "-rs")
    assert result.parseoutcomes() == {"passed": 1, "skipped": 2}
    result.stdout.fnmatch_lines(["*run pytest with --bench-model=NAME*"])


def test_scores_of_ones_own(project: Project) -> None:
    (project.pytester.path / "test_half.py").write_text(
        marked(
            "import pytest\n"
            '@MARKED("sums")\n'
            "def test_half(bench_task, bench_record):\n"
            "    bench_record(score=0.5)\n"
        )
    )
    assert project.run("--bench-model=demo", "test_half.py").ret == 0
    assert {(r["outcome"], r["score"]) for r in project.records()} == {("partial", 0.5)}


def test_mistakes_get_one_sentence(project: Project) -> None:
    (project.pytester.path / "test_bad.py").write_text(
        marked('import pytest\n@MARKED("nope")\ndef test_x(bench_task): pass\n')
    )
    result = project.run("--bench-model=demo", "test_bad.py")
    assert result.ret != 0
    assert "there is no suite 'nope'" in result.stdout.str() + result.stderr.str()


def test_resume_does_not_ask_finished_functions_again(functions: Project, server: FakeServer) -> None:
    words = [f"--bench-model=m@{server.url}", "--bench-warmup=0", "test_tone.py::test_tone"]
    first = functions.run(*words)
    asked = server.counts.chat
    again = functions.run(*words, "--bench-resume")
    assert server.counts.chat == asked
    assert again.parseoutcomes() == first.parseoutcomes()


def test_rows_of_functions_that_k_rules_out_are_not_needed(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHKIT_CACHE", str(project.pytester.path / "empty"))
    text = 'import pytest\n@MARKED("gsm8k")\ndef test_far(bench_task): pass\n'
    (project.pytester.path / "test_far.py").write_text(marked(text))
    result = project.run("--bench-model=demo:1", "--bench-fetch=never", "-k", "sums")
    assert result.ret == 0
    assert result.parseoutcomes()["passed"] == 12
    result = project.run("--bench-model=demo:1", "--bench-fetch=never", "-k", "far")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*gsm8k: its data is missing*"])

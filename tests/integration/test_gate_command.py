"""``benchkit gate validate | explain | calibrate``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from pytest_benchkit.cli import main
from tests.integration.conftest import Project
from tests.integration.gate_project import thresholds


@pytest.fixture(autouse=True)
def here(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(project.pytester.path)


def output(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    code = main(["gate", *words])
    captured = capsys.readouterr()
    return code, captured.out + captured.err


def test_validate(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    assert output(capsys, "validate")[0] == 2
    thresholds(project)
    code, text = output(capsys, "validate")
    assert code == 0
    assert "3 files, 1 entries, 1 measured, 0 unmeasured, 1 gates, 1 classes, 0 errors, 0 warnings" in text
    thresholds(project, "metrics.score = { min = 0.6 }\ncolour = 1")
    code, text = output(capsys, "validate", "kernels")
    assert code == 1
    assert "kernels/box/demo/BENCH.toml:8: error[unknown-key]" in text
    code, text = output(capsys, "validate", "--compat")
    assert code == 0
    assert output(capsys, "validate", "--compat", "--warnings-as-errors")[0] == 1
    code, text = output(capsys, "validate", "--format=github")
    assert text.startswith("::error file=kernels/box/demo/BENCH.toml,line=8::")
    code, text = output(capsys, "validate", "--format=json")
    document = json.loads(text)
    assert document["counts"]["errors"] == 1
    assert document["problems"][0]["code"] == "unknown-key"


def test_explain(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    thresholds(
        project,
        'metrics.score = { min = 0.6, confidence = 0.9 }\nparam_overrides."sampling.temperature" = "0.5"',
    )
    code, text = output(capsys, "explain", "sums")
    assert code == 0
    assert "min at confidence 0.9: 10 of 12" in text
    assert "pytest --bench=sums --bench-model=m --bench-temperature=0.5 --bench-hardware=box" in text
    code, text = output(capsys, "explain", "sum")
    assert code == 2
    assert "did you mean sums?" in text
    assert output(capsys, "explain", "sums", "--hardware=x")[0] == 2


def measure(project: Project, count: int, *words: str) -> list[str]:
    """Runs with a seed each."""
    names = []
    for seed in range(count):
        name = f"run{seed}"
        project.run(
            "bench_sums.py",
            "--bench-model=demo:0.8",
            f"--bench-seed={seed}",
            f"--bench-run-dir={name}",
            *words,
        )
        names.append(name)
    return names


def test_calibrate(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    project.suite(200)
    thresholds(project, "# kept\nnote = 'p'", status="unmeasured")
    runs = measure(project, 5, "--bench-gate=off", "-q")
    capsys.readouterr()
    path = project.pytester.path / "kernels/box/demo/BENCH.toml"
    before = path.read_text()
    code, text = output(capsys, "calibrate", *runs, "--gate=sums")
    assert code == 0
    assert "score: min = 0." in text
    assert "samples: min = 200, max = 200" in text
    assert "warning [run-simulated]" in text
    assert path.read_text() == before
    code, text = output(capsys, "calibrate", *runs, "--gate=sums", "--write")
    assert code == 0
    assert "+status = " in text or '-status = "unmeasured"' in text
    assert "# kept" in path.read_text()
    assert "run0, run1, run2, run3, run4" in path.read_text()
    assert output(capsys, "validate")[0] == 0
    assert project.run("bench_sums.py", "--bench-model=demo:0.8", "--bench-gate=required").ret == 0
    assert project.run("bench_sums.py", "--bench-model=demo:0.3", "--bench-gate=required").ret == 1
    capsys.readouterr()
    assert output(capsys, "calibrate", *runs, "--gate=sums", "--write")[0] == 0
    code, text = output(capsys, "calibrate", *runs, "--gate=sums")
    assert "the bound in use fails 0.0% of these runs" in text


def test_calibrate_refuses(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    thresholds(project, 'note = "p"', status="unmeasured")
    runs = measure(project, 3, "--bench-gate=off", "-q")
    capsys.readouterr()
    code, text = output(capsys, "calibrate", *runs[:2], "--gate=sums")
    assert code == 1
    assert "too-few-runs" in text
    code, text = output(capsys, "calibrate", runs[0], runs[0], runs[1], "--gate=sums")
    assert code == 1
    assert "not-independent" in text
    assert output(capsys, "calibrate", *runs, "--gate=other")[0] == 2
    assert output(capsys, "calibrate", *runs, "--gate=sums", "--step=0")[0] == 2
    assert output(capsys, "calibrate", *runs, "--gate=sums", "--metric=decode_tok_s")[0] == 1
    assert output(capsys, "calibrate", "nowhere", *runs, "--gate=sums")[0] == 1
    thresholds(project, 'note = "p"\ntasks = "5"', status="unmeasured")
    code, text = output(capsys, "calibrate", *runs, "--gate=sums")
    assert code == 2
    assert "does not follow the entry" in text


def test_runs_that_say_the_same_at_a_temperature_are_one(
    project: Project, capsys: pytest.CaptureFixture[str]
) -> None:
    hot = 'note = "p"\nparam_overrides."sampling.temperature" = "0.5"'
    thresholds(project, hot, status="unmeasured")
    for name in ("a", "b", "c"):
        words = (
            "--bench-model=demo:0.8",
            "--bench-temperature=0.5",
            "--bench-gate=off",
            f"--bench-run-dir={name}",
        )
        project.run("bench_sums.py", *words)
    capsys.readouterr()
    code, text = output(capsys, "calibrate", "a", "b", "c", "--gate=sums")
    assert code == 1
    assert "identical replies" in text


def test_a_damaged_row_is_left_out_and_told(
    project: Project, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    thresholds(project)
    project.run("bench_sums.py", "--bench-model=demo:1", "--bench-run-dir=r")
    monkeypatch.chdir(project.pytester.path)
    file = Path("r/records.jsonl")
    lines = file.read_text().splitlines()
    file.write_text("\n".join([json.dumps(json.loads(lines[0]) | {"also": "first"}), *lines[1:]]) + "\n")
    assert main(["gate", "judge", "r", "--required"]) == 1
    said = capsys.readouterr().out
    assert "1 damaged rows are left out" in said
    assert "not judged: incomplete" in said

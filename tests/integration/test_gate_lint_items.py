"""``pytest kernels/``: entries as items, without a model."""

from __future__ import annotations

import pytest

from tests.integration.conftest import Project
from tests.integration.gate_project import thresholds


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one", "xdist"])
def test_entries_are_items(project: Project, workers: tuple[str, ...]) -> None:
    thresholds(project)
    result = project.run("kernels", "-v", *workers, process=bool(workers))
    assert result.ret == 0
    text = result.stdout.str()
    for name in (
        "box/HARDWARE.toml::lint[file]",
        "box/HARDWARE.toml::lint[baseline-sums]",
        "box/demo/BENCH.toml::lint[file]",
        "box/demo/BENCH.toml::lint[sums-org--demo]",
        "box/demo/MODEL.toml::lint[file]",
    ):
        assert f"kernels/{name}" in text
    assert "5 passed" in text
    assert project.runs == []


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["one", "xdist"])
def test_errors_fail_one_line_each(project: Project, workers: tuple[str, ...]) -> None:
    thresholds(project, "metrics.score = { min = 0.6, noise = 0.5 }\ncolour = 1")
    result = project.run("kernels", *workers, process=bool(workers))
    assert result.ret == 1
    text = result.stdout.str()
    assert "kernels/box/demo/BENCH.toml:7: error[noise-too-large] [sums / org/demo] [score]" in text
    assert "kernels/box/demo/BENCH.toml:8: error[unknown-key] [sums / org/demo] [colour]" in text
    assert "Traceback" not in text
    assert "1 failed, 4 passed" in text


def test_a_broken_file_is_one_failing_item(project: Project) -> None:
    thresholds(project)
    (project.pytester.path / "kernels/box/demo/BENCH.toml").write_text("[[benchmarks]\n")
    result = project.run("kernels")
    assert result.ret == 1
    assert "error[toml-syntax]" in result.stdout.str()
    assert "1 failed, 2 passed" in result.stdout.str()
    assert "error" not in result.parseoutcomes()


def test_warnings_warn_and_can_be_made_errors(project: Project) -> None:
    thresholds(project, "metrics.score = { min = 0.99, measured = 1 }")
    soft = project.run("kernels", process=True)
    assert soft.ret == 0
    assert "warning[bound-means-all]" in soft.stdout.str()
    hard = project.run("kernels", "-W", "error", process=True)
    assert hard.ret == 1
    assert "Traceback" not in hard.stdout.str()


def test_unmeasured_entries_say_so_under_v(project: Project) -> None:
    thresholds(project, "note = 'p'", status="unmeasured")
    assert "UNMEASURED" in project.run("kernels", "-v").stdout.str()
    assert "UNMEASURED" not in project.run("kernels").stdout.str()


def test_misnamed_files_and_strays_are_seen(project: Project) -> None:
    thresholds(project)
    (project.pytester.path / "kernels/box/demo/bench.toml").write_text("")
    (project.pytester.path / "kernels/box/BENCH.toml").write_text("")
    text = project.run("kernels").stdout.str()
    assert "error[misnamed-file]" in text
    assert "error[misplaced-file]" in text


def test_files_of_our_names_elsewhere_are_left_alone(project: Project) -> None:
    (project.pytester.path / "HARDWARE.toml").write_text("!")
    other = project.pytester.path / "docs"
    other.mkdir()
    (other / "BENCH.toml").write_text("!")
    project.pytester.makepyfile(test_x="def test_x(): pass")
    result = project.run()
    assert result.ret == 0
    assert "1 passed" in result.stdout.str()


def test_another_root(project: Project) -> None:
    thresholds(project, path="../limits/box/demo")
    result = project.run("--bench-kernels=limits", "limits")
    assert "5 passed" in result.stdout.str()
    project.pytester.makeini("[pytest]\nbench_kernels = limits\n")
    assert "5 passed" in project.run("limits").stdout.str()
    assert project.run("bench_sums.py", "--bench-model=demo:0").ret == 1


def test_a_run_of_suites_collects_no_lint_items(project: Project) -> None:
    thresholds(project)
    result = project.run("--bench=sums", "--bench-model=demo:1")
    assert result.ret == 0
    assert "deselected" not in result.stdout.str()
    assert "13 passed" in result.stdout.str()


def test_a_project_suite_that_cannot_be_imported_is_not_checked(project: Project) -> None:
    project.suite(3, "raise RuntimeError('broken')")
    thresholds(project, "metrics.anything = { min = 0.6 }")
    assert "5 passed" in project.run("kernels").stdout.str()


def test_compat(project: Project) -> None:
    thresholds(project, "metrics.score = { min = 0.6 }\nzzz = 1")
    assert project.run("kernels").ret == 1
    run = project.run("bench_sums.py", "--bench-model=demo:1", "--bench-kernels-compat", process=True)
    assert run.ret == 0
    assert "strict reading would add 0 problems" in run.stdout.str()
    assert project.run("kernels", "--bench-kernels-compat", process=True).ret == 0

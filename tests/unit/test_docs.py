"""Documentation that is checked: options, commands, the suite of the README."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from pytest_benchkit.settings import definitions

ROOT = Path(__file__).parents[2]


def text(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_every_option_is_documented(pytester: pytest.Pytester) -> None:
    from pytest_benchkit.plugin.options import add_options

    options: list[str] = []

    class Group:
        def addoption(self, *names: str, **kwargs: object) -> None:
            options.extend(names)

    class Parser:
        def getgroup(self, *args: object) -> Group:
            return Group()

        def addini(self, *args: object, **kwargs: object) -> None:
            pass

    add_options(Parser())  # type: ignore[arg-type]
    documented = set(re.findall(r"`(--bench[a-z-]*)", text("docs/options.md")))
    assert set(options) - documented == set()
    assert documented - set(options) == set()


def test_settings_table_is_the_code_s() -> None:
    page = text("docs/options.md")
    for row in definitions():
        line = next((x for x in page.splitlines() if x.startswith(f"| `{row.name}`")), None)
        assert line is not None, f"docs/options.md has no row for {row.name}"
        assert row.help.split(":")[0][:20] in line, row.name


@pytest.mark.parametrize("name", ["run", "tests"])
def test_the_two_commands_are_one_line_each(name: str) -> None:
    lines = text("README.md").split(f"<!-- command: {name} -->\n")[1].splitlines()
    assert lines[0] == "```sh"
    assert lines[1].startswith("python3 -m venv .venv && ")
    assert lines[2] == "```"


def test_the_suite_of_the_readme_works(pytester: pytest.Pytester) -> None:
    code = re.findall(r"```python\n(# bench_tips.py\n.*?)```", text("README.md"), re.S)[0]
    (pytester.path / "bench_tips.py").write_text(code)
    result = pytester.runpytest_subprocess("--bench=tips", "--bench-model=demo")
    assert result.ret == 0
    assert sum(result.parseoutcomes().values()) == 2


def test_the_suite_of_the_guide_works(pytester: pytest.Pytester) -> None:
    page = text("docs/write-a-suite.md")
    suite, *_ = re.findall(r"```python\n(from pytest_benchkit import Reply.*?)```", page, re.S)
    rows = re.findall(r"```\n(\{.*?)```", page, re.S)[0]
    (pytester.path / "bench_tips.py").write_text(suite)
    (pytester.path / "tips.jsonl").write_text(rows)
    result = pytester.runpytest_subprocess("--bench=tips", "--bench-model=demo:1")
    assert result.parseoutcomes() == {"passed": 2}


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").glob("*.md")]:
        for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name} links to {target}"


def test_the_conformance_table_has_every_comparison() -> None:
    """The page holds one row for each module of ``tests/conformance``, and none says that they disagree."""
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text("docs/conformance.md").splitlines()
        if line.startswith("| ") and not line.startswith("| suite")
    ]
    modules = (ROOT / "tests" / "conformance").glob("test_*.py")
    compared = {path.stem.removeprefix("test_").replace("_", "-") for path in modules}
    assert {row[0] for row in rows} == compared
    assert all(row[3] == "0" for row in rows)
    assert all(int(row[2].replace(",", "")) > 1000 for row in rows)

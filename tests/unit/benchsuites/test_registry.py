from __future__ import annotations

import subprocess
import sys
from importlib.metadata import EntryPoint
from typing import TYPE_CHECKING

import pytest

from pytest_benchkit import registry
from pytest_benchkit.errors import SuiteError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

SUITE = """
from pytest_benchkit.datasets import Rows
from pytest_benchkit.score import Score
from pytest_benchkit.scoring.suites import ChoiceSuite
from pytest_benchkit.suite import Suite

class Base(Suite):
    pass

class Mine(Base):
    "Mine: a suite of a project."
    key = "mine"
    data = Rows([{"q": 1}])
    def prompt(self, task): return "?"
    def score(self, task, reply): return Score(1)

Again = Mine
"""


@pytest.fixture(autouse=True)
def fresh() -> Iterator[None]:
    registry.installed_suites.cache_clear()
    yield
    registry.installed_suites.cache_clear()


def entries(monkeypatch: pytest.MonkeyPatch, *found: EntryPoint) -> None:
    monkeypatch.setattr(registry, "entry_points", lambda group: found)


def test_finding_imports_no_suite() -> None:
    code = (
        "import sys; from pytest_benchkit.registry import installed_suites as found\n"
        "assert 'gsm8k' in found()\n"
        "print([name for name in sys.modules if name.startswith('benchsuites.') or name in "
        "('httpx', 'aiohttp', 'pydantic', 'pyarrow', 'numpy', 'pytest')])"
    )
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout == "[]\n"


def test_keys_come_from_file_names_in_order() -> None:
    found = registry.installed_suites()
    assert list(found) == sorted(found)
    ref = found["mmlu-pro"]
    assert (ref.path.name, ref.origin) == ("bench_mmlu_pro.py", "ours")


def test_suite_of_an_installed_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_suites.py").write_text(SUITE)
    monkeypatch.syspath_prepend(str(tmp_path))
    entries(monkeypatch, EntryPoint("mine", "their_suites", registry.GROUP))
    ref = registry.installed_suites()["mine"]
    assert (ref.path, ref.origin) == (tmp_path / "their_suites.py", "their_suites")
    assert registry.find_suite("mine").describe() == "Mine: a suite of a project."


def test_two_owners_of_one_key_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "their_gsm8k.py").write_text(SUITE)
    monkeypatch.syspath_prepend(str(tmp_path))
    entries(monkeypatch, EntryPoint("gsm8k", "their_gsm8k", registry.GROUP))
    with pytest.raises(SuiteError, match="'gsm8k' is claimed by ours and by their_gsm8k"):
        registry.installed_suites()


def test_entry_point_without_module_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    entries(monkeypatch, EntryPoint("x", "no_such_module_here", registry.GROUP))
    with pytest.raises(SuiteError, match="no_such_module_here does not exist"):
        registry.installed_suites()


def test_file_is_imported_once_under_a_stable_name(tmp_path: Path) -> None:
    path = tmp_path / "bench_mine.py"
    path.write_text(SUITE)
    first = registry.load_suites(path)
    assert [suite.key for suite in first] == ["mine"]
    assert registry.load_suites(path)[0] is first[0]
    assert sys.modules[first[0].__module__].__dict__["Mine"] is first[0]
    other = tmp_path / "other" / "bench_mine.py"
    other.parent.mkdir()
    other.write_text(SUITE)
    assert registry.load_suites(other)[0].__module__ != first[0].__module__


def test_shipped_file_keeps_its_package_name() -> None:
    ref = registry.installed_suites()["gsm8k"]
    assert registry.load_suites(ref.path)[0].__module__ == "benchsuites.bench_gsm8k"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("x = 1", "defines no suite"),
        (SUITE.replace('    key = "mine"\n', ""), "Mine has no 'key'"),
        (SUITE.replace('    data = Rows([{"q": 1}])\n', ""), "Mine has no 'data'"),
    ],
)
def test_file_without_a_whole_suite_is_told(tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "bench_bad.py"
    path.write_text(text)
    with pytest.raises(SuiteError, match=told):
        registry.load_suites(path)


def test_error_of_the_file_passes_and_leaves_no_half_module(tmp_path: Path) -> None:
    path = tmp_path / "bench_broken.py"
    path.write_text("raise ZeroDivisionError('of theirs')")
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="of theirs"):
            registry.load_suites(path)
    assert not [name for name in sys.modules if "bench_broken" in name]


def test_unknown_key_is_told() -> None:
    with pytest.raises(SuiteError, match="no suite 'nope' is installed"):
        registry.find_suite("nope")

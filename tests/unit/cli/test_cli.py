from __future__ import annotations

import hashlib
import json
import subprocess
import sys
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from pytest_benchkit import cli
from pytest_benchkit.commands import datasets
from pytest_benchkit.datasets import catalog, readers
from pytest_benchkit.datasets.files import WebFile
from pytest_benchkit.datasets.sources import Route
from tests.unit.datasets.hubserver import HubServer

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from pytest_benchkit.datasets.sources import Dataset

TEXT = b'{"question": "q", "answer": "#### 1"}\n'


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("BENCHKIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache"


@pytest.fixture
def hub(monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    monkeypatch.setattr("pytest_benchkit.datasets.download.FIRST_WAIT_S", 0.01)
    with HubServer() as server:
        yield server


@pytest.fixture
def two(hub: HubServer, monkeypatch: pytest.MonkeyPatch) -> list[Dataset]:
    """Two small data sets on a local server instead of the catalog."""
    made = []
    for name in ("first", "second"):
        hub.files[f"/{name}.jsonl"] = TEXT
        file = WebFile(f"{hub.url}/{name}.jsonl", hashlib.sha256(TEXT).hexdigest(), len(TEXT))
        route = Route((file,), readers.gsm8k, "0" * 40)
        made.append(replace(catalog.GSM8K, name=name, mirrors=(), origins=(route,), rows=1, rows_sha256=None))
    monkeypatch.setattr(datasets, "known_datasets", lambda: {data.name: data for data in made})
    return made


def run(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    code = cli.main(words)
    told = capsys.readouterr()
    return code, told.out, told.err


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "--version")
    assert code == 0
    assert out.startswith("benchkit ")


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("nope",),
        ("list", "--nope"),
        ("list", "a", "b"),
        ("list", "--js"),
        ("datasets", "nope"),
        ("models",),
        ("models", "install"),
    ],
)
def test_wrong_usage_is_refused(capsys: pytest.CaptureFixture[str], words: tuple[str, ...]) -> None:
    code, out, err = run(capsys, *words)
    assert (code, out) == (2, "")
    assert "usage: benchkit" in err


def test_list_shows_every_suite_and_loads_no_rows(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "list")
    assert code == 0
    lines = {line.split()[0]: line for line in out.splitlines()}
    assert "14,042" in lines["mmlu"]
    assert "missing" in lines["gsm8k"]
    assert "CC BY 4.0" in lines["gpqa"]
    assert "1,000" in lines["hellaswag:activitynet-1000"]
    code, out, _ = run(capsys, "list", "GRADE-school", "--json")
    found = json.loads(out)["suites"]
    assert [fact["key"] for fact in found] == ["arc", "gsm8k"]
    assert (found[1]["tasks"], found[1]["in_overall"], found[1]["source"]) == (1319, True, "ours")
    assert run(capsys, "list", "zebra")[0] == 1


def test_list_shows_the_suites_of_the_folder(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bench_mine.py").write_text(
        "from pytest_benchkit import Reply, Score, Suite, Task\n"
        "from pytest_benchkit.datasets import Rows\n\n\n"
        'class Mine(Suite):\n    """Mine: of this folder."""\n\n    key = "mine"\n'
        '    data = Rows([{"q": 1}])\n\n'
        "    def prompt(self, task: Task) -> str:\n        return str(task['q'])\n\n"
        "    def score(self, task: Task, reply: Reply) -> Score:\n        return Score(1.0, reply.answer)\n"
    )
    (tmp_path / "bench_bad.py").write_text("import nosuch  # pytest_benchkit\n")
    (tmp_path / "bench_other.py").write_text("raise SystemExit(9)\n")
    assert cli.main(["list", "mine"]) == 0
    printed = capsys.readouterr()
    assert "project file" in printed.out
    assert "perturbations" not in printed.out  # a column that no row fills
    assert "bench_bad.py is left out: ModuleNotFoundError" in printed.err


def test_datasets_shows_states_and_the_command_for_the_missing(
    capsys: pytest.CaptureFixture[str], two: list[Dataset]
) -> None:
    run(capsys, "datasets", "install", "first")
    code, out, _ = run(capsys, "datasets")
    assert code == 0
    assert out.splitlines()[-1] == "get them: benchkit datasets install second"
    code, out, _ = run(capsys, "datasets", "--json")
    facts = {fact["key"]: fact for fact in json.loads(out)["datasets"]}
    assert (facts["first"]["state"], facts["second"]["state"]) == ("installed", "missing")
    assert facts["second"]["bytes"] == len(TEXT)
    assert len(facts["first"]["rows_sha256"]) == 64
    command = "datasets install second".split()  # noqa: SIM905
    assert run(capsys, *command)[0] == 0
    assert "not installed" not in run(capsys, "datasets")[1]


def test_datasets_tells_what_to_know_about_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capsys, "datasets")
    assert code == 0
    assert "gpqa: the authors ask not to post examples in plain text" in out
    assert "get them: benchkit datasets install gsm8k arc hellaswag" in out


def test_install_goes_on_after_a_failure(
    capsys: pytest.CaptureFixture[str], two: list[Dataset], hub: HubServer
) -> None:
    del hub.files["/first.jsonl"]
    code, out, err = run(capsys, "datasets", "install")
    assert code == 1
    assert "second: 1 rows installed" in out
    assert "first.jsonl" in err
    assert "by hand" in err
    hub.files["/first.jsonl"] = TEXT
    code, out, _ = run(capsys, "datasets", "install", "--all")
    assert code == 0
    assert "second: already there" in out
    assert run(capsys, "datasets", "install", "nope", "second")[0] == 1


def test_gated_data_is_left_out_unless_asked_for(
    capsys: pytest.CaptureFixture[str], two: list[Dataset], monkeypatch: pytest.MonkeyPatch
) -> None:
    gated = replace(two[0], origins=(replace(two[0].origins[0], gated=True),))
    monkeypatch.setattr(datasets, "known_datasets", lambda: {"first": gated, "second": two[1]})
    _, out, _ = run(capsys, "datasets", "install")
    assert "first" not in out
    _, out, _ = run(capsys, "datasets", "install", "--all")
    assert "first: 1 rows installed" in out


def test_verify_finds_one_flipped_byte(capsys: pytest.CaptureFixture[str], two: list[Dataset]) -> None:
    run(capsys, "datasets", "install")
    code, out, _ = run(capsys, "datasets", "verify")
    assert (code, out) == (0, "first: good\nsecond: good\n")
    rows = two[0].folder / "rows.jsonl"
    rows.write_bytes(rows.read_bytes().replace(b'"q"', b'"p"'))
    code, out, err = run(capsys, "datasets", "verify")
    assert (code, out) == (1, "second: good\n")
    assert str(rows) in err
    assert "damaged" in err


def test_known_names_are_data_sets_suites_and_variants() -> None:
    known = datasets.known_datasets()
    assert known["hellaswag:activitynet-1000"] is known["hellaswag/activitynet-1000"]
    assert known["gsm8k"] is catalog.GSM8K


def test_suites_made_of_several_data_sets_stand_for_all_of_them() -> None:
    several = datasets.made_of_several()
    assert catalog.GSM8K in several["sanity"]
    assert several["ruler"] == several["ruler-full"]
    assert several["ruler"][-1] is catalog.RULER_WORDS
    chosen, bad = datasets._chosen(["ruler", "gsm8k"], datasets.known_datasets())
    assert (chosen, bad) == ([*several["ruler"], catalog.GSM8K], 0)
    assert datasets._chosen(["gsm8k", "nothing"], datasets.known_datasets()) == ([catalog.GSM8K], 1)


def test_unknown_model_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capsys, "models", "install", "nope")
    assert code == 2
    assert "no embedded model 'nope'" in err


def test_start_is_quick_and_loads_no_heavy_library() -> None:
    code = (
        "import sys; from pytest_benchkit.cli import main; main(['list'])\n"
        "heavy = ('httpx', 'aiohttp', 'pydantic', 'pyarrow', 'numpy', 'pytest')\n"
        "print([name for name in heavy if name in sys.modules], file=sys.stderr)"
    )
    spent = []
    for _ in range(3):
        start = time.perf_counter()
        told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        spent.append(time.perf_counter() - start)
        assert told.stderr == "[]\n"
    assert min(spent) < 1.0  # 0.2 s on a quiet machine; the bound is for a busy one


def test_reader_that_leaves_early_is_no_traceback() -> None:
    told = subprocess.run(
        f"{sys.executable} -m pytest_benchkit.cli list --json | head -c 10",
        shell=True,
        capture_output=True,
        text=True,
    )
    assert told.stderr == ""

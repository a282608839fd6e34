"""The run folder: durable lines, torn lines, final rows, the lock."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pytest_benchkit.errors import StoreError, StoreLocked
from pytest_benchkit.runs import lock
from pytest_benchkit.runs.journal import Journal, Tail
from pytest_benchkit.runs.plain import line, parse, plain
from pytest_benchkit.runs.record import json_schema, key_of, parts_of, validate
from pytest_benchkit.runs.store import (
    Ledger,
    RunStore,
    iter_records,
    new_run_dir,
    read_info,
    read_ledger,
    read_lengths,
)


def record(task: str = "0", outcome: str = "correct", ask: str = "a", **fields: Any) -> dict[str, Any]:
    if outcome not in ("harness_error", "skipped", "contaminated"):
        fields.setdefault("score", 1.0 if outcome == "correct" else 0.0)
    return {
        "key": key_of("s", task, "m"),
        "v": 1,
        "suite": "s",
        "task_id": task,
        "model": "m",
        "harness": "direct",
        "perturbation": "none",
        "repeat": 0,
        "index": 0,
        "ask_id": ask,
        "fingerprint": "f",
        "outcome": outcome,
        "reason": "r",
        "flags": [],
        "started_at": "t",
        "finished_at": "t",
        "session": 0,
        "worker": "main",
        **fields,
    }


def test_records_come_back(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    store.append(record("0", score=1.0))
    store.append(record("1", "incorrect", score=0.0))
    store.close()
    again = RunStore(tmp_path)
    assert {row["task_id"]: row["outcome"] for row in again.ledger.rows.values()} == {
        "0": "correct",
        "1": "incorrect",
    }
    again.close()
    assert not (tmp_path / "lock").exists()


def test_every_cut_and_every_flipped_byte_keeps_the_good_lines(tmp_path: Path) -> None:
    lines = [line(record(str(n))) for n in range(3)]
    whole = b"".join(lines)
    ends = [sum(map(len, lines[: n + 1])) for n in range(3)]
    for cut in range(len(whole) + 1):
        (tmp_path / "records.jsonl").write_bytes(whole[:cut])
        rows = read_ledger(tmp_path).rows
        assert len(rows) == sum(cut >= end - 1 for end in ends)  # only the LF may be missing
    for place in range(0, len(whole), 7):
        broken = bytearray(whole)
        broken[place] ^= 0xFF
        (tmp_path / "records.jsonl").write_bytes(bytes(broken))
        ledger = read_ledger(tmp_path)
        assert len(ledger.rows) >= 1
        assert len(ledger.rows) + ledger.damaged >= 2


def test_a_line_after_a_torn_one_counts(tmp_path: Path) -> None:
    (tmp_path / "records.jsonl").write_bytes(line(record("0")) + b'{"key": "half')
    store = RunStore(tmp_path)
    store.append(record("1"))
    store.close()
    ledger = read_ledger(tmp_path)
    assert len(ledger.rows) == 2
    assert ledger.damaged == 1


@pytest.mark.parametrize(
    "fault",
    [
        '"score": Infinity',
        '"score": NaN',
        '"score": 1e999',
        '"score": 2',
        '"score": true',
        '"score": "1"',
        '"also": "first"',
        '"also": [{"rule": "r"}]',
        '"also": [{"rule": "r", "score": NaN}]',
        '"usage": {"output_tokens": [3]}',
        '"usage": {"output_tokens": 1e999}',
        '"timing": {"e2e_ms": "7"}',
        '"timing": {"server": {"prompt_ms": null}}',
        '"ask": {"tries": "one"}',
        '"ask": {"retries": 3}',
        '"attempts": [7]',
        '"attempts": [{"score": -1e999}]',
        '"decision": {"brier": 0.1}',
        '"loop": {"state": 3, "killed": false}',
        '"loop": "looping"',
        '"error": {"kind": []}',
        '"error": "http"',
        '"flags": [[]]',
        '"repeat": -1',
        '"repeat": 0.5',
        '"session": "0"',
        '"category": ["a"]',
        '"group": {}',
        '"detail": {}',
        '"outcome": []',
        '"outcome": "great"',
        '"harness": null',
        '"perturbed": {"gold_before": []}',
        '"reply": 3',
    ],
)
def test_rows_of_wrong_types_are_damaged_lines(tmp_path: Path, fault: str) -> None:
    good = line(record("0"))
    bad = line(record("1")).strip()[:-1] + b"," + fault.encode() + b"}\n"
    (tmp_path / "records.jsonl").write_bytes(good + bad)
    ledger = read_ledger(tmp_path)
    assert ([row["task_id"] for row in ledger.rows.values()], ledger.damaged) == (["0"], 1)
    assert [found["task_id"] for found in iter_records(tmp_path)] == ["0"]
    (tmp_path / "records.jsonl").unlink()
    (tmp_path / "spool").mkdir()
    (tmp_path / "spool" / "gw0.jsonl").write_bytes(good + bad)
    store = RunStore(tmp_path)
    assert (len(store.ledger.rows), store.ledger.damaged) == (1, 1)
    store.close()


def test_a_counted_row_without_a_score_is_damaged(tmp_path: Path) -> None:
    broken = record("0")
    del broken["score"]
    (tmp_path / "records.jsonl").write_bytes(line(broken) + line(record("1", "skipped")))
    assert len(read_ledger(tmp_path).rows) == 1


@pytest.mark.parametrize(
    ("outcomes", "final", "superseded"),
    [
        (["correct", "harness_error"], "correct", 1),
        (["harness_error", "correct"], "correct", 1),
        (["incorrect", "correct"], "correct", 1),
        (["harness_error", "harness_error"], "harness_error", 1),
        (["skipped", "incorrect", "harness_error"], "incorrect", 2),
    ],
)
def test_the_last_line_counts_but_an_error_replaces_no_score(
    outcomes: list[str], final: str, superseded: int
) -> None:
    ledger = Ledger()
    for number, outcome in enumerate(outcomes):
        ledger.add(record(outcome=outcome, ask=str(number)))
    assert [row["outcome"] for row in ledger.rows.values()] == [final]
    assert ledger.superseded == superseded


def test_spools_are_folded_once(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    spool = Journal(store.spool / "gw0-0.jsonl")
    spool.append(line(record("0")))
    assert store.fold_spools() == 1
    assert store.fold_spools() == 0
    spool.append(line(record("1")))
    spool.close()
    store.close()  # the controller dies here as well as it can: the spool stays
    again = RunStore(tmp_path)
    assert len(again.ledger.rows) == 2
    assert not (tmp_path / "spool").exists()
    again.close()
    assert len((tmp_path / "records.jsonl").read_bytes().splitlines()) == 2


def test_a_live_owner_is_refused_and_a_dead_one_replaced(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib; from pytest_benchkit.runs import lock\n"
        "lock.acquire(pathlib.Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    )
    owner = subprocess.Popen(
        [sys.executable, "-c", code, str(tmp_path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    assert owner.stdout.readline() == "held\n"
    with pytest.raises(StoreLocked, match=f"process {owner.pid}"):
        lock.acquire(tmp_path)
    owner.kill()
    owner.communicate()
    said: list[str] = []
    lock.acquire(tmp_path, said.append)
    assert str(owner.pid) in said[0]


def test_a_torn_lock_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "lock").write_text('{"pid": 1')
    assert lock.acquire(tmp_path).exists()


def test_folder_names_never_clash(tmp_path: Path) -> None:
    names = {new_run_dir(tmp_path).name for _ in range(50)}
    assert len(names) == 50


def test_run_json_of_a_newer_schema_is_refused(tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text('{"schema": 2}')
    with pytest.raises(StoreError, match="schema 2, newer"):
        read_info(tmp_path)
    (tmp_path / "run.json").write_text("{")
    with pytest.raises(StoreError, match="cannot be read"):
        read_info(tmp_path)


def test_lengths_come_from_the_index(tmp_path: Path) -> None:
    store = RunStore(tmp_path)
    store.append(record("0", usage={"output_tokens": 12}))
    store.append(record("1", timing={"e2e_ms": 7.5}))
    store.append(record("2"))
    store.write_index()
    store.close()
    assert read_lengths(tmp_path) == {key_of("s", "0", "m"): 12.0, key_of("s", "1", "m"): 7.5}


def test_unwritable_folder_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot make the run folder"):
        RunStore(tmp_path / "file" / "run")


def test_tail_leaves_half_a_line(tmp_path: Path) -> None:
    path = tmp_path / "x"
    tail = Tail(path)
    assert list(tail.lines()) == []
    path.write_bytes(b"one\ntw")
    assert list(tail.lines()) == [b"one"]
    with path.open("ab") as file:
        file.write(b"o\n")
    assert list(tail.lines()) == [b"two"]


def test_appended_lines_survive_kill_9(tmp_path: Path) -> None:
    code = (
        "import sys, pathlib, os, itertools; from pytest_benchkit.runs.journal import Journal\n"
        "journal = Journal(pathlib.Path(sys.argv[1]))\n"
        "for n in itertools.count():\n"
        "    journal.append(b'%d\\n' % n)\n"
        "    os.write(1, b'%d\\n' % n)\n"
    )
    path = tmp_path / "records.jsonl"
    writer = subprocess.Popen([sys.executable, "-c", code, str(path)], stdout=subprocess.PIPE)
    assert writer.stdout is not None
    told = b""
    while told.count(b"\n") < 200:
        told += os.read(writer.stdout.fileno(), 4096)
    writer.kill()
    with writer.stdout as rest:
        told += rest.read()
    writer.wait()
    numbers = [int(n) for n in told.split(b"\n")[:-1]]
    lines = path.read_bytes().split(b"\n")[:-1]
    assert [int(n) for n in lines][: len(numbers)] == numbers


def test_schema_is_published_and_checks() -> None:
    schema = json_schema()
    assert "key" in schema["required"]
    validate(record(score=1.0, usage={"input_tokens": 3, "source": "usage"}))
    with pytest.raises(ValueError, match="outcome"):
        validate({**record(), "outcome": 3})


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


def test_integers_beyond_64_bits_are_text() -> None:
    assert plain([2**64 - 1, 2**64, -(2**63), -(2**63) - 1]) == [
        2**64 - 1,
        str(2**64),
        -(2**63),
        str(-(2**63) - 1),
    ]
    assert plain(10**5000).startswith("0x")


@given(JSON)
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_anything_plain_is_one_line_that_comes_back(value: Any) -> None:
    data = line({"v": plain(value)})
    assert data.endswith(b"\n")
    assert data.count(b"\n") == 1
    data.decode("utf-8")
    assert parse(data)["v"] == plain(value)
    json.loads(data, parse_constant=lambda word: pytest.fail(f"{word} in JSON"))


@given(st.text(), st.text(), st.text())
def test_keys_are_unambiguous(suite: str, task: str, model: str) -> None:
    key = key_of(suite, task, model, "direct", "none", 3)
    assert parts_of(key) == [suite, task, model, "direct", "none", "3"]

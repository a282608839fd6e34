"""How rows are handed to xdist workers: windows of work, order, and what a dead worker leaves."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

import pytest
from xdist.scheduler import LoadScheduling

from pytest_benchkit.engine.plan import Verdict
from pytest_benchkit.plugin import running
from pytest_benchkit.plugin.planning import read_plan
from pytest_benchkit.runs.record import parts_of
from pytest_benchkit.runs.store import now_text

if TYPE_CHECKING:
    from pytest_benchkit.plugin.session import BenchSession
    from pytest_benchkit.runs.record import TaskRecord

WINDOW_SHARES = 2
"""Rows a worker holds, in shares of the request slots: one share in flight, one to go on with."""
LEAST_WINDOW = 8


class BenchScheduling(LoadScheduling):  # type: ignore[misc]
    """Load scheduling with a window of work per worker, in the order in which rows should be asked."""

    def __init__(self, config: pytest.Config, log: Any, bench: BenchSession) -> None:
        super().__init__(config, log)
        self.collection: list[str] | None = None
        self._bench = bench
        count = max(1, len(config.option.tx))
        most = max((ready.capacity for ready in bench.prepared), default=1)
        self._window = max(LEAST_WINDOW, WINDOW_SHARES * -(-most // count) + 2)
        self._key_by_id: dict[str, str] = {}
        self._turns: list[tuple[str, int] | None] = []
        self._left: Counter[tuple[str, int] | None] = Counter()

    def key_of(self, nodeid: str) -> str | None:
        """The record key of an item."""
        if not self._key_by_id and self.collection is not None:
            pairs = zip(self.collection, self._bench.plan_keys, strict=False)
            self._key_by_id = {item: key for item, key in pairs if key is not None}
        return self._key_by_id.get(nodeid)

    def schedule(self) -> None:
        if self.collection is not None:
            for node in self.nodes:
                self.check_schedule(node)
            return
        if not self._check_nodes_have_same_collection():
            return
        self.collection = next(iter(self.node2collection.values()))
        read_plan(self._bench)
        self.pending[:] = self._order()
        self._turns = self._turns_of(self._bench.plan_keys)
        self._left = Counter(self._turns)
        for node in self.nodes:
            self.check_schedule(node)
        if not self.pending:
            for node in self.nodes:
                node.shutdown()

    def _order(self) -> list[int]:
        """Longest expected first where lengths are known; models one after the other as collected."""
        places = list(range(len(self.collection or ())))
        lengths, keys = self._bench.lengths, self._bench.plan_keys
        if not lengths or len(keys) != len(places) or len(self._bench.model_names) > 1:
            return places
        typical = sorted(lengths.values())[len(lengths) // 2]
        return sorted(places, key=lambda place: -lengths.get(keys[place] or "", typical))

    def check_schedule(self, node: Any, duration: float = 0) -> None:
        if node.shutting_down:
            return
        if self.pending:
            missing = self._window - len(self.node2pending[node])
            if missing > 0:
                self._send_in_turn(node, missing)
        else:
            node.shutdown()

    def mark_test_complete(self, node: Any, item_index: int, duration: float = 0) -> None:
        turn = self._turns[item_index] if self._turns else None
        if turn is not None:
            self._left[turn] -= 1
        super().mark_test_complete(node, item_index, duration)
        if turn is not None and not self._left[turn]:
            for other in self.node2pending:  # the next model's turn: everyone may have rows again
                self.check_schedule(other)

    def _turns_of(self, keys: list[str | None]) -> list[tuple[str, int] | None]:
        """(endpoint, turn) of each item: models of one endpoint are measured one after the other."""
        prepared = self._bench.prepared
        turns = {
            ready.name: (ready.endpoint, sum(other.endpoint == ready.endpoint for other in prepared[:place]))
            for place, ready in enumerate(prepared)
        }
        if not any(turn for _, turn in turns.values()):
            return []
        return [turns[parts_of(key)[2]] if key is not None else None for key in keys]

    def _send_in_turn(self, node: Any, count: int) -> None:
        if not self._turns:
            self._send_tests(node, count)
            return
        chosen = []
        for place in self.pending:
            turn = self._turns[place]
            if turn is not None and turn[1] and self._left[(turn[0], turn[1] - 1)]:
                continue
            chosen.append(place)
            if len(chosen) == count:
                break
        if chosen:
            taken = set(chosen)
            self.pending[:] = [place for place in self.pending if place not in taken]
            self.node2pending[node].extend(chosen)
            node.send_runtest_some(chosen)

    def remove_node(self, node: Any) -> str | None:
        """Gives a dead worker's rows to others. What it had finished is in its spool and only reported;
        the first that was not is the one blamed."""
        places = self.node2pending.pop(node)
        bench, store = self._bench, self._bench.store
        if store is None or self.collection is None or not places:
            return None
        store.fold_spools()
        left = []
        for place in places:
            nodeid = self.collection[place]
            row = store.ledger.rows.get(self.key_of(nodeid) or "")
            if row is None or row.get("session") != bench.session_number:
                left.append(place)
                continue
            if self._turns:
                self._left[self._turns[place]] -= 1
            location = (nodeid.partition("::")[0], None, nodeid.partition("::")[2])
            report = running.report_of(nodeid, location, Verdict.of(row, stored=True), bench.options.strict)
            bench.config.hook.pytest_runtest_logreport(report=report)
        if not left:
            return None
        blamed = left.pop(0)
        if self._turns:
            self._left[self._turns[blamed]] -= 1
        crashed: str = self.collection[blamed]
        self.pending[:0] = left
        for other in self.node2pending:
            self.check_schedule(other)
        return crashed


def lost_record(key: str, words: str, session: int) -> TaskRecord:
    """The record of a row whose worker died while it was in flight: an error, asked again on resume."""
    suite, task_id, model, harness, perturbation, repeat = parts_of(key)
    now = now_text()
    return {
        "key": key,
        "v": 1,
        "suite": suite,
        "task_id": task_id,
        "model": model,
        "harness": harness,
        "perturbation": perturbation,
        "repeat": int(repeat),
        "index": -1,
        "ask_id": f"lost-{now}",
        "fingerprint": "",
        "outcome": "harness_error",
        "detail": "worker_lost",
        "reason": f"worker_lost: {words}"[:160],
        "flags": [],
        "error": {"kind": "worker_lost", "message": words[:2000], "retryable": False},
        "started_at": now,
        "finished_at": now,
        "session": session,
        "worker": "controller",
    }

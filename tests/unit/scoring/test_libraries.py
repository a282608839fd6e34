"""Libraries that scorers import at first use, by many threads at once."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from pytest_benchkit.scoring.libraries import Once, library

AT_ONCE = """
import sys, threading
from pytest_benchkit.datasets.entries.ifeval import IFEVAL
from pytest_benchkit.scoring import ifeval

MODEL = {
    "abbrev_types.txt": "dr", "collocations.tab": "##number##\\trj", "sent_starters.txt": "he",
    "ortho_context.tab": "smith\\t4",
}
type(IFEVAL).companion = lambda source, name: MODEL[name].encode()
ASKED = {
    "length_constraints:number_sentences": {"relation": "at least", "num_sentences": 2},
    "change_case:capital_word_frequency": {"capital_relation": "at least", "capital_frequency": 1},
    "language:response_language": {"language": "en"},
}
sys.setswitchinterval(1e-5)
barrier, found = threading.Barrier(16), []

def score(turn):
    ids = list(ASKED)[turn % 3:] + list(ASKED)[: turn % 3]
    barrier.wait()
    try:
        text = "This is a plain English sentence. HERE is another one."
        made = ifeval.score(text, ids, [ASKED[id] for id in ids])
        found.append((made.value, made.flags))
    except BaseException as error:
        found.append(repr(error))

threads = [threading.Thread(target=score, args=(turn,)) for turn in range(16)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(map(str, set(map(str, found)))), len(found))
"""


def test_sixteen_threads_score_at_once_in_a_fresh_process() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", AT_ONCE], capture_output=True, text=True, check=True, timeout=120
    )
    assert ran.stdout.strip() == "['(1.0, ())'] 16", ran.stderr


def test_a_value_is_made_once_while_the_others_wait() -> None:
    made: list[int] = []

    @Once
    def slow() -> int:
        time.sleep(0.05)
        made.append(1)
        return len(made)

    barrier = threading.Barrier(8)

    def use(_: int) -> int:
        barrier.wait()
        return slow()

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(use, range(8))) == [1] * 8
    slow.cache_clear()
    assert slow() == 2


def test_what_raised_is_tried_again() -> None:
    failures = [ImportError("not yet")]

    @Once
    def made() -> str:
        if failures:
            raise failures.pop()
        return "made"

    with pytest.raises(ImportError, match="not yet"):
        made()
    assert made() == "made"


def test_a_library_that_is_not_there() -> None:
    assert library("json.decoder").JSONDecodeError
    with pytest.raises(ModuleNotFoundError):
        library("no_such_library_of_ours")

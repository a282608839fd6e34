"""``python -m tests.benchmarks.loops N``: what the loop detector takes for a reply of N tokens.

Prints JSON: CPU in us a token and memory in MB of one stream, and how much more a token costs in the last
quarter than in the first. The best of five; all lanes and global signals together.
"""

from __future__ import annotations

import json
import sys
import time
import tracemalloc

from pytest_benchkit.engine.loops.watch import Watch
from tests.support.loop_texts import INNOCENT, LOOPS, prose

CHARACTERS = 4
"""Of a token, about as many as those of English."""


def tokens(text: str, count: int) -> list[str]:
    text *= -(-count * CHARACTERS // len(text))
    return [text[n * CHARACTERS : (n + 1) * CHARACTERS] for n in range(count)]


def quarters(pieces: list[str]) -> list[float]:
    """CPU seconds of each quarter of a stream."""
    watch, size = Watch(0), len(pieces) // 4
    found = []
    for start in range(0, 4 * size, size):
        before = time.process_time()
        for piece in pieces[start : start + size]:
            watch.see((("answer", piece),))
        found.append(time.process_time() - before)
    return found


def main() -> None:
    count = int(sys.argv[1])
    texts = {
        "prose": prose(count),
        "a loop": LOOPS["one sentence"],
        "numbers": INNOCENT["numbers to 3,000"][0],
        "code": INNOCENT["code with 300 lines built alike"][0],
    }
    told = {}
    for name, text in texts.items():
        pieces = tokens(text, count)
        runs = [quarters(pieces) for _ in range(5)]
        best = [min(run[n] for run in runs) for n in range(4)]
        told[name] = {"us": sum(best) / count * 1e6, "growth": best[3] / best[0]}
    pieces = tokens(texts["prose"], count)
    tracemalloc.start()
    watch = Watch(0)
    for piece in pieces:
        watch.see((("answer", piece), ("thinking", piece)))
    told["memory"] = {"mb": tracemalloc.get_traced_memory()[1] / 1e6}
    print(json.dumps(told))


if __name__ == "__main__":
    main()

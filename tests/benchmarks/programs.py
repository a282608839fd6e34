"""``python -m tests.benchmarks.programs N``: judges N programs and prints CPU and wall ms for each.

The CPU is that of every process: this one, bubblewrap's, the workers', the judges'. Only a control group
counts them all, for most are killed and waited for by nobody; of version 1, where groups of ours lie inside
it.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ThreadPoolExecutor

from pytest_benchkit.sandbox import cgroups, pool
from pytest_benchkit.sandbox.limits import Limits
from pytest_benchkit.scoring.programs import Program, Verdict, run
from pytest_benchkit.scoring.programs_trials import checked

NOTHING_LIMITED = Limits(memory=1 << 50, processes=100_000)
STUB = (
    "from typing import List\n\n\ndef has_close(numbers: List[float], threshold: float) -> bool:\n"
    '    """ Whether two of the numbers are closer than the threshold. """\n'
)
BODY = (
    "    for i, a in enumerate(numbers):\n        for b in numbers[i + 1:]:\n"
    "            if abs(a - b) < threshold:\n                return True\n    return False\n"
)
TEST = (
    "def check(candidate):\n"
    + "".join(f"    assert candidate([1.0, 2.0, {n}.5], 0.6) == {n in (1, 2, 0)}\n" for n in range(5))
    + "    assert candidate([1.0, 5.0], 0.5) == False\n    assert candidate([], 1.0) == False\n"
)


def judge(number: int) -> Verdict:
    return run(Program(STUB + BODY, "has_close"), checked(STUB, "has_close", TEST))


def main() -> None:
    count = int(sys.argv[1])
    tree = cgroups.find()
    if tree is None or tree.version != 1:
        raise SystemExit("no control groups of version 1 can be made here")
    group = tree.group(f"{cgroups.PREFIX}{os.getpid()}-all")
    group.enter(os.getpid(), NOTHING_LIMITED)
    judge(0)  # what is paid once: the probe, the judge, the first warm workers
    before, started = group.cpu_s(), time.monotonic()
    with ThreadPoolExecutor(16) as threads:
        verdicts = list(threads.map(judge, range(count)))
    wall, cpu = time.monotonic() - started, group.cpu_s() - before
    pool.close()
    if wrong := [verdict for verdict in verdicts if not verdict.passed]:
        raise SystemExit(f"not judged rightly: {wrong[0]}")
    for folder in tree.folders:  # a group that holds this process cannot be removed
        (folder / "cgroup.procs").write_text(str(os.getpid()))
    group.remove()
    print(cpu / count * 1000, wall / count * 1000)


if __name__ == "__main__":
    main()

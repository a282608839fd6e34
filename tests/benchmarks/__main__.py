"""``python -m tests.benchmarks``: the speed table, each figure a ratio or a cost taken in this one run.

``--smoke`` runs everything at a hundredth of the size and only checks that it works. ``--only WORD``
picks rows. *Wall* is from a run's first request to its last reply, by its own records; what the whole
process took stands beside it.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from pytest_benchkit.datasets import catalog
from pytest_benchkit.sandbox.probe import isolation
from tests.benchmarks.measure import PROGRAMS, ROOT, Bench, serving

FULL = 1319


@dataclass
class Row:
    """A line of the table: what, figure, bound, and how it came about."""

    what: str
    value: float
    bound: float
    detail: str

    def show(self, *, smoke: bool = False) -> str:
        if smoke:  # small sizes say nothing about bounds
            return f"ran  {self.what}"
        mark = "ok  " if self.value <= self.bound else "OVER"
        return f"{mark} {self.what:<66} {self.value:8.2f}  <= {self.bound:<6g} {self.detail}"


class Table:
    def __init__(self, folder: Path, smoke: bool) -> None:
        self.folder = folder
        self.rows = 60 if smoke else FULL
        self.big = 400 if smoke else 14_042
        self.largest = 800 if smoke else 40_000
        self.lognormal_mean = 0.05 if smoke else 1.0

    def bench(self, rows: int) -> Bench:
        return Bench(self.folder / f"rows-{rows}", rows)

    def fixed(self, inflight: int, latency: float, bound: float, *words: str) -> Row:
        """1,319 tasks against a server that answers after a fixed time: wall over ideal."""
        bench = self.bench(self.rows)
        with serving(["--latency", str(latency), "--slots", str(inflight)]) as server:
            took = bench.run(server.url, "--bench-order=collection", *words)
            stats = server.get("/stats")
        ideal = -(-self.rows // inflight) * latency
        wall = bench.sent_to_done()
        name = " ".join(words) or "one process"
        return Row(
            f"wall / ideal, {self.rows} x 20 chunks, {inflight} in flight, {latency * 1000:.0f} ms, {name}",
            wall / ideal,
            bound,
            f"{wall:.2f} s of {ideal:.2f}; process {took.wall:.2f} s, CPU {took.cpu:.2f} s, "
            f"server late {stats['lateness'] * 1000:.0f} ms, {stats['connections']} connections",
        )

    def ratios(self) -> Iterator[Row]:
        yield self.fixed(16, 0.05, 1.2)
        yield self.fixed(64, 0.2, 1.25)
        yield self.fixed(64, 0.2, 1.3, "-n", "2")
        yield self.fixed(64, 0.05, 3.0)

    def lognormal(self) -> Iterator[Row]:
        bench = self.bench(self.rows)
        options = ["--latency", str(self.lognormal_mean), "--spread", "lognormal", "--slots", "64"]
        with serving([*options, "--writes", "4"]) as server:
            bench.run(server.url, "--bench-order=collection")
            one = bench.sent_to_done()
            bench.run(server.url, "--bench-order=collection", "-n", "2")
            two = bench.sent_to_done()
        what = f"-n 2 / one process, lognormal of mean {self.lognormal_mean:g} s, 64 in flight"
        yield Row(what, two / one, 1.1, f"{two:.2f} s, {one:.2f} s")

    def longest_first(self) -> Iterator[Row]:
        bench = self.bench(self.rows)
        options = ["--latency", str(self.lognormal_mean), "--spread", "lognormal", "--sigma", "1.3"]
        with serving([*options, "--slots", "64", "--writes", "4", "--counts", "latency"]) as server:
            bench.run(server.url, "--bench-order=collection")
            first = bench.sent_to_done()
            bench.run(server.url)
            second = bench.sent_to_done()
        yield Row(
            "second run / first, heavy tail, longest expected first",
            second / first,
            0.85,
            f"{second:.2f} s, {first:.2f} s",
        )

    def cost(self) -> Iterator[Row]:
        bench = self.bench(self.rows)
        with serving(["--latency", "0.05", "--slots", "16"]) as server:
            small = Bench(self.folder / "rows-16", 16)
            base = small.run(server.url, "--bench-order=collection")
            server.get("/reset")
            took = bench.run(server.url, "--bench-order=collection")
            stats = server.get("/stats")
        per_task = (took.cpu - base.cpu) / (self.rows - 16) * 1000
        yield Row(
            "client CPU a task, pytest and record included, 16 in flight, ms",
            per_task,
            3.5,
            f"{took.cpu:.2f} s in all, {base.cpu:.2f} s for 16 rows",
        )
        yield Row(
            "connections for tasks at 16 in flight",
            stats["connections"] - 4,
            16,
            "4 of discovery and warm-up aside",
        )

    def collecting(self) -> Iterator[Row]:
        for rows, seconds, megabytes in ((self.big, 1.8, 90), (self.largest, 3.5, 130)):
            bench = self.bench(rows)
            bench.pytest("bench_load.py", "--bench-model=demo", "--collect-only", "-q")
            took = bench.pytest("bench_load.py", "--bench-model=demo", "--collect-only", "-q")
            peak = resident_of(bench, "bench_load.py", "--bench-model=demo", "--collect-only", "-q")
            yield Row(f"collecting {rows} rows, CPU s", took.cpu, seconds, f"{took.wall:.2f} s wall")
            yield Row(f"collecting {rows} rows, resident MB", peak, megabytes, "")

    def keyword(self) -> Iterator[Row]:
        if not catalog.GSM8K.state().ready:
            print("not measured: -k gsm8k needs its rows (benchkit datasets install gsm8k)", flush=True)
            return
        bench = self.bench(self.rows)
        words = ("--bench-model=demo", "--collect-only", "-q")
        bench.pytest("--bench=gsm8k", *words)
        alone = min(bench.pytest("--bench=gsm8k", *words).cpu for _ in range(2))
        every = min(bench.pytest("-k", "gsm8k", *words).cpu for _ in range(2))
        yield Row(
            "-k gsm8k with every suite installed, extra CPU s",
            every - alone,
            0.3,
            f"{every:.2f} s, {alone:.2f} s",
        )

    def finishing(self) -> Iterator[Row]:
        bench = self.bench(self.big)
        took = bench.pytest("bench_load.py", "--bench-model=demo:0.7", "--bench-order=collection")
        what = f"{self.big} tasks, 30 % missed: session finish, s"
        yield Row(what, took.finish, 2.0, f"whole run {took.wall:.1f} s")

    def resuming(self) -> Iterator[Row]:
        bench = self.bench(self.big)
        with serving(["--latency", "0.001", "--slots", "64", "--writes", "1"]) as server:
            bench.run(server.url, "--bench-warmup=0", "--bench-order=collection")
            server.get("/reset")
            took = bench.run(server.url, "--bench-warmup=0", f"--bench-resume={bench.newest.name}")
            asked = server.get("/stats")["requests"]
        yield Row(f"resume of a finished run of {self.big}, requests", asked, 0, "")
        yield Row(f"resume of a finished run of {self.big}, CPU s", took.cpu, 4.0, f"{took.wall:.2f} s wall")

    def detecting(self) -> Iterator[Row]:
        """Loop detection: CPU, growth and memory of one stream."""
        count = 400 if self.rows < FULL else 20_000
        command = [sys.executable, "-m", "tests.benchmarks.loops", str(count)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
        told = json.loads(done.stdout)
        memory = told.pop("memory")["mb"]
        each = ", ".join(f"{name} {facts['us']:.1f}" for name, facts in told.items())
        dearest = max(facts["us"] for facts in told.values())
        yield Row("loop detector, CPU of a token, us", dearest, 100, each)
        yield Row("loop detector, % of a core for 100 tok/s", dearest / 100, 1, "")
        growth = max(facts["growth"] for facts in told.values())
        yield Row(f"loop detector, last / first quarter of {count} tokens", growth, 1.5, "")
        yield Row("loop detector, MB a stream, both channels", memory, 4, "")

    def long_streams(self) -> Iterator[Row]:
        """8 streams of 6,000 tokens in 15 s."""
        count, seconds = (60, 0.3) if self.rows < FULL else (6000, 15.0)
        bench = Bench(self.folder / "streams", 8)
        options = ["--latency", str(seconds), "--slots", "8", "--writes", str(count), "--chunks", str(count)]
        with serving([*options, "--words", str(count)]) as server:
            took = bench.run(server.url, "--bench-order=collection", "--bench-warmup=0")
            late = server.get("/stats")["lateness"]
        records = [json.loads(line) for line in (bench.newest / "records.jsonl").open("rb")]
        after = max(record["timing"]["end_ms"] for record in records) / 1000 - seconds
        kept = sum(record["loop"]["state"] == "clear" for record in records)
        what = f"8 streams of {count} tokens in {seconds:g} s"
        yield Row(f"{what}: s after the server's time", after, 1, f"server late {late:.3f} s")
        yield Row(f"{what}: replies not whole, or thought to loop", 8 - kept, 0, "")
        yield Row(f"{what}: client CPU, % of a core", 100 * took.cpu / seconds, 60, f"{took.cpu:.2f} s")

    def programs(self) -> Iterator[Row]:
        if (found := isolation()).backend is None:
            print(f"not measured: {found.problem}", flush=True)
            return
        count = 4 if self.rows < FULL else 80
        command = [sys.executable, "-m", "tests.benchmarks.programs", str(count)]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            print(f"not measured: CPU of judging a program: {done.stderr.strip()}", flush=True)
            return
        cpu, wall = map(float, done.stdout.split())
        yield Row(
            "CPU of judging a HumanEval-like program, all processes, ms", cpu, 60, f"{wall:.1f} ms wall"
        )

    def window(self) -> Iterator[Row]:
        """Programs of 2 s of CPU behind replies of 1 s: the server must not notice."""
        if isolation().backend is None:
            return
        rows, seconds, latency = (8, 0.1, 0.2) if self.rows < FULL else (48, 2.0, 1.0)
        suite = PROGRAMS.replace("SECONDS", str(seconds))
        bench = Bench(self.folder / "programs", rows, suite=suite)
        with serving(["--latency", str(latency), "--slots", "16"]) as server:
            took = bench.run(server.url, "--bench-order=collection", "--bench-inflight=16")
        ideal, wall = -(-rows // 16) * latency, bench.sent_to_done()
        yield Row(
            f"server idle, 16 in flight, programs of {seconds:g} s, %",
            100 * (1 - ideal / wall),
            5,
            f"{wall:.2f} s of {ideal:.2f}; process {took.wall:.1f} s",
        )


def resident_of(bench: Bench, *words: str) -> float:
    """Peak resident memory of one run, in MB; asked of a fresh child: the maximum is over all children."""
    code = (
        "import resource, subprocess, sys\n"
        "subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=False)\n"
        "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024)\n"
    )
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-p", "no:pytester"]
    command += ["-p", "no:hypothesispytest", "-p", "no:anyio", *words]
    environ = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"} | {
        "PYTHONPATH": str(ROOT)
    }
    done = subprocess.run(
        [sys.executable, "-c", code, *command],
        cwd=bench.folder,
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout.split()[-1])


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.benchmarks", description=__doc__)
    parser.add_argument("--smoke", action="store_true", help="small sizes; only checks that it works")
    parser.add_argument("--only", default="", help="rows whose group's name contains this word")
    options = parser.parse_args()
    over = 0
    with tempfile.TemporaryDirectory(prefix="benchkit-") as folder:
        table = Table(Path(folder), options.smoke)
        groups: list[Callable[[], Iterator[Row]]] = [
            table.ratios,
            table.lognormal,
            table.longest_first,
            table.cost,
            table.collecting,
            table.keyword,
            table.finishing,
            table.resuming,
            table.detecting,
            table.long_streams,
            table.programs,
            table.window,
        ]
        for group in groups:
            if options.only in group.__name__:
                for row in group():
                    print(row.show(smoke=options.smoke), flush=True)
                    over += row.value > row.bound
    return 0 if options.smoke else int(over > 0)


if __name__ == "__main__":
    sys.exit(main())

"""Builds kernels trees for tests."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from pytest_benchkit.gates.lint import Rules
from pytest_benchkit.gates.metrics import SuiteFacts
from pytest_benchkit.gates.problems import Problem
from pytest_benchkit.gates.tree import Tree, load

GSM8K = SuiteFacts("gsm8k", binary=True, rows={None: 1319})
SUITES = {"gsm8k": GSM8K, "eleven": SuiteFacts("eleven", rows={None: 11})}
RULES = Rules(suite=SUITES.get, suite_keys=tuple(SUITES))

HEAD = 'quant = "q4"\ncheckpoint = "org/m"\ngate = "gsm8k"\n'


def entry(extra: str = "", *, status: str = "measured", head: str = HEAD, default: bool = True) -> str:
    """One ``[[benchmarks]]``; bounds are written as ``metrics.score = {...}`` lines in ``extra``."""
    lines = ["[[benchmarks]]", head.rstrip(), f'status = "{status}"']
    if default and status == "measured":
        lines.append("default = true")
    return "\n".join([*lines, extra, ""])


def bound(text: str, metric: str = "score", extra: str = "") -> str:
    """An entry with one bound."""
    return entry(f"metrics.{metric} = {{ {text} }}\n{extra}")


def grow(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Writes files below ``root/kernels``; gives that folder."""
    kernels = root / "kernels"
    for name, content in files.items():
        path = kernels / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return kernels


def plant(root: Path, bench: str, *, compat: bool = False, rules: Rules = RULES, **more: str) -> Tree:
    """A tree of one class ``gb10`` with one model ``m``. ``more``: file names with ``__`` for ``/``."""
    files = {"gb10/HARDWARE.toml": '[hardware]\nname = "GB10"\n', "gb10/m/BENCH.toml": bench}
    files |= {name.replace("__", "/").replace("_toml", ".toml"): text for name, text in more.items()}
    return load(grow(root, files), "kernels", compat=compat, rules=rules)


def codes(problems: list[Problem], severity: str | None = None) -> list[str]:
    return [p.code for p in problems if severity in (None, p.severity)]

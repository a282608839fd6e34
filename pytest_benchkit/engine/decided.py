"""Cells that need no more rows, told to every process of a run by files in ``<run>/decided``."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import NamedTuple

DECIDED_FOLDER = "decided"


class Axes(NamedTuple):
    """What a cell is called in records."""

    suite: str
    model: str
    harness: str
    perturbation: str


class Decided:
    """Why the rest of a cell is not asked. Each look lists a small folder, so it may be asked before each
    request; files appear whole, by a rename, and are read once."""

    def __init__(self, run_dir: Path) -> None:
        self._folder = run_dir / DECIDED_FOLDER
        self._read: set[str] = set()
        self._why: dict[Axes, str] = {}

    def why(self, axes: Axes) -> str | None:
        """The sentence for a row of this cell that is not asked; ``None`` while rows are."""
        self._look()
        return self._why.get(axes)

    @property
    def any(self) -> bool:
        """Whether some cell needs no more rows."""
        self._look()
        return bool(self._why)

    def _look(self) -> None:
        try:
            names = os.listdir(self._folder)  # noqa: PTH208 (the cheap form)
        except FileNotFoundError:
            return
        for name in names:
            if name.endswith(".json") and name not in self._read:
                self._read.add(name)
                told = json.loads((self._folder / name).read_bytes())
                self._why[Axes(*told["cell"])] = str(told["why"])

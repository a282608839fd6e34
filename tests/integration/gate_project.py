"""A project with thresholds for its suite ``sums``: any machine is of the class ``box``."""

from __future__ import annotations

import json
from typing import Any

from tests.integration.conftest import Project

HARDWARE = '[hardware]\nname = "any machine"\nvendor = "cpu"\n[[hardware.match]]\nprobe = "any"\n'
MODEL = '[model]\nmatch_names = ["demo*", "m"]\n'
ENTRY = """[[benchmarks]]
quant = "none"
checkpoint = "org/demo"
gate = "sums"
status = "{status}"
default = {default}
{extra}
"""


def thresholds(
    project: Project,
    extra: str = "metrics.score = { min = 0.6 }",
    *,
    status: str = "measured",
    path: str = "box/demo",
) -> None:
    """Writes a tree with one entry."""
    folder = project.pytester.path / "kernels" / path
    folder.mkdir(parents=True, exist_ok=True)
    (folder.parent / "HARDWARE.toml").write_text(HARDWARE)
    (folder / "MODEL.toml").write_text(MODEL)
    default = "true" if status == "measured" else "false"
    (folder / "BENCH.toml").write_text(ENTRY.format(status=status, default=default, extra=extra))


def gate_json(project: Project) -> dict[str, Any]:
    data: dict[str, Any] = json.loads((project.newest / "gate.json").read_bytes())
    return data


def verdicts(project: Project) -> list[tuple[str, list[str]]]:
    """Verdict and codes of each gate of the newest run."""
    found = []
    for gate in gate_json(project)["gates"]:
        failed = [bound["code"] for bound in gate["bounds"] if bound["code"]]
        found.append((gate["verdict"], [reason["code"] for reason in gate["reasons"]] or failed))
    return found

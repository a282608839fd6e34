"""What every report says of the run itself: facts, the banner of an incomplete one, how to go on. Pure."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any

AXES = ("suite", "model", "harness", "perturbation")
GO_ON = "; go on with"
"""Between what is missing and the command that gets it."""
HOME = "\0"
"""Stands for the home folder in a word that a shell is to expand: no argument can hold it."""
CREDENTIALS = re.compile(r"(?<=://)[^/@\s]+@")


def run_facts(
    info: Mapping[str, Any], models: Sequence[Mapping[str, Any]], entries: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The object ``run`` of ``results.json``; ``models`` are those measured, with their speed."""
    sessions = info.get("sessions", [])
    run = {
        "run_id": info.get("run_id"),
        "created_at": info.get("created_at"),
        "finished_at": sessions[-1].get("ended_at") if sessions else None,
        "tool": info.get("tool"),
        "git": info.get("git"),
        "argv": shown_argv(info.get("argv", [])),
        "hardware": info.get("hardware"),
        "models": list(models),
        "selection": [{**{axis: entry[axis] for axis in AXES}, **entry["selection"]} for entry in entries],
        "plan_sha256": info.get("plan", {}).get("sha256"),
        "complete": bool(info.get("complete")),
        "replay_of": info.get("replay_of"),
        "banner": banner(info, entries),
    }
    return {key: value for key, value in run.items() if value is not None}


def banner(info: Mapping[str, Any], entries: Sequence[Mapping[str, Any]]) -> str | None:
    """The sentence on top of every report of a run that is not complete (OUT-5)."""
    if info.get("complete"):
        return None
    planned = sum(entry["metrics"]["planned"] for entry in entries)
    not_asked = sum(entry["metrics"]["not_asked"] for entry in entries)
    errors = sum(entry["metrics"]["n_harness_error"] for entry in entries)
    sessions = info.get("sessions", [])
    reason = (sessions[-1].get("reason") if sessions else None) or "interrupted"
    finished = "some rows were not asked" if not_asked else "some rows ended in errors"
    words = {"finished": finished, "refused": "some rows were not asked"}.get(reason, reason)
    if info.get("merged_from") and not_asked:
        words = "a part is missing" if "missing part" in info.get("not_asked", {}) else "records are missing"
    done = planned - not_asked - errors
    if reason == "decided":
        told = f"STOPPED EARLY: {done} of {planned} rows settled the gates"
        return f"{told}{GO_ON}: {resume_command(info)}"
    return f"INCOMPLETE ({words}): {done} of {planned} rows done{GO_ON}: {resume_command(info)}"


def resume_command(info: Mapping[str, Any]) -> str:
    """The run's own command line with ``--bench-resume``, as typed in the same folder."""
    argv = shown_argv(info.get("argv", []), home=HOME)
    words: list[str] = []
    run = str(info.get("run_id", ""))
    for place, word in enumerate(argv):
        name, _, value = word.partition("=")
        after = argv[place - 1] if place else ""
        if after in ("--bench-run-dir", "--bench-resume") and not word.startswith("-"):
            run = word  # the value of the option before it
        if name == "--bench-resume" or (after == "--bench-resume" and not word.startswith("-")):
            run = value or run
            continue
        if name == "--bench-early-stop" or after == "--bench-early-stop":
            continue  # what it left out is what is asked for now
        if name == "--bench-run-dir" and value:
            run = value
        words.append(word)
    command = " ".join(["pytest", *map(_quoted, words)])
    return f"{command} --bench-resume={_quoted(run)}"


def _quoted(word: str) -> str:
    """Quoted for a shell, which puts the home folder back where it was taken out."""
    return '"$HOME"'.join(shlex.quote(part) if part else "" for part in word.split(HOME)) or "''"


def shown_argv(argv: Sequence[str], home: str = "~") -> list[str]:
    """Arguments as reports may show them: the home folder as ``home``, hosts without credentials (OUT-11)."""
    folder = os.path.expanduser("~").rstrip("/")  # noqa: PTH111  Path.home() raises where there is none
    pattern = re.compile(rf"(?<![^=]){re.escape(folder)}(?=/|$)") if folder else None
    clean = [CREDENTIALS.sub("", str(word)) for word in argv]
    return [pattern.sub(lambda match: home, word) for word in clean] if pattern else clean

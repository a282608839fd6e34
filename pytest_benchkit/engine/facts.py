"""What a suite and a model were when they were measured: the entries of ``run.json``, and what a resume
compares (J-13)."""

from __future__ import annotations

import hashlib
import inspect
import json
import platform
import subprocess
import sys
from collections.abc import Mapping, Sequence
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_benchkit.harnesses.direct import sampling_of

if TYPE_CHECKING:
    from pytest_benchkit.engine.preflight import Prepared
    from pytest_benchkit.models.profiles import ModelSpec
    from pytest_benchkit.suite import Suite

PROBED_PROMPTS = 8
COMPARED_MODEL_FACTS = ("served_id", "template_sha256", "digest", "loop_kill")


def suite_facts(suite: Suite, name: str, specs: Sequence[ModelSpec]) -> dict[str, Any]:
    """Version, data, prompt and scorer hashes, declared sampling, deviations of ``specs``, the
    session's models that are sent sampling."""
    index = suite.index
    return {
        "key": suite.key,
        "name": name,
        "version": suite.version,
        "data": {
            "name": suite.source.name,
            "source": index.source,
            "revision": index.revision,
            "sha256": index.rows_sha256,
            "rows": len(index),
        },
        "prompt_sha256": prompt_sha256(suite),
        "scorer_sha256": _source_sha256(suite),
        "scoring": suite.scoring,
        "in_overall": suite.in_overall,
        "totals": sorted(suite.totals),
        "beside": list(suite.beside),
        "libraries": {name: _version_of(name) for name in suite.requires},
        "not_comparable": suite.not_comparable,
        "declared_sampling": dict(suite.sampling),
        "deviations": deviations(suite, specs),
    }


def _version_of(module: str) -> str | None:
    try:
        return metadata.version(module)
    except metadata.PackageNotFoundError:
        return None


def prompt_sha256(suite: Suite) -> str:
    """Hash of what the suite asks about some of its rows; a suite whose prompt raises has one too."""
    tasks = suite.tasks
    step = max(1, len(tasks) // PROBED_PROMPTS)
    digest = hashlib.sha256()
    for task in list(tasks)[::step]:
        try:
            prompt: object = suite.prompt(task)
        except (Exception, SystemExit) as error:
            prompt = f"{type(error).__name__}"
        digest.update(json.dumps(prompt, sort_keys=True, default=str).encode("utf-8", "backslashreplace"))
    return digest.hexdigest()


def _source_sha256(suite: Suite) -> str:
    """Hash of the suite's file and version, which hold its scoring rules' choice."""
    try:
        source = Path(inspect.getfile(type(suite))).read_bytes()
    except (OSError, TypeError):
        source = type(suite).__qualname__.encode()
    return hashlib.sha256(source + f"|{suite.version}|{_own_version()}".encode()).hexdigest()


def deviations(suite: Suite, specs: Sequence[ModelSpec]) -> list[dict[str, Any]]:
    """Effective sampling values that differ from the suite's declared protocol (C-8)."""
    found = []
    for spec in specs:
        used = sampling_of(spec.settings, spec.origins, suite)
        for name in sorted({*suite.sampling, *used}):
            declared = suite.sampling.get(name)
            if used.get(name) != declared:
                found.append(
                    {
                        "model": spec.name,
                        "name": name,
                        "declared": declared,
                        "used": used.get(name),
                        "origin": spec.origins.get(name, "default"),
                    }
                )
    return found


def model_facts(spec: ModelSpec, prepared: Prepared) -> dict[str, Any]:
    """The model's entry in ``run.json``: the server's answers about itself, nothing secret."""
    facts = {name: value for name, value in prepared.facts.items() if value not in (None, [], {})}
    facts.pop("listing", None)
    return {
        "name": spec.name,
        "kind": prepared.kind,
        "profile": spec.profile,
        "served_id": facts.pop("served_id", spec.served_id),
        **facts,
        "endpoints": [{"url": prepared.base_url}] if prepared.base_url and spec.kind != "local" else [],
        "window": prepared.window,
        "stream": prepared.stream,
        "sampling": {name: getattr(spec.settings, name) for name in ("temperature", "seed", "max_tokens")},
        "thinking": spec.settings.thinking,
        "system": spec.settings.system,
        "loop_kill": spec.settings.loop_kill,
        "repair": spec.settings.repair_attempts,
        "inflight": {"requested": spec.settings.inflight, "used": prepared.capacity},
        "capacity_source": prepared.capacity_source,
        "load_s": prepared.load_s,
        **({"sizing": prepared.sizing} if prepared.sizing else {}),
        "simulated": prepared.kind == "demo",
    }


def settings_facts(specs: Sequence[ModelSpec]) -> list[dict[str, Any]]:
    """Each setting with its origin; a key only as ``set (from environment NAME)``."""
    rows = []
    for spec in specs:
        for name, origin in sorted(spec.origins.items()):
            if name != "headers":
                rows.append(
                    {
                        "model": spec.name,
                        "name": name,
                        "value": getattr(spec.settings, name),
                        "origin": origin,
                    }
                )
        if spec.key_origin:
            value = f"set (from environment {spec.key_origin})"
            rows.append({"model": spec.name, "name": "api_key", "value": value, "origin": "environment"})
    return rows


def differences(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[tuple[str, str]]:
    """(what, sentence) for everything that makes stored rows another measurement than today's."""
    found: list[tuple[str, str]] = []
    was = {suite["name"]: suite for suite in old.get("suites", [])}
    for suite in new.get("suites", []):
        before = was.get(suite["name"])
        if before is None:
            continue
        pairs = {
            "data": (before["data"]["sha256"], suite["data"]["sha256"]),
            "prompt": (before["prompt_sha256"], suite["prompt_sha256"]),
            "scorer": (before["scorer_sha256"], suite["scorer_sha256"]),
            "version": (before["version"], suite["version"]),
        }
        for what, (then, now) in pairs.items():
            if then != now:
                found.append((suite["name"], f"{suite['name']}: {what} was {_short(then)}, is {_short(now)}"))
    models = {model["name"]: model for model in old.get("models", [])}
    for model in new.get("models", []):
        before = models.get(model["name"])
        if before is None:
            continue
        for what in (*COMPARED_MODEL_FACTS, "sampling", "thinking", "system", "repair"):
            if what not in before:  # written by a version that did not know of it
                continue
            then, now = before[what], model.get(what)
            if then != now and not (what in COMPARED_MODEL_FACTS and None in (then, now)):
                found.append((model["name"], f"{model['name']}: {what} was {_short(then)}, is {_short(now)}"))
    return found


def _short(value: object) -> str:
    text = str(value)
    return text[:12] + "…" if len(text) == 64 else text


def tool_facts() -> dict[str, Any]:
    """Versions of this tool and of what it runs on."""
    versions = {}
    for name in ("pytest", "pytest-xdist", "pytest-html", "aiohttp", "httpx"):
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {
        "name": "pytest-benchkit",
        "version": _own_version(),
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "plugins": versions,
    }


def _own_version() -> str:
    from pytest_benchkit import __version__

    return __version__


def git_facts(folder: Path) -> dict[str, Any] | None:
    """Commit, branch and dirtiness of the project; ``None`` outside a repository or without git."""

    def git(*words: str) -> str | None:
        try:
            done = subprocess.run(
                ["git", "-C", str(folder), *words], capture_output=True, text=True, timeout=5, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            return None
        return done.stdout.strip() if done.returncode == 0 else None

    commit = git("rev-parse", "HEAD")
    if commit is None:
        return None
    return {
        "commit": commit,
        "branch": git("rev-parse", "--abbrev-ref", "HEAD"),
        "dirty": bool(git("status", "--porcelain", "--untracked-files=no")),
    }


def sandbox_facts(suites: Sequence[Suite]) -> dict[str, Any] | None:
    """What programs are judged in, or why they are not; ``None`` when no suite has programs."""
    if not any("sandbox" in suite.needs for suite in suites):
        return None
    from pytest_benchkit.sandbox.probe import isolation

    found = isolation()
    return found.backend.facts() if found.backend is not None else {"problem": found.problem}


def hardware_facts() -> dict[str, Any]:
    """What this machine is: the client's, which is the server's only when they are the same."""
    import os

    facts: dict[str, Any] = {"os": platform.system(), "cores": os.cpu_count()}
    for key, path, mark in (("cpu", "/proc/cpuinfo", "model name"), ("ram", "/proc/meminfo", "MemTotal")):
        try:
            lines = Path(path).read_text().splitlines()
        except OSError:
            continue
        value = next((text.partition(":")[2].strip() for text in lines if text.startswith(mark)), "")
        if key == "ram" and value.split():
            facts["ram_bytes"] = int(value.split()[0]) * 1024
        elif value:
            facts["cpu"] = value
    return facts

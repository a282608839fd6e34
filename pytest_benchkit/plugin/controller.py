"""What the controller does before the first task and after the last one."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_benchkit.errors import BenchkitError, StoreError, UsageProblem
from pytest_benchkit.plugin.session import default_runs_root

if TYPE_CHECKING:
    from pytest_benchkit.plugin.session import BenchSession
    from pytest_benchkit.suite import Suite

HARNESS = "direct"


def start(bench: BenchSession) -> None:
    """Finds the suites, fetches data, opens the run folder, prepares the models.

    Raises :class:`UsageProblem` holding every problem at once; nothing has been asked by then.
    """
    options = bench.options
    if not bench.specs:
        raise UsageProblem(
            "no model is named: add --bench-model=NAME (demo needs no server, local runs a small real model)"
        )
    if options.resume is not None:  # found before anything is downloaded for it
        _resumed_folder(bench)
    chosen = bench.scan.selected(with_installed=bench.with_installed)
    suites = [
        bench.suite(suite, slice_.variant if slice_ else None) for suite, _, sl in chosen for slice_ in sl
    ]
    problems = [
        f"{suite.key}: cannot be run with the harness {HARNESS}; it has {', '.join(suite.harnesses)}"
        for suite in suites
        if HARNESS not in suite.harnesses
    ]
    problems += fetch([*suites, *marked_suites(bench)], bench.say, allowed=options.fetch)
    if problems:
        raise UsageProblem("\n".join(problems))
    old = _open_store(bench)
    try:
        _prepare(bench, suites, old)
    except BaseException:
        abandon(bench)
        raise


def marked_suites(bench: BenchSession) -> list[Suite]:
    """The suites whose rows test functions of this session ask for."""
    found = []
    for key in sorted(bench.scan.marked_keys()):
        try:
            suite_class = bench.scan.find(key)
        except UsageProblem:
            continue  # collection names the function
        for slice_ in bench.scan.slices.get(key, [None]):
            found.append(bench.suite(suite_class, slice_.variant if slice_ else None))
    return found


def fetch(suites: Iterable[Suite], say: Callable[[str], None], *, allowed: bool) -> list[str]:
    """Installs missing data of the chosen suites; returns a sentence for each that is still missing."""
    problems = []
    for suite in suites:
        state = suite.source.state()
        if state.ready:
            continue
        install = getattr(suite.source, "install", None)
        command = f"`benchkit datasets install {suite.source.name}`"
        if install is None:
            problems.append(f"{suite.key}: its data {suite.source.name} is {state.word}: {state.detail}")
        elif not allowed:
            problems.append(f"{suite.key}: its data is {state.word} and --bench-fetch=never; run {command}")
        else:
            say(f"{suite.key}: its data is {state.word}; fetching it")
            try:
                install(say)
            except BenchkitError as error:
                problems.append(f"{suite.key}: {error}; or run {command} when online")
    return problems


def _prepare(bench: BenchSession, suites: list[Suite], old: Mapping[str, Any]) -> None:
    from pytest_benchkit.engine import facts
    from pytest_benchkit.engine.preflight import Preflight
    from pytest_benchkit.runs.store import now_text

    store = bench.store
    if store is None:
        raise StoreError("the run folder is not open")
    bench.preflight = Preflight(bench.say, store.path / "logs")
    bench.prepared = bench.preflight.prepare(bench.specs, bench.registered)
    config = bench.config
    named = {f"{s.key}:{s.variant}" if s.variant else s.key: s for s in suites}
    new: dict[str, Any] = {
        "schema": 1,
        "run_id": store.path.name,
        "created_at": old.get("created_at") or now_text(),
        "tool": facts.tool_facts(),
        "argv": [str(word) for word in config.invocation_params.args],
        "rootdir": config.rootpath.name,
        "git": facts.git_facts(config.rootpath),
        "settings": facts.settings_facts(bench.specs),
        "hardware": facts.hardware_facts(),
        "models": [
            facts.model_facts(spec, ready) for spec, ready in zip(bench.specs, bench.prepared, strict=True)
        ],
        "suites": [facts.suite_facts(suite, name, bench.specs) for name, suite in named.items()],
        "axes": {"harnesses": [HARNESS], "perturbations": [], "repeats": 1, "repair": 0},
        "sessions": [*old.get("sessions", [])],
        "replay_of": bench.options.replay and Path(bench.options.replay).name,
        "warnings": old.get("warnings", []),
        "complete": False,
    }
    changed = _compare(bench, old, new)
    bench.session_number = len(new["sessions"])
    new["sessions"].append(
        {
            "started_at": now_text(),
            "argv": new["argv"],
            "workers": 0,
            "pid": os.getpid(),
            "host": socket.gethostname(),
            **({"changed": sorted(changed)} if changed else {}),
        }
    )
    # entries that an earlier session wrote for other suites or models of this run are kept
    for name in ("suites", "models"):
        mine = {entry["name"] for entry in new[name]}
        new[name] += [entry for entry in old.get(name, []) if entry["name"] not in mine]
    store.info = {key: value for key, value in new.items() if value is not None}
    store.write_info()
    if not old:
        bench.lengths = _earlier_lengths(bench, store.path)


def _open_store(bench: BenchSession) -> dict[str, Any]:
    """Opens a new run folder, or the one to go on with; returns what its ``run.json`` said."""
    from pytest_benchkit.runs.store import INFO, RunStore, new_run_dir, read_info

    options, config = bench.options, bench.config
    root = default_runs_root(config)
    if options.resume is not None:
        path = _resumed_folder(bench)
        old = read_info(path)
    elif options.run_dir is not None:
        path = Path(os.path.normpath(config.invocation_params.dir / options.run_dir))
        if (path / INFO).exists():
            raise UsageProblem(f"--bench-run-dir={options.run_dir} holds a run; add --bench-resume={path}")
        old = {}
    else:
        try:
            path = new_run_dir(root)
        except OSError as error:
            raise UsageProblem(f"cannot make a run folder in {root}: {error.strerror}") from None
        ignore = root.parent / ".gitignore"
        if not ignore.exists():
            ignore.write_text("*\n")
        old = {}
    bench.store = RunStore(path, say=bench.say)
    bench.run_dir = path
    hook = config.hook.pytest_benchkit_record
    if hook.get_hookimpls():
        bench.store.on_record = lambda record: hook(config=config, record=record)
    return old


def _resumed_folder(bench: BenchSession) -> Path:
    from pytest_benchkit.runs.store import find_run

    config = bench.config
    name, root = bench.options.resume or "", default_runs_root(config)
    return find_run(name, root, config.invocation_params.dir, "--bench-resume")


def abandon(bench: BenchSession) -> None:
    """A refused start leaves no empty run behind."""
    if bench.preflight is not None:
        bench.preflight.close()
    store = bench.store
    if store is None:
        return
    rows = len(store.ledger.rows)
    fresh = bench.options.resume is None  # any other folder was made by this session
    store.close()
    bench.store = None
    if fresh and not rows:
        import shutil

        shutil.rmtree(store.path, ignore_errors=True)


def _compare(bench: BenchSession, old: Mapping[str, Any], new: Mapping[str, Any]) -> set[str]:
    """Takes the finished rows of a resumed run, unless they measured something else (J-12, J-13). Gives the
    suites and models that changed, whose older rows do not count."""
    from pytest_benchkit.engine.facts import differences
    from pytest_benchkit.runs.store import finished
    from pytest_benchkit.score import Outcome

    store = bench.store
    if store is None or not old:
        return set()
    changed = differences(old, new)
    if changed and not bench.options.resume_changed:
        lines = "\n".join(f"  {sentence}" for _, sentence in changed)
        raise UsageProblem(
            f"the run {store.path.name} measured something else:\n{lines}\n"
            "start a new run, or ask the changed tasks again with --bench-resume-changed=ask"
        )
    stale = {what for what, _ in changed}
    windows = {m["name"]: m.get("window") for m in old.get("models", [])}
    now = {m["name"]: m.get("window") for m in new["models"]}
    for key, row in store.ledger.rows.items():
        if row["suite"] in stale or row["model"] in stale:
            continue
        same_window = windows.get(row["model"]) == now.get(row["model"])
        if finished(row) or (row["outcome"] == Outcome.SKIPPED and same_window):
            bench.known[key] = row
    return stale


def _earlier_lengths(bench: BenchSession, current: Path) -> dict[str, float]:
    """How long each row's reply was in the newest earlier run that knows; used to ask long ones first."""
    from pytest_benchkit.runs.store import read_lengths, runs_newest_first

    config = bench.config
    if any(spec.settings.order == "collection" for spec in bench.specs) or config.getoption("maxfail", 0):
        return {}
    names = {spec.name for spec in bench.specs}
    for path, info in runs_newest_first(default_runs_root(config))[:20]:
        if path == current or not names & {model["name"] for model in info.get("models", [])}:
            continue
        if lengths := read_lengths(path):
            return lengths
    return {}


def last_outcomes(bench: BenchSession) -> dict[str, str]:
    """Outcome by key of the newest run that holds rows of these models, for ``--bench-only``.

    Raises :class:`UsageProblem` when there is none.
    """
    from pytest_benchkit.runs.store import read_ledger, runs_newest_first

    root = default_runs_root(bench.config)
    names = {spec.name for spec in bench.specs}
    for path, info in runs_newest_first(root):
        if path != bench.run_dir and names & {model["name"] for model in info.get("models", [])}:
            rows = read_ledger(path).rows
            if rows:
                bench.say(f"--bench-only looks at the run {path.name}")
                return {key: row["outcome"] for key, row in rows.items()}
    raise UsageProblem(f"--bench-only: no earlier run in {root} holds rows of these models")

"""What the controller does before the first task and after the last one."""

from __future__ import annotations

import os
import shutil
import socket
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pytest_benchkit.engine.decided import DECIDED_FOLDER
from pytest_benchkit.engine.preflight import missing_modules, undecidable
from pytest_benchkit.errors import BenchkitError, StoreError, UsageProblem
from pytest_benchkit.perturbations import name_of
from pytest_benchkit.plugin.planning import planned_rows
from pytest_benchkit.plugin.session import default_runs_root

if TYPE_CHECKING:
    from pytest_benchkit.plugin.session import BenchSession
    from pytest_benchkit.suite import Suite

HARNESS = "direct"
OTHER_VARIABLES = frozenset(
    f"BENCHKIT_{name}" for name in ("API_KEY", "CACHE", "MODEL", "SANDBOX_IMAGE", "UVLOOP")
)
ONLY_RUNS = 5
"""Newest runs in which ``--bench-only`` looks for a row's last outcome."""


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
    problems += missing_modules(suites)
    problems += _unperturbed(bench, suites)
    problems += fetch([*suites, *marked_suites(bench)], bench.say, allowed=options.fetch)
    _tell_oddities(bench, suites)
    if problems:
        raise UsageProblem("\n".join(problems))
    old = _open_store(bench)
    try:
        _prepare(bench, suites, old)
    except BaseException:
        abandon(bench)
        raise


def _unperturbed(bench: BenchSession, suites: list[Suite]) -> list[str]:
    """A sentence for each suite that was named and has not the perturbation asked for, and where none has
    it; of others it is only said that they are asked as they are."""
    problems = []
    for name in dict.fromkeys(map(name_of, bench.options.perturbations)):
        without = [suite for suite in suites if name not in suite.perturbations]
        named = [suite for suite in without if suite.key in bench.scan.slices]
        if len(without) == len(suites):
            named = without
        problems += [f"{suite.key}: has no perturbation {name}; leave the suite out" for suite in named]
        if others := [suite.key for suite in without if suite not in named]:
            bench.say(f"no {name} for {', '.join(others)}: asked as they are")
    return problems


def _tell_oddities(bench: BenchSession, suites: list[Suite]) -> None:
    """What works but is hardly meant: said in a line each."""
    import difflib

    from pytest_benchkit.settings import definitions
    from pytest_benchkit.suite import Suite as Base

    if any(spec.kind == "demo" for spec in bench.specs):
        for suite in suites:
            if type(suite).sample_replies is Base.sample_replies:
                bench.say(f"demo: {suite.key} has no sample_replies, so every demo reply is a refusal")
    known = {definition.env for definition in definitions()} | OTHER_VARIABLES
    for name in sorted(bench.options.environ):
        if name.startswith("BENCHKIT_") and name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            bench.say(f"environment: {name} is not known and has no effect{hint}")


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
            for gap in state.gaps:
                say(f"{suite.key}: {gap}")
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
            except BenchkitError:
                problems.append(
                    f"{suite.key}: its rows could not be fetched, as told above; run {command} when online, "
                    f"or leave it out with -k 'not {suite.key}'"
                )
    return problems


def _prepare(bench: BenchSession, suites: list[Suite], old: Mapping[str, Any]) -> None:
    from pytest_benchkit.engine import facts
    from pytest_benchkit.engine.budget import problems as budget_problems
    from pytest_benchkit.engine.preflight import Preflight
    from pytest_benchkit.engine.sizing import texts_of
    from pytest_benchkit.runs.store import now_text

    store = bench.store
    if store is None:
        raise StoreError("the run folder is not open")
    names = [*bench.options.profiles, *bench.registered]
    bench.preflight = Preflight(bench.say, store.path / "logs", names)
    warm = not old.get("complete")  # a finished run has nothing to ask
    bench.prepared = bench.preflight.prepare(
        bench.specs,
        bench.registered,
        warm=warm,
        deciding=bench.options.deciding,
        texts=texts_of([*suites, *marked_suites(bench)]) if warm else None,
        sizing={model["name"]: model.get("sizing", {}) for model in old.get("models", [])},
        planned=lambda model: planned_rows(bench, model, marked_suites(bench)),
        asked_before={m["name"]: m["num_ctx"] for m in old.get("models", []) if "num_ctx" in m},
    )
    if chatty := undecidable(suites, bench.prepared):
        raise UsageProblem("\n".join(chatty))
    if unknown := budget_problems(bench.specs, bench.prepared):
        raise UsageProblem("\n".join(unknown))
    config = bench.config
    named = {f"{s.key}:{s.variant}" if s.variant else s.key: s for s in suites}
    sampled = [  # a decision model is sent no sampling
        spec for spec, ready in zip(bench.specs, bench.prepared, strict=True) if not ready.decides
    ]
    new: dict[str, Any] = {
        "schema": 1,
        "run_id": store.path.name,
        "created_at": old.get("created_at") or now_text(),
        "tool": facts.tool_facts(),
        "argv": [str(word) for word in config.invocation_params.args],
        "asked": old.get("asked") or bench.asked,
        "rootdir": config.rootpath.name,
        "git": facts.git_facts(config.rootpath),
        "settings": facts.settings_facts(bench.specs),
        "hardware": facts.hardware_facts(),
        "sandbox": facts.sandbox_facts(suites),
        "models": [
            facts.model_facts(spec, ready) for spec, ready in zip(bench.specs, bench.prepared, strict=True)
        ],
        "suites": [facts.suite_facts(suite, name, sampled) for name, suite in named.items()],
        "axes": {
            "harnesses": [HARNESS],
            "perturbations": list(bench.options.perturbations),
            "repeats": bench.options.repeats,
            "repair": max((spec.settings.repair_attempts for spec in bench.specs), default=0),
        },
        "plan": old.get("plan"),
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
            **({"moved": bench.moved} if bench.moved else {}),
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
    shutil.rmtree(path / DECIDED_FOLDER, ignore_errors=True)  # decided anew by the rows that are there
    bench.run_dir = path
    hook = config.hook.pytest_benchkit_record
    if hook.get_hookimpls():
        bench.store.on_record = lambda record: hook(config=config, record=record)
    return old


def _resumed_folder(bench: BenchSession) -> Path:
    from pytest_benchkit.runs.store import named_run, same_run

    config = bench.config
    root, folder = default_runs_root(config), config.invocation_params.dir
    if name := bench.options.resume or bench.options.run_dir:
        return named_run(name, root, folder, "--bench-resume")
    return same_run(bench.asked, root, "--bench-resume")


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
    bench.moved = _tell_other_endpoints(bench, old, new)
    stale = {what for what, _ in changed}
    windows = {m["name"]: m.get("window") for m in old.get("models", [])}
    now = {m["name"]: m.get("window") for m in new["models"]}
    for key, row in store.ledger.rows.items():
        if row["suite"] in stale or row["model"] in stale or _gone(bench, row):
            bench.stale.add(key)
            continue
        same_window = windows.get(row["model"]) == now.get(row["model"])
        if finished(row) or (row["outcome"] == Outcome.SKIPPED and same_window):
            bench.known[key] = row
    if bench.stale:
        text = f"{len(bench.stale)} stored rows measured something else and are left out"
        bench.say(text)
        new["warnings"].append({"code": "stale", "text": text, "count": len(bench.stale)})
    return stale


def _gone(bench: BenchSession, row: Mapping[str, Any]) -> bool:
    """Whether a stored row's task is no longer in its suite's data."""
    ids = bench.task_ids(row["suite"])
    return ids is not None and row["task_id"] not in ids


def _tell_other_endpoints(bench: BenchSession, old: Mapping[str, Any], new: Mapping[str, Any]) -> list[str]:
    """A served model at another address may be another build: said, kept beside the numbers, and a reason for
    gates not to judge. Gives the names of such models."""
    moved = []
    before = {model["name"]: model.get("endpoints") for model in old.get("models", [])}
    for model in new["models"]:
        was, now = before.get(model["name"]), model.get("endpoints")
        if was and now and was != now:
            text = f"{model['name']}: rows of {was[0]['url']} and of {now[0]['url']} are in one score"
            bench.say(text)
            new["warnings"].append({"code": "endpoint_changed", "text": text, "count": 1})
            moved.append(model["name"])
    return moved


def _earlier_lengths(bench: BenchSession, current: Path) -> dict[str, float]:
    """How long each row's reply was in the newest earlier run that knows; used to ask long ones first."""
    from pytest_benchkit.runs.store import read_lengths, runs_newest_first

    config = bench.config
    if any(spec.settings.order == "collection" for spec in bench.specs) or config.getoption("maxfail", 0):
        return {}
    if bench.early_stop == "sprt":  # its order is a shuffle: long replies are wrong more often
        return {}
    names = {spec.name for spec in bench.specs}
    for path, info in runs_newest_first(default_runs_root(config))[:20]:
        if path == current or not names & {model["name"] for model in info.get("models", [])}:
            continue
        if lengths := read_lengths(path):
            return lengths
    return {}


def last_outcomes(bench: BenchSession) -> dict[str, str]:
    """The last outcome of each row of these models in the newest runs, for ``--bench-only``.

    A row that a later run did not reach keeps the outcome of the run before. Raises
    :class:`UsageProblem` when there is no such run.
    """
    from pytest_benchkit.runs.store import read_ledger, runs_newest_first

    root = default_runs_root(bench.config)
    names = {spec.name for spec in bench.specs}
    outcomes: dict[str, str] = {}
    looked_at: list[str] = []
    for path, info in runs_newest_first(root):
        if path == bench.run_dir or not names & {model["name"] for model in info.get("models", [])}:
            continue
        rows = read_ledger(path).rows
        if rows:
            looked_at.append(path.name)
            outcomes = {**{key: row["outcome"] for key, row in rows.items()}, **outcomes}
        if len(looked_at) == ONLY_RUNS:
            break
    if not looked_at:
        raise UsageProblem(f"--bench-only: no earlier run in {root} holds rows of these models")
    more = f" and {len(looked_at) - 1} before it" if len(looked_at) > 1 else ""
    bench.say(f"--bench-only looks at the run {looked_at[0]}{more}")
    return outcomes

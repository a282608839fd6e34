"""A kernels tree as loaded: classes, models, entries, policy, and every problem where it belongs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from pytest_benchkit.gates import levers, schema
from pytest_benchkit.gates.classes import HardwareClass, ModelFacts, check_links, hardware_of, model_of
from pytest_benchkit.gates.discover import Document, Found, discover
from pytest_benchkit.gates.lint import Place, Recipe, Rules, entry_of
from pytest_benchkit.gates.policy import Policy, policy_of
from pytest_benchkit.gates.problems import Problem, Sink, ordered, shown


@dataclass
class Tree:
    """``entries`` in order of class, model directory and file. Problems are kept where they belong:
    by file, by entry (path, position), by baseline (class, gate), of the tree itself."""

    root: Path
    shown: str
    compat: bool = False
    hardware: dict[str, HardwareClass] = field(default_factory=dict)
    models: dict[tuple[str, str], ModelFacts] = field(default_factory=dict)
    entries: list[Entry] = field(default_factory=list)
    files: list[str] = field(default_factory=list)
    policy: Policy = field(default_factory=Policy)
    of_tree: list[Problem] = field(default_factory=list)
    of_file: dict[str, list[Problem]] = field(default_factory=dict)
    of_entry: dict[tuple[str, int], list[Problem]] = field(default_factory=dict)
    of_baseline: dict[tuple[str, str], list[Problem]] = field(default_factory=dict)

    @property
    def problems(self) -> list[Problem]:
        """Everything, sorted."""
        return ordered(self._all())

    def _all(self) -> Iterator[Problem]:
        yield from self.of_tree
        for group in (self.of_file, self.of_entry, self.of_baseline):
            for found in group.values():
                yield from found

    def of_class(self, hardware: str) -> list[Problem]:
        """What makes the class unusable or is about to: problems of its files, entries and baselines, of
        the policy files, and of the tree."""
        mine = f"{self.shown}/{hardware}/"
        root = (f"{self.shown}/GATES.toml", f"{self.shown}/LEVERS.toml", self.shown)
        return [p for p in self.problems if p.path.startswith(mine) or p.path in root]

    @property
    def gates(self) -> list[str]:
        return sorted({entry.gate for entry in self.entries if entry.gate})


Entry = schema.Entry


def load(
    root: Path,
    shown_root: str,
    *,
    named: bool = False,
    compat: bool = False,
    rules: Rules | None = None,
    recipes: Path | None = None,
) -> Tree:
    """Reads and checks a whole tree. Never raises for what it finds; everything wrong is in ``problems``.

    ``recipes``: the folder of recipes, to check that named ones exist.
    """
    found = discover(root, shown_root, named=named, compat=compat)
    tree = Tree(root, shown_root, compat)
    paths = {d.path for d in _documents(found)}
    for problem in found.problems:
        if problem.path in paths:
            tree.of_file.setdefault(problem.path, []).append(problem)
        else:
            tree.of_tree.append(problem)
    tree.files = sorted(paths)
    table = _levers(tree, found)
    _policy(tree, found)
    classes = _classes(tree, found, table)
    models = _models(tree, found, classes)
    rules = replace(rules or Rules(), resolution=tree.policy.resolution)
    if recipes is not None:
        rules = replace(rules, recipe=lambda name: recipe_of(recipes, name))
    for (hardware, model), document in found.benches.items():
        _bench(tree, document, hardware, model, rules, models.get((hardware, model), classes[hardware]))
    from pytest_benchkit.gates.baseline import tree_rules

    tree_rules(tree)
    return tree


def recipe_of(folder: Path, name: str) -> Recipe | None:
    """The files of a recipe, and the model that its TOML form serves."""
    forms = tuple(form for form in ("toml", "yaml") if (folder / f"{name}.{form}").is_file())
    if not forms:
        return None
    model = None
    if "toml" in forms:
        from pytest_benchkit.gates.discover import read

        document, _ = read(folder / f"{name}.toml", f"recipes/{name}.toml")
        value = (document.data or {}).get("model")
        model = value if isinstance(value, str) else None
    return Recipe(forms, model)


def _documents(found: Found) -> Iterator[Document]:
    yield from found.hardware.values()
    yield from found.models.values()
    yield from found.benches.values()
    for document in (found.policy, found.levers):
        if document is not None:
            yield document


def _keep(tree: Tree, sink: Sink) -> None:
    if sink.found:
        tree.of_file.setdefault(sink.path, []).extend(sink.found)


def _levers(tree: Tree, found: Found) -> levers.Levers:
    if found.levers is None or found.levers.data is None:
        return levers.Levers(listed=found.levers is not None)
    sink = Sink(found.levers.path, tree.compat, found.levers.line)
    table = levers.levers_file(found.levers.data, sink)
    _keep(tree, sink)
    return table


def _policy(tree: Tree, found: Found) -> None:
    if found.policy is None or found.policy.data is None:
        return
    sink = Sink(found.policy.path, tree.compat, found.policy.line)
    tree.policy = policy_of(found.policy.data, sink)
    _keep(tree, sink)


def _classes(tree: Tree, found: Found, below: levers.Levers) -> dict[str, levers.Levers]:
    tables: dict[str, levers.Levers] = {}
    sinks: dict[str, Sink] = {}
    for name, document in found.hardware.items():
        sink = sinks[name] = Sink(document.path, tree.compat, document.line)
        tree.hardware[name] = hardware_of(name, document.data or {}, sink)
        tables[name] = levers.layer(below, document.data or {}, sink)
    check_links(tree.hardware, sinks)
    for name, cls in tree.hardware.items():
        if cls.inherits in tables and cls.inherits != name:
            parent = found.hardware[cls.inherits]
            quiet = Sink(parent.path)
            inherited = levers.layer(below, parent.data or {}, quiet)
            tables[name] = levers.layer(inherited, found.hardware[name].data or {}, Sink(sinks[name].path))
    for sink in sinks.values():
        _keep(tree, sink)
    return tables


def _models(
    tree: Tree, found: Found, classes: dict[str, levers.Levers]
) -> dict[tuple[str, str], levers.Levers]:
    tables = {}
    for key, document in found.models.items():
        sink = Sink(document.path, tree.compat, document.line)
        siblings = {
            model
            for (hardware, model), other in found.models.items()
            if hardware == key[0] and model != key[1] and not _has_source(other)
        }
        tree.models[key] = model_of(key[1], document.data or {}, sink, siblings)
        tables[key] = levers.layer(classes[key[0]], document.data or {}, sink)
        _keep(tree, sink)
    return tables


def _has_source(document: Document) -> bool:
    model = (document.data or {}).get("model")
    return isinstance(model, dict) and "kernel_source" in model


def _bench(
    tree: Tree, document: Document, hardware: str, model: str, rules: Rules, table: levers.Levers
) -> None:
    data = document.data
    if data is None:
        return
    sink = Sink(document.path, tree.compat, document.line)
    schema.unknown_keys(data, ("benchmarks",), "the file", sink, ())
    raw = data.get("benchmarks", [])
    if not isinstance(raw, list):
        sink.add(
            "wrong-type",
            f"benchmarks is {shown(_kind(raw))}",
            "write [[benchmarks]] tables",
            where=("benchmarks",),
            key="benchmarks",
        )
        raw = []
    elif not raw:
        sink.add("no-entries", "the file holds no [[benchmarks]]", "add an entry, or remove the file")
    _keep(tree, sink)
    for position, value in enumerate(raw):
        mine = Sink(document.path, tree.compat, document.line)
        entry = entry_of(value, Place(hardware, model, position), mine, rules, table)
        if entry is not None:
            tree.entries.append(entry)
        if mine.found:
            tree.of_entry[document.path, position] = mine.found


def _kind(value: Any) -> str:
    return "a table" if isinstance(value, dict) else str(value)

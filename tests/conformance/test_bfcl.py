"""BFCL's checker and type converters held against ``bfcl_eval`` itself, over its own golds and mutations.

Only ``bfcl_eval.eval_checker.ast_eval`` is imported; its table of models, which pulls in every vendor's
library, is replaced by one entry. The rows are those inside the installed distribution, under our pins.
"""

from __future__ import annotations

import copy
import functools
import importlib
import json
import random
import sys
import types
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest import mock

from pytest_benchkit.datasets.catalog import BFCL
from pytest_benchkit.datasets.readers_bfcl import language_of
from pytest_benchkit.datasets.sources import Route
from pytest_benchkit.datasets.wheels import WheelMember
from pytest_benchkit.reply import Reply, ToolCall
from pytest_benchkit.scoring.bfcl import asking, golds, java, javascript, verdict
from tests.conformance.comparison import Comparison, installed, needs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from pytest_benchkit.task import Task

DISTRIBUTION, VERSION = "bfcl-eval", "2026.3.23"
MODELS = "bfcl_eval.constants.model_config"
CHECKER = "bfcl_eval.eval_checker.ast_eval.ast_checker"
CONVERTERS = "bfcl_eval.eval_checker.ast_eval.type_convertor"
MUTATIONS = 5000
RAISES = "upstream's checker raises on it; here it is a miss"

Calls = list[tuple[str, dict[str, Any]]]


@functools.cache
def upstream() -> dict[str, Any]:
    """Upstream's checker, its languages and both type converters."""
    models = types.ModuleType(MODELS)
    names = {"folded": types.SimpleNamespace(underscore_to_dot=True)}
    models.MODEL_CONFIG_MAPPING = names  # type: ignore[attr-defined]
    with mock.patch.dict(sys.modules, {MODELS: models}):
        checker = importlib.import_module(CHECKER)
    return {
        "check": checker.ast_checker,
        "language": checker.Language,
        "java": importlib.import_module(f"{CONVERTERS}.java_type_converter").java_type_converter,
        "javascript": importlib.import_module(f"{CONVERTERS}.js_type_converter").js_type_converter,
        "types": importlib.import_module("bfcl_eval.constants.type_mappings").GORILLA_TO_OPENAPI,
    }


@functools.cache
def rows() -> tuple[Task, ...]:
    """The rows of the installed distribution, checked against the pins of the catalog."""
    distribution = installed(DISTRIBUTION, VERSION)
    route: Route = BFCL.routes[0]
    paths: list[Path] = []
    for file in route.files:
        assert isinstance(file, WheelMember)
        paths.append(Path(str(distribution.locate_file(file.member))))
    tasks = route.read(paths)
    BFCL.check(tasks)
    return tuple(tasks)


def theirs(task: Task, calls: Calls) -> bool | None:
    """Upstream's verdict; ``None`` where its checker raises."""
    tools = upstream()
    decoded = [{name: arguments} for name, arguments in copy.deepcopy(calls)]
    try:
        found = tools["check"](
            task["functions"],
            decoded,
            task["golds"],
            tools["language"](language_of(task["subset"])),
            task["subset"],
            "folded",
        )
    except Exception:  # whatever a row makes it raise
        return None
    return bool(found["valid"])


def ours(task: Task, calls: Calls) -> bool:
    made = [ToolCall(name, arguments, json.dumps(arguments)) for name, arguments in calls]
    score = verdict.score(Reply(tool_calls=made), task["functions"], task["golds"], task["subset"])
    return score.value == 1.0


def seeds() -> list[tuple[Task, Calls]]:
    """Every row with golds, and calls that follow them, named as the model names them."""
    return [
        (
            task,
            [
                (name.replace(".", "_"), arguments)
                for name, arguments in golds.right_calls(task["functions"], task["golds"], task["subset"])
            ],
        )
        for task in rows()
        if task["golds"]
    ]


ODD: tuple[Any, ...] = (None, True, 0, 1, -1, 5.0, 0.5, "", "x", "5", [], ["x"], [1], [[1]], {}, {"a": 1})


def renamed(calls: Calls, dice: random.Random) -> None:
    place = dice.randrange(len(calls))
    name, arguments = calls[place]
    calls[place] = (dice.choice([f"{name}_", name.upper(), name.replace("_", "."), "f"]), arguments)


def missing(calls: Calls, dice: random.Random) -> None:
    arguments = dice.choice(calls)[1]
    if arguments:
        del arguments[dice.choice(sorted(arguments))]


def retyped(calls: Calls, dice: random.Random) -> None:
    arguments = dice.choice(calls)[1]
    if arguments:
        name = dice.choice(sorted(arguments))
        arguments[name] = dice.choice([*ODD, json.dumps(arguments[name]), [arguments[name]]])


def reordered(calls: Calls, dice: random.Random) -> None:
    dice.shuffle(calls)
    for place, (name, arguments) in enumerate(calls):
        pairs = list(arguments.items())
        dice.shuffle(pairs)
        calls[place] = (name, {key: _shuffled(value, dice) for key, value in pairs})


def _shuffled(value: Any, dice: random.Random) -> Any:
    return dice.sample(value, len(value)) if isinstance(value, list) and dice.random() < 0.3 else value


def extra(calls: Calls, dice: random.Random) -> None:
    if dice.random() < 0.5:
        calls.append(copy.deepcopy(dice.choice(calls)))
    else:
        dice.choice(calls)[1][dice.choice(["x", "unit", "name", "type"])] = dice.choice(ODD)


def respelt(calls: Calls, dice: random.Random) -> None:
    """Case, blanks, quotes and marks of a text, or an item of a list or map."""
    arguments = dice.choice(calls)[1]
    if not arguments:
        return
    name = dice.choice(sorted(arguments))
    value = arguments[name]
    if isinstance(value, str):
        spelt = [
            value.upper(),
            value.title(),
            value.replace(" ", "_"),
            f"'{value}'",
            value[:-1],
            value.split(),
        ]
        arguments[name] = dice.choice(spelt)
    elif isinstance(value, list):
        arguments[name] = dice.choice([value[:-1], [*value, *value[:1]], [str(item) for item in value]])
    elif isinstance(value, dict):
        arguments[name] = {key: item for key, item in value.items() if dice.random() < 0.7}
    elif isinstance(value, int):
        arguments[name] = dice.choice([float(value), str(value), value + 1])


KINDS = (renamed, missing, retyped, reordered, extra, respelt)


def mutations() -> Iterator[tuple[str, Task, Calls]]:
    """The same mutations in every run, every kind equally often."""
    dice = random.Random(20260323)
    seeded = seeds()
    for number in range(MUTATIONS):
        kind = KINDS[number % len(KINDS)]
        task, calls = dice.choice(seeded)
        changed = copy.deepcopy(calls)
        kind(changed, dice)
        yield f"{kind.__name__} {task.id} {changed!r:.300}", task, changed


PLAIN = (*java.NUMBERS, "boolean", "char", "String", "any")
JAVA: tuple[tuple[str, str | None], ...] = (
    *((kind, None) for kind in (*PLAIN, "HashMap")),
    *((kind, item) for kind in ("Array", "ArrayList") for item in PLAIN),
)
JAVASCRIPT: tuple[tuple[str, str | None], ...] = (
    *((kind, None) for kind in (*javascript.NUMBERS, "Boolean", "String", "any", "dict")),
    *(("array", item) for item in (*javascript.NUMBERS, "Boolean", "String", "any", "dict", "array")),
)
TEXTS = [
    line.replace("|", "\n")
    for line in """
0
-7
12L
12l
12n
1.5
1.5f
-2F
3e2
3e-2f
1.5.1
007
1_000
true
false
True
null
nan
''
""
'a'
"a b"
"a
'a"
a
 5
5|
5L|
1e5
1E5F
٣
9223372036854775808L
obj.call(1, 2)
new int[]{1, 2,3}
new int[] { }
new String[]{"a", "b, c"}
new long[]{1L, 2, x}
new int[3]
new char[]{'a', 'b'}
new Object[]{1, "a", true, 2.5}
new int[]{1} new int[]{2}
new int[]{1
new ArrayList<>()
new  ArrayList<>()
new ArrayList<Integer>(Arrays.asList(1, 2L, 3.5f))
new ArrayList<>(Arrays.asList("a", "b"))
new ArrayList<>(Arrays.asList())
Arrays.asList(1, 2)
new ArrayList<>(Arrays.asList(f(1), g(2)))
new ArrayList<A>() {{ add(1); add("b"); }}
new ArrayList<>() {{ }}
new ArrayList<A>(){{add('a');|add('b');}}
new ArrayList<>() {{ add(1);
new HashMap<>()
new HashMap<>
new HashMap<String, Object>() {{ put("a", 1); put("b", "c d"); }}
new HashMap<>() {{|  put("a", true);|  put("b", 1.5f);|}}
new HashMap<>() { }
new HashMap<A,B>() {
new HashMap<>() { { put("a", 1L); } }
new HashMap<>() {{ put('a', 1); }}
Map.of("a", 1)
[1, 2, 3]
[]
[ ]
['a', "b"]
[1n, 2n]
[true, x, 'false']
[1, 2
 [1.5, 2] tail
[a, [b], c]
[[1, 2], [3, 4]]
[ [ 1 ],| [2] ]
[|[[]]]]
[['a'], [true]]
[[], [1]]
[[1]] [[2]]
[[1], 2]
[[[1], [2]], [[3]]]
new Array(1, 2)
new Array()
new Array([1, 2], [3])
new Array('a', "b")
new Array(1
[|1,|2]
{}
{ }
{a: 1}
{'a': 'b', "c": 2.5}
{a: [1, 2], b: true}
{a: 1, 2, b: 'x, y'}
{a: {b: 1}}
{a: 'http://x', b: f(1, 2)}
{a, b: 1}
{a: ,b: 2}
{:a: 1}
{'a':|1}
[{a: 1}, {b: 2}]
{a: 1} tail
""".splitlines()
]
"""Expressions of both languages, well formed and not, ours; a bar is a line break."""


def conversions() -> Iterator[tuple[str, Callable[..., Any], str, str, str | None]]:
    """Every text with every type of both languages."""
    for text in TEXTS:
        for kind, item in JAVA:
            yield "java", java.value, text, kind, item
        for kind, item in JAVASCRIPT:
            yield "javascript", javascript.value, text, kind, item


def convert(language: str, text: str, kind: str, item: str | None) -> Any:
    """Upstream's value, spelled out so that ``1`` and ``True`` differ; ``None`` where it raises."""
    try:
        return repr(upstream()[language](text, kind, *([item] if item else [])))
    except Exception:  # whatever a text makes it raise
        return None


def compare() -> Comparison:
    """Golds, mutations and both tables of conversions."""
    installed(DISTRIBUTION, VERSION)
    held = Comparison("bfcl", f"{DISTRIBUTION} {VERSION} ast_checker, type converters", note=RAISES)
    for task, calls in seeds():
        held.hold(ours(task, calls), theirs(task, calls), task.id)
    for case, task, calls in mutations():
        found = theirs(task, calls)
        held.hold(ours(task, calls), found, case, declared=found is None and not ours(task, calls))
    for language, converter, text, kind, item in conversions():
        value = convert(language, text, kind, item)
        case = f"{language} {kind} {item} {text!r}"
        held.hold(repr(converter(text, kind, item)), value, case, declared=value is None)
    for type_word, json_word in upstream()["types"].items():
        held.hold(asking.JSON_TYPES.get(type_word, "string"), json_word, f"schema type {type_word}")
    return held


@needs(DISTRIBUTION, VERSION)
def test_bfcl_agrees_with_its_own_checker() -> None:
    held = compare()
    held.demand(at_least=MUTATIONS + 2500)
    assert held.declared < held.compared / 20


@needs(DISTRIBUTION, VERSION)
def test_mutations_of_every_kind_change_verdicts() -> None:
    """The comparison would be empty if mutated calls were all right or all wrong."""
    verdicts: dict[str, set[bool]] = {}
    for case, task, calls in mutations():
        verdicts.setdefault(case.split()[0], set()).add(ours(task, calls))
    assert verdicts.keys() == {kind.__name__ for kind in KINDS}
    assert verdicts["extra"] == {False}
    for kind in ("renamed", "missing", "retyped", "reordered", "respelt"):
        assert verdicts[kind] == {True, False}, kind

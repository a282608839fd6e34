"""Right calls made from a row's golds: for the demo model, for tests, and as the seed of mutations."""

from __future__ import annotations

import itertools
import json
from typing import TYPE_CHECKING, Any

from pytest_benchkit.datasets.readers_bfcl import language_of
from pytest_benchkit.reply import Reply, ToolCall
from pytest_benchkit.scoring.bfcl import expressions, values
from pytest_benchkit.scoring.bfcl.check import folded

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    Named = tuple[str, dict[str, Any]]


def right_calls(
    functions: Sequence[Mapping[str, Any]], golds: Sequence[Mapping[str, Any]], subset: str
) -> list[Named]:
    """Name, as in the data, and arguments of each gold call: the first allowed value that is accepted.

    A few golds accept none, or lack a parameter that their function requires: no call is right there.
    """
    language = language_of(subset)
    schemas = {function["name"]: function["parameters"] for function in functions}
    return [
        (name, _arguments(schemas[name], parameters, language))
        for gold in golds
        for name, parameters in gold.items()
    ]


def _arguments(schema: Mapping[str, Any], gold: Mapping[str, Sequence[Any]], language: str) -> dict[str, Any]:
    spell = SPELL[language]
    chosen: dict[str, Any] = {}
    for parameter, allowed in gold.items():
        node = schema["properties"].get(parameter)
        if node is None:
            continue
        given = [spell(answer, node) for answer in allowed if answer != ""]
        if parameter in schema["required"]:
            given += ["", []]  # may be left out, says the gold, and must not, says the function
        fitting = (value for value in given if values.fault(value, node, allowed, language) is None)
        for value in itertools.islice(fitting, 1):
            chosen[parameter] = value
    return chosen


def _python(answer: Any, node: Mapping[str, Any]) -> Any:
    """The gold itself, its maps of allowed values with the first one each."""
    if isinstance(answer, dict):
        options = {key: value if isinstance(value, list) else [value] for key, value in answer.items()}
        return {key: _python(value[0], {}) for key, value in options.items() if value and value[0] != ""}
    return [_python(item, {}) for item in answer] if isinstance(answer, list) else answer


def _java(answer: Any, node: Mapping[str, Any]) -> str:
    kind, item = node["type"], node.get("items", {}).get("type", "")
    marks = {"long": "L", "float": "f"}
    if kind in ("Array", "ArrayList") and isinstance(answer, list):
        items = ", ".join(_literal(part, marks.get(item, "")) for part in answer)
        if kind == "Array" and item in ("String", "char", "any"):
            items = ", ".join(str(part) for part in answer)
        if kind == "Array":
            return f"new {item}[]{{{items}}}"
        return f"new ArrayList<>(Arrays.asList({items}))" if answer else "new ArrayList<>()"
    if kind == "HashMap" and isinstance(answer, dict):
        puts = (f'put("{key}", {_literal(value)});' for key, value in _python(answer, node).items())
        return f"new HashMap<>() {{{{ {' '.join(puts)} }}}}"
    return answer if isinstance(answer, str) else _literal(answer, marks.get(kind, ""))


def _javascript(answer: Any, node: Mapping[str, Any]) -> str:
    if isinstance(answer, dict):
        members = (f"{key}: {_literal(value)}" for key, value in _python(answer, node).items())
        return f"{{{', '.join(members)}}}"
    if isinstance(answer, str):
        return answer
    return _literal(answer, "n" if node["type"] == "Bigint" else "")


SPELL: Mapping[str, Callable[[Any, Mapping[str, Any]], Any]] = {
    "python": _python,
    "java": _java,
    "javascript": _javascript,
}
"""How a gold is written in a call, by language."""


def _literal(value: Any, mark: str = "") -> str:
    """A value as both languages write it."""
    if isinstance(value, list):
        return f"[{', '.join(_literal(item) for item in value)}]"
    return json.dumps(value, ensure_ascii=False) + ("" if isinstance(value, (str, bool)) else mark)


def as_reply(calls: Sequence[Named]) -> Reply:
    """A complete reply with these tool calls."""
    made = [ToolCall(folded(name), arguments, json.dumps(arguments)) for name, arguments in calls]
    return Reply(tool_calls=made, finish_reason="tool_calls")


def as_text(calls: Sequence[Named], subset: str) -> str:
    """The same calls in a line of text, for a model that is asked without tools."""
    show = repr if language_of(subset) == "python" else _expression
    told = (f"{name}({', '.join(f'{k}={show(v)}' for k, v in given.items())})" for name, given in calls)
    return f"[{', '.join(told)}]"


def _expression(text: str) -> str:
    """The text as it is, in quotes where it would be read as more than one argument."""
    return text if expressions.read(f"f(a={text})") == [("f", {"a": text})] else json.dumps(text)

"""What a model is shown of a row's functions: the request's ``tools``, or a system message without them."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from pytest_benchkit.datasets.readers_bfcl import language_of
from pytest_benchkit.scoring.bfcl.check import folded

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pytest_benchkit.task import Message

    Node = Mapping[str, Any]

JSON_TYPES = {
    **dict.fromkeys(("dict", "object", "HashMap", "Hashtable"), "object"),
    **dict.fromkeys(("tuple", "list", "array", "ArrayList", "Array", "Queue", "Stack"), "array"),
    **dict.fromkeys(("integer", "byte", "short", "long", "Bigint"), "integer"),
    **dict.fromkeys(("number", "float", "double"), "number"),
    **dict.fromkeys(("boolean", "bool", "Boolean"), "boolean"),
}
"""JSON Schema's word for each type word of the data; every other one, ``any`` too, is a string."""
LANGUAGES = {"python": "Python 3", "java": "Java 8", "javascript": "JavaScript"}


def tools(functions: Sequence[Node], subset: str) -> list[dict[str, Any]]:
    """Definitions in the OpenAI form: names without full stops, types as JSON Schema has them. Parameters
    of Java and JavaScript are all strings, their real type told in the description."""
    language = language_of(subset)
    return [{"type": "function", "function": _definition(function, language)} for function in functions]


def _definition(function: Node, language: str) -> dict[str, Any]:
    parameters = dict(function["parameters"])
    if language != "python":
        parameters["properties"] = {
            name: _as_text(node, LANGUAGES[language]) for name, node in parameters["properties"].items()
        }
    return {
        **function,
        "name": folded(function["name"]),
        "description": f"{function['description']} The function is written in {LANGUAGES[language]}.",
        "parameters": {**_schema(parameters), "type": "object"},
    }


def _as_text(node: Node, language: str) -> dict[str, Any]:
    """A parameter whose value is given as an expression of the language."""
    told = [node.get("description", ""), f"Give it as the text of a {language} expression"]
    told[-1] += " of any type." if node["type"] == "any" else f" of the type {node['type']}."
    if "items" in node:
        told.append(f"Its elements are of the type {node['items']['type']}.")
    if "properties" in node:
        told.append(f"Its entries follow this schema: {json.dumps(node['properties'])}")
    kept = {name: value for name, value in node.items() if name not in ("items", "properties")}
    return {**kept, "type": "string", "description": " ".join(told).strip()}


def _schema(node: Node) -> dict[str, Any]:
    """A schema of the data in the words of JSON Schema, properties and items included."""
    made = {**node, "type": JSON_TYPES.get(node.get("type", ""), "string")}
    if node.get("type") == "float":
        made["format"] = "float"
        made["description"] = f"{node.get('description', '')} A number with a fraction (float).".strip()
    if isinstance(node.get("properties"), dict):
        made["properties"] = {name: _schema(inner) for name, inner in node["properties"].items()}
    if isinstance(node.get("items"), dict):
        made["items"] = _schema(node["items"])
    return made


def system_message(functions: Sequence[Node], subset: str) -> str:
    """The functions and the syntax of a call, for a model that is asked without ``tools``."""
    language = LANGUAGES[language_of(subset)]
    return (
        "Answer by calling functions. Reply with the calls only, as one list in square brackets, every "
        "argument by its name:\n"
        "[first_function(parameter=value, other=value), second_function(parameter=value)]\n"
        f"Write values as literals of {language}. If no function below serves the request, or a value that "
        "a function requires was not given, say so in a sentence and call nothing.\n\n"
        f"The functions, written in {language}:\n{json.dumps(list(functions), indent=1)}"
    )


def with_system(messages: Sequence[Message], text: str) -> list[Message]:
    """The messages with ``text`` in front of what the row's own system message says, if it has one."""
    if messages and messages[0]["role"] == "system":
        first = {**messages[0], "content": f"{text}\n\n{messages[0]['content']}"}
        return [first, *messages[1:]]
    return [{"role": "system", "content": text}, *messages]

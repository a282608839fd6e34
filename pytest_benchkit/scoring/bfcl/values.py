"""Is a value of a call one of the allowed ones: types, then equality (``bfcl_eval`` ``ast_checker.py``,
2026.3.23).

An allowed empty text says that the parameter may be left out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pytest_benchkit.scoring.bfcl import java, javascript

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

CLASSES: Mapping[str, Mapping[str, type]] = {
    "python": {
        "string": str,
        "any": str,
        "integer": int,
        "float": float,
        "boolean": bool,
        "array": list,
        "tuple": list,
        "dict": dict,
    },
    "java": {
        "String": str,
        "any": str,
        "char": str,
        "byte": int,
        "short": int,
        "integer": int,
        "long": int,
        "float": float,
        "double": float,
        "boolean": bool,
        "Array": list,
        "ArrayList": list,
        "HashMap": dict,
    },
    "javascript": {
        "String": str,
        "any": str,
        "integer": int,
        "Bigint": int,
        "float": float,
        "Boolean": bool,
        "array": list,
        "dict": dict,
    },
}
"""The class that a value of each schema type must have, by language."""
CONVERTERS = {"java": java.value, "javascript": javascript.value}
LISTS = ("array", "tuple", "Array", "ArrayList")
IGNORED = str.maketrans({**dict.fromkeys(" ,./-_*^"), "'": '"'})


def fault(value: Any, node: Mapping[str, Any], allowed: Sequence[Any], language: str) -> str | None:
    """``wrong-type`` or ``wrong-value``, ``None`` when the value is an allowed one.

    ``node`` is the parameter's schema as upstream has it. Total for any JSON value.
    """
    kind = node["type"]
    item = node.get("items", {}).get("type") if kind in LISTS else None
    if language in CONVERTERS:
        if not isinstance(value, str):
            return "wrong-type"  # these languages are written as text
        value = CONVERTERS[language](value, kind, item)
    elif kind == "tuple" and isinstance(value, tuple):
        value = list(value)
    elif kind == "float" and type(value) is int:
        value = _float(value)
    wanted = CLASSES[language][kind]
    inner = CLASSES[language][item] if item is not None else None
    variable = _variable(value, wanted, inner, allowed)
    if variable is None:
        return "wrong-type"
    return None if _allowed(value, wanted, inner, allowed, variable) else "wrong-value"


def _float(value: int) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _variable(value: Any, wanted: type, inner: type | None, allowed: Sequence[Any]) -> bool | None:
    """Whether the value stands for a variable: it, or what is allowed, has another class than the schema
    says. ``None`` when its class is wrong."""
    found: type = type(value)
    known = _known(allowed)
    if found is not wanted:
        return True if found is known else None
    if inner is not None:
        items = set(map(type, value))
        # an allowed value that is no list asks nothing of the items
        if not any(not isinstance(answer, list) or items <= {inner, _known(answer)} for answer in allowed):
            return None
    return known is not None and known is not wanted


def _known(allowed: Sequence[Any]) -> type | None:
    """The class of the first allowed value that is not the empty text."""
    return next((type(answer) for answer in allowed if answer != ""), None)


def _allowed(value: Any, wanted: type, inner: type | None, allowed: Sequence[Any], variable: bool) -> bool:
    if not variable:
        if wanted is dict:
            return any(answer != "" and _dict_fits(value, answer) for answer in allowed)
        if wanted is list and inner is dict:
            return any(_dicts_fit(value, answer) for answer in allowed)
        if wanted is str:
            return normal(value) in [normal(answer) for answer in allowed if isinstance(answer, str)]
        if wanted is list:
            lists = [listed for answer in allowed if len(listed := _listed(answer)) == len(value)]
            return bool(lists) and [normal(item) for item in value] in lists
    return value in allowed


def normal(value: Any) -> Any:
    """A string as it is compared: without blanks and ``, . / - _ * ^``, lower case, one kind of quotes."""
    return value.translate(IGNORED).lower() if isinstance(value, str) else value


def _listed(answer: Any) -> list[Any]:
    """Items of an allowed list; of an allowed text, as upstream has it, its characters."""
    return [normal(item) for item in answer] if isinstance(answer, (list, str)) else [answer]


def _dict_fits(value: Any, answer: Any) -> bool:
    """Every key known with an allowed value, every missing key one that may be left out."""
    if not isinstance(value, dict) or not isinstance(answer, dict):
        return False
    given = all(key in answer and normal(item) in _listed(answer[key]) for key, item in value.items())
    return given and all(key in value or "" in _optional(answer[key]) for key in answer)


def _optional(allowed: Any) -> Sequence[Any]:
    return allowed if isinstance(allowed, (list, str)) else ()


def _dicts_fit(value: Sequence[Any], answer: Any) -> bool:
    return (
        isinstance(answer, (list, str))
        and len(value) == len(answer)
        and all(wanted != "" and _dict_fits(item, wanted) for item, wanted in zip(value, answer, strict=True))
    )

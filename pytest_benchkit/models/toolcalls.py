"""Function calls put together from the fragments of a stream (rules S-31 to S-34)."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

from pytest_benchkit.models import jsonlib
from pytest_benchkit.reply import ToolCall


@dataclass(slots=True)
class _Call:
    name: str = ""
    id: str | None = None
    parts: list[str] = field(default_factory=list)
    ids_lie: bool = False  # the server gives each fragment a fresh id

    def complete(self) -> bool:
        return not self.parts or _object(jsonlib.mend("".join(self.parts)))[0] is not None


class ToolCalls:
    """Merges fragments by ``index``, or by position where there is none.

    A fragment with another id starts a new call when the call before it is complete; when it is not, ids
    mean nothing on this server and are ignored from then on.
    """

    def __init__(self) -> None:
        self._calls: list[_Call] = []
        self._open: dict[int, _Call] = {}

    def __bool__(self) -> bool:
        return bool(self._calls)

    def feed(self, fragments: Any) -> str:
        """Takes a ``tool_calls`` list; returns the generated text in it (names and arguments)."""
        if not isinstance(fragments, list):
            return ""
        return "".join(
            self.take(item, place) for place, item in enumerate(fragments) if isinstance(item, dict)
        )

    def take(self, fragment: dict[str, Any], place: int) -> str:
        function = fragment.get("function")
        if not isinstance(function, dict):
            function = fragment
        name, arguments, id = function.get("name"), function.get("arguments"), fragment.get("id")
        name = name if isinstance(name, str) else ""
        id = id if isinstance(id, str) and id else None
        if isinstance(arguments, dict):
            arguments = json.dumps(arguments, ensure_ascii=False)
        elif not isinstance(arguments, str):
            arguments = ""
        if not (name or arguments or id):
            return ""
        index = fragment.get("index")
        key = index if isinstance(index, int) else place
        call = self._open.get(key)
        if call is None or self._starts_new(call, name, id, indexed=isinstance(index, int)):
            call = self._open[key] = _Call()
            self._calls.append(call)
        call.id = call.id or id
        taken = name if not call.name else ""
        call.name = call.name or name
        if arguments:
            call.parts.append(arguments)
        return taken + arguments

    @staticmethod
    def _starts_new(call: _Call, name: str, id: str | None, *, indexed: bool) -> bool:
        other = (id is not None and call.id is not None and id != call.id) or (
            id is None and not indexed and bool(name) and bool(call.name)
        )
        if not other or call.ids_lie or not (name or call.parts):
            return False
        if call.complete():
            return True
        call.ids_lie = True
        return False

    def result(self) -> list[ToolCall]:
        """The calls in the order in which they began."""
        return [_finished(call) for call in self._calls if call.name or call.parts]


def _finished(call: _Call) -> ToolCall:
    raw = jsonlib.mend("".join(call.parts))
    value, why = _object(raw) if raw.strip() else ({}, None)
    return ToolCall(jsonlib.mend(call.name), value, raw, call.id and jsonlib.mend(call.id), why)


def _object(raw: str) -> tuple[dict[str, Any] | None, str | None]:
    try:
        value = jsonlib.loads(raw.encode())
    except ValueError as error:
        return None, f"arguments are not JSON: {str(error)[:200]}"
    if isinstance(value, dict):
        return value, None
    return None, f"arguments are not a JSON object but {type(value).__name__}"

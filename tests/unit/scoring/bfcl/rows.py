"""Rows of ours in BFCL's form, and short ways to call."""

from __future__ import annotations

import json
from typing import Any

from pytest_benchkit.reply import Reply, ToolCall
from pytest_benchkit.scoring.bfcl.calls import Call

WEATHER: dict[str, Any] = {
    "name": "weather.today",
    "description": "Weather of a place.",
    "parameters": {
        "type": "dict",
        "properties": {
            "city": {"type": "string", "description": "The city."},
            "days": {"type": "integer", "description": "How many."},
            "limit": {"type": "float", "description": "Degrees."},
            "hours": {"type": "array", "items": {"type": "integer"}, "description": "Which."},
            "named": {"type": "tuple", "items": {"type": "string"}, "description": "Names."},
            "wind": {"type": "boolean", "description": "With wind."},
            "at": {"type": "dict", "description": "Where.", "properties": {"lat": {"type": "float"}}},
            "spots": {"type": "array", "items": {"type": "dict"}, "description": "Where."},
        },
        "required": ["city"],
    },
}
CLOCK: dict[str, Any] = {
    "name": "clock",
    "description": "The time.",
    "parameters": {
        "type": "dict",
        "properties": {"zone": {"type": "string"}, "h24": {"type": "boolean"}},
        "required": [],
    },
}


def gold(name: str = "weather.today", /, **allowed: list[Any]) -> dict[str, Any]:
    return {name: allowed}


def call(name: str = "weather_today", /, **arguments: Any) -> Call:
    return Call(name, arguments)


def calling(*calls: Call) -> Reply:
    """A reply with these tool calls, as a server's would be read."""
    made = [ToolCall(one.name, one.arguments, json.dumps(one.arguments)) for one in calls]
    return Reply(tool_calls=made, finish_reason="tool_calls")


def broken() -> ToolCall:
    """A tool call whose arguments are not JSON."""
    return ToolCall("weather_today", None, '{"city": ', None, "arguments are not JSON")

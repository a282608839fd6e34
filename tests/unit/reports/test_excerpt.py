"""The text of one row: complete, short, and harmless."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.reports.excerpt import excerpt, shorten
from tests.support.rows import row


def record(answer: str = "42", **fields: Any) -> dict[str, Any]:
    return {
        **row(7, "incorrect", reason="answered 42, expected 41 [rule: whole]", rule="whole", span=[0, 2]),
        "prompt": {
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Why?"}]
        },
        "reply": {"answer": answer, "thinking": "hm"},
        "extracted": "42",
        "expected": "41",
        **fields,
    }


def test_all_parts_in_order() -> None:
    assert excerpt(record()) == (
        "row: s|0007|m|direct|none|0\n"
        "outcome: incorrect\n"
        "reason: answered 42, expected 41 [rule: whole]\n"
        "rule: whole, characters 0 to 2 of the reply\n"
        "extracted: 42\n"
        "expected: 41\n"
        "prompt (system):\n| Be brief.\n"
        "prompt:\n| Why?\n"
        "thinking:\n| hm\n"
        "reply:\n| 42"
    )


def test_errors_tools_refusals_and_attempts() -> None:
    text = excerpt(
        record(
            reply={
                "answer": "",
                "refusal": "No.",
                "tool_calls": [{"name": "run", "raw": '{"x": 1}'}, {"name": "f", "arguments": {"a": 1}}],
            },
            error={"kind": "http_503", "status": 503, "message": "busy"},
            ask={
                "tries": 3,
                "retries": [{"cause": "http_503", "wait_s": 1}, {"cause": "http_502", "wait_s": 1}],
            },
            detail="http_503",
        )
    )
    for part in (
        "outcome: incorrect (http_503)",
        "attempts: 3, after http_503, http_502",
        "reply:\n| (empty)",
        "refusal:\n| No.",
        'tool call run:\n| {"x": 1}',
        'tool call f:\n| {"a": 1}',
        "error http_503 503:\n| busy",
    ):
        assert part in text


def test_record_without_texts() -> None:
    assert excerpt(row(1, "skipped")).startswith(
        "row: s|0001|m|direct|none|0\noutcome: skipped\nreason: because"
    )


def test_parts_that_are_no_text_are_named() -> None:
    content = [{"type": "text", "text": "See"}, {"type": "image_url", "image_url": {"url": "data:"}}]
    assert "| See\n| (image_url)" in excerpt(
        record(prompt={"messages": [{"role": "user", "content": content}]})
    )


def test_long_texts_keep_head_and_tail() -> None:
    text = "H" * 6000 + "T" * 6000
    assert shorten(text, 4000) == "H" * 2000 + "\n[8000 characters left out]\n" + "T" * 2000
    assert "[8000 characters left out]" in excerpt(record(text))
    assert len(excerpt(record("x" * 10_000_000))) < 5000
    assert shorten("x" * 4000, 4000) == "x" * 4000


def test_control_characters_are_shown() -> None:
    text = excerpt(record("\x1b[31mred\x1b[0m\0\u202eevil\ud800"))
    assert "\\x1b[31mred\\x1b[0m\\x00\\u202eevil\\ud800" in text


@given(st.text(), st.text())
def test_no_line_can_command_a_runner(answer: str, thinking: str) -> None:
    spiked = f"{answer}\n::error::x\r\n  ::set-output name=a::b\n##[error]y ##vso[task.x]z\n{thinking}"
    text = excerpt(
        record(spiked, reply={"answer": spiked, "thinking": thinking}, reason=f"::warning::{answer}")
    )
    for line in text.splitlines():
        assert not line.lstrip().startswith("::")
        assert "##[" not in line
        assert "##vso[" not in line
    assert "| #### 18" in excerpt(record("#### 18"))

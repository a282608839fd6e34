"""Rules TH-1 to TH-8: which part of a text is thinking."""

from __future__ import annotations

import itertools
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_benchkit.models.channels import Channels
from pytest_benchkit.models.thinking import Tags, split

F = "```"

TABLE = [
    # text, answer, thinking
    ("<think>x</think>y", "y", "x"),
    ("<THINK>x</THINK>y", "y", "x"),
    ("<Thinking>x</thinking >y", "y", "x"),
    ("[THINK]x[/THINK]y", "y", "x"),
    ("<thought>x</thought>\n\ny", "y", "x"),
    ("<reasoning effort='high'>x</reasoning>y", "y", "x"),
    ("[reason mode=slow]x[/reason]y", "y", "x"),
    ("[Reasoning about x] y", "[Reasoning about x] y", ""),
    ("plain", "plain", ""),
    (
        "a <think>b</think> c",
        " c",
        "a <think>b",
    ),  # an opener inside a line is text, so the closer is a lone one
    ("  <think>x</think>y", "y", "x"),
    ("x</think>y", "y", "x"),
    ("x</think>y</think>z", "z", "x\ny"),
    ("<think>a\n<think>b</think>c</think>d", "d", "a\nb\nc"),
    ("<think>a</think><think>b</think>c", "c", "a\nb"),
    ("<think>a</think>\n1\n<think>b</think>\n2", "1\n2", "a\nb"),
    ("<think>never closed", "", "never closed"),
    ("42\n<think>never closed", "42", "never closed"),
    ("42\n<think>was it?</think>", "42", "was it?"),
    ("42\n<think>x</think> words", "42\n words", "x"),
    ("<think></think>y", "y", ""),
    ("<think/>y", "y", ""),
    (f"{F}\n<think>x</think>\n{F}\ny", f"{F}\n<think>x</think>\n{F}\ny", ""),
    (f"<think>{F}\nx</think>y", "y", f"{F}\nx"),
    (f"<think>{F}\nx\n</think>\n{F}py\nz\n{F}", f"{F}py\nz\n{F}", f"{F}\nx"),
    (f"{F}\nx\n</think>\n{F}\nz\n{F}", f"{F}\nz\n{F}", f"{F}\nx"),
    (f"<think>\n{F}\n</think>\n{F}\nso</think>y", "y", f"{F}\n</think>\n{F}\nso"),
    (f"~~~\n{F}\n</think>\n~~~\ny", f"~~~\n{F}\n</think>\n~~~\ny", ""),
    ("write `<think>` and `</think>`", "write `<think>` and `</think>`", ""),
    ("<think>say `</think>` now</think>y", "y", "say `</think>` now"),
    ("<think>say `</think>y", "y", "say `"),
    ("<think>x</think>\n \n    return 1\n", "    return 1", "x"),
    ("7 <|im_end|>", "7", ""),
    ("7<|eot_id|></s>\n", "7", ""),
    ("<end_of_turn>7", "<end_of_turn>7", ""),
]


@pytest.mark.parametrize(("text", "answer", "thinking"), TABLE)
def test_table(text: str, answer: str, thinking: str) -> None:
    parts = split(text, reasoning_field_seen=False)
    assert (parts.answer, parts.thinking) == (answer, thinking)
    assert ("thinking_unclosed" in parts.flags) == text.endswith("never closed")
    assert ("stray_token" in parts.flags) == text.startswith("7")
    if parts.answer_at is not None:
        assert text[parts.answer_at] == answer.strip()[0]


@pytest.mark.parametrize(
    ("tags", "text", "answer"),
    [
        ("none", "<think>x</think>y\n", "<think>x</think>y"),
        ([("<|a|>", "<|b|>")], "<|A|>x<|b|>y", "y"),
        ([("<|a|>", "<|b|>")], "<think>x</think>y", "y"),
        ([("##", "##")], "##x##y", "y"),
        ([("", "")], "<think>x</think>y", "y"),
    ],
)
def test_tags_of_a_profile(tags: Tags, text: str, answer: str) -> None:
    assert split(text, tags, reasoning_field_seen=False).answer == answer


def test_a_reasoning_field_leaves_lone_closers_without_effect() -> None:
    parts = split("7</think>", reasoning_field_seen=True)
    assert (parts.answer, parts.thinking) == ("7", "")


ANY = st.text(st.characters(exclude_characters="<["), max_size=80)
TAGGY = st.lists(
    st.sampled_from(
        [
            "<think>",
            "</think>",
            "[THINK]",
            "<think/>",
            "```",
            "```py",
            "~~~",
            "`",
            "\n",
            " ",
            "a",
            "<",
            "</s>",
        ]
    ),
    max_size=30,
).map("".join)


@given(x=ANY, y=ANY)
def test_the_answer_after_a_block_is_what_stands_there(x: str, y: str) -> None:
    parts = split(f"<think>{x}</think>{y}", reasoning_field_seen=False)
    assert parts.answer == split(y, reasoning_field_seen=False).answer
    assert parts.thinking == x.strip("\r\n")


@given(text=TAGGY, seen=st.booleans())
def test_any_text_is_split(text: str, seen: bool) -> None:
    parts = split(text, reasoning_field_seen=seen)
    assert len(parts.answer) + len(parts.thinking) <= len(text) + 1
    assert parts.answer == parts.answer.rstrip()
    assert (parts.answer_at is None) == (parts.answer == "")


@given(text=TAGGY, places=st.lists(st.integers(0, 60)))
def test_the_live_channels_do_not_depend_on_the_cuts(text: str, places: list[int]) -> None:
    def played(pieces: list[str]) -> list[tuple[str, str]]:
        live = Channels()
        found = [piece for part in pieces for piece in live.feed(part)] + live.flush()
        merged: list[tuple[str, str]] = []
        for channel, words in found:
            if merged and merged[-1][0] == channel:
                merged[-1] = (channel, merged[-1][1] + words)
            else:
                merged.append((channel, words))
        return merged

    ends = sorted({min(place, len(text)) for place in places} | {0, len(text)})
    assert played([text[a:b] for a, b in itertools.pairwise(ends)]) == played([text] if text else [])


def test_live_channels_of_a_profile() -> None:
    live = Channels([("◁think▷", "◁/think▷")])
    found = [piece for part in ("◁th", "ink▷hm◁/thi", "nk▷7") for piece in live.feed(part)]
    assert found == [("thinking", "hm"), ("answer", "7")]
    assert Channels("none").feed("<think>") == [("answer", "<think>")]


@pytest.mark.parametrize(
    "piece",
    [
        "<think>",
        "</think>",
        "<think ",
        "`",
        "``",
        "` ``",
        "```\n",
        "````\n```\n",
        "\n<think>`",
        " ",
        "<|eos|>",
        "~~~\n</think>",
        "[",
        "<",
    ],
)
def test_time_is_linear(piece: str) -> None:
    def seconds(size: int) -> float:
        text = piece * (size // len(piece))
        began = time.process_time()
        split(text, reasoning_field_seen=False)
        return time.process_time() - began

    seconds(1000)
    # twenty times the text: about 20 times the CPU when linear, 400 times when quadratic
    small, large = min(seconds(20_000) for _ in range(3)), min(seconds(400_000) for _ in range(2))
    assert large < max(0.2, 150 * small)

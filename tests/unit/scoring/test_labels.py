from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_benchkit.datasets.intents import INTENTS
from pytest_benchkit.scoring import labels
from pytest_benchkit.scoring.labels import LabelReader, canonical

READER = LabelReader(INTENTS)
REVERTED = "reverted_card_payment?"

READ = [
    ("card_arrival", "label", "card_arrival"),
    ("**Card Arrival**", "label", "card_arrival"),
    ("`reverted_card_payment?`", "label", REVERTED),
    ("Refund not showing up.", "label", "Refund_not_showing_up"),
    ("(card-arrival)", "label", "card_arrival"),
    ("# 1. ‘card_arrival’", "label", "card_arrival"),
    ("ｃａｒｄ＿ａｒｒｉｖａｌ", "label", "card_arrival"),
    ("It might be card_linking.\n\n- card_arrival\n", "last-line", "card_arrival"),
    ("The intent is card_arrival, since it speaks of one.", "marked", "card_arrival"),
    ("Label: **atm support**\nIt names an ATM, not change_pin.", "marked", "atm_support"),
    ("Answer: card_linking. No. Answer: card arrival, then.", "marked", "card_arrival"),
    ('category="pin_blocked" (certain)', "marked", "pin_blocked"),
    (
        "I would say card_arrival fits: it asks where a card is, so card arrival.",
        "single-mention",
        "card_arrival",
    ),
    ("This is about top_up_by_card_charge here", "single-mention", "top_up_by_card_charge"),
]
UNREAD = [
    "",
    "   ",
    "no idea",
    "card_arrival_date",
    "discard_arrival",
    "card",
    "Answer: card_arrival_date",
    "card. arrival",
]


@pytest.mark.parametrize(("text", "rule", "label"), READ)
def test_rules(text: str, rule: str, label: str) -> None:
    found = READER.score(text, label)
    assert (found.value, found.rule, found.extracted, found.flags) == (1.0, rule, label, ())
    assert found.span is not None
    assert canonical(text[slice(*found.span)]) == canonical(label) or "ｃ" in text


@pytest.mark.parametrize("text", UNREAD)
def test_nothing_is_read(text: str) -> None:
    found = READER.score(text, "card_arrival")
    assert (found.value, found.rule, found.extracted, found.span) == (0.0, "none", None, None)


def test_two_labels_decide_nothing() -> None:
    found = READER.score("Either card_arrival or card_linking fits well", "card_arrival")
    assert (found.value, found.extracted, found.flags) == (0.0, None, ("ambiguous",))


def test_longer_label_does_not_name_the_shorter_one() -> None:
    reader = LabelReader(["top_up", "top_up_failed"])
    assert reader.score("I read top up failed in it, clearly", "top_up_failed").rule == "single-mention"


def test_exact_reading_allows_nothing_but_case() -> None:
    for text, exact in (
        ("CARD_ARRIVAL ", 1.0),
        ("card arrival", 0.0),
        ("card_arrival.", 0.0),
        ("card_linking", 0.0),
    ):
        (reading,) = READER.score(text, "card_arrival").also
        assert (reading.rule, reading.score) == ("exact", exact)


def test_the_77_labels_are_spelt_differently_and_two_alike_are_refused() -> None:
    assert len(INTENTS) == len(READER.labels) == 77
    with pytest.raises(ValueError, match="two labels"):
        LabelReader(["pin-blocked", "Pin blocked?"])


WRAPS = st.sampled_from(
    ["{}", "**{}**", "`{}`", '"{}"', "- {}", "The intent is {}.", "Label: {}", "[{}]", "so\n{}\n", "{}!"]
)


@given(
    label=st.sampled_from(INTENTS), wrap=WRAPS, joint=st.sampled_from(["_", " ", "-"]), upper=st.booleans()
)
def test_a_label_is_read_through_whatever_is_around_it(
    label: str, wrap: str, joint: str, upper: bool
) -> None:
    spelt = label.replace("_", joint)
    text = wrap.format(spelt.upper() if upper else spelt)
    assert READER.score(text, label).value == 1.0


PARTS = st.sampled_from(
    [
        *INTENTS[:6],
        "card",
        " ",
        "_",
        "\n",
        "is",
        "intent:",
        "answer is ",
        "ı",
        "ſ",
        "\ud800",
        "?",
        "1. ",
        "**",
        "ﬁ",
        "K",
    ]
)


@given(text=st.lists(PARTS, max_size=20).map("".join) | st.text(max_size=40))
@settings(max_examples=200, deadline=None)
def test_any_text_gets_a_score(text: str) -> None:
    found = READER.score(text, "card_arrival")
    assert found.value == float(found.extracted == "card_arrival")
    assert found.extracted is None or found.extracted in INTENTS
    assert (found.rule == "none") is (found.extracted is None) is (found.span is None)
    if found.span is not None:
        start, end = found.span
        assert 0 <= start < end <= len(text)


@pytest.mark.parametrize("part", [" ", "_", "card_", "intent: ", "1. ", "card arrival ", "\n", "("])
def test_long_text_is_read_in_linear_time(part: str) -> None:
    READER.score((part * 100_000)[:100_000], "card_arrival")  # quadratic reading takes minutes


def test_huge_text_is_clipped() -> None:
    text = "card_linking " + "x " * (1 << 20) + "\ncard_arrival"
    found = READER.score(text, "card_arrival")
    assert (found.rule, found.value, found.flags) == ("last-line", 1.0, ("clipped",))
    assert found.span is not None
    assert text[slice(*found.span)] == "card_arrival"


def row(gold: str, read: str | None) -> dict[str, Any]:
    return {"expected": gold, "extracted": read, "category": gold}


def test_metrics() -> None:
    rows = [
        row("a", "a"),
        row("a", "b"),
        row("a", None),
        row("b", "b"),
        row("b", "a"),
        row("a", "c"),
        row("a", "b"),
    ]
    found = labels.metrics(rows)
    # a: 1 hit of 5 golds and 2 readings; b: 1 of 2 golds and 3 readings; c: read once, never a gold
    assert found["macro_f1"] == pytest.approx((2 / 7 + 2 / 5 + 0) / 3)
    assert (found["recall.a"], found["recall.b"]) == (0.2, 0.5)
    assert [name for name in found if name.startswith("confusion.")] == [
        "confusion.a>b",
        "confusion.a>c",
        "confusion.b>a",
    ]
    assert found["confusion.a>b"] == 2
    assert labels.metrics([]) == {}
    timed_out = {"category": "a"}
    assert labels.metrics([timed_out])["recall.a"] == 0.0


def test_only_the_commonest_mistakes_are_told() -> None:
    rows = [row("gold", f"label{number:02}") for number in range(20)]
    assert sum(name.startswith("confusion.") for name in labels.metrics(rows)) == labels.TOP_CONFUSIONS

from __future__ import annotations

import re
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pytest_benchkit.datasets.entries.ifeval import IFEVAL
from pytest_benchkit.datasets.ifeval import INSTRUCTIONS
from pytest_benchkit.errors import DataError
from pytest_benchkit.scoring import ifeval, ifeval_samples, ifeval_text
from pytest_benchkit.scoring.ifeval_checks import CHECKS
from pytest_benchkit.scoring.ifeval_text import View

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

MODEL = {
    "abbrev_types.txt": "dr\nd.c",
    "collocations.tab": "##number##\trj\n",
    "ortho_context.tab": "smith\t4\n",
    "sent_starters.txt": "he\nthe",
}
"""A sentence model of ours: the tests need no installed data."""

ARGS: Mapping[str, Any] = {
    "keywords": ["Tea", "cup"],
    "forbidden_words": ["tea"],
    "keyword": "tea",
    "frequency": 2,
    "relation": "at least",
    "letter": "#",
    "let_frequency": 2,
    "let_relation": "at least",
    "language": "en",
    "num_sentences": 2,
    "num_words": 3,
    "num_paragraphs": 2,
    "nth_paragraph": 2,
    "first_word": "Word",
    "num_placeholders": 2,
    "postscript_marker": "P.S.",
    "num_bullets": 2,
    "num_highlights": 2,
    "section_spliter": "Section",
    "num_sections": 2,
    "prompt_to_repeat": "Say it ",
    "end_phrase": "The end. ",
    "capital_frequency": 2,
    "capital_relation": "at least",
}


@pytest.fixture(autouse=True)
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    def companion(source: object, name: str) -> bytes:
        return MODEL[name].encode()

    monkeypatch.setattr(type(IFEVAL), "companion", companion)
    ifeval_text._punkt.cache_clear()
    yield
    ifeval_text._punkt.cache_clear()


def arguments(id: str, **changed: Any) -> dict[str, Any]:
    return {name: changed.get(name, ARGS[name]) for name in INSTRUCTIONS[id]}


def follows(id: str, text: str, **changed: Any) -> bool:
    return CHECKS[id](View(text), arguments(id, **changed))


CASES = [
    ("keywords:existence", "TEACUP", "tea only", {}),
    ("keywords:forbidden_words", "teapot steam", "Tea.", {}),
    ("keywords:frequency", "teapot teatea", "tea", {}),
    ("keywords:frequency", "tea", "tea tea", {"relation": "less than"}),
    ("keywords:letter_frequency", "# a #", "#!", {}),
    ("keywords:letter_frequency", "Aa", "b", {"letter": "A"}),
    ("language:response_language", "This is plainly an English sentence.", "Das ist ein deutscher Satz.", {}),
    ("language:response_language", "12345", "Das ist ein deutscher Satz.", {"language": "fr"}),
    ("length_constraints:number_sentences", "One. Two.", "Dr. Smith.", {}),
    ("length_constraints:number_sentences", "One.", "One. Two.", {"relation": "less than"}),
    ("length_constraints:number_words", "it's 1", "a b", {}),
    ("length_constraints:number_paragraphs", "a\n***\nb", "a\n***\n***\nb", {}),
    ("length_constraints:number_paragraphs", "*** a***b ***", "a", {}),
    ("length_constraints:nth_paragraph_first_word", "x\n\n'\"word's y", "x\n\nwords", {}),
    ("length_constraints:nth_paragraph_first_word", "x\n\nWORD, y", "x\n\n\n\nword", {}),
    ("detectable_content:number_placeholders", "[a] [[b]", "[a\n] [b]", {}),
    ("detectable_content:postscript", "x p. s. y", "ps. p.s", {}),
    ("detectable_content:postscript", "P. P. S", "P.S. only", {"postscript_marker": "P.P.S"}),
    ("detectable_content:postscript", "NB: x", "P.S. x", {"postscript_marker": "NB:"}),
    ("detectable_format:number_bullet_lists", "\n * a\n  - b", "** a\n- b", {}),
    ("detectable_format:number_bullet_lists", "*\n* a\n- b", "*\n* a\n- b\n- c", {}),
    ("detectable_format:constrained_response", "So: My answer is maybe. Or", "my answer is no.", {}),
    ("detectable_format:number_highlighted_sections", "*a* **b**", "*a* ** **", {}),
    ("detectable_format:multiple_sections", "Section 1 x Section2", "SECTION 1 SECTION 2", {}),
    ("detectable_format:json_format", '```json\n{"a": 1}\n```', "{'a': 1}", {}),
    ("detectable_format:json_format", "```Json 3 ```", "[" * 100_000, {}),
    ("detectable_format:title", "x <<a>> y", "<< >> <<a\n>>", {}),
    ("detectable_format:title", "<<<a>>>", "<<<>>>", {}),
    ("combination:two_responses", "a******A******", "a****** a ******", {}),
    ("combination:two_responses", "******a******b", "a****** a", {}),
    ("combination:repeat_prompt", " say IT now", "I say it", {}),
    ("startend:end_checker", ' x the END." \n', "The end. Bye", {}),
    ("startend:quotation", ' "" ', '"', {}),
    ("change_case:capital_word_frequency", "CAN'T", "Can't A", {}),
    ("change_case:capital_word_frequency", "NOT-KNOWN b", "A B c", {"capital_relation": "less than"}),
    (
        "change_case:english_capital",
        "THIS IS PLAINLY AN ENGLISH SENTENCE.",
        "DAS IST EIN DEUTSCHER SATZ.",
        {},
    ),
    ("change_case:english_lowercase", "this is plainly an english sentence.", "This is it", {}),
    ("punctuation:no_comma", "a、b，c", "a,b", {}),
]


@pytest.mark.parametrize(("id", "followed", "missed", "changed"), CASES)
def test_each_kind_of_instruction(id: str, followed: str, missed: str, changed: dict[str, Any]) -> None:
    assert follows(id, followed, **changed)
    assert not follows(id, missed, **changed)


def test_every_kind_has_a_check_and_a_case() -> None:
    assert list(CHECKS) == list(INSTRUCTIONS)
    assert {id for id, *_ in CASES} == set(CHECKS)
    assert len(CHECKS) == 25


LOOSE = [
    ("Sure!\n{}", "detectable_format:json_format"),
    ("{}\nThat was it.", "detectable_format:json_format"),
    ("Sure!\n{}\nThat was it.", "detectable_format:json_format"),
    ("**{}**", "detectable_format:json_format"),
    ("Sure!\n*{}*\nThat was it.", "detectable_format:json_format"),
]


@pytest.mark.parametrize(("text", "id"), LOOSE)
def test_loose_drops_lines_and_asterisks(text: str, id: str) -> None:
    found = ifeval.score(text, [id], [{}])
    assert (found.value, found.labels["strict"], found.labels["loose"]) == (0.0, [False], [True])
    assert (found.rule, found.also[0].score) == ("loose", 1.0)
    assert found.reason == f"not followed: {id} (1 of them loosely)"


def test_eight_readings_and_no_blank_one() -> None:
    assert [view.text for view in ifeval.readings("*a\nb\nc")] == [
        "*a\nb\nc",
        "b\nc",
        "*a\nb",
        "b",
        "a\nb\nc",
        "a\nb",
    ]
    assert [view.text for view in ifeval.readings("**\n\nb")] == ["**\n\nb", "b", "**", "\n\nb"]
    assert ifeval.readings(" \n") == []


def test_prompt_level_needs_all_and_blank_follows_nothing() -> None:
    both = ["punctuation:no_comma", "startend:quotation"]
    assert ifeval.score('"a"', both, [{}, {}]).value == 1.0
    part = ifeval.score("a", both, [{}, {}])
    assert (part.value, part.extracted, part.expected) == (0.0, "1 of 2 followed", "2 of 2 followed")
    assert (part.rule, part.reason) == ("not-followed", "not followed: startend:quotation")
    blank = ifeval.score(" \n", both, [{}, {}])
    assert (blank.labels["strict"], blank.labels["loose"]) == ([False, False], [False, False])
    assert (blank.extracted, blank.rule, blank.reason) == (None, "none", None)
    assert ifeval.score("a", both, [{}, {}], cut=True).reason is None


def test_faults_of_the_text_are_misses_and_faults_of_ours_are_not(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(view: View, args: Mapping[str, Any]) -> bool:
        raise IndexError("the text did it")

    monkeypatch.setitem(CHECKS, "punctuation:no_comma", broken)
    found = ifeval.score("a", ["punctuation:no_comma"], [{}])
    assert (found.value, found.flags) == (0.0, ("checker_fault",))
    with pytest.raises(KeyError):
        ifeval.score("a", ["punctuation:none"], [{}])

    def missing(source: object, name: str) -> bytes:
        raise DataError("not here")

    monkeypatch.setattr(type(IFEVAL), "companion", missing)
    with pytest.raises(DataError):
        ifeval.score(
            "a", ["length_constraints:number_sentences"], [arguments("length_constraints:number_sentences")]
        )


def test_language_is_the_same_every_time() -> None:
    text = "ok la casa is die Frage"
    assert len({View(text).language for _ in range(5)}) == 1


def test_replies_do_not_grow_the_sentence_model() -> None:
    before = len(ifeval_text._punkt()._params.ortho_context)
    assert len(View("Zorp. Blarg went. Quux?").sentences) == 3
    assert len(ifeval_text._punkt()._params.ortho_context) == before


ANY_TEXT = st.text(st.characters(), max_size=60)
SHAPED = st.lists(
    st.sampled_from([*"*-[]<>\"'.,\n #", "***", "******", "P.S.", "Tea", "A", "word", "```", "\ud800"])
).map("".join)


@given(text=ANY_TEXT | SHAPED)
@settings(max_examples=60, deadline=None)
def test_any_text_gets_a_verdict(text: str) -> None:
    ids = list(CHECKS)
    found = ifeval.score(text, ids, [arguments(id) for id in ids])
    strict, loose = found.labels["strict"], found.labels["loose"]
    assert len(strict) == len(loose) == 25
    assert all(loosely or not strictly for strictly, loosely in zip(strict, loose, strict=True))
    assert found.value == float(all(strict))
    assert not found.flags


@given(text=SHAPED)
@settings(max_examples=200, deadline=None)
def test_linear_patterns_count_as_upstreams_do(text: str) -> None:
    placeholders = len(re.findall(r"\[.*?\]", text))
    bullets = len(re.findall(r"^\s*\*[^\*].*$", text, re.M)) + len(re.findall(r"^\s*-.*$", text, re.M))
    titles = re.findall(r"<<[^\n]+>>", text)
    assert follows("detectable_content:number_placeholders", text, num_placeholders=placeholders)
    assert not follows("detectable_content:number_placeholders", text, num_placeholders=placeholders + 1)
    assert follows("detectable_format:number_bullet_lists", text, num_bullets=bullets)
    assert follows("detectable_format:title", text) is any(t.lstrip("<").rstrip(">").strip() for t in titles)


@pytest.mark.parametrize(
    "text", ["[" * 100_000, "\n" * 100_000 + "x", "<<" * 50_000, "*" * 100_000, " " * 100_000 + "x"]
)
def test_hostile_text_takes_linear_time(text: str) -> None:
    ids = [
        id for id in CHECKS if not id.startswith(("language", "change_case", "length_constraints:number_s"))
    ]
    found = ifeval.score(text, ids, [arguments(id) for id in ids])  # quadratic patterns take minutes
    assert found.value == 0.0


def test_huge_text_is_clipped() -> None:
    found = ifeval.score("a" * (1 << 20) + ",", ["punctuation:no_comma"], [{}])
    assert (found.value, found.flags) == (0.0, ("clipped",))


def test_samples_follow_what_is_asked() -> None:
    asked = [
        ["punctuation:no_comma", "length_constraints:number_words", "detectable_format:title"],
        ["detectable_format:number_bullet_lists", "startend:quotation", "keywords:existence"],
        ["length_constraints:nth_paragraph_first_word", "detectable_content:postscript"],
        ["combination:two_responses", "keywords:letter_frequency", "detectable_content:number_placeholders"],
        ["change_case:english_capital", "startend:end_checker"],
        ["detectable_format:multiple_sections", "combination:two_responses"],
        ["detectable_format:json_format", "keywords:forbidden_words"],
        ["combination:repeat_prompt", "keywords:frequency", "detectable_format:number_highlighted_sections"],
        ["length_constraints:number_paragraphs", "change_case:capital_word_frequency"],
        ["detectable_format:constrained_response"],
        ["change_case:english_lowercase", "length_constraints:number_sentences"],
        ["language:response_language"],
    ]
    assert {id for ids in asked for id in ids} == set(CHECKS)
    for ids in asked:
        kwargs = [arguments(id) for id in ids]
        right, wrong = ifeval_samples.pair(ids, kwargs)
        assert ifeval.score(right, ids, kwargs).value == 1.0, (ids, right)
        assert ifeval.score(wrong, ids, kwargs).value == 0.0, (ids, wrong)


@pytest.mark.parametrize("code", ifeval_samples.FILLERS)
def test_fillers_are_in_their_language(code: str) -> None:
    assert View(" ".join([ifeval_samples.FILLERS[code]] * 3)).language == code


def test_metrics_count_instructions_and_prompts() -> None:
    def row(strict: list[bool], loose: list[bool], *ids: str) -> dict[str, Any]:
        return {"labels": {"instructions": list(ids), "strict": strict, "loose": loose}}

    rows = [
        row([True, False], [True, True], "punctuation:no_comma", "startend:quotation"),
        row([False], [False], "startend:end_checker"),
        {"task_id": "0007"},
    ]
    found = ifeval.metrics(rows, lambda row: ["startend:quotation"])
    assert found["prompt_loose"] == pytest.approx(1 / 3)
    assert (found["inst_strict"], found["inst_loose"], found["n_inst"]) == (0.25, 0.5, 4)
    assert found["strict.startend"] == 0.0
    assert found["loose.startend"] == pytest.approx(1 / 3)
    assert (found["strict.startend:quotation"], found["loose.startend:quotation"]) == (0.0, 0.5)
    assert found["n_inst.punctuation:no_comma"] == 1
    assert ifeval.metrics([], lambda row: []) == {}


def test_sentence_model_has_the_files_that_are_read() -> None:
    assert {PurePosixPath(file.member).name for file in IFEVAL.companions} == set(MODEL)


@pytest.mark.parametrize(
    ("id", "text", "changed", "words"),
    [
        ("keywords:letter_frequency", "#", {"let_frequency": 4}, "at least 4, found 1"),
        ("keywords:frequency", "tea tea", {"relation": "less than"}, "less than 2, found 2"),
        ("length_constraints:number_words", "a b", {}, "at least 3, found 2"),
        ("length_constraints:number_sentences", "One.", {}, "at least 2, found 1"),
        ("length_constraints:number_paragraphs", "a", {}, "exactly 2, found 1"),
        ("length_constraints:number_paragraphs", "a\n***\n***\nb", {}, "exactly 2"),
        ("detectable_format:number_bullet_lists", "- a", {}, "exactly 2, found 1"),
        ("detectable_format:multiple_sections", "Section 1", {}, "at least 2, found 1"),
    ],
)
def test_reasons_tell_what_was_wanted_and_found(
    id: str, text: str, changed: dict[str, Any], words: str
) -> None:
    found = ifeval.score(text, [id, "punctuation:no_comma"], [arguments(id, **changed), {}])
    assert found.reason == f"not followed: {id} ({words})"

r"""The 25 checks of IFEval, one small function each, equal to google-research's.

Source: google-research ``instruction_following_eval/instructions.py`` @
4c4299485319ed72ef782020c81784be5468924e. Patterns of upstream that take quadratic time on hostile text are
written so that they count the same in linear time: ``^\s*`` never looks over a line's end, ``\[.*?\]`` and
``<<.+>>`` never look past the next bracket or the line's last one.

Each check takes the text as a :class:`~pytest_benchkit.scoring.ifeval_text.View` and the arguments of the
instruction by upstream's names.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from pytest_benchkit.scoring.ifeval_text import View

    Check = Callable[[View, Mapping[str, Any]], bool]

WORD = re.compile(r"\w+")
DIVIDER = re.compile(r"\s?\*\*\*\s?")
PLACEHOLDER = re.compile(r"\[[^\[\]\n]*\]")
STAR_BULLET = re.compile(r"(?m)^[^\S\n]*\*[^*].*$")
DASH_BULLET = re.compile(r"(?m)^[^\S\n]*-")
HIGHLIGHT = re.compile(r"\*[^\n*]*\*")
DOUBLE_HIGHLIGHT = re.compile(r"\*\*[^\n*]*\*\*")
POSTSCRIPTS = {"P.P.S": re.compile(r"p\.\s?p\.\s?s"), "P.S.": re.compile(r"p\.\s?s\.")}
FENCES = ("```json", "```Json", "```JSON", "```")
CONSTRAINED = ("My answer is yes.", "My answer is no.", "My answer is maybe.")
SIX_STARS = "*" * 6
EXACTLY, AT_LEAST = "exactly", "at least"


@dataclass(frozen=True, slots=True)
class Counted:
    """A check that counts: ``wanted`` is the argument with the number, ``relation`` the argument with the
    relation or the relation itself."""

    count: Callable[[View, Mapping[str, Any]], int | None]
    wanted: str
    relation: str

    def __call__(self, view: View, args: Mapping[str, Any]) -> bool:
        return holds(self.count(view, args), args.get(self.relation, self.relation), args[self.wanted])

    def told(self, view: View, args: Mapping[str, Any]) -> str:
        """What was wanted and what was found: ``at least 4, found 2``."""
        found = self.count(view, args)
        wanted = f"{args.get(self.relation, self.relation)} {args[self.wanted]}"
        return wanted if found is None else f"{wanted}, found {found}"


def holds(count: int | None, relation: str, wanted: int) -> bool:
    """``less than`` is strict, ``at least`` inclusive; nothing holds of what cannot be counted."""
    if count is None:
        return False
    return (
        count < wanted
        if relation == "less than"
        else count == wanted
        if relation == EXACTLY
        else count >= wanted
    )


def existence(view: View, args: Mapping[str, Any]) -> bool:
    return all(re.search(word, view.text, re.IGNORECASE) for word in args["keywords"])


def forbidden_words(view: View, args: Mapping[str, Any]) -> bool:
    return not any(re.search(rf"\b{word}\b", view.text, re.IGNORECASE) for word in args["forbidden_words"])


def keywords(view: View, args: Mapping[str, Any]) -> int:
    return sum(1 for _ in re.finditer(args["keyword"].strip(), view.text, re.IGNORECASE))


def letters(view: View, args: Mapping[str, Any]) -> int:
    return view.lower.count(args["letter"].strip().lower())


def response_language(view: View, args: Mapping[str, Any]) -> bool:
    return bool(view.language in (None, args["language"]))


def sentences(view: View, args: Mapping[str, Any]) -> int:
    return len(view.sentences)


def words(view: View, args: Mapping[str, Any]) -> int:
    return sum(1 for _ in WORD.finditer(view.text))


def paragraphs(view: View, args: Mapping[str, Any]) -> int | None:
    return _parts(DIVIDER.split(view.text))


def nth_paragraph_first_word(view: View, args: Mapping[str, Any]) -> bool:
    parts = view.text.split("\n\n")
    count = sum(bool(part.strip()) for part in parts)
    place = args["nth_paragraph"]
    if count != args["num_paragraphs"] or place > count:
        return False
    paragraph = parts[place - 1].split(None, 1)
    if not paragraph:
        return False
    word = paragraph[0].lstrip("'").lstrip('"')
    first: str = args["first_word"].lower()
    return re.split(r"[.,?!'\"]", word, maxsplit=1)[0].lower() == first


def placeholders(view: View, args: Mapping[str, Any]) -> int:
    return len(PLACEHOLDER.findall(view.text))


def postscript(view: View, args: Mapping[str, Any]) -> bool:
    marker = args["postscript_marker"].strip()
    if marker in POSTSCRIPTS:
        return POSTSCRIPTS[marker].search(view.lower) is not None
    return bool(marker.lower() in view.lower)


def bullets(view: View, args: Mapping[str, Any]) -> int:
    return len(STAR_BULLET.findall(view.text)) + len(DASH_BULLET.findall(view.text))


def constrained_response(view: View, args: Mapping[str, Any]) -> bool:
    return any(sentence in view.text for sentence in CONSTRAINED)


def highlights(view: View, args: Mapping[str, Any]) -> int:
    single = sum(bool(span.strip("*").strip()) for span in HIGHLIGHT.findall(view.text))
    double = sum(bool(span[2:-2].strip()) for span in DOUBLE_HIGHLIGHT.findall(view.text))
    return single + double


def sections(view: View, args: Mapping[str, Any]) -> int:
    marks = re.compile(rf"\s?{args['section_spliter'].strip()}\s?\d+\s?")
    return sum(1 for _ in marks.finditer(view.text))


def json_format(view: View, args: Mapping[str, Any]) -> bool:
    text = view.text.strip()
    for fence in FENCES:
        text = text.removeprefix(fence)
    try:
        json.loads(text.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return False
    return True


def title(view: View, args: Mapping[str, Any]) -> bool:
    for line in view.text.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        if start >= 0 and end > start + 2 and line[start : end + 2].lstrip("<").rstrip(">").strip():
            return True
    return False


def two_responses(view: View, args: Mapping[str, Any]) -> bool:
    parts = view.text.split(SIX_STARS)
    given = [part.strip() for part in parts if part.strip()]
    return _parts(parts) == len(given) == 2 and given[0] != given[1]


def repeat_prompt(view: View, args: Mapping[str, Any]) -> bool:
    return view.lower.strip().startswith(args["prompt_to_repeat"].strip().lower())


def end_checker(view: View, args: Mapping[str, Any]) -> bool:
    return view.text.strip().strip('"').lower().endswith(args["end_phrase"].strip().lower())


def quotation(view: View, args: Mapping[str, Any]) -> bool:
    text = view.text.strip()
    return len(text) > 1 and text[0] == text[-1] == '"'


def capital_word_frequency(view: View, args: Mapping[str, Any]) -> bool:
    wanted = args["capital_frequency"]
    return holds(view.capital_words(wanted), args["capital_relation"], wanted)


def english_capital(view: View, args: Mapping[str, Any]) -> bool:
    return view.text.isupper() and view.language in (None, "en")


def english_lowercase(view: View, args: Mapping[str, Any]) -> bool:
    return view.text.islower() and view.language in (None, "en")


def no_comma(view: View, args: Mapping[str, Any]) -> bool:
    return "," not in view.text


def _parts(parts: list[str]) -> int | None:
    """How many parts a division makes: a blank first or last one is none, a blank inner one spoils it."""
    if not all(part.strip() for part in parts[1:-1]):
        return None
    return sum(bool(part.strip()) for part in parts)


CHECKS: Mapping[str, Check] = {
    "keywords:existence": existence,
    "keywords:forbidden_words": forbidden_words,
    "keywords:frequency": Counted(keywords, "frequency", "relation"),
    "keywords:letter_frequency": Counted(letters, "let_frequency", "let_relation"),
    "language:response_language": response_language,
    "length_constraints:number_sentences": Counted(sentences, "num_sentences", "relation"),
    "length_constraints:number_words": Counted(words, "num_words", "relation"),
    "length_constraints:number_paragraphs": Counted(paragraphs, "num_paragraphs", EXACTLY),
    "length_constraints:nth_paragraph_first_word": nth_paragraph_first_word,
    "detectable_content:number_placeholders": Counted(placeholders, "num_placeholders", AT_LEAST),
    "detectable_content:postscript": postscript,
    "detectable_format:number_bullet_lists": Counted(bullets, "num_bullets", EXACTLY),
    "detectable_format:constrained_response": constrained_response,
    "detectable_format:number_highlighted_sections": Counted(highlights, "num_highlights", AT_LEAST),
    "detectable_format:multiple_sections": Counted(sections, "num_sections", AT_LEAST),
    "detectable_format:json_format": json_format,
    "detectable_format:title": title,
    "combination:two_responses": two_responses,
    "combination:repeat_prompt": repeat_prompt,
    "startend:end_checker": end_checker,
    "startend:quotation": quotation,
    "change_case:capital_word_frequency": capital_word_frequency,
    "change_case:english_capital": english_capital,
    "change_case:english_lowercase": english_lowercase,
    "punctuation:no_comma": no_comma,
}
"""The check of every kind of instruction."""

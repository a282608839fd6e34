"""Replies made for a set of IFEval instructions: one that follows all of them, one that does not.

For the ``demo`` model and for tests. A reply is put together from the parts that the instructions ask for
and padded with filler sentences; what the parts do to each other is left to the scorer, which picks the
first candidate that does.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from pytest_benchkit.scoring.ifeval import score

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

ENGLISH = (
    "We go on with the plan and it works out fine.",
    "It is a fun trip for us all.",
    "We go on.",
    "The fire is here and the time is right.",
)
"""Sentences without commas that lack different letters and words."""
FILLERS = {
    "ar": "هذا نص قصير عن الطقس والحياة في المدينة.",
    "bg": "Това е кратък текст за времето и живота в града.",
    "bn": "এটি শহরের আবহাওয়া এবং জীবন নিয়ে একটি ছোট লেখা।",
    "de": "Dies ist ein kurzer Text über das Wetter und das Leben in der Stadt.",
    "fa": "این یک متن کوتاه درباره آب و هوا و زندگی در شهر است.",
    "fi": "Tämä on lyhyt teksti säästä ja elämästä kaupungissa.",
    "gu": "આ શહેરના હવામાન અને જીવન વિશેનું એક ટૂંકું લખાણ છે.",
    "hi": "यह शहर के मौसम और जीवन के बारे में एक छोटा लेख है।",
    "it": "Questo è un breve testo sul tempo e sulla vita in una grande città.",
    "kn": "ಇದು ನಗರದ ಹವಾಮಾನ ಮತ್ತು ಜೀವನದ ಬಗ್ಗೆ ಒಂದು ಸಣ್ಣ ಬರಹ.",
    "ko": "이것은 도시의 날씨와 생활에 관한 짧은 글입니다.",
    "mr": "हा शहरातील हवामान आणि जीवनाबद्दल एक छोटा लेख आहे.",
    "ne": "यो सहरको मौसम र जीवनको बारेमा एउटा छोटो लेख हो।",
    "pa": "ਇਹ ਸ਼ਹਿਰ ਦੇ ਮੌਸਮ ਅਤੇ ਜੀਵਨ ਬਾਰੇ ਇੱਕ ਛੋਟਾ ਲੇਖ ਹੈ।",
    "pt": "Este é um texto curto sobre o tempo e a vida na cidade que não é muito grande.",
    "ru": "Это короткий текст о погоде и жизни в нашем городе.",
    "sw": "Haya ni maandishi mafupi kuhusu hali ya hewa na maisha katika mji wetu.",
    "ta": "இது நகரத்தின் வானிலை மற்றும் வாழ்க்கை பற்றிய ஒரு சிறிய கட்டுரை.",
    "te": "ఇది నగరంలోని వాతావరణం మరియు జీవితం గురించి ఒక చిన్న వ్యాసం.",
    "th": "นี่คือข้อความสั้น ๆ เกี่ยวกับสภาพอากาศและชีวิตในเมือง",
    "ur": "یہ شہر کے موسم اور زندگی کے بارے میں ایک مختصر تحریر ہے۔",
    "vi": "Đây là một đoạn văn ngắn về thời tiết và cuộc sống trong thành phố.",
}
WORD = re.compile(r"\w+")


def pair(instructions: Sequence[str], kwargs: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """A reply that follows every instruction and one that misses some, as far as candidates do."""
    asked = list(zip(instructions, kwargs, strict=True))
    right = _first(1.0, (Composer(asked, filler).text() for filler in _fillers(asked)), instructions, kwargs)
    return right, _first(0.0, _spoilt(asked), instructions, kwargs)


def _first(
    wanted: float,
    candidates: Iterator[str],
    instructions: Sequence[str],
    kwargs: Sequence[Mapping[str, Any]],
) -> str:
    text = ""
    for text in candidates:
        if score(text, instructions, kwargs).value == wanted:
            break
    return text


def _fillers(asked: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[str, ...]:
    languages = [args["language"] for _, args in asked if "language" in args]
    plain = tuple(FILLERS[code] for code in languages if code in FILLERS) or ENGLISH
    return (*plain, " ".join([plain[0]] * 20))  # a language is told by its share of the text


def _spoilt(asked: Sequence[tuple[str, Mapping[str, Any]]]) -> Iterator[str]:
    """A reply that does what was not to be done, a long one that does it often, one that does nothing."""
    words = [
        word for _, args in asked for word in (*args.get("forbidden_words", ()), args.get("keyword", ""))
    ]
    letters = [args["letter"] for _, args in asked if "letter" in args]
    short = f"No, I will NOT. {' '.join(words)}"
    yield short
    yield f"{short} {' '.join(letters) * 80} {'This goes ON, and on. ' * 300}{' '.join(words) * 20}"
    yield "no."


class Composer:
    """Puts one reply together. ``asked`` pairs instruction ids with their arguments."""

    def __init__(self, asked: Sequence[tuple[str, Mapping[str, Any]]], filler: str) -> None:
        self.asked = asked
        self.filler = filler.strip()
        self.kinds = {id.partition(":")[2] for id, _ in asked}

    def most(self, name: str, relation: str = "") -> int:
        """The largest number wanted of an argument, 0 where none is, or only an upper bound."""
        return max(
            (
                args[name]
                for _, args in self.asked
                if name in args and (not relation or args[relation] == "at least")
            ),
            default=0,
        )

    def first(self, name: str) -> str:
        return next((args[name] for _, args in self.asked if name in args), "")

    def text(self) -> str:
        body = self._framed(self._content())
        if "english_capital" in self.kinds:
            body = body.upper()
        if "english_lowercase" in self.kinds:
            body = body.lower()
        if "json_format" in self.kinds:
            return json.dumps({"reply": body}, ensure_ascii=False)
        return f'"{body}"' if "quotation" in self.kinds else body

    def _content(self) -> str:
        """What has to be somewhere in the reply, padded to the number of words asked for."""
        sentences = max(1, self.most("num_sentences", "relation"))
        lines = [" ".join([self.filler] * sentences)]
        extras = [*self._keywords(), *self._letters()]
        extras += ["OK"] * self.most("capital_frequency", "capital_relation")
        extras += ["[x]"] * self.most("num_placeholders") + ["*x*"] * self.most("num_highlights")
        if extras:
            lines.append(self.filler.split()[0] + " " + " ".join(extras))
        lines += ["- x"] * self.most("num_bullets")
        sections = range(1, self.most("num_sections") + 1)
        lines += [f"{self.first('section_spliter')} {number}\nx" for number in sections]
        if "constrained_response" in self.kinds:
            lines.append("My answer is yes.")
        missing = self.most("num_words", "relation") - len(WORD.findall("\n".join(lines)))
        if missing > 0:
            words = WORD.findall(self.filler)
            lines[0] = " ".join([*(words * (missing // len(words) + 1))[:missing], lines[0]])
        return "\n".join(lines)

    def _keywords(self) -> Iterator[str]:
        counts = {
            args["keyword"]: args["frequency"]
            for _, args in self.asked
            if "keyword" in args and args["relation"] == "at least"
        }
        for _, args in self.asked:
            for word in args.get("keywords", ()):
                counts.setdefault(word, 1)
        for word, count in counts.items():
            yield from [word] * count

    def _letters(self) -> Iterator[str]:
        for _, args in self.asked:
            if "letter" in args and args["let_relation"] == "at least":
                yield args["letter"] * args["let_frequency"]

    def _framed(self, content: str) -> str:
        """The content as one of the parts that are asked for, with what stands before and after."""
        if word := self.first("first_word"):
            parts = [self.filler] * self.most("num_paragraphs")
            place = self.most("nth_paragraph") - 1
            parts[place] = f"{word} {parts[place]}"
            parts[0 if place else -1] += f"\n{content}"
            body = "\n\n".join(parts)
        elif count := self.most("num_paragraphs"):
            body = "\n***\n".join([content, *[self.filler] * (count - 1)])
        elif "two_responses" in self.kinds:
            body = f"{content}\n******\n{self.filler} {self.filler}"
        else:
            body = content
        head = [self.first("prompt_to_repeat"), "<<x>>" if "title" in self.kinds else ""]
        tail = [self.first("postscript_marker"), self.first("end_phrase")]
        return "\n".join(part for part in (*head, body, *tail) if part)

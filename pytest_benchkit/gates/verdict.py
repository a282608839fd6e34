"""The verdict on one gate, and every form in which it is shown: lines, JSON, a GitHub summary."""

from __future__ import annotations

import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pytest_benchkit.gates.baseline import Reason
from pytest_benchkit.gates.bounds import BoundResult, as_float
from pytest_benchkit.gates.problems import Problem, escape
from pytest_benchkit.gates.result import Counts
from pytest_benchkit.gates.schema import Entry

SCHEMA = "benchkit.gate-verdict/1"
Word = Literal["pass", "fail", "not-judged"]
SHOWN: dict[Word, str] = {"pass": "PASS", "fail": "FAIL", "not-judged": "NOT JUDGED"}
SLUG_LENGTH = 60
SUMMARY_BYTES = 64 * 1024
CUT_NOTE = "\n\n(cut at 64 KiB; all of it is in gate.json)\n"


@dataclass(frozen=True)
class GateVerdict:
    """``claim``: how the checkpoint was told. ``reasons`` say why it is not judged; bounds that could be
    compared all the same are then what "would have been"."""

    gate: str
    suite: str
    model: str
    verdict: Word
    hardware: str | None = None
    checkpoint: str | None = None
    claim: str | None = None
    harness: str = "direct"
    perturbation: str = ""
    reasons: tuple[Reason, ...] = ()
    bounds: tuple[BoundResult, ...] = ()
    notes: tuple[str, ...] = ()
    planned: int = 0
    counts: Counts = Counts(0, 0)
    entry: Entry | None = None
    early: Mapping[str, Any] | None = None
    """How it was decided before all rows were asked: mode, code, after, of, intervals of the metrics."""

    @property
    def codes(self) -> list[str]:
        """Codes of reasons, and of failed bounds."""
        failed = [bound.code for bound in self.bounds if bound.code is not None]
        return [reason.code for reason in self.reasons] or failed

    @property
    def failed(self) -> list[BoundResult]:
        return [bound for bound in self.bounds if not bound.ok]

    @property
    def headline(self) -> str:
        """One line: what came out."""
        if self.reasons:
            main = self.reasons[-1] if self.reasons[0].code == "no-subject" else self.reasons[0]
            return f"not judged: {', '.join(self.codes)}: {main.message}"
        after = ""
        if self.early is not None:
            after = f"{self.early['code']} after {self.early['after']} of {self.early['of']}: "
        if self.failed:
            first = after + self.failed[0].message
            return first if len(self.failed) == 1 else f"{first} (and {len(self.failed) - 1} more)"
        return after + "; ".join(bound.message for bound in self.bounds)

    @property
    def completeness(self) -> str:
        """``1319 planned = 1312 scored + 4 errors + 3 skipped``."""
        counts = self.counts
        parts = [f"{counts.scored} scored"]
        deselected = self.planned - counts.collected
        for number, word in (
            (counts.errors, "errors"),
            (counts.skipped, "skipped"),
            (counts.unasked, "not asked"),
            (deselected, "deselected"),
        ):
            if number > 0:
                parts.append(f"{number} {word}")
        return f"{self.planned} planned = {' + '.join(parts)}"

    def lines(self) -> list[str]:
        """For the terminal and for a failed row: headline, each bound, completeness, what to do."""
        subject = " / ".join(
            part for part in (self.gate, self.hardware, self.checkpoint or self.model) if part
        )
        found = [f"{SHOWN[self.verdict]} {subject}: {self.headline}"]
        would = "would have been: " if self.reasons else ""
        for bound in self.bounds:
            room = (
                f", headroom {as_float(bound.headroom):.4g}"
                if bound.ok and bound.headroom is not None
                else ""
            )
            code = "" if bound.code is None else f" [{bound.code}]"
            found.append(f"  {would}{'ok  ' if bound.ok else 'FAIL'} {bound.message}{room}{code}")
            found += [f"       {note}" for note in bound.notes]
        found += [f"  {note}" for note in self.notes]
        if self.counts.collected:
            found.append(f"  {self.completeness}")
        found += [f"  {reason.code}: {reason.message}; {reason.remedy}" for reason in self.reasons[1:]]
        if self.reasons:
            found.append(
                f"  remedy: {self.reasons[-1 if self.reasons[0].code == 'no-subject' else 0].remedy}"
            )
        elif self.failed and self.entry is not None:
            found.append(f"  bound: {self.entry.path}:{self.entry.line}")
        return [escape(line) for line in found]

    def plain(self) -> dict[str, Any]:
        """An entry of ``gates`` in ``gate.json``."""
        counts = self.counts
        return {
            "gate": self.gate,
            "suite": self.suite,
            "hardware": self.hardware,
            "checkpoint": self.checkpoint,
            "checkpoint_claim": self.claim,
            "model": self.model,
            "axes": {"harness": self.harness, "perturbation": self.perturbation},
            "verdict": self.verdict,
            "headline": self.headline,
            "reasons": [reason.plain() for reason in self.reasons],
            "bounds": [bound.plain() for bound in self.bounds],
            "notes": list(self.notes),
            "counts": {
                "planned": self.planned,
                "collected": counts.collected,
                "deselected": max(0, self.planned - counts.collected),
                "scored": counts.scored,
                "excluded": dict(counts.excluded),
                "unasked": counts.unasked,
            },
            "early": None if self.early is None else dict(self.early),
            "entry": None
            if self.entry is None
            else {"path": self.entry.path, "line": self.entry.line, "sha256": digest(self.entry.plain())},
        }


def digest(value: object) -> str:
    """SHA-256 of canonical JSON: sorted keys, no spaces, no ASCII escaping, no NaN."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
    return hashlib.sha256(text.encode()).hexdigest()


def slug(text: str) -> str:
    """A checkpoint as part of a test or file name."""
    text = re.sub(r"[^a-z0-9._-]+", "-", text.lower().replace("/", "--"))
    return text[:SLUG_LENGTH]


def slugs(texts: Sequence[str]) -> list[str]:
    """Slugs of one file; equal ones get eight digits of their text's hash."""
    plain = [slug(text) for text in texts]
    return [
        f"{short}-{hashlib.sha256(text.encode()).hexdigest()[:8]}" if plain.count(short) > 1 else short
        for text, short in zip(texts, plain, strict=True)
    ]


def document(
    run: str, mode: str, verdicts: Iterable[GateVerdict], problems: Iterable[Problem], *, fails: bool
) -> dict[str, Any]:
    """``gate.json``."""
    return {
        "schema": SCHEMA,
        "run": run,
        "mode": mode,
        "exit_effect": "fail" if fails else "none",
        "gates": [verdict.plain() for verdict in verdicts],
        "problems": [problem.plain() for problem in problems],
    }


def closing(verdicts: Sequence[GateVerdict]) -> str:
    """``2 gates: 1 passed, 1 failed``."""
    words: list[str] = []
    for word, said in (("pass", "passed"), ("fail", "failed"), ("not-judged", "not judged")):
        if count := sum(verdict.verdict == word for verdict in verdicts):
            words.append(f"{count} {said}")
    return f"{len(verdicts)} gate{'s' * (len(verdicts) != 1)}: {', '.join(words)}"


# ---------------------------------------------------------------------- GitHub step summary


def summary(verdicts: Sequence[GateVerdict]) -> str:
    """One Markdown table, then the details of every verdict that is not pass; at most 64 KiB."""
    rows = ["| verdict | gate | hardware | checkpoint | score | what |", "|---|---|---|---|---|---|"]
    for verdict in verdicts:
        cells = (
            SHOWN[verdict.verdict],
            verdict.gate,
            verdict.hardware or "-",
            verdict.checkpoint or verdict.model,
            _score(verdict),
            verdict.headline,
        )
        rows.append("| " + " | ".join(_cell(cell) for cell in cells) + " |")
    parts = ["### Benchmark gates\n", *rows, "", closing(verdicts), ""]
    for verdict in verdicts:
        if verdict.verdict != "pass":
            head, *lines = verdict.lines()
            body = "<br>".join(_cell(line.strip()) for line in lines)
            parts += [f"<details><summary>{_cell(head)}</summary>", "", body, "", "</details>", ""]
    text = "\n".join(parts)
    if len(text.encode()) <= SUMMARY_BYTES:
        return text
    room = SUMMARY_BYTES - len(CUT_NOTE.encode())
    return text.encode()[:room].decode("utf-8", "ignore").rsplit("\n", 1)[0] + CUT_NOTE


def _score(verdict: GateVerdict) -> str:
    bound = next((bound for bound in verdict.bounds if bound.metric == "score"), None)
    if bound is None or bound.value is None:
        return "-"
    n = f" (n {bound.n})" if bound.n is not None else ""
    if not bound.n or not 0 <= bound.value <= 1:
        return f"{bound.value:.4g}{n}"
    from pytest_benchkit.gates.sampling import wilson_lower, wilson_upper

    low, high = (limit(bound.value, bound.n, 0.975) for limit in (wilson_lower, wilson_upper))
    return f"{bound.value:.4f} [{low:.4f}, {high:.4f}]{n}"


def _cell(text: str) -> str:
    """Text inside a table cell: neither Markdown nor HTML, on one line."""
    text = html.escape(escape(text), quote=False)
    return re.sub(r"([|`*_\[\]~\\])", lambda m: f"&#{ord(m.group())};", text)

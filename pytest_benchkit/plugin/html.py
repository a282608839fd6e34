"""Our columns, texts and summary in the page of pytest-html (PYT-1..PYT-4).

Registered only when pytest-html is there. Its page puts strings into the document as markup, so all that
is not ours is escaped here.
"""

from __future__ import annotations

import json
from html import escape
from typing import TYPE_CHECKING, Any

import pytest

from pytest_benchkit.reports.excerpt import shorten
from pytest_benchkit.reports.format import safe
from pytest_benchkit.reports.scores import overall_lines, score_columns
from pytest_benchkit.reports.table import Column

if TYPE_CHECKING:
    from pytest_benchkit.plugin.session import BenchSession

COLUMNS = ("Suite", "Model", "Outcome", "Score", "Tokens", "TTFT")
PLACE = 2
"""Ours stand after Result and Test."""
MOST_WITH_TEXT = 2000
TEXT_BYTES = 5 * 1024
"""Of one row's text as it stands in the file, where every quote and angle bracket is escaped twice."""
TEXT_CHARS = 4000
STYLE = "border-collapse:collapse;margin:.5em 0"
CELL = "border:1px solid #ccc;padding:.2em .6em;text-align:"


class BenchHtml:
    """Hooks of pytest-html on the controller."""

    def __init__(self, bench: BenchSession) -> None:
        self.bench = bench
        self._with_text = 0
        self._without_text = 0

    def pytest_sessionstart(self, session: pytest.Session) -> None:
        """The environment table: run, models, hashes of the data."""
        store = self.bench.store
        if store is None or not session.config.getoption("htmlpath", None):
            return
        from pytest_metadata.plugin import metadata_key  # type: ignore[import-untyped]

        table = session.config.stash.get(metadata_key, None)
        if table is None:
            return
        info = store.info
        table["Benchmark run"] = _text(info.get("run_id", ""))
        table["Benchmark models"] = [_text(model["name"]) for model in info.get("models", [])]
        table["Benchmark data"] = {
            _text(suite["name"]): _text(suite["data"]["sha256"][:16]) for suite in info.get("suites", [])
        }

    # ------------------------------------------------------------------ the table of rows

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_table_header(self, cells: list[str]) -> None:
        cells[PLACE:PLACE] = [
            f'<th class="sortable" data-column-type="b{name}">{name}</th>' for name in COLUMNS
        ]

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_table_row(self, report: Any, cells: list[str]) -> None:
        """One cell a column, blank for tests that are no rows. Numbers are padded by blanks, which a page
        does not show and by which its sorting, of texts, gets numbers right."""
        bench = getattr(report, "bench", None)
        values = _values(bench) if bench is not None else [""] * len(COLUMNS)
        # no quotes around the class: each costs six bytes a cell in the page's JSON
        cells[PLACE:PLACE] = [
            f"<td class=col-b{name}>{value}</td>" for name, value in zip(COLUMNS, values, strict=True)
        ]

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_table_html(self, report: Any, data: list[str]) -> None:
        """The text under a row: reason and excerpt of missed and failed rows, nothing under others."""
        bench = getattr(report, "bench", None)
        if bench is None:
            return
        data.clear()
        mode = self.bench.options.html_rows
        if mode == "none" or (mode == "missed" and bench["outcome"] == "correct"):
            return
        if self._with_text >= MOST_WITH_TEXT:
            self._without_text += 1
            return
        self._with_text += 1
        data.append(fitted(bench.get("text") or f"outcome: {bench['outcome']}\nreason: {bench['reason']}"))

    # ------------------------------------------------------------------ above the table

    @pytest.hookimpl(optionalhook=True)
    def pytest_html_results_summary(self, prefix: list[str]) -> None:
        results = self.bench.results
        if results is None or not results["results"]:
            return
        lines = [*overall_lines(results["overall"]), *(found["text"] for found in results["warnings"])]
        if banner := results["run"].get("banner"):
            prefix.append(f"<p><strong>{_text(banner)}</strong></p>")
        prefix.append(_table(score_columns(results["results"])))
        prefix.extend(f"<p>{_text(line)}</p>" for line in lines)
        if self._without_text:
            total = self._with_text + self._without_text
            prefix.append(
                f"<p>{self._with_text} of {total} rows with a text show it here; "
                "all texts are in records.jsonl of the run.</p>"
            )


def _values(bench: dict[str, Any]) -> list[str]:
    suite, _, model = _axes(bench.get("key", ""))
    score, tokens, ttft = bench.get("score"), bench.get("tokens"), bench.get("ttft_ms")
    return [
        _text(suite),
        _text(model),
        _text(str(bench["outcome"])),
        "" if score is None else f"{score:.2f}",
        "" if tokens is None else f"{tokens:7d}",
        "" if ttft is None else f"{ttft:7.0f} ms",
    ]


def _axes(key: str) -> tuple[str, str, str]:
    """Suite, task and model of a record key, whose parts are joined by ``|`` and escaped by a backslash."""
    parts, current, escaped = [], "", False
    for character in key:
        if escaped or character not in "|\\":
            current += character
            escaped = False
        elif character == "\\":
            escaped = True
        else:
            parts.append(current)
            current = ""
    suite, task, model = [*parts, current, "", "", ""][:3]
    return suite, task, model


def _text(value: str) -> str:
    return escape(safe(value))


def fitted(text: str) -> str:
    """The text escaped for the page, cut so far that it stays under its share of the file."""
    limit = TEXT_CHARS
    while True:
        shown = escape(safe(shorten(text, limit), lines=True))
        size = len(escape(json.dumps(shown)))  # what the page's template makes of it
        if size <= TEXT_BYTES:
            return shown
        limit = min(limit - 1, limit * TEXT_BYTES // size)


def _table(columns: list[Column]) -> str:
    """The table of scores as HTML."""

    def row(tag: str, texts: list[str]) -> str:
        cells = zip(columns, texts, strict=True)
        return "".join(
            f'<{tag} style="{CELL}{"left" if c.kind in ("name", "tail") else "right"}">{escape(text)}</{tag}>'
            for c, text in cells
        )

    rows = [row("th", [column.heading for column in columns])]
    rows += [row("td", list(cells)) for cells in zip(*(column.cells for column in columns), strict=True)]
    return f'<table style="{STYLE}">' + "".join(f"<tr>{cells}</tr>" for cells in rows) + "</table>"

"""The page of pytest-html: our columns, texts, summary; nothing foreign becomes markup."""

from __future__ import annotations

import html
import json
import re
from html.parser import HTMLParser
from typing import Any

import pytest

from tests.integration.conftest import Project
from tests.support.fakeserver import FakeServer, replying

COLUMNS = ["Suite", "Model", "Outcome", "Score", "Tokens", "TTFT"]


class Tags(HTMLParser):
    """The elements and texts of a page or a piece of one."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_data(self, data: str) -> None:
        self.words.append(data)


class Page:
    def __init__(self, project: Project) -> None:
        self.path = project.pytester.path / "report.html"
        self.text = self.path.read_text(encoding="utf-8")
        blob = re.search(r'data-jsonblob="([^"]*)"', self.text)
        assert blob is not None
        self.data: dict[str, Any] = json.loads(html.unescape(blob[1]))

    @property
    def rows(self) -> list[dict[str, Any]]:
        return [row for rows in self.data["tests"].values() for row in rows]

    @property
    def headings(self) -> list[str]:
        head = self.text.split('id="results-table-head"')[1].split("</thead>")[0]
        return re.findall(r"<th[^>]*>([^<]*)</th>", head)


def page(project: Project, *words: str, process: bool = False) -> Page:
    project.run("--html=report.html", "--self-contained-html", "bench_sums.py", *words, process=process)
    return Page(project)


def cells(row: dict[str, Any]) -> list[str]:
    return ["".join(Tags(cell).words) for cell in row["resultsTableRow"]]


def test_columns_and_environment(project: Project) -> None:
    found = page(project, "--bench-model=demo")
    place = found.headings.index("Suite")
    assert found.headings[place : place + 6] == COLUMNS
    assert len(found.rows) == 12
    records = {record["task_id"]: record for record in project.records()}
    for row in found.rows:
        record = records[row["testId"][-3:-1]]
        suite, model, outcome, score, tokens, ttft = cells(row)[place : place + 6]
        assert (suite, model, outcome) == ("sums", "demo", record["outcome"])
        assert score == f"{record['score']:.2f}"
        assert int(tokens) == record["usage"]["output_tokens"]
        assert ttft.strip() == f"{record['timing']['ttft_ms']:.0f} ms"
        assert row["bTokens"] == tokens  # what the page sorts by
    environment = found.data["environment"]
    assert environment["Benchmark run"] == project.newest.name
    assert environment["Benchmark models"] == ["demo"]
    assert list(environment["Benchmark data"]) == ["sums"]


def test_numbers_sort_as_numbers(project: Project) -> None:
    from pytest_benchkit.plugin.html import _values

    bench = {"key": "s|1|m|direct|none|0", "outcome": "correct"}
    for name, place in (("tokens", 4), ("ttft_ms", 5)):
        values = [_values({**bench, name: number})[place] for number in (9, 10, 123, 4567)]
        assert values == sorted(values)


def test_texts_of_missed_rows_only(project: Project) -> None:
    for row in page(project, "--bench-model=demo:0.5").rows:
        if row["result"] == "Passed":
            assert row["log"] == ""
        else:
            assert "reason: answered -1, expected" in row["log"]
            assert "reply:\n| -1" in row["log"]
    assert all(
        "reply:" in row["log"] for row in page(project, "--bench-model=demo", "--bench-html-rows=all").rows
    )
    assert not any(row["log"] for row in page(project, "--bench-model=demo:0", "--bench-html-rows=none").rows)


def test_workers_and_other_tests_beside(project: Project) -> None:
    (project.pytester.path / "test_other.py").write_text("def test_other(): pass\n")
    found = page(project, "--bench-model=demo:0", "-n2", "test_other.py", process=True)
    assert len(found.rows) == 13
    width = len(found.headings)
    assert all(len(row["resultsTableRow"]) == width for row in found.rows)
    assert sum("reply:" in row["log"] for row in found.rows) == 12


def test_summary_has_the_table_of_the_terminal(project: Project) -> None:
    found = page(project, "--bench-model=demo")
    metrics = project.results()["results"][0]["metrics"]
    table = found.text.split("<table style=")[1].split("</table>")[0]
    words = Tags("<table " + table).words
    assert "score" in words
    assert f"{100 * metrics['score']:.0f}" in words
    assert "demo: simulated replies; its tokens and times are made up" in html.unescape(found.text)


HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\x1b[31m\0\u202e{{7*7}} \"'&lt;"


def test_hostile_texts_make_no_element(project: Project) -> None:
    with FakeServer(replying("fine")) as server:
        clean = Tags(page(project, f"--bench-model=m@{server.url}").text)
    with FakeServer(replying(HOSTILE)) as server:
        found = page(project, f"--bench-model=m@{server.url}")
    assert Tags(found.text).tags == clean.tags
    for row in found.rows:
        assert Tags(row["log"]).tags == []
        assert [tag for cell in row["resultsTableRow"] for tag in Tags(cell).tags if tag not in ("td",)] == []
        assert "\x1b" not in row["log"]


@pytest.mark.parametrize("reply", ["<\"'&>" * 3000, "\0" * 9000, "plain words " * 1000], ids=range(3))
def test_a_row_with_text_costs_little(project: Project, reply: str) -> None:
    sizes = []
    for count in (5, 25):
        project.suite(count)
        with FakeServer(replying(reply)) as server:
            words = (f"--bench-model=m@{server.url}", "--bench-html-rows=missed")
            sizes.append(page(project, *words).path.stat().st_size)
    assert (sizes[1] - sizes[0]) / 20 <= 7 * 1024


def test_rows_beyond_the_most_are_told(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    from pytest_benchkit.plugin import html as plugin_html

    monkeypatch.setattr(plugin_html, "MOST_WITH_TEXT", 5)
    found = page(project, "--bench-model=demo:0")
    assert sum(bool(row["log"]) for row in found.rows) == 5
    assert "5 of 12 rows with a text show it here" in found.text


def test_without_pytest_html_nothing_changes(project: Project) -> None:
    result = project.run("--bench-model=demo", "-p", "no:html", "bench_sums.py", process=True)
    assert result.ret == 0
    assert len(project.records()) == 12

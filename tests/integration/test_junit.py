"""JUnit: a valid file whatever models say, misses as skips of type ``pytest.xfail``."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest

from tests.integration.conftest import Project
from tests.support.fakeserver import FakeServer, replying

CHILDREN = {
    "testsuites": {"testsuite"},
    "testsuite": {"properties", "testcase", "system-out", "system-err"},
    "testcase": {"skipped", "error", "failure", "system-out", "system-err"},
}
"""Which elements the xunit2 form allows where: a test case has no properties there."""
REQUIRED = {"testsuite": {"name", "tests", "errors", "failures"}, "testcase": {"name", "classname", "time"}}


def cases(path: Path) -> list[ET.Element]:
    """The test cases of a file that has the xunit2 form."""
    root = ET.parse(path).getroot()
    assert root.tag == "testsuites"
    for element in root.iter():
        assert {child.tag for child in element} <= CHILDREN.get(element.tag, set()), element.tag
        assert REQUIRED.get(element.tag, set()) <= set(element.attrib)
    suite = root[0]
    found = list(suite.iter("testcase"))
    assert int(suite.attrib["tests"]) == len(found)
    return found


def run(project: Project, *words: str) -> list[ET.Element]:
    project.run("--junitxml=out.xml", "bench_sums.py", *words)
    return cases(project.pytester.path / "out.xml")


def test_outcomes_in_junit(project: Project) -> None:
    found = run(project, "--bench-model=demo:0.5")
    missed = [case for case in found if case.find("skipped") is not None]
    wrong = [record for record in project.records() if record["outcome"] == "incorrect"]
    assert 0 < len(missed) == len(wrong) < 12
    for case in missed:
        (skip,) = case
        assert skip.attrib["type"] == "pytest.xfail"
        assert skip.attrib["message"].startswith("answered -1, expected ")
    assert all(len(case) == 0 for case in found if case not in missed)


def test_strict_makes_failures(project: Project) -> None:
    found = run(project, "--bench-model=demo:0", "--bench-strict")
    assert all([child.tag for child in case] == ["failure"] for case in found)


def test_properties_are_flat_texts(project: Project) -> None:
    project.run("--junitxml=out.xml", "bench_sums.py", "--bench-model=demo", "--bench-junit-properties")
    root = ET.parse(project.pytester.path / "out.xml").getroot()
    values = {p.attrib["name"]: p.attrib["value"] for p in root.iter("property")}
    assert {"benchkit.suite", "benchkit.model", "benchkit.outcome", "benchkit.score"} <= set(values)
    assert values["benchkit.suite"] == "sums"
    assert not [value for value in values.values() if "{" in value or "[" in value]


@pytest.mark.parametrize("workers", [(), ("-n2",)])
def test_verbose_text_is_the_cases_output(project: Project, workers: tuple[str, ...]) -> None:
    words = ("--junitxml=out.xml", "bench_sums.py", "--bench-model=demo:0", "--bench-verbose", *workers)
    project.run(*words, process=bool(workers))
    for case in cases(project.pytester.path / "out.xml"):
        (text,) = [element.text or "" for element in case if element.tag == "system-out"]
        assert "prompt:\n| What is " in text
        assert "reply:\n| -1" in text


HOSTILE = "\0\x1b[31m\ud800\ufffe<![CDATA[ ]]> </system-out> &amp; \x7f"


@pytest.mark.parametrize("reply", [HOSTILE, "\0" * 9000, "<&" * 5000, "é漢" * 4000], ids=range(4))
def test_any_reply_makes_a_valid_file(project: Project, reply: str) -> None:
    with FakeServer(replying(reply)) as server:
        found = run(project, f"--bench-model=m@{server.url}", "--bench-verbose", "-o", "junit_logging=all")
    assert len(found) == 12
    for case in found:
        assert case.find("skipped") is not None
        sizes = [len(ET.tostring(e, encoding="utf-8")) for e in case if e.tag == "system-out"]
        assert sizes
        assert max(sizes) <= 4096 + len("<system-out></system-out>")


def test_a_reply_of_ten_megabytes(project: Project) -> None:
    async def huge(exchange: Any) -> None:
        message = {"role": "assistant", "content": "x\0" * 5_000_000}
        await exchange.json({"choices": [{"index": 0, "message": message, "finish_reason": "stop"}]})

    project.suite(1)
    with FakeServer(huge) as server:
        words = (f"--bench-model=m@{server.url}", "--bench-warmup=0", "--bench-stream=off", "--bench-verbose")
        found = run(project, *words)
    assert len(found) == 1
    assert (project.pytester.path / "out.xml").stat().st_size < 10_000

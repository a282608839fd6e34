"""The verbose text of a row in the JUnit file: ``system-out`` of its test case (PYT-7)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from xml.etree import ElementTree

from _pytest.junitxml import bin_xml_escape, xml_key

from pytest_benchkit.reports.excerpt import shorten

if TYPE_CHECKING:
    import pytest

LIMIT_BYTES = 4096


def append_text(config: pytest.Config, report: pytest.TestReport, text: str) -> None:
    """Adds ``system-out`` to the row's test case, when a JUnit file is being written."""
    xml = config.stash.get(xml_key, None)
    if xml is None:
        return
    node = ElementTree.Element("system-out")
    node.text = fitted(text)
    xml.node_reporter(report).append(node)


def fitted(text: str) -> str:
    """At most 4 KiB as XML text, characters that XML cannot hold escaped visibly."""
    limit = LIMIT_BYTES - 64
    while True:
        shown = bin_xml_escape(shorten(text, limit))
        size = len(ElementTree.tostring(_text_node(shown), encoding="utf-8"))
        if size <= LIMIT_BYTES:
            return shown
        limit = min(limit - 1, limit * LIMIT_BYTES // size)


def _text_node(text: str) -> ElementTree.Element:
    node = ElementTree.Element("t")
    node.text = text
    return node

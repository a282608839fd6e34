"""The contract of a conformance module: ``compare()`` gives a :class:`Comparison`."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass, field

import pytest

SHOWN = 5
"""Disagreements kept as examples; all are counted."""


class EvaluatorMissing(Exception):
    """A published evaluator is not installed here; the text says how to get it."""


@dataclass(slots=True)
class Comparison:
    """What came out of holding one scorer against one published evaluator.

    ``compared`` counts pairs of verdicts, ``found`` the disagreements that nothing declares (the first few
    are kept in ``disagreements``, each a line that reproduces it), ``declared`` the ones that a deviation
    named in the suite's docstring explains; ``note`` names those deviations.
    """

    suite: str
    evaluator: str
    compared: int = 0
    disagreements: list[str] = field(default_factory=list)
    declared: int = 0
    note: str = ""
    found: int = 0

    def hold(self, ours: object, theirs: object, case: str, *, declared: bool = False) -> None:
        """Counts one pair of verdicts; ``case`` says of which reply, ``declared`` that a named deviation
        applies to it."""
        self.compared += 1
        if ours == theirs:
            return
        if declared:
            self.declared += 1
            return
        self.found += 1
        if len(self.disagreements) < SHOWN:
            self.disagreements.append(f"{case}: ours {ours!r}, theirs {theirs!r}")

    def demand(self, *, at_least: int) -> None:
        """Fails the calling test on an undeclared disagreement or on fewer than ``at_least`` pairs."""
        assert not self.found, f"{self.found} of {self.compared} disagree:\n" + "\n".join(self.disagreements)
        assert self.compared >= at_least, f"only {self.compared} pairs of verdicts"


def installed(distribution: str, version: str) -> importlib.metadata.Distribution:
    """The evaluator's distribution at exactly the pinned version, else :class:`EvaluatorMissing`."""
    command = f"pip install --no-deps {distribution}=={version}"
    try:
        found = importlib.metadata.distribution(distribution)
    except importlib.metadata.PackageNotFoundError:
        raise EvaluatorMissing(f"{distribution} is not installed: {command}") from None
    if found.version != version:
        raise EvaluatorMissing(f"{distribution} is {found.version}, not {version}: {command}")
    return found


def needs(distribution: str, version: str) -> pytest.MarkDecorator:
    """A mark that skips a test, with the command that helps, where the evaluator is not installed."""
    try:
        installed(distribution, version)
    except EvaluatorMissing as error:
        return pytest.mark.skip(reason=str(error))
    return pytest.mark.skipif(False, reason="the evaluator is here")

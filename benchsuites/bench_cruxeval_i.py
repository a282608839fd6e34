"""CRUXEval-I: find an input for which a Python function gives a value (Gu et al. 2024).

Source, protocol and deviations: :mod:`pytest_benchkit.scoring.cruxeval`.
"""

from __future__ import annotations

from pytest_benchkit.scoring.cruxeval import CruxEval


class CruxEvalInput(CruxEval):
    """CRUXEval-I: an input that gives an output, 800 functions (Gu et al. 2024)."""

    key = "cruxeval-i"
    direction = "input"

"""CRUXEval-O with reasoning first (Gu et al. 2024). Not part of an overall score.

Source, protocol and deviations: :mod:`pytest_benchkit.scoring.cruxeval`.
"""

from __future__ import annotations

from pytest_benchkit.scoring.cruxeval import CruxEval


class CruxEvalOutputReasoning(CruxEval):
    """CRUXEval-O with reasoning first, 800 functions (Gu et al. 2024)."""

    key = "cruxeval-o-cot"
    direction = "output"
    reasoning = True
    in_overall = False

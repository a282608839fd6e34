"""CRUXEval-O: predict what a short Python function gives back (Gu et al. 2024).

Source, protocol and deviations: :mod:`pytest_benchkit.scoring.cruxeval`.
"""

from __future__ import annotations

from pytest_benchkit.scoring.cruxeval import CruxEval


class CruxEvalOutput(CruxEval):
    """CRUXEval-O: the output of a short Python function, 800 functions (Gu et al. 2024)."""

    key = "cruxeval-o"
    direction = "output"

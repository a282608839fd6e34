"""HumanEval+: HumanEval with about 80 times more inputs.

Source, rules and deviations: :mod:`pytest_benchkit.scoring.evalplus` (Liu et al. 2023, release v0.1.10).
Protocol as HumanEval's. The release file has no pinned hash yet: it is put in place by hand, as the error
says.
"""

from __future__ import annotations

from pytest_benchkit.datasets import catalog
from pytest_benchkit.scoring.evalplus import PlusSuite


class HumanEvalPlus(PlusSuite):
    """HumanEval+: HumanEval with about 80 times more inputs (EvalPlus, Liu et al. 2023)."""

    key = "humaneval-plus"
    data = catalog.HUMANEVAL_PLUS
    not_comparable = "published scores are of completions, not chat replies"

"""HumanEval+ in Turkish: docstrings, identifiers and entry points translated; inputs and tolerances the same.

Source: DogukanUrker/HumanEvalPlus-TR @ e424171b8934581819fcdeddace2af28a664966f (licence not stated) after
Liu et al. 2023; rules and deviations: :mod:`pytest_benchkit.scoring.evalplus`. The prompt is in Turkish.
Not part of an overall score.
"""

from __future__ import annotations

from pytest_benchkit.datasets import catalog
from pytest_benchkit.scoring.evalplus import PlusSuite


class HumanEvalPlusTR(PlusSuite):
    """HumanEval+ in Turkish: the same problems with Turkish texts and names (after Liu et al. 2023)."""

    key = "humaneval-plus-tr"
    data = catalog.HUMANEVAL_PLUS_TR
    in_overall = False
    not_comparable = "a translation without published scores"
    ask = (
        "Bu Python kodundaki son fonksiyonu tamamla. Yanıtın, tamamlanmış fonksiyonu ya da yalnızca "
        "gövdesini içeren tek bir Python kod bloğu olsun; başka bir şey gerekmez."
    )

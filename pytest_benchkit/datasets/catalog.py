"""The catalog: every data set that this project knows, as data. Importing it reads nothing.

Pins are commits, sizes and hashes of upstream's files. ``rows_sha256`` was computed from the mirror
named in the entry; an origin whose rows differ from it is refused.
"""

from __future__ import annotations

from pytest_benchkit.datasets.entries.bfcl import (
    BFCL,
    BFCL_ECHOLP,
    BFCL_GOLDEN,
    BFCL_LIVE_RELEVANCE,
    BFCL_MINI,
)
from pytest_benchkit.datasets.entries.ifeval import (
    IFEVAL,
)
from pytest_benchkit.datasets.entries.labels import (
    BANKING77,
    BOOLQ,
    MEDFAILBENCH,
    XSTEST,
)
from pytest_benchkit.datasets.entries.letters import (
    ARC,
    GPQA,
    HELLASWAG,
    HELLASWAG_ACTIVITYNET_1000,
    MMLU,
    MMLU_PRO,
    OPENBOOKQA,
    PIQA,
    TRUTHFULQA,
    WINOGRANDE,
)
from pytest_benchkit.datasets.entries.numbers import (
    GSM8K,
)
from pytest_benchkit.datasets.entries.programs import (
    CODE_VERIFIER,
    CRUXEVAL,
    HUMANEVAL,
    HUMANEVAL_PLUS,
    HUMANEVAL_PLUS_TR,
    MBPP,
    MBPP_PLUS,
)
from pytest_benchkit.datasets.entries.ruler import (
    RULER_ENGLISH_WORDS,
    RULER_ESSAYS,
    RULER_HOTPOTQA,
    RULER_SQUAD,
    RULER_WORDS,
)

__all__ = [
    "ARC",
    "BANKING77",
    "BFCL",
    "BFCL_ECHOLP",
    "BFCL_GOLDEN",
    "BFCL_LIVE_RELEVANCE",
    "BFCL_MINI",
    "BOOLQ",
    "CODE_VERIFIER",
    "CRUXEVAL",
    "DATASETS",
    "GPQA",
    "GSM8K",
    "HELLASWAG",
    "HELLASWAG_ACTIVITYNET_1000",
    "HUMANEVAL",
    "HUMANEVAL_PLUS",
    "HUMANEVAL_PLUS_TR",
    "IFEVAL",
    "MBPP",
    "MBPP_PLUS",
    "MEDFAILBENCH",
    "MMLU",
    "MMLU_PRO",
    "OPENBOOKQA",
    "PIQA",
    "RULER_ENGLISH_WORDS",
    "RULER_ESSAYS",
    "RULER_HOTPOTQA",
    "RULER_SQUAD",
    "RULER_WORDS",
    "TRUTHFULQA",
    "WINOGRANDE",
    "XSTEST",
]

DATASETS = {
    entry.name: entry
    for entry in (
        GSM8K,
        ARC,
        HELLASWAG,
        HELLASWAG_ACTIVITYNET_1000,
        WINOGRANDE,
        PIQA,
        OPENBOOKQA,
        BOOLQ,
        TRUTHFULQA,
        MMLU,
        MMLU_PRO,
        GPQA,
        BANKING77,
        XSTEST,
        MEDFAILBENCH,
        IFEVAL,
        BFCL,
        BFCL_LIVE_RELEVANCE,
        HUMANEVAL,
        HUMANEVAL_PLUS,
        HUMANEVAL_PLUS_TR,
        MBPP,
        MBPP_PLUS,
        CRUXEVAL,
        CODE_VERIFIER,
        RULER_WORDS,
        RULER_ESSAYS,
        RULER_SQUAD,
        RULER_HOTPOTQA,
        RULER_ENGLISH_WORDS,
    )
}
"""Every entry by name."""

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

__all__ = [
    "ARC",
    "BANKING77",
    "BFCL",
    "BFCL_ECHOLP",
    "BFCL_GOLDEN",
    "BFCL_LIVE_RELEVANCE",
    "BFCL_MINI",
    "BOOLQ",
    "DATASETS",
    "GPQA",
    "GSM8K",
    "HELLASWAG",
    "HELLASWAG_ACTIVITYNET_1000",
    "IFEVAL",
    "MEDFAILBENCH",
    "MMLU",
    "MMLU_PRO",
    "OPENBOOKQA",
    "PIQA",
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
    )
}
"""Every entry by name."""

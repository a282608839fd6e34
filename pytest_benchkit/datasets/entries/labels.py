"""Data sets whose rows are answered with a word out of a list: yes or no, a label."""

from __future__ import annotations

from pytest_benchkit.datasets import readers
from pytest_benchkit.datasets.routes import bk, zipped
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

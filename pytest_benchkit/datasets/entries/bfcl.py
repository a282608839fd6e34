"""The Berkeley Function Calling Leaderboard: 23 files, and the draws of its single-turn rows."""

from __future__ import annotations

from pytest_benchkit.datasets import readers, readers_bfcl
from pytest_benchkit.datasets.draws import Draw, first_rows
from pytest_benchkit.datasets.files import WebFile
from pytest_benchkit.datasets.readers_bfcl import LIVE_RELEVANCE, SUBSETS
from pytest_benchkit.datasets.routes import RAW
from pytest_benchkit.datasets.sources import Dataset, Reader, Route
from pytest_benchkit.datasets.wheels import WheelMember

COMMIT = "6ea57973c7a6097fd7c5915698c54c17c5b1b6c8"
WHEEL = "3bb6dfa5f0c68ad403c9ec50b00db2bb3b4cc9b38ab1ff33f48fe30d853d3a0a"
VERSION = "2026.3.23"
FOLDER = "bfcl_eval/data"
REPOSITORY = "ShishirPatil/gorilla"

QUESTIONS = {
    "irrelevance": (159940, "2b6ed4c2e992cdcf5f1678a701851f944bef7550ee026ed1ddb89efed5be01a6"),
    "live_irrelevance": (2209534, "6559fda2beaceb609a2cd2e504c65b4a56cb448e1ef88fddfd199e163d163349"),
    "live_multiple": (3891277, "fd8ccfad4d911420d0e3341dbe2fff77d1d341da934248b9bb2bda24ab3a10c8"),
    "live_parallel": (15649, "6c26e9fdc3350cf596e6d1ea9c179cbff834761bccf562f4141ed29a839ca421"),
    "live_parallel_multiple": (82332, "21d4b9319c1faac431e22757b367ea28917fe467364c3a4b17f16ec06d4f6e79"),
    "live_relevance": (47327, "e03f9e241657a137cba48a89ee12f47bf3fcb7e4f6274263e9c699a0c974203a"),
    "live_simple": (260140, "1af2ac87dca47556db7b7e37e51e28b459a38b594e3c7b3c792b4903598ca0c4"),
    "multiple": (316583, "aef168155ebd74b7ac2401198b201343bc7d16d7a3d7e0d4e6d8ee82c6969b2a"),
    "parallel": (171896, "19f51a82eff42e5d62541aa500115a056eb78f437c2ba1f10415fd7c8e5dda84"),
    "parallel_multiple": (347080, "8863ea8433239f55c5f016154cf0830853c89f693c6ea270396a2fa121960579"),
    "simple_java": (86619, "13d2303a125b08754f0e41995b9273b5005fa8ed8ebfaa24ef53b4d83c4b5c6e"),
    "simple_javascript": (47063, "329e67fedf79a6243d93dbda4b388d12bd2d31f1f2163d92cb6ef676d1764f44"),
    "simple_python": (283274, "82dd63ba502eb2520c6b5d1d9a5c4b590e03ff261565175561f6228a367d1991"),
}
"""Bytes and sha256 of each subset's questions."""
ANSWERS = {
    "live_multiple": (199668, "97e90d59c5bd76c55a2920ce93e5566e9046307d3f558578f085f9d3a56c3084"),
    "live_parallel": (4972, "8a9f189ff0e832ebbbbdade1fd95a7dbcc67406e9177df3f0aad76f59ab00350"),
    "live_parallel_multiple": (7420, "f5b5f360556c5feb51db46fb9f56ee4b304f4b45b161599bbb14161c98a2873f"),
    "live_simple": (46972, "fec9cfa9744a936f9126981e85a2023da1e63e273eafebc81923a1162fad70ce"),
    "multiple": (32254, "244e00ce9395df948bcafc7bee64e8f9c87ef70887587d83cae45b13699f3047"),
    "parallel": (66005, "8a6aa19c1adddc6a5a2f7e40f9dbf30cc7e95815e7b830c90589ab318229e0f0"),
    "parallel_multiple": (74602, "5ebf24f458c1f16300c05505d83d6f0a1b68b79be273a033febd0d4f840507e3"),
    "simple_java": (16407, "78f25616084044fa05bbfcee68e03f6ececb222bdd5cb3b7783a675fb3366e35"),
    "simple_javascript": (7881, "e2f9f2e51d88e0c8056ffbf1a3dd3d02eb032532d2b5d98c9cc9003385bdd56b"),
    "simple_python": (63627, "90cd5bc653690ee8e459b5b3f3fc9458606f7f3fcbf795bb51b7dc581f8c86dc"),
}
"""Bytes and sha256 of the answers of the subsets that have some."""

NON_LIVE = ("multiple", "parallel", "parallel_multiple", "simple_java", "simple_javascript", "simple_python")
LIVE = ("live_multiple", "live_parallel", "live_parallel_multiple", "live_simple")
HALLUCINATION = ("irrelevance", "live_irrelevance")


def _mirror(subsets: tuple[str, ...], read: Reader) -> Route:
    files = [
        WheelMember("bfcl-eval", VERSION, f"{FOLDER}/{path}", sha256, size, WHEEL, name)
        for path, name, size, sha256 in _files(subsets)
    ]
    return Route(tuple(files), read, f"bfcl-eval {VERSION} (sha256 {WHEEL[:12]})")


def _origin(subsets: tuple[str, ...], read: Reader) -> Route:
    folder = f"{RAW}/{REPOSITORY}/{COMMIT}/berkeley-function-call-leaderboard/{FOLDER}"
    files = [WebFile(f"{folder}/{path}", sha256, size, name) for path, name, size, sha256 in _files(subsets)]
    return Route(tuple(files), read, COMMIT)


def _files(subsets: tuple[str, ...]) -> list[tuple[str, str, int, str]]:
    """Path, own name, bytes and sha256, the answers of a subset behind its questions."""
    found = []
    for subset in subsets:
        file = f"BFCL_v4_{subset}.json"
        found.append((file, file, *QUESTIONS[subset]))
        if subset in ANSWERS:
            found.append((f"possible_answer/{file}", f"answers-{file}", *ANSWERS[subset]))
    return found


def _words(*subsets: str) -> tuple[str, ...]:
    return ("-", *(f"{readers.slug(subset)}-" for subset in subsets))


def _draw(name: str, non_live: int, live: int, hallucination: int, floor: int, rows: int) -> Draw:
    """A draw by upstream's command line names; shares in thousandths."""
    shares = dict.fromkeys(NON_LIVE, non_live) | dict.fromkeys(LIVE, live)
    shares |= dict.fromkeys(HALLUCINATION, hallucination)
    return Draw(f"bfcl/{name}", BFCL, rows, first_rows(shares, floor))


BFCL = Dataset(
    name="bfcl",
    rows=3625,
    rows_sha256="e0bc85abfa36dc5f5e862a5b69adbd6312f9df0b7499d076fc444ffbc16ceae7",
    licence="Apache-2.0",
    citation="Patil et al. 2025, Berkeley Function Calling Leaderboard v4",
    id_words=_words(*SUBSETS),
    mirrors=(_mirror(tuple(SUBSETS), readers_bfcl.bfcl),),
    origins=(_origin(tuple(SUBSETS), readers_bfcl.bfcl),),
)

BFCL_LIVE_RELEVANCE = Dataset(
    name="bfcl/live-relevance",
    rows=16,
    rows_sha256="aa53af7f664a97deda8448af4d14d542669483ed730fd84299a70c7f34b18041",
    licence="Apache-2.0",
    citation="Patil et al. 2025, Berkeley Function Calling Leaderboard v4",
    id_words=_words(LIVE_RELEVANCE),
    mirrors=(_mirror((LIVE_RELEVANCE,), readers_bfcl.bfcl_live_relevance),),
    origins=(_origin((LIVE_RELEVANCE,), readers_bfcl.bfcl_live_relevance),),
    notes=("reported by itself: in no draw and in no total",),
)

BFCL_GOLDEN = _draw("golden", 620, 100, 100, 25, 995)
BFCL_ECHOLP = _draw("echolp", 460, 230, 120, 25, 1004)
BFCL_MINI = _draw("mini", 125, 20, 20, 5, 192)

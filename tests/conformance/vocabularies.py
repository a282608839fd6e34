"""Three real vocabularies, out of pinned wheels: what sizes of prompts are checked with.

``python -m tests.conformance.vocabularies`` gets them (20 MB through pip), and RULER's words and essays.
"""

from __future__ import annotations

import base64
import sys
from collections.abc import Callable
from functools import cache
from pathlib import PurePosixPath

from pytest_benchkit.datasets.cache import cache_dir, sha256_file
from pytest_benchkit.datasets.catalog import RULER_ESSAYS, RULER_WORDS
from pytest_benchkit.datasets.wheels import WheelMember, install_member
from tests.conformance.comparison import EvaluatorMissing

Count = Callable[[str], int]

MEMBERS = {
    "mistral": WheelMember(
        "mistral-common",
        "1.13.1",
        "mistral_common/data/tokenizer.model.v1",
        "dadfd56d766715c61d2ef780a525ab43b8e6da4de6865bda3d95fdef5e134055",
        493443,
        "98b4d0755b8d90bf4691fa8f1b70cb3b4a8cd4dc1653c4ed08ef3d1c7d2c29af",
    ),
    "qwen": WheelMember(
        "dashscope",
        "2.0.2",
        "dashscope/resources/qwen.tiktoken",
        "b2b1b8dfb5cc5f024bafc373121c6aba3f66f9a5a0269e243470a1de16a33186",
        2561218,
        "0602d1800f7433bdb7953560986eaf5146454ed3988636c0a91963ba24e74258",
    ),
    "anthropic": WheelMember(
        "litellm",
        "1.75.3",
        "litellm/litellm_core_utils/tokenizers/anthropic_tokenizer.json",
        "c241737df24b4e7f7c9af4fdcee29a0ca903dcb288a8b753bc346a3092911767",
        1774213,
        "0ff3752b1f1c07f8a4b9a364b1595e2147ae640f1e77cd8312e6f6a5ca0f34ec",
    ),
}
COMMAND = "python -m tests.conformance.vocabularies"
# how Qwen's own tokenizer cuts text into pieces: its published pattern, which is part of the format
QWEN_PIECES = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|"
    r"\s+(?!\S)|\s+"
)


@cache
def counter(name: str) -> Count:
    """Counts the tokens of a text. Raises :class:`EvaluatorMissing` without the file or its library."""
    member = MEMBERS[name]
    path = cache_dir() / "vocabularies" / PurePosixPath(member.member).name
    if not path.is_file() or sha256_file(path) != member.sha256:
        raise EvaluatorMissing(f"the vocabulary of {member.wheel} is not here: {COMMAND}")
    try:
        if name == "mistral":
            from sentencepiece import SentencePieceProcessor

            pieces = SentencePieceProcessor(model_file=str(path))
            return lambda text: len(pieces.encode(text))
        if name == "qwen":
            from tiktoken import Encoding

            lines = [line.split() for line in path.read_bytes().splitlines() if line]
            ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
            qwen = Encoding("qwen", pat_str=QWEN_PIECES, mergeable_ranks=ranks, special_tokens={})
            return lambda text: len(qwen.encode(text, disallowed_special=()))
        from tokenizers import Tokenizer

        anthropic = Tokenizer.from_file(str(path))
        return lambda text: len(anthropic.encode(text).ids)
    except ImportError as error:
        raise EvaluatorMissing(
            f"{error.name} is missing: pip install 'pytest-benchkit[conformance]'"
        ) from None


def ready() -> bool:
    """Whether vocabularies, words and essays are here."""
    try:
        for name in MEMBERS:
            counter(name)
    except EvaluatorMissing:
        return False
    return RULER_WORDS.state().ready and RULER_ESSAYS.state().ready


def main() -> int:
    for member in MEMBERS.values():
        install_member(member, cache_dir() / "vocabularies" / PurePosixPath(member.member).name, print)
    for data in (RULER_WORDS, RULER_ESSAYS):
        data.install(lambda line: None)
    return 0


if __name__ == "__main__":
    sys.exit(main())

"""The order in which rows are planned: every prefix is a fair sample of the whole, on every machine."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


def plan_order(
    key: str, ids: Sequence[str], categories: Sequence[str | None], seed: int | None = None
) -> list[int]:
    """Positions of all rows in plan order (length ``len(ids)``); the first N of it are the sample of N.

    Rows of one category are ranked by sha256 of key, NUL, task id; rank k of n gets the fraction
    (2k+1)/(2n), and rows are sorted by it, ties by the category's first appearance. A prefix of length m
    then holds each of C categories within 1/2 + share * C/2 rows of m times its share: within one row for
    categories of like size, and for every catalogued data set. A larger sample contains a
    smaller one. ``seed`` draws another sample: it is appended to the hashed text after one more NUL.
    """
    if len(ids) >= 2**25:
        raise ValueError(f"plan_order is exact below 2**25 rows, not for {len(ids)}")
    members: defaultdict[str | None, list[int]] = defaultdict(list)
    for position, category in enumerate(categories):
        members[category].append(position)
    prefix = f"{key}\0".encode()
    suffix = b"" if seed is None else f"\0{seed}".encode()
    placed: list[tuple[float, int, int]] = []
    for appearance, rows in enumerate(members.values()):
        ranked = sorted(rows, key=lambda row: hashlib.sha256(prefix + ids[row].encode() + suffix).digest())
        # Division stands for comparing cross-multiplied integers: with n < 2**25 two different fractions
        # are at least 2**-52 apart, more than the spacing of doubles below 1, and equal ones round alike.
        whole = 2 * len(rows)
        placed += [((2 * rank + 1) / whole, appearance, row) for rank, row in enumerate(ranked)]
    placed.sort()
    return [row for _, _, row in placed]

from __future__ import annotations

from collections import Counter
from itertools import permutations

from pytest_benchkit.datasets.shuffle import below, generator, permutation, shuffled


def test_golden_vectors() -> None:
    assert permutation(10, generator("42", "arc", "0000", "choice-order")) == GOLDEN_TEN
    assert shuffled(list("abcd"), generator(0)) == GOLDEN_FOUR
    assert [below(generator("x"), n) for n in (1, 2, 3, 5, 100)] == GOLDEN_BELOW


GOLDEN_TEN = [1, 3, 0, 5, 6, 4, 2, 7, 9, 8]
GOLDEN_FOUR = ["b", "d", "a", "c"]
GOLDEN_BELOW = [0, 1, 1, 2, 34]


def test_words_are_kept_apart() -> None:
    assert generator("ab", "c").getrandbits(64) != generator("a", "bc").getrandbits(64)


def test_every_order_is_equally_likely() -> None:
    counts = Counter(tuple(permutation(4, generator("uniform", number))) for number in range(12_000))
    assert set(counts) == set(permutations(range(4)))
    assert all(abs(count - 500) < 110 for count in counts.values())  # five standard deviations


def test_shuffled_copies() -> None:
    items = [1, 2, 3]
    assert sorted(shuffled(items, generator(1))) == items
    assert items == [1, 2, 3]
    assert shuffled([], generator(1)) == []

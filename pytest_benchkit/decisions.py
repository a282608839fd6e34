"""What a decision model is asked: one typed question whose answer is a probability for each key."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

YES_NO: Mapping[str, str] = {"yes": "yes", "no": "no"}


@dataclass(frozen=True, slots=True)
class Decision:
    """A row as a question with known answers.

    ``state`` is what the question is about, ``instructions`` the question, ``criteria`` the keys in order
    with the text of each, ``gold`` the right key. ``replies`` maps a key to a reply that the suite's own
    scorer reads as that key, where the key itself is not one. ``images`` are data URIs.
    """

    state: str
    instructions: str
    criteria: Mapping[str, str]
    gold: str
    replies: Mapping[str, str] = field(default_factory=dict)
    images: Sequence[str] = ()

    @property
    def binary(self) -> bool:
        """Whether it is a yes-or-no question, which has one probability."""
        return tuple(self.criteria) == ("yes", "no")

    def reply(self, key: str) -> str:
        """The text that stands for a key."""
        return self.replies.get(key, key)

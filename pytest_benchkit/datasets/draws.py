"""Named parts of a data set: no second copy on disk, nothing to download, chosen by a pure rule."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from pytest_benchkit.errors import DataDamaged
from pytest_benchkit.task import DataState, Task, TaskIndex

if TYPE_CHECKING:
    from pytest_benchkit.datasets.sources import Dataset
    from pytest_benchkit.datasets.wheels import Say

Choose = Callable[[TaskIndex], Sequence[int]]


@dataclass(frozen=True, slots=True)
class Draw:
    """Rows of a data set of the catalog; implements :class:`~pytest_benchkit.task.TaskSource`.

    ``choose`` gives the positions of its ``count`` rows, in upstream's order, from the index of the whole.
    The revision names the hash of the drawn ids, the rows hash covers it and the rows of the whole.
    """

    name: str
    whole: Dataset
    count: int
    choose: Choose

    @property
    def id_words(self) -> Sequence[str] | None:
        return self.whole.id_words

    @property
    def licence(self) -> str:
        return self.whole.licence

    def bind(self, folder: Path) -> None:
        """Nothing to do: installed rows do not depend on the suite's place."""

    def state(self) -> DataState:
        """That of the whole."""
        return self.whole.state()

    def install(self, say: Say) -> None:
        """Installs the whole, which serves every draw of it. Raises :class:`DataError` as it does."""
        self.whole.install(say)

    def index(self) -> TaskIndex:
        """Ids, categories and groups of the drawn rows. Raises what the whole raises, and
        :class:`DataDamaged` when the rule does not give the declared number of rows."""
        whole = self.whole.index()
        places = self._places(whole)
        ids = [whole.ids[place] for place in places]
        drawn = hashlib.sha256("\n".join(ids).encode()).hexdigest()
        return replace(
            whole,
            ids=ids,
            categories=[whole.categories[place] for place in places],
            groups=[whole.groups[place] for place in places],
            rows_sha256=hashlib.sha256(f"{whole.rows_sha256}\0{drawn}".encode()).hexdigest(),
            revision=f"{whole.revision}; ids sha256 {drawn}",
        )

    def load(self) -> Sequence[Task]:
        """The drawn rows. Raises as :meth:`index` does."""
        places = self._places(self.whole.index())
        tasks = self.whole.load()
        drawn = [tasks[place] for place in places]
        return [
            Task(task.id, place, task.data, task.category, task.group) for place, task in enumerate(drawn)
        ]

    def _places(self, whole: TaskIndex) -> Sequence[int]:
        places = self.choose(whole)
        if len(places) != self.count:
            raise DataDamaged(f"{self.name} has {self.count:,} rows, but {len(places):,} were drawn")
        return places


def first_rows(permille: dict[str, int], floor: int) -> Choose:
    """The rule that takes the first rows of each category: all of at most ``floor`` rows, else the share
    in thousandths, rounded down, but one at least. Categories without a share give no row."""

    def choose(index: TaskIndex) -> list[int]:
        totals = Counter(index.categories)
        seen: defaultdict[str | None, int] = defaultdict(int)
        places = []
        for place, category in enumerate(index.categories):
            total = totals[category]
            share = permille.get(category or "", 0)
            wanted = total if total <= floor else max(1, total * share // 1000)
            if share and seen[category] < wanted:
                seen[category] += 1
                places.append(place)
        return places

    return choose

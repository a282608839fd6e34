"""The one way in which scorers import heavy libraries: at first use, one thread at a time.

Scorers run in several threads. Libraries whose modules import each other in a circle (NLTK) cannot be
imported by two threads at once: Python breaks the deadlock by handing one of them a half loaded module.
"""

from __future__ import annotations

import functools
import importlib
import threading
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from collections.abc import Callable

Made = TypeVar("Made")
_first_use = threading.RLock()


def library(module: str) -> Any:
    """The module of this full name, wholly loaded. Raises ``ImportError``."""
    with _first_use:
        return importlib.import_module(module)


class Once(Generic[Made]):
    """Decorator of a function without arguments that may import: called at the first use, in one thread while
    the others wait. One that raises is called again at the next use."""

    def __init__(self, make: Callable[[], Made]) -> None:
        self._make = functools.cache(make)

    def __call__(self) -> Made:
        with _first_use:
            return self._make()

    def cache_clear(self) -> None:
        self._make.cache_clear()

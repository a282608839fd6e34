"""Which suites a session is about, found without collecting: for fetching, refusing, and ``--bench``."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Iterator
from fnmatch import fnmatch
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from pytest_benchkit.errors import SuiteError, UsageProblem
from pytest_benchkit.plugin.collection import is_bench_file
from pytest_benchkit.plugin.selection import NameFilter, Slice, parse_slice
from pytest_benchkit.registry import SuiteRef, installed_suites, load_suites
from pytest_benchkit.task import TaskSource

if TYPE_CHECKING:
    from pytest_benchkit.suite import Suite


MARKED = re.compile(r"bench_suite\(\s*[\"']([a-z0-9-]+)[\"']")


TEST_NAME = re.compile(r"^\s*def (test\w*)", re.MULTILINE)


class Scan:
    """The suites that options and paths can mean. Reads file names first, files only when needed."""

    def __init__(self, config: pytest.Config, benches: Iterable[str], model_slugs: list[str]) -> None:
        self._config = config
        self._slugs = model_slugs
        self.patterns: list[str] = config.getini("bench_files")
        self.slices: dict[str, list[Slice]] = {}
        for text in benches:
            slice_ = parse_slice(text)
            self.slices.setdefault(slice_.key, []).append(slice_)
        self._names = NameFilter(config.getoption("keyword", "") or "")
        self._loaded: dict[Path, list[type[Suite]]] = {}
        self.passed_over: list[str] = []
        self.broken: dict[Path, str] = {}

    # ------------------------------------------------------------------ files

    @property
    def installed(self) -> dict[str, SuiteRef]:
        return installed_suites()

    def installed_folders(self) -> list[Path]:
        """Folders of the installed suite files that this session may need."""
        wanted = [ref.path for key, ref in self.installed.items() if not self.slices or key in self.slices]
        return sorted({path.parent for path in wanted})

    def wants_file(self, path: Path) -> bool:
        """Whether an installed suite's file is needed; other files always are."""
        for ref in self.installed.values():
            if ref.path == path:
                return not self.slices or ref.key in self.slices
        return True

    def project_files(self) -> Iterator[Path]:
        """Benchmark files below the paths of the command line."""
        for argument in self._config.args:
            path = Path(os.path.normpath(self._config.invocation_params.dir / argument.split("::")[0]))
            if path.is_file():
                if is_bench_file(path, self.patterns):
                    yield path
            elif path.is_dir():
                yield from self._walk(path)

    def marked_keys(self) -> set[str]:
        """Keys that test functions below the paths name in ``bench_suite`` and ``-k`` does not rule out,
        found by their text alone."""
        keys: set[str] = set()
        for argument in self._config.args:
            path = Path(os.path.normpath(self._config.invocation_params.dir / argument.split("::")[0]))
            for file in [path] if path.is_file() else path.rglob("test_*.py"):
                try:
                    text = file.read_text(encoding="utf-8")
                except (OSError, UnicodeDecodeError):
                    continue
                names = [*TEST_NAME.findall(text), *self._slugs, "direct"]
                for key in MARKED.findall(text):
                    if self._names.may_match([file.name, *file.parent.parts[-1:]], [key, *names], ()):
                        keys.add(key)
        return keys

    def _walk(self, folder: Path) -> Iterator[Path]:
        skipped: list[str] = self._config.getini("norecursedirs")
        for place, folders, files in os.walk(folder):
            folders[:] = sorted(
                name
                for name in folders
                if not any(fnmatch(name, pattern) for pattern in skipped)
                and not (Path(place) / name / "pyvenv.cfg").exists()
            )
            for name in sorted(files):
                if is_bench_file(Path(name), self.patterns):
                    yield Path(place) / name

    # ------------------------------------------------------------------ suites

    def suites_in(self, path: Path) -> list[type[Suite]]:
        """The suites of a file, imported once; a file that only shares the name pattern has none.

        Raises :class:`UsageProblem` when the file cannot be used, and again when it is asked again.
        """
        path = path.resolve()
        if path not in self._loaded:
            if path in self.broken:
                raise UsageProblem(self.broken[path])
            try:
                self._loaded[path] = self._load(path)
            except UsageProblem as error:
                self.broken[path] = str(error)
                raise
        return self._loaded[path]

    def _load(self, path: Path) -> list[type[Suite]]:
        text = path.read_bytes()
        try:
            suites = load_suites(path)
        except SuiteError as error:
            if "defines no suite" not in str(error) or b"def test" in text or b"pytest_benchkit" not in text:
                suites = []
            else:
                raise UsageProblem(str(error)) from None
        except (Exception, SystemExit) as error:
            raise UsageProblem(f"{path.name} cannot be imported: {type(error).__name__}: {error}") from None
        for suite in suites:
            for source in (suite.data, *suite.variants.values()):
                if not isinstance(source, TaskSource):
                    raise UsageProblem(
                        f"{path.name}: the data of {suite.key} is {source!r}, not a source of rows"
                    )
        return suites

    def chosen(self, suite: type[Suite], path: Path) -> list[Slice | None]:
        """The slices of a suite that this session runs; ``[None]`` is the whole of it, ``[]`` nothing."""
        if self.slices and suite.key not in self.slices:
            return []
        pieces = [suite.key, *self._slugs, *suite.harnesses, *suite.perturbations, "none"]
        if not self._names.may_match(self._fixed(suite, path), pieces, suite.data.id_words):
            if suite.key not in self.passed_over:
                self.passed_over.append(suite.key)
            return []
        return list(self.slices.get(suite.key, [None]))

    def keeps(self, suite: type[Suite], path: Path, name: str) -> bool:
        """Whether ``-k`` selects the suite's item of that name, marks of others aside."""
        return self._names.matches([*self._fixed(suite, path), name])

    def _fixed(self, suite: type[Suite], path: Path) -> list[str]:
        """Names that every item of the suite carries for ``-k``: file, its folders, key, marker."""
        names = [suite.key, path.name, "bench"]
        try:
            parent = path.parent.relative_to(self._config.rootpath)
        except ValueError:
            parent = Path(path.parent.name)
        return [*names, *parent.parts]

    def selected(self, *, with_installed: bool) -> list[tuple[type[Suite], Path, list[Slice | None]]]:
        """Every suite this session may run. Raises :class:`UsageProblem` for a ``--bench`` key that no
        file defines and for a key that two files define."""
        paths = list(self.project_files())
        if with_installed:
            paths += [ref.path for ref in self.installed.values() if self.wants_file(ref.path)]
        found: list[tuple[type[Suite], Path, list[Slice | None]]] = []
        seen: dict[str, Path] = {}
        for path in dict.fromkeys(p.resolve() for p in paths):
            for suite in self._suites_or_none(path):
                if (other := seen.get(suite.key)) is not None:
                    raise UsageProblem(f"two files define the suite {suite.key!r}: {other} and {path}")
                seen[suite.key] = path
                if chosen := self.chosen(suite, path):
                    found.append((suite, path, chosen))
        self._refuse_unknown(seen)
        return found

    def _suites_or_none(self, path: Path) -> list[type[Suite]]:
        """A file that cannot be imported stops no other: collection reports it."""
        try:
            return self.suites_in(path)
        except UsageProblem:
            return []

    def find(self, key: str) -> type[Suite]:
        """The suite of that key: below the paths given, of the project, or installed.

        Raises :class:`UsageProblem`.
        """
        ref = self.installed.get(key)
        for path in (*self.project_files(), *self._walk(self._config.rootpath), *([ref.path] if ref else [])):
            for suite in self._suites_or_none(path):
                if suite.key == key:
                    return suite
        own = [suite.key for path in self._loaded for suite in self._loaded[path]]
        known = ", ".join(sorted({*own, *self.installed}))
        raise UsageProblem(f"there is no suite {key!r}; known: {known}")

    def _refuse_unknown(self, seen: dict[str, Path]) -> None:
        known = sorted({*seen, *self.installed})
        words = []
        for key in self.slices:
            if key in seen or key in self.marked_keys():
                continue
            if key in self.installed and (fault := self.broken.get(self.installed[key].path.resolve())):
                words.append(f"--bench={key}: {fault}")
                continue
            if key in self.installed:
                words.append(f"--bench={key}: nothing below the given paths is about it; leave the paths out")
                continue
            near = difflib.get_close_matches(key, known, n=1)
            words.append(
                f"--bench={key}: no such suite; "
                + (f"did you mean {near[0]}?" if near else "known: " + ", ".join(known))
            )
        if words:
            raise UsageProblem("\n".join([*words, *self.broken.values()]))

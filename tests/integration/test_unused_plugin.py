"""Installed and unused: another project's run is what it was without us."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

PLAIN = """
import pytest

@pytest.fixture
def number():
    return 3

@pytest.mark.parametrize("n", [1, 2])
def test_ok(n, number):
    assert n < number

def test_bad():
    assert False
"""


@pytest.fixture
def plain(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makepyfile(test_plain=PLAIN)
    # another tool's benchmark file that only shares our name pattern
    (pytester.path / "bench_other.py").write_text("raise RuntimeError('not ours')\n")
    return pytester


def output(result: pytest.RunResult) -> str:
    text = re.sub(r"in \d+\.\d+s", "in Xs", result.stdout.str())
    text = re.sub(r"runpytest-\d", "", text)
    return "\n".join(
        line for line in text.splitlines() if not line.startswith(("plugins:", "running:", "metadata:"))
    )


@pytest.mark.parametrize(
    "words", [[], ["-v"], ["-n", "2"], ["--strict-markers"], ["-W", "error"], ["--collect-only"]]
)
def test_same_output_and_no_trace(plain: pytest.Pytester, words: list[str]) -> None:
    words = ["-p", "no:cacheprovider", *words]
    with_us = plain.runpytest_subprocess(*words)
    without = plain.runpytest_subprocess("-p", "no:benchkit", *words)
    if "-n" not in words:  # workers finish in any order
        assert output(with_us) == output(without)
    assert with_us.ret == without.ret
    assert not (plain.path / ".benchkit").exists()


def test_nothing_heavy_is_imported_and_no_socket_opened(plain: pytest.Pytester) -> None:
    plain.makeconftest(
        """
        import socket, sys

        def refuse(*args, **kwargs):
            raise AssertionError("a socket was opened")

        def pytest_configure(config):
            socket.socket.connect = refuse

        def pytest_unconfigure(config):
            ours = [name for name in sys.modules if name.startswith(("pytest_benchkit", "benchsuites"))]
            heavy = [n for n in ("httpx", "aiohttp", "pydantic", "numpy", "pyarrow") if n in sys.modules]
            print("loaded", sorted(ours), heavy)
        """
    )
    result = plain.runpytest_subprocess("-p", "no:anyio", "-p", "no:hypothesispytest", "-s")
    line = next(line for line in result.outlines if line.startswith("loaded"))
    assert line.endswith("[]"), line
    modules = re.findall(r"'([\w.]+)'", line)
    assert set(modules) <= {
        "pytest_benchkit",
        "pytest_benchkit.errors",
        "pytest_benchkit.plugin",
        "pytest_benchkit.plugin.gate_options",
        "pytest_benchkit.plugin.hookspecs",
        "pytest_benchkit.plugin.options",
        "pytest_benchkit.score",
        "pytest_benchkit.settings",
    }


def test_help_names_every_option_once(plain: pytest.Pytester) -> None:
    from pytest_benchkit.settings import definitions

    text = plain.runpytest_subprocess("--help").stdout.str()
    for definition in definitions():
        if definition.option:
            assert len(re.findall(rf"(?m)^  {definition.flag}[=\[ ]", text)) == 1, definition.flag
    assert not (plain.path / ".benchkit").exists()


def test_fixtures_are_listed_with_their_meaning(plain: pytest.Pytester) -> None:
    text = plain.runpytest_subprocess("--fixtures").stdout.str()
    for name in ("bench_task", "bench_model", "bench_harness", "bench_perturbation", "bench_record"):
        assert name in text


def test_installed_without_development_extras_it_still_imports() -> None:
    """Optional packages are looked for where they are used, not at import."""
    code = (
        "import sys\n"
        "for name in ('orjson', 'uvloop', 'pyarrow', 'xllamacpp', 'numpy', 'gguf', 'tomlkit'):\n"
        "    sys.modules[name] = None\n"
        "import pytest_benchkit.engine.dispatcher, pytest_benchkit.models.client, pytest_benchkit.cli\n"
        "from pytest_benchkit.runs.plain import line, parse\n"
        "assert parse(line({'a': 1})) == {'a': 1}\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr

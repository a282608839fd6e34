"""What programs do to be counted as right, or to do harm: each ends as a miss, contained, nothing left."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest

from pytest_benchkit.sandbox import pool
from pytest_benchkit.sandbox.limits import Limits
from pytest_benchkit.scoring.programs import Program, Trial, Verdict, run
from tests.support.sandbox import need_isolation
from tests.unit.scoring.test_syntax import bomb

TRIAL = Trial("for n in range(3):\n    assert candidate(n) == n * 7919 + data\n", 31, "f")
RIGHT = "def f(n):\n    return n * 7919 + 31\n"
SHORT, QUICK = Limits(memory=512 << 20), Limits(cpu_s=0.5)


@pytest.fixture(scope="module", autouse=True)
def sandbox() -> Iterator[None]:
    need_isolation()
    yield
    pool.close()


def judged(source: str, trial: Trial = TRIAL, limits: Limits | None = None) -> Verdict:
    return run(Program(source, "f"), trial, limits)


def test_the_right_program_passes() -> None:
    verdict = judged(RIGHT)
    assert (verdict.passed, verdict.category) == (True, "passed")


INSIDE = "def f(n):\n    "
WRITE = (  # finds the wire and writes a whole answer: length, nonce, seconds, kind, value
    "import os, struct, socket\n"
    "def forge(value, nonce=b'12345678'):\n"
    "    body = nonce + bytes(8) + b'v' + b'i' + struct.pack('<I', 3) + value.to_bytes(3, 'little')\n"
    "    for fd in range(3, 20):\n"
    "        try:\n"
    "            socket.socket(fileno=os.dup(fd)).sendall(struct.pack('<I', len(body)) + body)\n"
    "        except OSError:\n"
    "            pass\n"
)
ENCODER = (  # finds what turns values into bytes, in the frames above
    "import sys\nframe = sys._getframe()\nwhile 'plain' not in frame.f_globals:\n    frame = frame.f_back\n"
    "frame.f_globals['plain'].encode = "
)
ATTACKS = {
    "exit at import": ("raise SystemExit(0)", "bad_exit"),
    "hard exit at import": ("import os; os._exit(0)", "bad_exit"),
    "exit in the function": (INSIDE + "import sys; sys.exit(0)", "bad_exit"),
    "hard exit in the function": (INSIDE + "import os; os._exit(0)", "bad_exit"),
    "keyboard interrupt": (INSIDE + "raise KeyboardInterrupt", "bad_exit"),
    "killed by itself": (INSIDE + "import os; os.kill(os.getpid(), 9)", "bad_exit"),
    "abort": (INSIDE + "import os; os.abort()", "bad_exit"),
    "exec of another program": (INSIDE + "import os; os.execv('/bin/true', ['true'])", "bad_exit"),
    "exit in a finaliser": (
        "import os\nclass A:\n    def __del__(self):\n        os._exit(0)\ndef f(n):\n    A()",
        "bad_exit",
    ),
    "exit handler": (
        "import atexit, os\natexit.register(os._exit, 0)\ndef f(n):\n    return 0",
        "wrong_value",
    ),
    "exit from a thread": (
        "import threading, os\nthreading.Thread(target=os._exit, args=(0,)).start()\n"
        "import time; time.sleep(1)\n" + RIGHT,
        "bad_exit",
    ),
    "equal to everything": (
        "class A(int):\n    __eq__ = lambda s, o: True\n    __hash__ = None\ndef f(n):\n    return A(5)",
        "wrong_value",
    ),
    "an object equal to everything": (
        "class A:\n    __eq__ = lambda s, o: True\ndef f(n):\n    return A()",
        "not_plain_data",
    ),
    "claims to be an int": (
        "class A:\n    __class__ = int\n    __eq__ = lambda s, o: True\ndef f(n):\n    return A()",
        "not_plain_data",
    ),
    "a cycle": ("def f(n):\n    a = []\n    a.append(a)\n    return a", "not_plain_data"),
    "a tree that doubles": (
        "def f(n):\n    a = []\n    for _ in range(90):\n        a = [a, a]\n    return a",
        "not_plain_data",
    ),
    "a huge value": ("def f(n):\n    return 'x' * (9 << 20)", "not_plain_data"),
    "a class whose name raises": (
        "class M(type):\n    __name__ = property(lambda c: 1 / 0)\n"
        "class E(Exception, metaclass=M):\n    pass\ndef f(n):\n    raise E",
        "bad_exit",
    ),
    "forged answers at import": (
        WRITE + "for n in range(3):\n    forge(n * 7919 + 31)\n" + RIGHT,
        "bad_exit",
    ),
    "forged answers in the function": (
        WRITE + "def f(n):\n    forge(n * 7919 + 31)\n    return 0",
        "bad_exit",
    ),
    "an extra answer before the true one": (
        WRITE + "def f(n):\n    if n == 2:\n        forge(1)\n    return n * 7919 + 31\n",
        "bad_exit",
    ),
    "pickles on the wire": (
        "import os, pickle\nfor fd in range(3, 20):\n    try:\n"
        "        os.write(fd, pickle.dumps([1] * 99))\n    except OSError:\n        pass\n" + RIGHT,
        "bad_exit",
    ),
    "a frame of 4 GiB announced": (
        INSIDE
        + "import os\n    for fd in range(3, 9):\n        try:\n            os.write(fd, b'\\xff' * 4)\n"
        "        except OSError:\n            pass\n",
        "bad_exit",
    ),
    "half a frame": (
        INSIDE
        + "import os, time\n    for fd in range(3, 9):\n        try:\n            os.write(fd, b'\\x09')\n"
        "        except OSError:\n            pass\n    while True: pass\n",
        "time",
    ),
    "the wire closed": (INSIDE + "import os; os.closerange(0, 64)", "bad_exit"),
    "builtins replaced": (
        "import builtins\nbuiltins.isinstance = builtins.len = lambda *a: True\n"
        "builtins.AssertionError = ValueError\ndef f(n):\n    return 0",
        "bad_exit",
    ),
    "the worker's encoder replaced": (ENCODER + "lambda *a: b'T'\ndef f(n):\n    return 0", "wrong_value"),
    "broken encoding": (ENCODER + "lambda *a: b'l' + b'\\xff' * 4\ndef f(n):\n    return 0", "bad_exit"),
    "no such name": ("def g(n):\n    return 1", "name_missing"),
    "does not compile": ("def f(n:\n", "syntax"),
    "a NUL": ("def f(n): return 1\0", "syntax"),
    "a lone surrogate": ("def f(n): return '\ud800'", "syntax"),
    "brackets without end": ("(" * 5000, "syntax"),
    "raises": (INSIDE + "return 1 / 0", "exception"),
    "endless recursion": ("def f(n):\n    return f(n)", "exception"),
    "a list of 4 GiB": (INSIDE + "return len([0] * (1 << 29))", "memory"),
    "many lists that are too much": (INSIDE + "a = []\n    while True: a.append([0] * (1 << 20))", "memory"),
    "not even a value": (INSIDE + "return f", "not_plain_data"),
    "nothing to ask": ("f = 7", "exception"),
    "stdout closed": (
        "import sys\nsys.stdout.close()\nsys.stderr.close()\ndef f(n):\n    print(1)",
        "exception",
    ),
    "reads its input": (INSIDE + "return input()", "exception"),
}
PASSING = {
    "a base value": (
        "class A(int):\n    __eq__ = lambda s, o: False\n    __hash__ = None\n"
        "def f(n):\n    return A(n * 7919 + 31)\n"
    ),
    "prints a lot of bytes that are no text": "import sys\nsys.stdout.buffer.write(b'\\xff' * (3 << 20))\n"
    + RIGHT,
    "ordinary modules": (
        "import os, subprocess, socket, ctypes, multiprocessing, threading, tempfile, dataclasses, asyncio\n"
        "from __main__ import __name__ as _\n" + RIGHT
    ),
    "a thread, a temporary file and a child": (
        "import subprocess, tempfile, threading\n"
        "def f(n):\n    with tempfile.TemporaryFile() as file:\n        file.write(b'x')\n"
        "    t = threading.Thread(target=int)\n    t.start()\n    t.join()\n"
        "    subprocess.run(['/bin/true'], check=True)\n    return n * 7919 + 31\n"
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attack_is_a_miss(name: str) -> None:
    source, category = ATTACKS[name]
    verdict = judged(source, limits=QUICK if category == "time" else SHORT)
    assert (verdict.passed, verdict.category) == (False, category), verdict
    assert verdict.retried or category not in ("time", "memory")
    assert not verdict.retried or category in ("time", "memory", "bad_exit", "wrong_value")
    assert "7919" not in verdict.feedback


@pytest.mark.parametrize("name", PASSING)
def test_harmless_oddities_pass(name: str) -> None:
    verdict = judged(PASSING[name])
    assert verdict.passed, verdict


def test_an_answer_after_the_last_one_was_asked_for_by_nobody() -> None:
    late = (
        WRITE + "import threading\ndef f(n):\n    threading.Timer(0.05, forge, (1,)).start()\n    return n\n"
    )
    slow = Trial("candidate(1)\nimport time\ntime.sleep(0.4)", None, "f")
    assert judged(late, slow).category == "bad_exit"


def test_an_entry_that_is_no_function_and_one_that_is_a_class() -> None:
    assert judged("class f:\n    def __new__(cls, n):\n        return n * 7919 + 31").passed
    assert judged("f = lambda n: n * 7919 + 31").passed


def test_a_source_that_doubles_when_compiled_does_so_inside_only() -> None:
    verdict = judged(bomb(40), limits=QUICK)
    assert not verdict.passed


DRIP = """
import os, struct, time

def f(n):
    wire = next(d for d in range(3, 64) if os.path.exists(f"/proc/self/fd/{d}"))
    os.write(wire, struct.pack("<I", 8 << 20))
    while True:
        os.write(wire, b"x")
        time.sleep(0.01)
"""


def test_bytes_sent_one_at_a_time_switch_no_limit_off() -> None:
    started = time.monotonic()
    verdict = judged(DRIP, limits=Limits(cpu_s=0.5))
    assert (verdict.passed, verdict.category) == (False, "time")
    assert time.monotonic() - started < 60


def test_a_sleeper_has_its_time_once() -> None:
    verdict = judged("import time\ndef f(n):\n    time.sleep(1000)", limits=Limits())
    assert (verdict.category, verdict.retried) == ("time", False)
    assert verdict.wall_s < 15

"""What programs can see and do inside, and what is left of them: nothing."""

from __future__ import annotations

import os
import signal
import socket
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pytest_benchkit.sandbox import pool, probe
from pytest_benchkit.sandbox.limits import Limits
from pytest_benchkit.scoring.programs import Program, Trial, Verdict, run
from tests.support.sandbox import descendants, marked, need_isolation

SEE = Trial("note('seen', candidate())")
QUICK = Limits(cpu_s=0.5, memory=512 << 20)


@pytest.fixture(scope="module", autouse=True)
def sandbox() -> Iterator[None]:
    need_isolation()
    yield
    pool.close()


def verdict_on(body: str, limits: Limits | None = None) -> Verdict:
    return run(
        Program(f"import os, sys\ndef f():\n    {body.replace(chr(10), chr(10) + '    ')}\n", "f"),
        SEE,
        limits,
    )


def seen(body: str) -> object:
    """What a function with this body gives back from inside."""
    verdict = verdict_on(body)
    assert verdict.passed, verdict
    return verdict.notes["seen"]


def attempts(statement: str, things: list[str]) -> object:
    """The exception class that a statement over ``x`` ends with, for each of these values of ``x``."""
    return seen(
        f"out = []\nfor x in {things!r}:\n    try:\n        {statement}\n        out.append('done')\n"
        "    except BaseException as error:\n        out.append(type(error).__name__)\nreturn out"
    )


def test_the_environment_is_ours_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHKIT_API_KEY", "secret")
    names = seen("return sorted(os.environ)")
    assert isinstance(names, list)
    assert set(names) <= {"HOME", "LANG", "OPENBLAS_NUM_THREADS", "PATH", "PWD", "PYTHONHASHSEED", "LC_CTYPE"}
    assert seen("return os.environ['LANG'], os.environ['PYTHONHASHSEED']") == ("C.UTF-8", "0")


def test_no_other_process_shows_and_none_tells_its_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHKIT_API_KEY", "secret")
    pool.close()  # the next workers are started with this environment
    told = seen(
        "out = []\nfor p in os.listdir('/proc'):\n    if p.isdigit():\n"
        "        for name in ('environ', 'cmdline'):\n"
        "            try:\n                out.append(open(f'/proc/{p}/{name}').read())\n"
        "            except OSError:\n                pass\nreturn out"
    )
    assert isinstance(told, list)
    assert not any("secret" in text or str(Path(pool.__file__).parent) in text for text in told)
    assert len(told) <= 6  # bubblewrap's own two processes and the worker


def test_the_user_is_nobody_without_capabilities() -> None:
    assert seen("return os.getuid() > 60000, os.getgid() > 60000, os.geteuid() == os.getuid()") == (True,) * 3
    assert seen("return 0 in os.getgroups()") is False
    words = seen("return open('/proc/self/status').read()")
    status = dict(line.split(":\t") for line in str(words).splitlines() if ":\t" in line)
    assert (int(status["CapEff"], 16), int(status["CapPrm"], 16)) == (0, 0)
    assert (status["NoNewPrivs"], status["Seccomp"]) == ("1", "2")


def test_the_host_s_files_are_not_there(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("x")
    files = [str(tmp_path / "secret"), __file__, "/etc/passwd", "/etc/shadow", "/root/.ssh", "/home", "/var"]
    assert attempts("os.stat(x)", files) == ["FileNotFoundError"] * len(files)
    link = "os.path.exists('link') or os.symlink(x, 'link')\n        open('link')"
    outcome = attempts(link, ["/etc/passwd"])
    assert outcome == ["FileNotFoundError"]
    roots = ["/proc/1/root/etc/passwd", "/proc/self/root/etc/passwd", "/proc/self/cwd/../etc/passwd"]
    assert "done" not in str(attempts("open(x)", roots))


def test_nothing_can_be_written_but_the_scratch_folder() -> None:
    places = [
        "/x",
        "/usr/x",
        "/dev/x",
        "/dev/shm/x",
        "/box/worker.py",
        "/box/x",
        "/packages/x",
        sys_prefix("x"),
    ]
    places += ["/proc/sys/kernel/core_pattern", "/proc/sysrq-trigger", "/proc/self/oom_score_adj"]
    assert "done" not in str(attempts("open(x, 'w')", places))
    assert seen(
        "open('x', 'w').write('y')\nreturn os.getcwd(), os.listdir('.'), os.path.expanduser('~')"
    ) == (
        "/tmp",
        ["x"],
        "/tmp",
    )
    assert seen("return os.listdir('.')") == []


def sys_prefix(name: str) -> str:
    from pytest_benchkit.sandbox.interpreter import interpreter

    return str(Path(interpreter().prefix) / name)


def test_no_descriptor_of_ours_is_open_but_the_wire() -> None:
    kinds = seen(
        "import stat\nout = []\nfor fd in range(64):\n    try:\n        mode = os.fstat(fd).st_mode\n"
        "    except OSError:\n        continue\n"
        "    out.append((fd < 3, stat.S_ISCHR(mode), stat.S_ISSOCK(mode)))\n"
        "return out"
    )
    assert kinds == [(True, True, False)] * 3 + [(False, False, True)]


def test_files_are_small_and_few() -> None:
    big = (
        "file = open('x', 'wb')\nfor _ in range(17):\n    file.write(bytes(1 << 20))\nfile.close()\nreturn 1"
    )
    assert verdict_on(big).category in ("exception", "bad_exit")
    many = "for n in range(9):\n    open(str(n), 'wb').write(bytes(15 << 20))\nreturn 1"
    assert (verdict_on(many).category, verdict_on(many).detail) == ("exception", "OSError")
    assert (verdict_on("a = [open('/dev/null') for _ in range(99)]").detail) == "OSError"


def test_no_network() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
        told = attempts(
            f"import socket\n        socket.create_connection((x, {port}), 2)",
            ["127.0.0.1", "1.1.1.1", "localhost"],
        )
    assert "done" not in str(told)
    interfaces = seen("return [line.split(':')[0].strip() for line in open('/proc/net/dev') if ':' in line]")
    assert interfaces == ["lo"]
    odd = (
        "import socket\n        socket.socket(int(x), socket.SOCK_RAW if x in '2 17' else socket.SOCK_STREAM)"
    )
    assert "done" not in str(attempts(odd, ["2", "16", "17", "38", "40"]))  # raw, netlink, packet, alg, vsock


def test_calls_that_escapes_go_through_are_refused() -> None:
    calls = {
        "unshare": (272, 97),
        "mount": (165, 40),
        "ptrace": (101, 117),
        "keyctl": (250, 219),
        "bpf": (321, 280),
    }
    column = 0 if os.uname().machine == "x86_64" else 1
    numbers = [str(pair[column]) for pair in calls.values()]
    body = (
        "import ctypes\n        libc = ctypes.CDLL(None, use_errno=True)\n"
        "        if libc.syscall(int(x), 0x10000000, 0, 0, 0, 0) < 0: raise OSError(ctypes.get_errno(), '')"
    )
    assert attempts(body, numbers) == ["PermissionError"] * len(numbers)
    clone = "import ctypes\nreturn ctypes.CDLL(None).syscall(56, 0x10000000 | 17, 0, 0, 0, 0)"
    assert column == 1 or seen(clone) == -1


def test_what_is_installed_for_us_cannot_be_imported() -> None:
    names = ["pytest_benchkit", "pytest", "httpx", "worker", "judge", "plain", "pip"]
    assert attempts("__import__(x)", names) == ["ModuleNotFoundError"] * len(names)


def test_numpy_alone_can_and_its_scalars_are_values() -> None:
    pytest.importorskip("numpy")
    assert seen("import numpy as n\nreturn [n.int64(3), n.float32(0.5), n.bool_(True), n.str_('a')]") == [
        3,
        0.5,
        True,
        "a",
    ]
    assert verdict_on("import numpy\nreturn numpy.arange(3)").category == "not_plain_data"


def test_sets_have_one_order_in_every_worker() -> None:
    body = "return list({'one', 'two', 'three', 'four', 'five', 'six', 'seven'})"
    assert seen(body) == seen(body)


def test_a_fork_bomb_ends_with_its_program() -> None:
    started = time.monotonic()
    bomb = "import time\nwhile True:\n    try: os.fork()\n    except OSError: time.sleep(0.001)"
    verdict = verdict_on(bomb, QUICK)
    assert verdict.category == "time"
    assert time.monotonic() - started < 30
    assert verdict.cpu_s is None or verdict.cpu_s < 3 * QUICK.cpu_s


def test_processes_are_counted() -> None:
    count = (
        "import time\nn = 0\ntry:\n    while n < 200:\n        os.fork() or time.sleep(30)\n        n += 1\n"
    )
    number = seen(count + "except OSError:\n    pass\nreturn n")
    assert isinstance(number, int)
    assert 40 <= number <= 64


def test_a_grandchild_does_not_outlive_its_program() -> None:
    leave = (
        "import subprocess\n"
        "lines = 'setsid sleep 4711 & setsid sleep 4711'\n"
        "subprocess.Popen(['/bin/sh', '-c', lines], start_new_session=True)\n"
        "import time; time.sleep(0.1)\nreturn 1"
    )
    assert seen(leave) == 1
    end = time.monotonic() + 5
    while marked("sleep 4711") and time.monotonic() < end:
        time.sleep(0.01)
    assert marked("sleep 4711") == []


def test_endless_output_goes_nowhere() -> None:
    assert verdict_on("while True: os.write(1, b'\\xff' * 65536)", QUICK).category == "time"
    assert seen("os.write(1, bytes(5 << 20))\nos.write(2, bytes(5 << 20))\nreturn sys.stdin.read()") == ""


def test_memory_of_all_processes_together_is_limited() -> None:
    if not pool.shared(probe.require())._groups:
        pytest.skip("no control groups here")
    spread = (
        "import time\nfor _ in range(8):\n    if os.fork() == 0:\n        a = bytearray(200 << 20)\n"
        "        time.sleep(40)\nended, end = 0, time.time() + 20\n"
        "while ended < 5 and time.time() < end:\n    time.sleep(0.01)\n"
        "    ended += os.waitpid(-1, os.WNOHANG)[0] > 0\nreturn ended"
    )
    verdict = verdict_on(spread, Limits(memory=512 << 20))
    assert verdict.notes["seen"] == 5, verdict  # at least so many of the eight were ended by the kernel


def test_sixteen_at_once_on_a_busy_machine_keep_their_verdicts() -> None:
    burn = "def f(n):\n    s = 0\n    for i in range(300000):\n        s += i\n    return n * 2"
    programs = [(burn, True), (burn.replace("* 2", "* 3"), False), ("def f(n):\n    raise KeyError", False)]
    trial = Trial("assert candidate(21) == 42")
    jobs = [programs[n % 3] for n in range(24)]
    with ThreadPoolExecutor(16) as threads:
        verdicts = list(threads.map(lambda job: run(Program(job[0], "f"), trial), jobs))
    assert [verdict.passed for verdict in verdicts] == [expected for _, expected in jobs]
    assert {verdict.category for verdict in verdicts} == {"passed", "wrong_value", "exception"}
    assert not any(verdict.retried for verdict in verdicts)


def owner(pid: int) -> int:
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return 0


@pytest.mark.skipif(os.getuid() != 0, reason="programs have a user of their own when root runs them")
def test_a_program_that_something_else_killed_is_run_again() -> None:
    """A kernel that is short of memory kills whom it likes: that is no verdict on the program."""
    seen("return 1")  # sandboxes are up
    sleeper = "import time\ndef f(n):\n    time.sleep(0.7)\n    return n * 2"
    before = set(descendants(os.getpid()))
    with ThreadPoolExecutor(1) as threads:
        verdict = threads.submit(run, Program(sleeper, "f"), Trial("assert candidate(21) == 42"))
        end, mine = time.monotonic() + 10, set[int]()
        while not mine and time.monotonic() < end:
            time.sleep(0.05)
            mine = {pid for pid in set(descendants(os.getpid())) - before if owner(pid) > 65536}
        for pid in mine:
            os.kill(pid, signal.SIGKILL)
        found = verdict.result(60)
    assert mine
    assert (found.passed, found.retried) == (True, True)


def test_nothing_is_left_after_the_pool_is_closed() -> None:
    assert seen("return 1") == 1
    assert any("bwrap" in line for line in descendants(os.getpid()).values())
    pool.close()
    end = time.monotonic() + 5
    while descendants(os.getpid()) and time.monotonic() < end:
        time.sleep(0.01)
    assert descendants(os.getpid()) == {}
    assert not list(Path("/sys/fs/cgroup").glob(f"*/benchkit-{os.getpid()}-*"))
    assert seen("return 2") == 2  # a later program opens another pool

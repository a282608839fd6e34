"""One behaviour per option: what it does, and the one sentence that a wrong value gets (exit 4)."""

from __future__ import annotations

import pytest

from tests.integration.conftest import SUITE, Project, answering
from tests.support.fakeserver import FakeServer

BAD = [
    (["--bench-temperature=hot"], "--bench-temperature"),
    (["--bench-retries=many"], "--bench-retries"),
    (["--bench-timeout=0"], "--bench-timeout"),
    (["--bench-inflight=0"], "--bench-inflight"),
    (["--bench-extra-body={"], "--bench-extra-body"),
    (['--bench-extra-body={"model": 1}'], "--bench-extra-body"),
    (["--bench-max-errors=x"], "--bench-max-errors"),
    (["--bench-only=nothing"], "--bench-only"),
    (["--bench=sums:0"], "--bench=sums:0"),
    (["--bench=sums:head"], "--bench=sums:head"),
    (["--bench=sums:5:5"], "--bench=sums:5"),
    (["--bench=sums:nope"], "no such variant"),
    (["--bench=sum"], "did you mean sums?"),
    (["--bench-model=demo:2"], "demo:2"),
    (["--bench-model=x@http://u:p@127.0.0.1:1"], "user info"),
    (["--bench-model=x@http://:99999999"], "base URL"),
    (["--bench-env-file=none.env"], "none.env"),
    (["--bench-resume=none"], "--bench-resume=none"),
    (["--bench-replay=none"], "none"),
    (["--bench-system=@none.txt"], "none.txt"),
]


@pytest.mark.parametrize(("words", "told"), BAD, ids=[" ".join(w) for w, _ in BAD])
def test_bad_values_are_one_sentence_and_exit_4(project: Project, words: list[str], told: str) -> None:
    given = any(w.startswith("--bench-model") for w in words)
    model = [] if given else ["--bench-model=demo"]
    result = project.run(*model, *words, "bench_sums.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    error = result.stderr.str()
    assert told in error
    assert "Traceback" not in error
    assert project.runs == []


def test_no_model_is_told(project: Project) -> None:
    result = project.run("--bench=sums", "bench_sums.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*no model is named: add --bench-model*"])


def test_bad_environment_values_name_their_variable(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BENCHKIT_RETRIES", "many")
    result = project.run("--bench-model=demo", "bench_sums.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(
        ["*environment: BENCHKIT_RETRIES is 'many'; it takes a number from 0 to 100*"]
    )


@pytest.mark.parametrize(
    ("table", "told"),
    [
        ("temprature = 0", "did you mean 'temperature'?"),
        ('api_key = "sk-secret"', "api_key_env"),
        ("temperature = 'x'", "temperature is 'x'"),
        ('headers = {Authorization = "Bearer sk-secret"}', "api_key_env"),
        ('api_key_env = "NOT_SET_ANYWHERE"', "NOT_SET_ANYWHERE"),
    ],
)
def test_profile_mistakes(project: Project, table: str, told: str) -> None:
    (project.pytester.path / "pyproject.toml").write_text(f"[tool.pytest-benchkit.models.m]\n{table}\n")
    result = project.run("--bench-model=m", "bench_sums.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    assert told in result.stderr.str()
    assert "sk-secret" not in result.stderr.str() + result.stdout.str()


def test_precedence_command_line_environment_profile_ini(
    project: Project, monkeypatch: pytest.MonkeyPatch, server: FakeServer
) -> None:
    (project.pytester.path / "pyproject.toml").write_text(
        f"[tool.pytest-benchkit.models.m]\nbase_url = '{server.url}'\ntop_p = 0.3\nmin_p = 0.3\ntop_k = 3\n"
        "[tool.pytest.ini_options]\nbench_top_p = '0.4'\nbench_min_p = '0.4'\n"
        "bench_presence_penalty = '0.4'\n"
    )
    monkeypatch.setenv("BENCHKIT_MIN_P", "0.2")
    monkeypatch.setenv("BENCHKIT_TOP_K", "2")
    project.run("--bench-model=m", "--bench-top-k=1", "bench_sums.py")
    values = {row["name"]: (row["value"], row["origin"]) for row in project.info()["settings"]}
    assert values["top_k"] == (1, "--bench-top-k")
    assert values["min_p"] == (0.2, "BENCHKIT_MIN_P")
    assert values["top_p"] == (0.3, "[tool.pytest-benchkit.models.m] top_p")
    assert values["presence_penalty"] == (0.4, "bench_presence_penalty")
    assert values["retries"] == (3, "default")


def test_bench_slices_sample_and_head(project: Project) -> None:
    def ids(*words: str) -> list[str]:
        project.run("--bench-model=demo", *words, "bench_sums.py")
        return sorted(r["task_id"] for r in project.records())

    head = ids("--bench=sums:head:3")
    assert head == ["00", "01", "02"]
    assert project.info()["plan"]["cells"][0]["selection"] == {"kind": "head", "n": 3}
    small, larger = ids("--bench=sums:4"), ids("--bench=sums:8")
    assert set(small) < set(larger)
    kinds = {r["task_id"]: r["category"] for r in project.records()}
    assert sorted(kinds[i] for i in small) == ["even", "even", "odd", "odd"]
    assert len(ids("--bench=sums:500")) == 12
    assert project.info()["plan"]["cells"][0]["selection"] == {"kind": "all"}


def test_bench_only_takes_rows_of_the_last_run(project: Project) -> None:
    project.run("--bench-model=demo:0.5", "bench_sums.py")
    missed = {r["task_id"] for r in project.records() if r["outcome"] == "incorrect"}
    result = project.run("--bench-model=demo:0.5", "--bench-only=missed", "bench_sums.py")
    assert {r["task_id"] for r in project.records()} == missed
    assert result.parseoutcomes()["deselected"] == 12 - len(missed)
    result = project.run(
        "--bench-model=demo:0.5", "--bench-only=missed", "-n2", "bench_sums.py", process=True
    )
    assert {r["task_id"] for r in project.records()} == missed
    result = project.run("--bench-model=other@http://127.0.0.1:9", "--bench-only=missed", "bench_sums.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR


def test_run_dir_is_used_and_not_overwritten(project: Project) -> None:
    project.run("--bench-model=demo", "--bench-run-dir=out/one", "bench_sums.py")
    folder = project.pytester.path / "out" / "one"
    assert len(project.records(folder)) == 12
    before = (folder / "records.jsonl").read_bytes()
    result = project.run("--bench-model=demo", "--bench-run-dir=out/one", "bench_sums.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*--bench-run-dir=out/one holds a run; add --bench-resume=*"])
    assert (folder / "records.jsonl").read_bytes() == before


def test_env_file_reaches_the_run_but_not_the_process(project: Project) -> None:
    (project.pytester.path / "lab.env").write_text("# lab\nBENCHKIT_SEED=11\nexport FOO='1'\n")
    project.run("--bench-model=demo", "--bench-env-file=lab.env", "bench_sums.py")
    values = {row["name"]: row["value"] for row in project.info()["settings"]}
    assert values["seed"] == 11
    import os

    assert "FOO" not in os.environ
    assert "BENCHKIT_SEED" not in os.environ


def test_fetch_never_names_the_command(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BENCHKIT_CACHE", str(project.pytester.path / "empty"))
    result = project.run("--bench-model=demo", "--bench=gsm8k:5", "--bench-fetch=never")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*gsm8k: its data is missing*benchkit datasets install gsm8k*"])
    result = project.run("--bench-model=demo", "--bench=gsm8k:5", "--collect-only")
    assert result.ret != 0
    assert "benchkit datasets install gsm8k" in result.stdout.str()


def test_system_message_comes_first(project: Project, server: FakeServer) -> None:
    (project.pytester.path / "system.txt").write_text("Be brief.")
    project.run(f"--bench-model=m@{server.url}", "--bench-system=@system.txt", "bench_sums.py")
    assert project.records()[0]["prompt"]["messages"][0] == {"role": "system", "content": "Be brief."}


def test_sampling_deviation_is_stored(project: Project, server: FakeServer) -> None:
    project.run(f"--bench-model=m@{server.url}", "--bench-temperature=0.7", "bench_sums.py")
    found = project.info()["suites"][0]["deviations"]
    assert found == [
        {
            "model": "m",
            "name": "temperature",
            "declared": 0.0,
            "used": 0.7,
            "origin": "--bench-temperature",
        }
    ]


def test_request_carries_the_settings(project: Project) -> None:
    bodies = []

    async def chat(exchange: object) -> None:
        bodies.append(exchange.request.json)  # type: ignore[attr-defined]
        await answering()(exchange)

    with FakeServer(chat) as server:
        project.run(
            f"--bench-model=m@{server.url}",
            "--bench-top-p=0.9",
            "--bench-seed=5",
            "--bench-max-tokens=77",
            '--bench-extra-body={"cache_prompt": false}',
            "--bench-thinking=low",
            "--bench-warmup=0",
            "bench_sums.py",
        )
    body = bodies[0]
    assert body["model"] == "m"
    assert (body["temperature"], body["top_p"], body["seed"], body["max_tokens"]) == (0, 0.9, 5, 77)
    assert body["cache_prompt"] is False
    assert body["reasoning_effort"] == "low"
    assert body["stream"] is True
    assert {r["ask"]["max_tokens"] for r in project.records()} == {77}


def test_stream_off_asks_whole_replies_and_measures_no_ttft(project: Project, server: FakeServer) -> None:
    project.run(f"--bench-model=m@{server.url}", "--bench-stream=off", "bench_sums.py")
    records = project.records()
    assert {r["outcome"] for r in records} == {"correct"}
    assert all("ttft_ms" not in r["timing"] for r in records)


@pytest.mark.parametrize(("mode", "stored"), [("all", True), ("none", False)])
def test_store_prompts(project: Project, mode: str, stored: bool) -> None:
    project.run("--bench-model=demo", f"--bench-store-prompts={mode}", "bench_sums.py")
    assert all(("messages" in r["prompt"]) is stored for r in project.records())


def test_order_puts_long_replies_first_in_a_second_run(project: Project) -> None:
    def answer(request: object) -> str:
        number = int(request.prompt.split("+")[-1].rstrip("?"))  # type: ignore[attr-defined]
        return "x" * (40 * (number + 1))

    from tests.support.fakeserver import replying

    with FakeServer(replying(answer)) as server:
        words = [f"--bench-model=m@{server.url}", "--bench-inflight=1", "--bench-warmup=0", "bench_sums.py"]
        project.run(*words)
        project.run(*words)
        sent = [r["task_id"] for r in sorted(project.records(), key=lambda r: r["timing"]["sent_at"])]
        assert sent == [f"{n:02d}" for n in reversed(range(12))]
        project.run(*words, "--bench-order=collection")
        sent = [r["task_id"] for r in sorted(project.records(), key=lambda r: r["timing"]["sent_at"])]
        assert sent != [f"{n:02d}" for n in reversed(range(12))]


def test_resume_refuses_a_changed_prompt_and_asks_on_request(project: Project, server: FakeServer) -> None:
    model = f"--bench-model=m@{server.url}"
    project.run(model, "bench_sums.py")
    asked = server.counts.chat
    project.suite(12, SUITE.replace("What is", "Please, what is"))
    result = project.run(model, f"--bench-resume={project.newest.name}", "bench_sums.py")
    assert result.ret == pytest.ExitCode.USAGE_ERROR
    result.stderr.fnmatch_lines(["*sums: prompt was *"])
    assert server.counts.chat == asked
    result = project.run(
        model, f"--bench-resume={project.newest.name}", "--bench-resume-changed=ask", "bench_sums.py"
    )
    assert result.ret == 0
    assert server.counts.chat == asked + 12


def test_resume_of_a_finished_run_asks_nothing(project: Project, server: FakeServer) -> None:
    words = [f"--bench-model=m@{server.url}", "--bench-warmup=0", "bench_sums.py"]
    first = project.run(*words)
    asked = server.counts.chat
    again = project.run(*words, "--bench-resume")
    assert server.counts.chat == asked
    assert again.parseoutcomes() == first.parseoutcomes()
    assert len(project.runs) == 1
    assert len(project.info()["sessions"]) == 2


def test_resume_does_not_swallow_the_path_behind_it(project: Project) -> None:
    project.run("--bench-model=demo", "bench_sums.py")
    result = project.run("--bench-model=demo", "--bench-resume", "bench_sums.py")
    assert result.ret == 0
    assert len(project.runs) == 1
    result = project.run("--bench-model=demo", "--bench-verbose", "bench_sums.py")
    assert result.ret == 0


def test_resume_asks_errors_again_and_keeps_the_rest(project: Project) -> None:
    broken = True

    async def chat(exchange: object) -> None:
        if broken and "7+7" in exchange.request.prompt:  # type: ignore[attr-defined]
            await exchange.json({"error": {"message": "x"}}, 418)  # type: ignore[attr-defined]
        else:
            await answering()(exchange)

    with FakeServer(chat) as server:
        words = [f"--bench-model=m@{server.url}", "--bench-warmup=0", "bench_sums.py"]
        assert project.run(*words).ret == pytest.ExitCode.TESTS_FAILED
        broken = False
        asked = server.counts.chat
        result = project.run(*words, "--bench-resume")
    assert result.parseoutcomes() == {"passed": 12}
    assert server.counts.chat == asked + 1
    assert project.info()["complete"] is True


def test_replay_scores_again_without_a_model(project: Project, server: FakeServer) -> None:
    project.run(f"--bench-model=m@{server.url}", "bench_sums.py")
    first = project.newest
    asked = server.counts.connections
    fixed = SUITE.replace('found == task["answer"]', 'found == task["answer"] and int(found) > 4')
    project.suite(12, fixed)
    result = project.run(f"--bench-replay={first.name}", "bench_sums.py")
    assert server.counts.connections == asked
    assert result.parseoutcomes() == {"passed": 9, "missed": 3}
    assert project.newest != first
    assert project.info()["replay_of"] == first.name
    old = {r["key"]: r for r in project.records(first)}
    assert all(r["reply"] == old[r["key"]]["reply"] for r in project.records())


def test_verbose_shows_prompt_and_reply_of_missed_rows(project: Project) -> None:
    result = project.run("--bench-model=demo:0", "--bench-verbose", "-rA", "bench_sums.py")
    text = result.stdout.str()
    assert "What is 7+7?" in text
    assert "Traceback" not in text

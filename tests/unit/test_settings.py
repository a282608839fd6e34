"""Settings: one table, five layers, origins, and sentences for what is malformed."""

from __future__ import annotations

import pytest

from pytest_benchkit.errors import UsageProblem
from pytest_benchkit.settings import Layer, Settings, check_profile_keys, definitions, resolve

NAMES = [d.name for d in definitions()]
GOOD: dict[str, list[object]] = {
    "base_url": ["http://a", "http://b", "http://c", "http://d"],
    "provider": ["vllm", "sglang", "ollama", "openai"],
    "inflight": ["4", 5, "auto", 7],
    "extra_body": ['{"a": 1}', {"b": 2}, {"c": 3}, "{}"],
    "headers": [{"a": "1"}, {"b": "2"}, {"c": "3"}, {}],
    "think_tags": ["auto", "none", [["<a>", "</a>"]], "auto"],
    "price": [{"input": n, "output": 2 * n} for n in range(4)],
    "max_errors": ["3", "5%", 7, "0%"],
    "loop_kill": ["off", True, "300", 40],
    "thinking": ["on", "off", "low", "high"],
    "stream": ["on", "off", "auto", "on"],
    "store_prompts": ["all", "none", "auto", "all"],
    "order": ["expected", "collection", "expected", "collection"],
    "warmup": ["0", 1, "1", 0],
    "unload": ["never", "between", "always", "never"],
    "top_p": ["0.1", 0.2, "0.3", 0.4],
    "min_p": ["0.1", 0.2, "0.3", 0.4],
}
TEXTS = ("api_key_env", "system", "ca_file")


def good(name: str) -> list[object]:
    if name in TEXTS:
        return ["w", "x", "y", "z"]
    return GOOD.get(name, ["1", 2, "3", 4])


@pytest.mark.parametrize("name", NAMES)
def test_the_highest_layer_that_speaks_wins(name: str) -> None:
    labels = ["command line", "environment", "project file", "ini file"]
    values = good(name)
    parse = next(d.parse for d in definitions() if d.name == name)
    for first in range(4):
        layers = [
            Layer(label, {name: values[i]} if i >= first else {}, lambda d, label=label: label)  # type: ignore[misc]
            for i, label in enumerate(labels)
        ]
        settings, origins = resolve(layers)
        assert origins[name] == labels[first]
        assert getattr(settings, name) == parse(values[first])
    settings, origins = resolve([])
    assert origins[name] == "default"
    assert getattr(settings, name) == getattr(Settings(), name)


def test_every_layer_is_checked_also_a_hidden_one() -> None:
    layers = [
        Layer("command line", {"retries": "1"}, lambda d: d.flag),
        Layer("environment", {"retries": "many"}, lambda d: d.env),
    ]
    with pytest.raises(UsageProblem, match="environment: BENCHKIT_RETRIES is 'many'; it takes a number"):
        resolve(layers)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("temperature", "nan"),
        ("temperature", -1),
        ("temperature", True),
        ("top_p", "1.5"),
        ("timeout", "inf "),
        ("timeout", 0),
        ("inflight", "0"),
        ("inflight", "few"),
        ("max_tokens", 0),
        ("max_tokens", "1.5"),
        ("extra_body", "[]"),
        ("extra_body", {"stream": True}),
        ("headers", {"authorization": "x"}),
        ("think_tags", [["<a>"]]),
        ("max_errors", "101%"),
        ("max_errors", "-1"),
        ("provider", "mine"),
    ],
)
def test_malformed_values_are_refused(name: str, value: object) -> None:
    if name == "timeout" and value == "inf ":
        assert resolve([Layer("x", {name: value}, lambda d: d.flag)])[0].timeout == float("inf")
        return
    with pytest.raises(UsageProblem):
        resolve([Layer("x", {name: value}, lambda d: d.flag)])


def test_profile_keys_are_known_and_never_secret() -> None:
    check_profile_keys("m", {"model": "x", "temperature": 1, "headers": {}})
    with pytest.raises(UsageProblem, match="did you mean 'temperature'"):
        check_profile_keys("m", {"temprature": 0})
    with pytest.raises(UsageProblem, match="api_key_env"):
        check_profile_keys("m", {"api_key": "sk-1"})
    with pytest.raises(UsageProblem, match="unknown key 'wait'"):
        check_profile_keys("m", {"wait": 3})


def test_option_env_and_ini_names_follow_from_the_name() -> None:
    row = next(d for d in definitions() if d.name == "max_tokens")
    assert (row.flag, row.env, row.ini) == ("--bench-max-tokens", "BENCHKIT_MAX_TOKENS", "bench_max_tokens")


@pytest.mark.parametrize(
    ("raw", "limit"), [("on", 1024), (True, 1024), ("off", 0), (False, 0), ("1", 1), (1, 1), ("4096", 4096)]
)
def test_loop_kill_is_on_off_or_a_number(raw: object, limit: int) -> None:
    settings, _ = resolve([Layer("ini file", {"loop_kill": raw}, lambda d: d.ini)])
    assert settings.loop_kill == limit


@pytest.mark.parametrize("raw", ["", "0", "-1", "1.5", "ON", [], 0, 1.5])
def test_other_loop_limits_are_refused(raw: object) -> None:
    with pytest.raises(UsageProblem, match=r"bench_loop_kill is .* on, off, or a number of words and marks"):
        resolve([Layer("ini file", {"loop_kill": raw}, lambda d: d.ini)])

"""Rules of trees, files, entries and bounds: the vectors 1-22 and 33-39 of the specification."""

from __future__ import annotations

from pathlib import Path

import pytest

from pytest_benchkit.gates.lint import Rules
from pytest_benchkit.gates.problems import render
from pytest_benchkit.gates.tree import load
from tests.unit.gates.trees import RULES, bound, codes, entry, grow, plant

OK = "metrics.score = { min = 0.5 }\n"


def test_a_missing_default_root_is_an_empty_tree_and_a_named_one_an_error(tmp_path: Path) -> None:
    assert load(tmp_path / "kernels", "kernels").problems == []
    named = load(tmp_path / "nowhere", "nowhere", named=True)
    assert codes(named.problems) == ["kernels-missing"]


def test_a_class_needs_its_file_and_a_model_does_not(tmp_path: Path) -> None:
    root = grow(tmp_path, {"gb10/m/BENCH.toml": entry(OK)})
    assert codes(load(root, "kernels").problems, "error") == ["orphan-bench"]
    assert codes(load(root, "kernels", compat=True).problems, "note") == ["orphan-bench"]
    (root / "gb10" / "HARDWARE.toml").write_text("")
    tree = load(root, "kernels")
    assert tree.problems == []
    assert [e.gate for e in tree.entries] == ["gsm8k"]


def test_misplaced_and_misnamed_files(tmp_path: Path) -> None:
    root = grow(
        tmp_path,
        {"gb10/HARDWARE.toml": "", "gb10/BENCH.toml": "", "gb10/m/bench.toml": "", "gb10/m/MODEL.toml": ""},
    )
    assert codes(load(root, "kernels").problems) == ["misplaced-file", "misnamed-file"]


def test_links_out_of_the_tree_odd_names_and_unreadable_directories(tmp_path: Path) -> None:
    root = grow(tmp_path, {"gb10/HARDWARE.toml": "", "Up/HARDWARE.toml": "", ".hidden/BENCH.toml": "!"})
    (tmp_path / "BENCH.toml").write_text(entry(OK))
    (root / "gb10" / "m").mkdir()
    (root / "gb10" / "m" / "BENCH.toml").symlink_to(tmp_path / "BENCH.toml")
    (root.joinpath("gb10") / "n").mkdir()
    bad = bytes(root / "gb10" / "n") + b"/\xff"
    Path(bad.decode("utf-8", "surrogateescape")).write_text("")
    assert codes(load(root, "kernels").problems) == ["bad-directory-name", "escapes-tree", "unreadable"]


@pytest.mark.parametrize("text", [b"\xef\xbb\xbf%s", b"%s"])
@pytest.mark.parametrize("newline", [b"\n", b"\r\n"])
def test_bom_and_crlf_keep_line_numbers(tmp_path: Path, text: bytes, newline: bytes) -> None:
    content = (text % entry(OK, status="Measured").encode()).replace(b"\n", newline)
    root = grow(tmp_path, {"gb10/HARDWARE.toml": "", "gb10/m/BENCH.toml": content})
    [problem] = load(root, "kernels").problems
    assert (problem.code, problem.line) == ("bad-status", 5)


def test_status_shows_both_words_and_missing_keys_come_together(tmp_path: Path) -> None:
    head = 'checkpoint = "org/m"\n'
    tree = plant(tmp_path, entry(OK, status="Measured", default=False, head=head))
    status = next(p for p in tree.problems if p.code == "bad-status")
    assert "unmeasured" in status.message
    assert '"Measured"' in status.message
    [missing] = [p for p in tree.problems if p.code == "missing-key"]
    assert "quant" in missing.message
    assert "gate" in missing.message


def test_metrics_belong_to_measured_entries(tmp_path: Path) -> None:
    text = entry("[benchmarks.metrics]", status="unmeasured")
    text += entry("", head='quant="a"\ncheckpoint="b"\ngate="gsm8k"', default=False)
    text += entry("[benchmarks.metrics]", head='quant="a"\ncheckpoint="c"\ngate="gsm8k"')
    found = codes(plant(tmp_path, text).problems)
    assert found.count("unmeasured-with-metrics") == 1
    assert found.count("measured-without-metrics") == 2


def test_port_and_default_of_unmeasured(tmp_path: Path) -> None:
    text = entry('default = true\nserve_overrides.port = "8000"', status="unmeasured")
    assert sorted(codes(plant(tmp_path, text).problems)) == ["default-unmeasured", "port-pinned"]
    compat = plant(tmp_path, text, compat=True).problems
    assert codes(compat, "warning") == ["default-unmeasured"]
    assert codes(compat, "error") == ["port-pinned"]


def test_hermetic(tmp_path: Path) -> None:
    alone = plant(tmp_path, entry(OK + 'serve_overrides.hermetic = "true"')).problems
    assert codes(alone) == ["hermetic-incomplete"]
    assert 'enable_prefix_caching = "false"' in alone[0].message
    assert 'mtp_gate = "force"' in alone[0].message
    pinned = (
        OK + 'serve_overrides = { hermetic = "true", enable_prefix_caching = "true", mtp_gate = "force" }'
    )
    [wrong] = plant(tmp_path, entry(pinned)).problems
    assert 'enable_prefix_caching = "false"' in wrong.message
    assert "mtp_gate" not in wrong.message
    odd = entry(OK + 'serve_overrides.hermetic = "True"')
    assert codes(plant(tmp_path, odd).problems, "error") == ["hermetic-spelling"]
    assert codes(plant(tmp_path, odd, compat=True).problems, "warning") == ["hermetic-spelling"]


def test_levers(tmp_path: Path) -> None:
    assert codes(plant(tmp_path, entry(OK + 'serve_env.FOO = "1"')).problems) == ["lever-undeclared"]
    unlisted = entry(OK + 'serve_env.METRALE_FP8_ROWWISE = "1"')
    assert codes(plant(tmp_path, unlisted, compat=True).problems, "warning") == ["lever-unlisted"]
    assert codes(plant(tmp_path, entry(OK + 'serve_env.METRALE_X = ""')).problems) == ["lever-blank"]
    table = (
        '[levers.FOO]\nclass = "runtime"\nvalues = ["1", "2"]\n'
        '[levers.BAR]\nclass = "build"\n[levers.BAZ]\nclass = "runtime"\npattern = "[0-9]+"\n'
    )
    text = entry(OK + 'serve_env = { FOO = "3", BAR = "1", BAZ = "x", FOOO = "1" }')
    found = plant(tmp_path, text, LEVERS_toml=table).problems
    assert sorted(codes(found)) == ["lever-not-runtime", "lever-undeclared", "lever-value", "lever-value"]
    assert any("FOO" in p.remedy for p in found if p.code == "lever-undeclared")
    redefined = plant(
        tmp_path, entry(OK), gb10__MODEL_toml="", gb10__m__MODEL_toml='[levers.FOO]\nclass = "build"\n'
    )
    assert "lever-redefined" in codes(redefined.problems)


def test_types(tmp_path: Path) -> None:
    [slots] = plant(tmp_path, entry(OK + "serve_overrides = { slots = 256 }")).problems
    assert slots.code == "wrong-type"
    assert '"256"' in slots.remedy
    assert codes(plant(tmp_path, bound('min = "83"')).problems)[0] == "wrong-type"
    assert codes(plant(tmp_path, bound("min = true")).problems)[0] == "wrong-type"
    assert plant(tmp_path, bound("min = 3", "samples")).problems == []


def test_unknown_keys_and_their_suggestions(tmp_path: Path) -> None:
    text = entry(OK + 'serve_override = { a = "b" }\ncolour = "x"\nmetrics.excluded = { max = 1, max_ = 0 }')
    strict = {p.key: p for p in plant(tmp_path, text).problems}
    assert "serve_overrides" in strict["serve_override"].remedy
    assert "did you mean" not in strict["colour"].remedy
    assert strict["max_"].remedy == "did you mean max"
    assert {p.severity for p in strict.values()} == {"error"}
    compat = {p.key: p for p in plant(tmp_path, text, compat=True).problems}
    assert (compat["serve_override"].code, compat["serve_override"].severity) == ("likely-typo", "error")
    assert (compat["colour"].code, compat["colour"].severity) == ("unknown-key", "warning")
    assert compat["max_"].severity == "error"


def test_all_problems_of_all_files_at_once_and_sorted(tmp_path: Path) -> None:
    root = grow(
        tmp_path,
        {
            "gb10/HARDWARE.toml": "",
            "gb10/a/BENCH.toml": "[[benchmarks]\n",
            "gb10/b/BENCH.toml": entry(
                "metrics.score = { min = 0.5, max = 0.5, noise = 0 }", status="done", default=False
            ),
        },
    )
    found = load(root, "kernels").problems
    assert codes(found) == ["toml-syntax", "bad-status", "noise-on-pin"]
    assert [p.path for p in found] == ["kernels/gb10/a/BENCH.toml"] + ["kernels/gb10/b/BENCH.toml"] * 2


def test_a_header_inside_a_text_is_none(tmp_path: Path) -> None:
    text = entry(OK + 'note = """\n[[benchmarks]]\nstatus = "x"\n"""') + entry(
        "", status="Measured", head='quant="a"\ncheckpoint="b"\ngate="gsm8k"', default=False
    )
    [problem] = [p for p in plant(tmp_path, text).problems if p.code == "bad-status"]
    lines = text.splitlines()
    assert lines[(problem.line or 0) - 1] == 'status = "Measured"'
    assert f":{problem.line}: error[bad-status]" in render(problem)


@pytest.mark.parametrize(
    ("text", "strict", "compat"),
    [
        ("min = 1, noise = -0.1", ["noise-invalid"], ["noise-invalid"]),
        ("min = 1, noise = nan", ["noise-invalid"], ["noise-invalid"]),
        ("min = 1, noise = inf", ["noise-invalid"], ["noise-invalid"]),
        ("min = 995, max = 995, noise = 0.0", ["noise-on-pin"], ["noise-on-pin"]),
        ("min = 100, noise = 5", [], []),
        ("min = 100, noise = 5.01", ["noise-too-large"], ["noise-too-large"]),
        ("min = 1.13, noise = 0.0565", [], []),
        ("max = 0, noise = 3", ["noise-on-zero"], ["W noise-on-zero"]),
        ("max = 0, noise = 0", [], []),
        ("min = 0, max = 10, noise = 0.4", ["noise-on-zero"], ["W noise-on-zero"]),
        ("min = -1000, max = 10, noise = 1", ["noise-too-large"], ["W noise-too-large"]),
        ("min = 10, max = 1000, noise = 1", ["noise-too-large"], ["noise-too-large"]),
        ("min = 5, max = 4", ["bound-order"], ["W bound-order"]),
        ("noise = 0", ["bound-empty"], ["W bound-empty"]),
        ("min = nan", ["bound-not-finite"], ["W bound-not-finite"]),
        ("max = inf", ["bound-not-finite"], ["W bound-not-finite"]),
        ("min = 1e400", ["bound-not-finite"], ["W bound-not-finite"]),
        ("min = 1e999999999", ["bound-not-finite"], ["W bound-not-finite"]),
        ("max = 1e-999999999", ["wrong-type", "bound-empty"], ["wrong-type", "W bound-empty"]),
        ("min = 9007199254740993", ["bound-not-exact"], ["W bound-not-exact"]),
        ("max = 5, max_spread = 1", ["spread-without-repeats"], []),
        ("min = 5, max = 5, confidence = 0.9", ["confidence-on-pin"], ["confidence-on-pin"]),
        ("min = 5, confidence = 0.5", ["confidence-range"], ["confidence-range"]),
    ],
)
def test_numbers_of_a_bound(tmp_path: Path, text: str, strict: list[str], compat: list[str]) -> None:
    """The metric is one that no suite declares: only rules of numbers apply."""
    free = Rules()
    assert codes(plant(tmp_path, bound(text, "free"), rules=free).problems) == strict
    found = plant(tmp_path, bound(text, "free"), compat=True, rules=free).problems
    assert [("W " if p.severity == "warning" else "") + p.code for p in found] == compat


def test_an_unsure_position_still_names_the_entry(tmp_path: Path) -> None:
    [problem] = plant(tmp_path, bound("min = 5, max = 4")).problems
    assert problem.line == 7
    assert problem.metric == "score"


def test_metrics_known_to_the_suite(tmp_path: Path) -> None:
    [unreachable] = plant(tmp_path, bound("min = 83.64")).problems
    assert unreachable.code == "bound-unreachable"
    assert "0.8364" in unreachable.remedy
    assert codes(plant(tmp_path, bound("min = 0")).problems) == ["bound-vacuous"]
    [unknown] = plant(tmp_path, bound("min = 0.5", "scroe")).problems
    assert (unknown.code, unknown.remedy) == ("unknown-metric", "did you mean score")
    assert codes(plant(tmp_path, bound("min = 0.86, measured = 0.85")).problems) == ["measured-outside-bound"]
    assert codes(plant(tmp_path, bound("max = 0.5")).problems) == ["direction-odd"]
    assert codes(plant(tmp_path, bound("min = 0.5, confidence = 0.9", "score_macro")).problems) == [
        "confidence-unsupported"
    ]
    assert codes(plant(tmp_path, bound("min = 50, confidence = 0.9", "samples")).problems) == [
        "confidence-unsupported"
    ]
    near = entry(OK, head='quant = "q"\ncheckpoint = "c"\ngate = "gsm8kk"')
    [suite] = plant(tmp_path, near).problems
    assert (suite.code, suite.remedy) == ("unknown-suite", "did you mean gsm8k")


@pytest.mark.parametrize(("n", "found"), [(11, "52"), (51, "52"), (52, None)])
def test_n_that_cannot_carry_a_bound(tmp_path: Path, n: int, found: str | None) -> None:
    extra = f"metrics.samples = {{ min = {n}, max = {n} }}"
    problems = plant(tmp_path, bound("min = 0.95, confidence = 0.95", extra=extra)).problems
    assert codes(problems) == (["bound-unresolvable"] if found else [])
    assert not found or found in problems[0].message


def test_repeats_that_cannot_carry_confidence(tmp_path: Path) -> None:
    few = bound("min = 5, confidence = 0.95", "stream_tok_s", "repeats = 4")
    assert codes(plant(tmp_path, few).problems) == ["bound-unresolvable"]
    assert plant(tmp_path, few.replace("= 4", "= 5")).problems == []


def test_measured_too_near_and_floors_that_mean_all(tmp_path: Path) -> None:
    near = bound("min = 0.40, measured = 0.43", extra="metrics.samples = { min = 50, max = 50 }")
    [problem] = plant(tmp_path, near).problems
    assert (problem.code, problem.severity) == ("bound-within-sampling-error", "warning")
    assert "0.115" in problem.message
    refused = plant(tmp_path, near, GATES_toml='resolution = "refuse"\nrequired = ["gsm8k"]').problems
    assert codes(refused, "error") == ["bound-within-sampling-error"]
    assert plant(tmp_path, near, GATES_toml='resolution = "off"\nrequired = ["gsm8k"]').problems == []
    eleven = entry("metrics.score = { min = 0.95 }", head='quant = "q"\ncheckpoint = "c"\ngate = "eleven"')
    assert codes(plant(tmp_path / "eleven", eleven).problems) == ["bound-means-all"]


def test_sequential(tmp_path: Path) -> None:
    good = entry("metrics.score = { min = 0.8 }\nsequential = { good = 0.9, bad = 0.8 }")
    assert plant(tmp_path, good).problems == []
    for text in ("good = 0.8, bad = 0.9", "good = 0.9, bad = 0.7", "good = 0.9, bad = 0.8, alpha = 0.5"):
        broken = entry(f"metrics.score = {{ min = 0.8 }}\nsequential = {{ {text} }}")
        assert codes(plant(tmp_path, broken).problems) == ["sequential-invalid"], text


def test_sequential_takes_one_ask_of_each_task(tmp_path: Path) -> None:
    text = "metrics.score = { min = 0.8 }\nsequential = { good = 0.9, bad = 0.8 }\nrepeats = "
    assert codes(plant(tmp_path, entry(text + "1")).problems) == []
    [found] = plant(tmp_path, entry(text + "3")).problems
    assert (found.code, "3 repeats" in found.message) == ("sequential-invalid", True)
    assert "repeats = 1" in found.remedy


def test_sequential_is_not_weaker_than_the_bound(tmp_path: Path) -> None:
    text = "metrics.score = { min = 0.8, confidence = 0.99 }\nsequential = { good = 0.9, bad = 0.8 }"
    [problem] = plant(tmp_path, entry(text)).problems
    assert (problem.code, problem.remedy) == ("sprt-weaker-than-confidence", "lower beta to 0.01")


def test_defaults_and_duplicates(tmp_path: Path) -> None:
    assert codes(plant(tmp_path, entry(OK, default=False)).problems) == ["no-default"]
    other = 'quant = "q8"\ncheckpoint = "org/n"\ngate = "gsm8k"\n'
    two = plant(tmp_path, entry(OK), gb10__n__BENCH_toml=entry(OK, head=other)).problems
    assert codes(two) == ["two-defaults"]
    assert all(word in two[0].message for word in ("org/m", "org/n", "m, n"))
    same = entry(OK) + entry(OK, head=other.replace("org/n", "org/m"), default=False)
    assert codes(plant(tmp_path / "b", same).problems, "error") == ["duplicate-checkpoint"]
    mixed = entry(OK) + entry("", status="unmeasured")
    assert codes(plant(tmp_path / "c", mixed).problems, "error") == ["duplicate-checkpoint"]
    assert codes(plant(tmp_path / "c", mixed, compat=True).problems, "warning") == ["duplicate-checkpoint"]


def test_recipes(tmp_path: Path) -> None:
    root = grow(tmp_path, {"gb10/HARDWARE.toml": "", "gb10/m/BENCH.toml": entry(OK + 'recipe = "a/b"')})
    recipes = tmp_path / "recipes"

    def found() -> list[str]:
        return codes(load(root, "kernels", recipes=recipes, rules=RULES).problems)

    assert found() == ["recipe-missing"]
    (recipes / "a").mkdir(parents=True)
    (recipes / "a" / "b.toml").write_text('model = "org/x"')
    assert found() == ["recipe-model-mismatch"]
    (recipes / "a" / "b.toml").write_text('model = "org/m"')
    assert found() == []
    (recipes / "a" / "b.yaml").write_text("")
    assert found() == ["recipe-ambiguous"]


def test_parameters(tmp_path: Path) -> None:
    names = '"sampling.temperature" = "0.70", "sampling.temprature" = "1", "sampling.top_k" = "x"'
    pins = f"param_overrides = {{ {names} }}"
    found = plant(tmp_path, entry(OK + pins)).problems
    assert codes(found) == ["param-unknown", "param-value"]
    assert found[0].remedy == "did you mean sampling.temperature"


def test_policy(tmp_path: Path) -> None:
    policy = 'schema = 2\nrequired = ["gsm8k", "absent"]\ncandidates = { gsm8k = "" }\nwach = []\n'
    found = codes(plant(tmp_path, entry(OK), GATES_toml=policy).problems)
    assert sorted(found) == [
        "gate-listed-twice",
        "policy-schema",
        "reason-missing",
        "required-unknown",
        "unknown-key",
    ]
    unmeasured = plant(tmp_path, entry(status="unmeasured"), GATES_toml='required = ["gsm8k"]')
    assert codes(unmeasured.problems) == ["required-unmeasured"]
    assert codes(plant(tmp_path, entry(OK), GATES_toml="schema = 1").problems) == ["gate-unlisted"]


def test_hardware_and_model_files(tmp_path: Path) -> None:
    hardware = """
[hardware]
vendor = "intel"
inherits = "gb10"
[[hardware.match]]
tokens_any = ["x"]
[benchmarks.limits.memory]
min_free_fraction = 1.5
[benchmarks.limits.thermal]
chassis_park_c = 80
chassis_resume_c = 85
[kernels]
a = 1
"""
    found = plant(
        tmp_path,
        entry(OK),
        gb10__HARDWARE_toml=hardware,
        gb10__m__MODEL_toml='[model]\nkernel_source = "zz"\n[other]\n',
    ).problems
    assert sorted(codes(found)) == [
        "inherits-invalid",
        "kernel-source-invalid",
        "limit-invalid",
        "limit-invalid",
        "missing-key",
        "unknown-key",
        "unknown-key",
        "unknown-vendor",
    ]


def test_six_mistakes_give_six_messages_with_place_and_remedy(tmp_path: Path) -> None:
    text = """[[benchmarks]]
quant = "q4"
checkpoint = "org/m"
gate = "gsm8k"
status = "Measured"
default = true
colour = "red"
serve_overrides = { slots = 256 }

[benchmarks.metrics]
score = { min = 83.64 }
samples = { min = 200, max = 200, noise = 1 }
truncation_rate = { max = 0.1, noise = 0.1 }
"""
    found = plant(tmp_path, text).problems
    assert [(p.code, p.line) for p in found] == [
        ("bad-status", 5),
        ("unknown-key", 7),
        ("wrong-type", 8),
        ("bound-unreachable", 11),
        ("noise-on-pin", 12),
        ("noise-too-large", 13),
    ]
    for problem in found:
        line = render(problem)
        assert line.startswith(f"kernels/gb10/m/BENCH.toml:{problem.line}: error[{problem.code}]")
        assert "Remedy: " in line
        assert "[gsm8k / org/m]" in line

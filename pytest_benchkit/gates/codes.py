"""Every reason code, once: its severities as a lint rule, and what it means.

The order is the order of rules in reports. A code never changes its meaning; ``docs/gates.md`` lists the
same codes (a test holds the two equal).
"""

from __future__ import annotations

from typing import Literal, NamedTuple

Severity = Literal["error", "warning", "note"]


class Rule(NamedTuple):
    """``strict`` and ``compat`` are severities of lint rules; ``None``: not applied, or not a lint rule."""

    meaning: str
    strict: Severity | None = None
    compat: Severity | None = None


def _error(meaning: str, compat: Severity | None = "error") -> Rule:
    return Rule(meaning, "error", compat)


CODES: dict[str, Rule] = {
    # the tree
    "kernels-missing": _error("the named kernels root does not exist"),
    "unreadable": _error("a file or directory cannot be read, or its name is not UTF-8"),
    "file-encoding": _error("a file is not UTF-8"),
    "file-too-large": _error("a file is over 1 MiB"),
    "orphan-bench": _error("BENCH.toml lies in a directory without HARDWARE.toml", "note"),
    "misplaced-file": _error("a file of ours lies at a depth where nothing reads it", "note"),
    "misnamed-file": _error("a file name equals one of ours only when case is folded", "warning"),
    "escapes-tree": _error("a symbolic link points outside the kernels root", "warning"),
    "bad-directory-name": _error("a directory name does not fit [a-z0-9][a-z0-9._-]*", "warning"),
    # files
    "toml-syntax": _error("a file is not TOML"),
    "wrong-type": _error("a value has the wrong type"),
    "unknown-key": _error("a key is not known in its table", "warning"),
    "likely-typo": Rule("an unknown key resembles a known one", None, "error"),
    "no-entries": Rule("a BENCH.toml holds no entry", "warning", "note"),
    # entries
    "missing-key": _error("required keys are absent"),
    "empty-value": _error("a name is blank, padded or holds control characters", "warning"),
    "bad-id": _error("a gate id is not lower-case words joined by dashes", "warning"),
    "bad-status": _error("status is neither measured nor unmeasured"),
    "unmeasured-with-metrics": _error("an unmeasured entry has a metrics table"),
    "measured-without-metrics": _error("a measured entry has no bounds"),
    "default-unmeasured": _error("an unmeasured entry is marked as the default", "warning"),
    "port-pinned": _error("a serve pin fixes port or host"),
    "hermetic-incomplete": _error("hermetic is asked for without its whole closed set"),
    "hermetic-spelling": _error('hermetic is neither "true" nor "false"', "warning"),
    "lever-undeclared": _error("a pinned environment lever is not in the lever table"),
    "lever-unlisted": Rule("a lever of the default prefix while no LEVERS.toml exists", None, "warning"),
    "lever-not-runtime": _error("a pinned lever acts at build time or in the harness"),
    "lever-blank": _error("a pinned lever has a blank value"),
    "lever-value": _error("a pinned lever has a value that its table does not allow"),
    "lever-redefined": _error("a later layer gives a known lever another class"),
    "param-unknown": _error("a pinned parameter does not exist"),
    "param-value": _error("a pinned parameter has a value that cannot be read"),
    "recipe-missing": _error("the entry's recipe file does not exist", "warning"),
    "recipe-ambiguous": _error("a recipe exists as TOML and as YAML", "warning"),
    "recipe-model-mismatch": _error("the recipe serves another model than the entry's checkpoint", "warning"),
    "unknown-suite": _error("no suite with that key is known", "warning"),
    "sequential-invalid": _error("the levels or rates of sequential cannot work"),
    "sprt-weaker-than-confidence": _error("beta of sequential is above 1 - confidence of the bound"),
    # bounds
    "bound-not-finite": _error("a number is not finite, or overflows binary64", "warning"),
    "bound-not-exact": _error("an integer beyond 2^53", "warning"),
    "bound-empty": _error("a bound has neither min nor max", "warning"),
    "bound-order": _error("min is above max", "warning"),
    "noise-invalid": _error("noise is negative or not finite"),
    "noise-on-pin": _error("noise on an exact pin"),
    "noise-on-zero": _error("noise on a bound of 0", "warning"),
    "noise-too-large": _error("noise is over 5 % of the smaller bound"),
    "confidence-range": _error("confidence is not between 0.5 and 1"),
    "confidence-on-pin": _error("confidence on an exact pin"),
    "confidence-unsupported": _error("this kind of metric cannot carry confidence"),
    "unknown-metric": _error("the suite has no such metric", "warning"),
    "bound-unreachable": _error("no value of the metric can meet the bound", "warning"),
    "bound-vacuous": _error("no value of the metric can fail the bound", "warning"),
    "direction-odd": Rule("a bound on the side where the metric is better", "warning", "note"),
    "measured-outside-bound": _error("the level a bound was cut from fails it", "warning"),
    "bound-unresolvable": _error("even a perfect result cannot show the bound at this confidence and n"),
    "bound-within-sampling-error": Rule(
        "the distance to the bound is below the sampling error at this n", "warning", "warning"
    ),
    "bound-means-all": Rule("at this n the floor allows no miss at all", "warning", "warning"),
    "spread-without-repeats": Rule("max_spread with a single run of each task", "error", None),
    # the tree as a whole
    "duplicate-checkpoint": _error("a checkpoint has two entries of one gate on one class"),
    "two-defaults": _error("two defaults for one gate on one class"),
    "no-default": _error("measured entries and no default for a gate on a class"),
    "required-unknown": _error("a required gate has no entry on a demanded class"),
    "required-unmeasured": _error("a required gate has no measured entry on a demanded class"),
    "policy-schema": _error("GATES.toml has another schema than 1"),
    "gate-unlisted": _error("a gate with entries is neither required, candidate nor not_required"),
    "gate-listed-twice": _error("a gate is listed twice in GATES.toml"),
    "reason-missing": _error("an exclusion or a listed gate has a blank reason"),
    # HARDWARE.toml and MODEL.toml
    "unknown-vendor": _error("the vendor is not a known one"),
    "inherits-invalid": _error("inherits names no other class of the same vendor, or makes a chain"),
    "limit-invalid": _error("a limit is not a finite number in its range"),
    "kernel-source-invalid": _error(
        "kernel_source names no sibling directory with a MODEL.toml, or makes a chain"
    ),
    # the subject of a run
    "hardware-unregistered": Rule("the named hardware class is not in the tree"),
    "hardware-unknown": Rule("no class matches the devices of this machine"),
    "hardware-ambiguous": Rule("several classes match equally well"),
    "hardware-mixed": Rule("the devices belong to different classes"),
    "hardware-remote": Rule("the model is served by another machine, whose hardware is not known"),
    "no-baseline-hardware": Rule("the gate has no entry on this class"),
    "no-baseline-checkpoint": Rule("the gate has no entry for this checkpoint on this class"),
    "checkpoint-ambiguous": Rule("the model name matches two MODEL.toml"),
    # judging: why a run is not judged
    "nothing-judged": Rule("required, and no gate applied to the run"),
    "kernels-invalid": Rule("the entry has lint errors"),
    "no-subject": Rule("hardware or checkpoint could not be told"),
    "unmeasured": Rule("the subject's entry states a protocol and no bounds yet"),
    "axes-mismatch": Rule("harness or perturbation differ from the entry's"),
    "slice-mismatch": Rule("the rows asked are not those of the entry"),
    "repeats-mismatch": Rule("the repeats differ from the entry's"),
    "pins-mismatch": Rule("a pin of the entry was not in force"),
    "param-pin-differs": Rule("a pinned parameter had another value"),
    "param-not-default": Rule("an unpinned parameter differed from its default"),
    "serve-unproven": Rule("the entry pins how the model is served, and the server is not ours"),
    "fingerprint-mismatch": Rule("data or suite are not the pinned ones"),
    "deselected": Rule("not every planned row was collected"),
    "incomplete": Rule("not every collected row was finished"),
    "error-budget": Rule("more rows ended in an error than the entry allows"),
    "skip-budget": Rule("more rows were skipped than the entry allows"),
    "mixed-provenance": Rule("rows of the run were measured under different conditions"),
    "judge-crashed": Rule("judging itself failed"),
    # judging: why a bound fails
    "below-floor": Rule("the value is below min"),
    "above-ceiling": Rule("the value is above max"),
    "pin-mismatch": Rule("the value is not the pinned one: another instrument was used"),
    "metric-missing": Rule("the run has no such metric"),
    "metric-not-finite": Rule("the metric is not a finite number"),
    "spread-exceeded": Rule("the repeats lie further apart than max_spread"),
    "not-proven-floor": Rule("the value meets min, but not at the asked confidence"),
    "not-proven-ceiling": Rule("the value meets max, but not at the asked confidence"),
    "n-missing": Rule("confidence is asked, and the value carries no n"),
    # notes on a verdict
    "thin": Rule("another run of this quality could fall on the other side"),
    "errors-counted-against": Rule("allowed errors were counted as misses"),
    # deciding early
    "decided-certain": Rule("no completion of the run could change the verdict"),
    "decided-sprt": Rule("the sequential test decided"),
    # calibrating
    "too-few-runs": Rule("fewer than three runs"),
    "run-incomplete": Rule("a run is not complete"),
    "run-simulated": Rule("a run comes from a simulated model: its bounds say nothing of a real one"),
    "different-subject": Rule("the runs have different models, data, prompts or parameters"),
    "not-independent": Rule("two runs are one, or hold identical replies at a temperature above 0"),
    "one-boot": Rule("all runs come from one server start"),
    "few-runs": Rule("fewer than five runs"),
    "zero-spread": Rule("all runs gave the same value"),
    "overdispersed": Rule("something other than the tasks moves the number"),
    "bimodal": Rule("the values fall into two groups"),
    "stale-bound": Rule("the bound in use lies much further from the runs than the proposed one"),
}

ORDER = {code: place for place, code in enumerate(CODES)}

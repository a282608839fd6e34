"""A comparison of two runs as lines for a terminal (CMP-1, CMP-2)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pytest_benchkit.reports.format import percent, safe
from pytest_benchkit.reports.table import Column, layout

Document = Mapping[str, Any]


def comparison_lines(document: Document, width: int | None, rows: int) -> list[str]:
    """The table of suites, speed, discordant rows (at most ``rows`` each way), notes, what was left out."""
    a, b = document["a"], document["b"]
    lines = [safe(f"A: {a['run']} {a['model']}"), safe(f"B: {b['run']} {b['model']}"), ""]
    if document["suites"]:
        lines += [*layout(_columns(document["suites"]), width), *_words(document["suites"])]
    lines += _speed(document["speed"])
    for entry in document["suites"]:
        lines += _changed(entry, rows)
    lines += ["", *(safe(f"note: {note}") for note in document["notes"])] if document["notes"] else []
    lines += [safe(f"not compared: {item['suite']}: {item['why']}") for item in document["not_comparable"]]
    return lines


def _columns(entries: list[Mapping[str, Any]]) -> list[Column]:
    return [
        Column("suite", "name", [_name(entry) for entry in entries]),
        Column("pairs", "core", [str(entry.get("n", "-")) for entry in entries]),
        Column("A", "core", [_score(entry, "a") for entry in entries]),
        Column("B", "core", [_score(entry, "b") for entry in entries]),
        Column("Δ pp", "core", [f"{e['delta_pp']:+.1f}" if "delta_pp" in e else "-" for e in entries]),
        Column("[95 %]", "tail", [_interval(entry) for entry in entries]),
        Column("gains", "more", [str(entry.get("gains", "")) for entry in entries]),
        Column("losses", "more", [str(entry.get("losses", "")) for entry in entries]),
        Column("p", "more", [_p(entry.get("p")) for entry in entries]),
        Column("p Holm", "more", [_p(entry.get("p_holm")) for entry in entries]),
        Column("dropped", "more", [_dropped(entry) for entry in entries]),
    ]


def _name(entry: Mapping[str, Any]) -> str:
    extra = [entry[a] for a, usual in (("harness", "direct"), ("perturbation", "none")) if entry[a] != usual]
    return safe(" ".join([entry["suite"], *extra]))


def _score(entry: Mapping[str, Any], side: str) -> str:
    value = entry.get(f"score_{side}")
    n = entry.get("n") or entry.get(f"n_{side}") or 0
    if value is None:
        return "-"
    if (ci := entry.get(f"ci_{side}")) is not None:
        return f"{percent(value, n)} [{percent(ci[0], n)}, {percent(ci[1], n)}]"
    return percent(value, n)


def _interval(entry: Mapping[str, Any]) -> str:
    ci = entry.get("ci_pp")
    return f"[{ci[0]:+.1f}, {ci[1]:+.1f}]" if ci else ""


def _p(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:.3f}" if value >= 0.001 else "<0.001"


def _dropped(entry: Mapping[str, Any]) -> str:
    return ", ".join(f"{n} {safe(words)}" for words, n in sorted((entry.get("dropped") or {}).items()))


def _words(entries: list[Mapping[str, Any]]) -> Iterator[str]:
    """What may be said of each suite."""
    yield ""
    for entry in entries:
        name = _name(entry)
        allowed = f" ({', '.join(entry['allowed'])} differ, as allowed)" if entry["allowed"] else ""
        if "verdict" not in entry:
            yield f"{name}: {entry.get('why', 'not compared')}{allowed}"
        elif entry["verdict"] == "no difference shown":
            least = entry.get("detectable_pp")
            takes = f"it takes about {least:.1f} pp to show one" if least is not None else "none can be shown"
            yield f"{name}: no difference shown; with {entry['n']} pairs {takes}{allowed}"
        else:
            yield f"{name}: B is {entry['verdict']} by {abs(entry['delta_pp']):.1f} pp{allowed}"


def _speed(entries: list[Mapping[str, Any]]) -> Iterator[str]:
    yield ""
    for entry in entries:
        if "why" in entry:
            yield safe(f"speed: not compared: {entry['why']}")
            continue
        ratio = ""
        if "ratio" in entry:
            ratio = f", ratio {entry['ratio']:.3f} [{entry['ci'][0]:.3f}, {entry['ci'][1]:.3f}]"
        yield f"speed: {entry['time']} median {entry['median_a']:.4g} → {entry['median_b']:.4g}{ratio}"


def _changed(entry: Mapping[str, Any], rows: int) -> Iterator[str]:
    for word, title in (("losses", "lost"), ("gains", "gained")):
        changed = (entry.get("discordant") or {}).get(word, [])
        if not changed or rows <= 0:
            continue
        shown = changed[:rows]
        more = f", the first {len(shown)}" if len(shown) < len(changed) else ""
        yield ""
        yield f"{_name(entry)}: {len(changed)} rows {title}{more}"
        for row in shown:
            repeat = f" r{row['repeat']}" if row["repeat"] else ""
            yield safe(f"  {row['task_id']}{repeat}: {row['reason_a']} → {row['reason_b']}")

"""What the loop detector found over the rows of a cell (§12.4). Pure."""

from __future__ import annotations

from collections.abc import Sequence

from pytest_benchkit.runs.metrics import Numbers, Row, counted

LOOPED = frozenset({"looping", "recovered"})
NAMES = ("loop_rate", "loop_kill_rate", "recovered", "suspected")


def loop_numbers(rows: Sequence[Row]) -> Numbers:
    """``loop_rate``: share of rows with a confirmed loop, ended or left again; ``loop_kill_rate``: share that
    was ended for it; ``recovered``, ``suspected``: rows. All over counted rows with any text.
    ``trace_coverage``: share of counted rows whose thinking could be seen, had there been any.
    """
    numbers = Numbers()
    scored = counted(rows)
    found = [
        loop for row in scored if (loop := row.get("loop")) is not None and loop["state"] != "unavailable"
    ]
    if found:
        n = len(found)
        states = [loop["state"] for loop in found]
        numbers.values["loop_rate"] = sum(state in LOOPED for state in states) / n
        numbers.values["loop_kill_rate"] = sum(bool(loop["killed"]) for loop in found) / n
        numbers.values["recovered"] = states.count("recovered")
        numbers.values["suspected"] = states.count("suspected")
    else:
        numbers.absent.update(dict.fromkeys(NAMES, "no reply was watched for loops"))
    known = [status for row in scored if (status := row.get("trace_status")) is not None]
    seen = sum(status != "unavailable" for status in known)
    numbers.put("trace_coverage", seen / len(known) if known else None, "no counted reply tells")
    return numbers

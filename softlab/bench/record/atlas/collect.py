"""Make the recording of what ``measure`` wrote, ``collect OUT``, or add rows to it, ``add OUT``."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from softlab.bench.record.atlas.core import CLASSES
from softlab.bench.record.describing import short
from softlab.hardware.atlas import Row

_FOLDER = Path(__file__).resolve().parents[3] / "hardware" / "data"
METHOD = (
    "Each kernel's machine code is checked before: between two reads of the clock, or in the loop, stand the measured "
    "instructions, and nothing else but what is named. Latencies: chains of 32 and of 160 dependent steps in straight "
    "code, whose difference is divided by the steps. Intervals: loops of 64 and of 192 steps in 8 independent streams "
    "(4 for 64-bit values), whose difference is divided by the steps and the warps. Bandwidths: the difference of two "
    "launches, one twice as long as the other. Each figure is the median of 5, all of them twice, 'value' the mean of "
    "the two and 'spread' their difference."
)
COMMAND = "python -m softlab.bench.record.atlas prepare | measure | collect"
#: Key -> the row that it is another name of.
ALIASES = {
    "launch.block_interval": "launch.block_interval.threads.32",
    "launch.block_turnaround": "launch.block_turnaround.threads.128",
    "latency.DSM.ATOM": "latency.DSM.ATOM.EXCH",
}
#: Key -> (row, row that is taken from it).
DIFFERENCES = {
    "latency.S2R": ("latency.S2R+loop", "cost.loop"),
    "cost.CALL_RET": ("cost.CALL_RET+loop", "cost.loop"),
}
#: Cycles of an instruction on the pipe of ISETP, SEL, LOP3 and their like, as the rows of SEL and LOP3 show.
ALU = 2
#: Warps per scheduler whose interval is that of the class.
_WARPS = 8


def collect(out: Path, withheld: Path | None = None) -> None:
    """Write the recording of the device that ``OUT/atlas.json`` names, and print what did not repeat.

    ``withheld``: JSON, key -> why a row that was measured is not to be shipped. The recording names it with the reason.
    """
    record = json.loads((out / "atlas.json").read_text())
    made = recording(record, json.loads(withheld.read_text()) if withheld else {})
    name = "h200" if "H200" in made["device"] else "h100" if "H100" in made["device"] else ""
    if not name:
        raise SystemExit(f"the atlas is of an H100 or an H200, not of {made['device']}")
    _FOLDER.mkdir(exist_ok=True)
    path = _FOLDER / f"atlas_{name}.json"
    path.write_text(text_of(made))
    print(f"{path.name}: {len(made['rows'])} rows, {len(made['failed'])} failed")
    for row in unsteady(made["rows"]):
        print("did not repeat:", row["key"], row["value"], row["unit"], "spread", row["spread"])


def add(out: Path) -> None:
    """Add the rows of ``OUT/atlas.json`` to the recording of its device; each says when it was measured."""
    record = json.loads((out / "atlas.json").read_text())
    made = recording(record)
    path = _FOLDER / f"atlas_{'h200' if 'H200' in made['device'] else 'h100'}.json"
    path.write_text(text_of(added(json.loads(path.read_text()), made)))
    print(f"{path.name}: {len(made['rows'])} rows added or replaced, {len(made['failed'])} failed")
    for row in unsteady(made["rows"]):
        print("did not repeat:", row["key"], row["value"], row["unit"], "spread", row["spread"])


def added(kept: Mapping[str, Any], made: Mapping[str, Any]) -> dict[str, Any]:
    """A recording with the rows of a later one of the same GPU, in place of its own where both have one."""
    if kept["device"] != made["device"]:
        raise SystemExit(f"the recording is of an {kept['device']}, the rows of an {made['device']}")
    later = f"measured on {made['date']}"
    rows = {row["key"]: row for row in kept["rows"]}
    for row in made["rows"]:
        rows[row["key"]] = {**row, "note": f"{row['note']}, {later}" if row.get("note") else later}
    failed = [one for one in kept["failed"] if one["key"] not in rows]
    return {**kept, "rows": [rows[key] for key in sorted(rows)], "failed": failed}


def recording(record: Mapping[str, Any], withheld: Mapping[str, str] | None = None) -> dict[str, Any]:
    """The fields of :class:`softlab.hardware.atlas.Atlas`, from what ``measure`` wrote."""
    withheld = withheld or {}
    jobs = {key: job for job in record["jobs"] for key in job["keys"]}
    first, second = record["passes"]
    measured = {
        key: (first[key], second[key]) for key in jobs if key in first and key in second and key not in withheld
    }
    rows = {key: _row(key, jobs[key], pair, measured, record["kernels"]) for key, pair in measured.items()}
    for key in list(rows):
        head, _, last = key.rpartition(".warps.")
        if head.startswith("interval.") and last == str(_WARPS):
            rows.setdefault(head, {**rows[key], "key": head})
    for key, row in ALIASES.items():
        if row in rows:
            rows[key] = {**rows[row], "key": key}
    for key, (whole, part) in DIFFERENCES.items():
        if whole in rows and part in rows:
            value = short(rows[whole]["value"] - rows[part]["value"])
            rows[key] = {**rows[whole], "key": key, "value": value, "note": f"{whole} less {part}"}
    reasons = {**record["failed"], **withheld}
    failed = {key: reasons.get(key, "there was no time for it") for key in jobs if key not in rows}
    return {
        "about": "What instructions and memory of a GPU take, by microbenchmarks.",
        "device": record["device"],
        "date": record["date"],
        "command": COMMAND,
        "method": METHOD,
        "versions": record["versions"],
        "clocks": record["clocks"],
        "seconds": record["seconds"],
        "digest": record["digest"],
        "rows": [rows[key] for key in sorted(rows)],
        "failed": [{"key": key, "error": failed[key]} for key in sorted(failed)],
    }


def _row(
    key: str,
    job: Mapping[str, Any],
    pair: tuple[float, float],
    measured: Mapping[str, tuple[float, float]],
    kernels: Mapping[str, Any],
) -> dict[str, Any]:
    value = sum(pair) / 2
    notes = [job["note"]] if job["note"] else []
    for name in job["less"] if key.startswith("latency.") else ():
        value -= _latency(name, measured)
        notes.append(f"less the latency of {name}")
    name = key.removeprefix("interval.").partition(".warps.")[0]
    if key.startswith("interval.") and name in CLASSES:
        entry = CLASSES[name]
        others = len(entry.stream_wanted or entry.wanted) - 1
        value -= ALU * len(entry.same_pipe)
        notes += [f"less {ALU} cycles of {other} on the same pipe" for other in entry.same_pipe]
        if others > len(entry.same_pipe):
            notes.append("each step has the other instructions, too, on other pipes")
    unit = "1" if key.endswith("_share") else "bytes/cycle" if "bandwidth" in key else job["unit"]
    sass = kernels[job["kernels"][0]]["sass"] if job["method"] in ("chain", "stream", "slope", "branches") else ""
    row = Row(key, job["family"], unit, short(value), short(abs(pair[0] - pair[1])), sass, ", ".join(notes))
    return {name: field for name, field in vars(row).items() if field != ""}


def _latency(name: str, measured: Mapping[str, tuple[float, float]]) -> float:
    """The latency of a class, itself less what its chain has besides it."""
    return sum(measured[f"latency.{name}"]) / 2 - sum(_latency(other, measured) for other in CLASSES[name].less)


def unsteady(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The rows that differ between the two passes by more than a cycle and more than 3 %."""
    return [row for row in rows if row["spread"] > 1 and row["spread"] > 0.03 * abs(row["value"])]


def text_of(made: Mapping[str, Any]) -> str:
    """The recording as JSON, one row per line."""
    lists = ("rows", "failed")
    head = ["{", *(f"{json.dumps(name)}: {json.dumps(value)}," for name, value in made.items() if name not in lists)]
    parts = [f'"{name}": [\n' + ",\n".join(map(json.dumps, made[name])) + "\n]" for name in lists]
    return "\n".join(head) + "\n" + ",\n".join(parts) + "\n}\n"

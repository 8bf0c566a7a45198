"""The plain data of the stepper: the code, and what a warp holds after one step, drawn by ``explorers.stepper``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from softlab.emulator.lanes import WARP
from softlab.emulator.machine.flow import uses_and_definitions
from softlab.instruments.step_record import SharedState, StepRecord
from softlab.instruments.step_recorder import SPACES
from softlab.instruments.timeline import kind_of
from softlab.instruments.value_origins import Origin, Source
from softlab.views import still_diagrams, stills
from softlab.views.diagrams import ranges
from softlab.views.reduction import short_number
from softlab.views.style import ROLES, Role, ink_on

#: Rows of registers: those of the step, then those written last. The picture keeps its height.
ROWS = 11
#: Rows of shared memory that are in sight, 32 words each.
SHARED_ROWS = 6
_WORD = 4
#: Lines of source above and below the one that runs, in a still picture.
_LINES_AROUND = 4
#: Colour of what a step writes, by the kind of its instruction.
_ROLES: dict[str, Role] = {
    "global load": "global",
    "global store": "global",
    "shared load": "shared",
    "shared store": "shared",
    "shuffle": "shuffle",
    "barrier": "barrier",
    "other": "served",
}


def code_data(record: StepRecord) -> dict[str, Any]:
    """The source and the PTX: ``file``, ``lines`` (texts), ``ptx`` [{text, line}]; ``rows`` of registers to keep."""
    instructions = record.image.instructions
    return {
        "file": record.program.file,
        "rows": min(ROWS, len(record.registers)),
        "lines": record.program.source.splitlines(),
        "ptx": [
            {"text": i.text or "(a parameter of an inlined call)", "line": line}
            for i, line in zip(instructions, record.lines, strict=True)
        ],
    }


def step_data(record: StepRecord, step: int) -> dict[str, Any]:
    """What there is after a step.

    ``step``, ``steps``, ``instruction``, ``line``, ``active`` and ``executed`` (lanes), ``fill`` and ``ink`` of what it
    writes; ``groups`` [{title, role, rows [{register, label, texts, values}]}], a text "" for a lane without a value.
    """
    index = int(record.steps["instruction"][step])
    instruction = record.image.instructions[index]
    uses, definitions = (list(dict.fromkeys(names)) for names in uses_and_definitions(instruction))
    state, before = record.at(step + 1), record.at(step)
    reads = [name for name in uses if name not in definitions]
    number = {name: k for k, name in enumerate(record.registers)}
    own = {*reads, *definitions}
    # What was written last stands first.
    older = [record.registers[k] for k in np.argsort(-before.step, kind="stable") if before.step[k] >= 0]
    others = [name for name in older if name not in own][: max(3, ROWS - len(own))]
    fill = ROLES[_ROLES[kind_of(instruction)]]

    def rows(names: list[str]) -> list[dict[str, Any]]:
        return [_row(record, name, state.values[number[name]], int(state.known[number[name]])) for name in names]

    titles = (
        ("writes", definitions, "the step writes" if definitions else "the step writes no register"),
        ("reads", reads, "it reads" if reads else "it reads no register"),
        ("", others, "written before, the latest first"),
    )
    return {
        "step": step,
        "steps": len(record),
        "instruction": index,
        "line": record.lines[index],
        "active": _lanes(int(record.steps["active"][step])),
        "executed": _lanes(int(record.steps["executed"][step])),
        "fill": fill,
        "ink": ink_on(fill),
        "groups": [{"title": title, "role": role, "rows": rows(names)} for role, names, title in titles],
    }


def _lanes(mask: int) -> list[int]:
    return [lane for lane in range(WARP) if mask >> lane & 1]


def _row(record: StepRecord, name: str, values: np.ndarray, known: int) -> dict[str, Any]:
    kind = record.types[record.registers.index(name)]
    texts, full = [], []
    for lane in range(WARP):
        has = known >> lane & 1
        texts.append(short_value(record, int(values[lane]), kind) if has else "")
        full.append(long_value(record, int(values[lane]), kind) if has else "no value yet")
    source = record.names.get(name, "")
    return {"register": name, "label": f"{name} {source}".strip(), "texts": texts, "values": full}


def as_number(bits: int, kind: np.dtype) -> np.generic:
    """Bits as a value of that type."""
    if kind.kind == "b":
        return np.bool_(bits & 1)
    raw = (bits & (1 << 8 * kind.itemsize) - 1).to_bytes(kind.itemsize, "little")
    return np.frombuffer(raw, kind)[0]


def short_value(record: StepRecord, bits: int, kind: np.dtype) -> str:
    """A value in about six characters; a pointer into an array as its element."""
    if kind.kind == "b":
        return "yes" if bits & 1 else "no"
    if kind.itemsize == 8 and (element := _pointed(record, bits)):
        return element if len(element) <= 7 else element[element.find("[") :] if "[" in element else element
    if kind.kind == "u" and bits == 256**kind.itemsize - 1:
        return "-1"  # as PTX writes a mask of all bits
    return _short(as_number(bits, kind))


def _short(value: np.generic) -> str:
    """A number in about five characters, which is what a cell holds: floats with three digits."""
    if value.dtype.kind == "f" and np.isfinite(value):
        text = f"{float(value):.3g}".replace("e+0", "e").replace("e-0", "e-").replace("e+", "e")
        return text.replace("-0.", "-.", 1) if text.startswith("-0.") else text
    return short_number(value)


def long_value(record: StepRecord, bits: int, kind: np.dtype) -> str:
    """A value in full."""
    if kind.kind == "b":
        return "true" if bits & 1 else "false"
    if kind.itemsize == 8 and (element := _pointed(record, bits)):
        return f"the address of {element}"
    number = as_number(bits, kind)
    return str(number) if kind.kind == "f" or abs(int(number)) < 1 << 16 else f"{number} ({bits:#x})"


def _pointed(record: StepRecord, address: int) -> str:
    """The element of an array argument at an address; "" where there is none."""
    for array in record.mapped:
        if array.base <= address < array.base + max(1, array.nbytes):
            offset = address - array.base
            return record.addresses.argument_element(array.index, offset) or f"arg {array.index}+{offset}"
    return ""


# Shared memory


def shared_rows(record: StepRecord) -> int:
    """Rows of 32 words that the block's shared memory has."""
    return -(-record.shared_bytes // (WARP * _WORD))


def touched_row(record: StepRecord, step: int) -> int | None:
    """The row of shared memory that a step accesses first; None where it accesses none."""
    rows = _accesses(record, step)
    if not len(rows):
        return None
    row = int(rows[0])
    lanes = _lanes(int(record.accesses["lanes"][row]))
    return int(record.accesses["address"][row, lanes].min()) // (WARP * _WORD)


def _accesses(record: StepRecord, step: int) -> np.ndarray:
    """The rows of a step's accesses to shared memory."""
    first, last = np.searchsorted(record.accesses["step"], [step, step + 1])
    rows = np.arange(first, last)
    return rows[record.accesses["space"][rows] == SPACES.index("shared")]


def shared_data(record: StepRecord, step: int, first_row: int) -> dict[str, Any]:
    """Shared memory in sight after a step: ``first`` (row), ``rows``, ``of`` (rows in all), and ``cells``.

    A cell: row, column, span (words), text, who ("t35": the thread that wrote it, "" for nobody), fresh (written in
    this step), touched (accessed by it), tip; and ``address``, ``width`` of the element.
    """
    total = shared_rows(record)
    first = min(max(first_row, 0), max(0, total - SHARED_ROWS))
    rows = min(SHARED_ROWS, total - first)
    state, touched = record.shared(step + 1), _touched(record, step)
    begin, end = first * WARP * _WORD, min((first + rows) * WARP * _WORD, record.shared_bytes)
    cells, address = [], begin
    while address < end:
        cell = _shared_cell(record, state, address, step, touched)
        cell["row"], cell["column"] = divmod((address - begin) // _WORD, WARP)
        cell["span"] = max(1, min(cell["width"] // _WORD, WARP - cell["column"]))
        cells.append(cell)
        address += max(_WORD, cell["width"])
    labels = [_row_label(record, first + k) for k in range(rows)]
    return {"first": first, "rows": rows, "of": total, "cells": cells, "labels": labels}


def _touched(record: StepRecord, step: int) -> np.ndarray:
    """(bytes,) bool: what the warp accesses in a step."""
    hit = np.zeros(record.shared_bytes, bool)
    for row in _accesses(record, step):
        lanes = _lanes(int(record.accesses["lanes"][row]))
        width = int(record.accesses["width"][row])
        index = record.accesses["address"][row, lanes].astype(np.int64)[:, None] + np.arange(width)
        hit[index[index < record.shared_bytes]] = True
    return hit


def _row_label(record: StepRecord, row: int) -> str:
    return record.shared_name(row * WARP * _WORD, _WORD)


def _shared_cell(
    record: StepRecord, state: SharedState, address: int, step: int, touched: np.ndarray
) -> dict[str, Any]:
    """The element at the beginning of a word, or the elements in the word."""
    row = int(state.store[address : address + _WORD].max())
    kind = record.stored_type(row)
    width = kind.itemsize
    if width == 8 and address % 8:
        kind, width = np.dtype(np.uint32), _WORD
    name = record.shared_name(address, width)
    cell = {"address": address, "width": width, "touched": bool(touched[address : address + max(width, _WORD)].any())}
    if row < 0:
        return {**cell, "text": "", "who": "", "fresh": False, "tip": f"{name}: nobody has written it"}
    stores = record.stores
    raw = state.data[address : address + max(width, _WORD)].tobytes()
    values = [int.from_bytes(raw[k : k + width], "little") for k in range(0, len(raw), width)]
    thread, block = int(stores["thread"][row]), int(stores["block"][row])
    line = record.lines[int(stores["instruction"][row])]
    who = f"thread {thread}, lane {thread % WARP} of warp {thread // WARP}"
    who += f" of block {block}" if block != record.block else ""
    said = ", ".join(long_value(record, value, kind) for value in values)
    tip = f"{name} = {said}, written by {who}" + (f" in line {line}" if line else "")
    text = " ".join(_short(as_number(value, kind)) for value in values)
    fresh = bool(stores["at"][row] == step + 1)
    return {**cell, "text": text, "who": f"t{thread}", "fresh": fresh, "tip": tip}


# Words


def step_sentence(record: StepRecord, step: int) -> str:
    """What a step is, in a sentence."""
    executed = _lanes(int(record.steps["executed"][step]))
    active = _lanes(int(record.steps["active"][step]))
    line = record.line(step)
    where = f", line {line}" if line else ""
    who = "all 32 lanes" if len(executed) == WARP else f"{_these(executed)}"
    if len(executed) < len(active):
        who += f"; the guard is false in {_these([lane for lane in active if lane not in executed])}"
    elif len(active) < WARP:
        who += f"; {_these([lane for lane in range(WARP) if lane not in active])} not here"
    return f"Step {step} of {len(record)}{where}: {who}."


def _these(lanes: Sequence[int]) -> str:
    if not lanes:
        return "no lane"
    return f"lane{'s' if len(lanes) > 1 else ''} {ranges(lanes)}"


def remarks(record: StepRecord) -> tuple[str, ...]:
    """What a record does not show, and why it ends before the warp does."""
    found = list(record.notes)
    if record.truncated:
        found.append(f"The record is not complete: {record.truncated}.")
    if record.fault:
        found.append(f"The run ended with a fault: {record.fault.partition(chr(10))[0]}")
    return tuple(found)


def source_data(record: StepRecord, source: Source) -> dict[str, Any]:
    """A value as the picture names it: ``name``, ``value``, ``lane``, ``role``, ``known`` (it can be asked further)."""
    value = "" if source.bits is None else long_value(record, source.bits, source.dtype)
    named = record.names.get(source.name, "") if source.kind == "register" else ""
    return {
        "name": source.name + (f" ({named})" if named else ""),
        "value": value,
        "lane": source.lane if source.kind in ("register", "local") else -1,
        "role": source.role,
        "kind": source.kind,
        "known": source.kind == "register" or source.kind in SPACES,
    }


def origin_data(record: StepRecord, chain: Sequence[Origin]) -> list[dict[str, Any]]:
    """Each link of a chain of origins: the value, the step that wrote it, and what that step read."""
    return [
        {
            **source_data(record, link.source),
            "step": -1 if link.step is None else link.step,
            "line": 0 if link.step is None else record.line(link.step),
            "text": "" if link.step is None else record.text(link.step),
            "note": link.note,
            "warp": -1 if link.tick is None or link.thread is None else link.thread // WARP,
            "inputs": [source_data(record, source) for source in link.inputs],
        }
        for link in chain
    ]


def still_parts(code: Mapping[str, Any], state: Mapping[str, Any]) -> tuple[stills.Part, ...]:
    """A still picture of a step: the lines around it, and the registers that it writes and reads."""
    if not state:
        return ()
    first = max(0, state["line"] - _LINES_AROUND - 1)
    shown = code["lines"][first : first + 2 * _LINES_AROUND + 1]
    listing = [f"{first + k + 1:4}  {text}" for k, text in enumerate(shown)]
    ptx = f"PTX: {code['ptx'][state['instruction']]['text']}"
    panels = [_still_panel(state, group) for group in state["groups"] if group["role"] and group["rows"]]
    return (
        stills.lines([state["sentence"]], bold=[0]),
        stills.lines(listing, monospace=True, bold=[state["line"] - 1 - first]),
        stills.lines([ptx], monospace=True),
        still_diagrams.grid({"title": "", "legend": [], "panels": panels}),
        stills.lines(["The explorer also shows the other registers, shared memory, and where each value comes from."]),
    )


def _still_panel(state: Mapping[str, Any], group: Mapping[str, Any]) -> dict[str, Any]:
    """A group of registers as a panel of ``softlab.views.diagrams``."""
    written = group["role"] == "writes"
    fill, ink = (state["fill"], state["ink"]) if written else ("#ffffff", "#000000")
    return {
        "title": group["title"],
        "columns": WARP,
        "columnTitle": "lane",
        "columnLabels": [str(lane) for lane in range(WARP)],
        "bands": [],
        "rows": [{"label": row["label"], "mark": ""} for row in group["rows"]],
        "cells": [
            {
                "row": number, "column": lane, "span": 1, "text": text, "role": "served", "lanes": [lane],
                "fill": fill if not written or lane in state["executed"] else "#ffffff", "ink": ink,
            }
            for number, row in enumerate(group["rows"])
            for lane, text in enumerate(row["texts"])
        ],
    }  # fmt: skip

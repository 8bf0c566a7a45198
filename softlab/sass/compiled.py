"""Compiled segments and loops on the disk: what they write, and the keys of their machine code.

A later process neither traces the steps nor asks LLVM. A record is found by a digest of the instructions, of how their
registers lie, and of all that says what a step computes. Machine code is found by a digest of LLVM's assembly of which
it is made. So where a change of softlab leaves the assembly as it was, a process traces the steps again and does not
ask LLVM.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from hashlib import sha256
from operator import itemgetter
from pathlib import Path
from typing import Any

import numpy as np

from softlab.cuda.cache import read_record, write_record
from softlab.emulator.machine.native import NativeFunction, found_function, key_of, loops_folder, stored_function
from softlab.sass.form import PAIRS
from softlab.sass.lanes import Value


@dataclass(frozen=True)
class Part:
    """One function, and the registers that it takes. ``kinds``: the dtypes of its sources and results."""

    function: NativeFunction
    sources: tuple[int, ...]
    kinds: tuple[np.dtype, ...]


@dataclass(frozen=True)
class Compiled:
    """A segment for one way in which the registers lie.

    The ``parts`` give results, one behind the other. ``outputs``: (register, number of its result); ``same``:
    (register, the one whose value it gets); ``constants``: (register, value). ``guards``: (instruction, number of its
    result, or -1, and then the guard's register or value). ``pairs``: (lower register, number of the result with 64
    bits).
    """

    parts: tuple[Part, ...]
    outputs: tuple[tuple[int, int], ...]
    same: tuple[tuple[int, int], ...]
    constants: tuple[tuple[int, Value], ...]
    guards: tuple[tuple[int, int, Value], ...]
    pairs: tuple[tuple[int, int], ...]

    @cached_property
    def _calls(self) -> tuple[tuple[np.ufunc, Callable[[list], Sequence[Value]]], ...]:
        """The functions, and what takes their sources out of the registers."""
        return tuple((part.function.ufunc, _taking(part.sources)) for part in self.parts)

    def run(self, r: list) -> list[Value]:
        """Write all registers; the results."""
        results: list[Value] = []
        for function, sources in self._calls:
            found = function(*sources(r))
            if type(found) is tuple:
                results += found
            else:
                results.append(found)
        if self.same:
            moved = [r[k] for _, k in self.same]
            for register, number in self.outputs:
                r[register] = results[number]
            for (register, _), value in zip(self.same, moved, strict=True):
                r[register] = value
        else:
            for register, number in self.outputs:
                r[register] = results[number]
        for register, value in self.constants:
            r[register] = value
        for low, number in self.pairs:
            r[PAIRS][low] = (r[low], r[low + 1], results[number])
        return results


def _taking(places: tuple[int, ...]) -> Callable[[list], Sequence[Value]]:
    """A function that takes the values at these places out of a list."""
    return itemgetter(*places) if len(places) > 1 else lambda r: [r[k] for k in places]


def key(steps: Sequence[str], more: object) -> str:
    """The name of a record.

    Arguments:
        steps: the instructions, as they are encoded. more: where their constants stand, and how the registers lie.
    """
    return key_of((_meaning(), *steps, repr(more)))


@cache
def _meaning() -> str:
    """A digest of the modules and tables that say what steps compute."""
    package, found = Path(__file__).resolve().parents[1], sha256(np.__version__.encode())
    for folder in ("sass", "emulator/opcodes", "emulator/machine"):
        for path in sorted((package / folder).rglob("*")):
            if path.suffix != ".pyc" and path.is_file():
                found.update(path.read_bytes())
    return found.hexdigest()


def function(name: str, text: Callable[[], str]) -> int:
    """The address of the function ``loop`` of a module in LLVM's assembly, whose machine code is kept.

    Arguments:
        name: of :func:`key`, which says all that ``text`` makes the module of.
    """
    path = loops_folder() / f"{name}.json"
    record = read_record(path)
    found = 0 if record is None else found_function(record["code"])
    if not found:
        module = text()
        code = key_of((module,))
        found = stored_function(code, lambda: module)
        write_record(path, {"code": code})
    return found


def write(name: str, compiled: Compiled) -> None:
    """Keep a segment whose functions are kept."""
    parts = [(one.function.key, one.sources, [kind.str for kind in one.kinds]) for one in compiled.parts]
    record = {
        "parts": parts, "outputs": compiled.outputs, "same": compiled.same, "pairs": compiled.pairs,
        "constants": [(register, _written(value)) for register, value in compiled.constants],
        "guards": [(at, number, _written(guard)) for at, number, guard in compiled.guards],
    }  # fmt: skip
    write_record(loops_folder() / f"{name}.json", record)


def refuse(name: str, at: int) -> None:
    """Keep that the step ``at`` of a segment cannot be traced."""
    write_record(loops_folder() / f"{name}.json", {"refused": at})


def read(name: str) -> Compiled | int | None:
    """What is kept under a name; of a refused segment the step that cannot be traced. None: nothing."""
    record = read_record(loops_folder() / f"{name}.json")
    if record is None:
        return None
    if "refused" in record:
        return int(record["refused"])
    parts: list[Part] = []
    for code, sources, names in record["parts"]:
        kinds = tuple(map(np.dtype, names))
        function = NativeFunction.of_key(code, kinds, len(sources))
        if function is None:
            return None
        parts.append(Part(function, tuple(sources), kinds))
    outputs, same, pairs = (tuple(map(tuple, record[name])) for name in ("outputs", "same", "pairs"))
    constants = tuple((register, _read(value)) for register, value in record["constants"])
    guards = tuple((at, number, _read(guard)) for at, number, guard in record["guards"])
    return Compiled(tuple(parts), outputs, same, constants, guards, pairs)


def _written(value: Any) -> Any:
    """A value as JSON has it: a register's number as it is, a constant with its dtype."""
    return [value.dtype.str, value.item()] if isinstance(value, np.generic) else value


def _read(value: Any) -> Any:
    return np.dtype(value[0]).type(value[1]) if isinstance(value, list) else value

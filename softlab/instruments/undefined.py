"""Finds local variables that are used before they have a value: in an address, a branch, or a store.

A value has none if it was computed from one that has none. Copies, arithmetic and shuffles pass this on, and so does
local memory. Nothing is said until such a value reaches an address, decides a branch, or is stored in global or shared
memory. What is computed and never used does no harm. The finding names the line that loads such a value from
local memory; of a register the line that uses it.

Three rules keep good kernels free of alarms. The result of a bitwise operation has a value if one of its sources has. A
load from local memory has a value if one of its bytes was written: the rest may be padding of a structure. A byte may
be padding as well, so that a store of bytes that were loaded one by one is not reported; what is computed from a byte
has no value if the byte has none. A floating-point number has no padding: all of its bytes must be written. A store of
several elements is reported only if none of them has a value.

The observer cannot see what the compiler has decided: it often drops a variable without a value, or takes the value of
another path. A kernel compiled with ``options=["-G"]``, without optimisation, keeps all its variables. Votes,
reductions over a warp, and atomics give a value whatever they get. A product of matrices (``mma``) has no value in a
lane where the lane's own elements have none. What this means for other lanes of the same row or column is not followed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.emulator.lanes import WARP, Lanes, Value, lanes_of
from softlab.emulator.machine.compiler import EmulatedProgram
from softlab.emulator.machine.definedness import Tracked, loads_local, propagates, reads_and_writes
from softlab.emulator.machine.flow import Block
from softlab.emulator.machine.loop_records import LoopCode
from softlab.emulator.machine.lowering import flatten
from softlab.emulator.machine.observers import Batch, Observer
from softlab.emulator.opcodes.effects import space_of
from softlab.emulator.ptx.places import place_of
from softlab.emulator.ptx.syntax import Address, Immediate, Instruction, Operand, Pair, Register
from softlab.emulator.sites import InstructionSite, Site
from softlab.instruments.source_names import unset_variables_of_line

_BITWISE = ("and", "or", "xor", "lop3", "prmt", "bfi", "shf", "cnot")
_MEMORY = ("ld", "ldu", "st", "atom", "red", "cp", "st.async", "ldmatrix", "stmatrix")
_STORES = ("st", "atom", "red", "stmatrix")
_NUMBERS = ("f32", "f64")
_BYTES = ("b8", "u8", "s8")
_FIX = "Give the variable a value where it is declared, or on every path that leads here"
_TEXTS = {
    "address": "the thread uses in an address a local variable{names} that has no value",
    "branch": "the thread takes a branch that depends on a local variable{names} that has no value",
    "store": "the thread writes to memory a local variable{names} that has no value, or what it computed from one",
}
#: Where another line reads the variable.
_FAR_TEXTS = {
    "address": "the thread reads a local variable{names} that has no value, and uses it in an address later",
    "branch": "the thread reads a local variable{names} that has no value, and takes a branch that depends on it later",
    "store": "the thread reads a local variable{names} that has no value, and later writes it to memory, or what it "
    "computed from it",
}


@dataclass(frozen=True)
class _Step:
    """An instruction that touches tracked registers.

    ``kind``: "any" or "all" (of the sources decide), "choice" (``selp``), "shuffle", "load" (from local memory),
    "store" (to local memory too), "use" (no result), or "value" (the results have one). ``sources``: registers, None
    for what always has a value. ``results``: registers. ``address`` and ``branch``: registers whose use is reported.
    """

    index: int
    instruction: Instruction
    kind: str
    sources: tuple[str | None, ...] = ()
    results: tuple[str, ...] = ()
    address: str | None = None
    branch: str | None = None
    probed: bool = False

    @property
    def waits(self) -> bool:
        """Whether an event tells what it does."""
        return self.probed or self.kind in ("choice", "shuffle", "load", "store")


class Undefined(Observer):
    """Watches one run of a program that has tracked registers."""

    def __init__(self, program: EmulatedProgram, source: str) -> None:
        self._source = source
        self._program = program
        self._tracked: Tracked = program.tracked
        self._steps: dict[int, tuple[_Step, ...]] = {}
        self._batch: Any = None
        #: Register -> (blocks, threads) bool: which lanes have no value. Registers that all lanes have are left out.
        self._undefined: dict[str, np.ndarray] = {}
        #: Register without a value -> the load from local memory that the value comes from.
        self._origins: dict[str, Instruction] = {}
        #: The same of local memory, by the first byte of an element.
        self._stored_origins: dict[int, Instruction] = {}
        self._unwritten = np.zeros((0, 0), bool)
        self._todo: tuple[_Step, ...] = ()
        self._at = 0
        self._lanes: Any = None
        self._told: dict[tuple[int, str], Any] = {}

    def batch(self, batch: Batch) -> None:
        """No register has a value, and nothing is written in local memory."""
        self._batch = batch
        shape = (batch.blocks, batch.threads)
        self._undefined = {name: np.ones(shape, bool) for name in self._tracked.suspects}
        self._unwritten = np.ones((batch.blocks * batch.threads, batch.program.image.local_bytes), bool)
        self._todo, self._at, self._told = (), 0, {}
        self._origins, self._stored_origins = {}, {}

    # Events

    def block(self, block: Block, lanes: Lanes) -> None:
        """A block begins: the one before is over. Go on to the first instruction whose event must come first."""
        self._advance(None)
        steps = self._steps.get(block.index)
        if steps is None:
            steps = self._steps[block.index] = self._steps_of(block)
        self._todo, self._at, self._lanes = steps, 0, lanes
        if steps:
            self._advance(-1)

    def takes_loop(self, loop: LoopCode) -> bool:
        """While all registers have a value, opcodes and loads of global memory give no other ones."""
        self._advance(None)
        return not self._undefined and loop.instructions.isdisjoint(self._tracked.probes)

    def choice(self, index: int, lanes: Lanes, value: Value) -> None:
        """The predicate of a tracked instruction."""
        if self._todo:
            whole = np.broadcast_to(lanes.put(value, value, True), (lanes.blocks, lanes.threads))
            self._told[index, "predicate"] = whole
            more = self._program.image.instructions[index].opcode in ("ld", "st", "shfl")  # their own event follows
            self._advance(index, until=more)

    def local_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """A load from local memory or a store to it."""
        self._advance(site.index, until=True)
        offset = lanes.full_extent(address).astype(np.int64)
        lane = lanes.full_extent(lanes.row_index * lanes.threads + lanes.column_index)
        where = lane[:, None], offset[:, None] + np.arange(site.width)
        if site.store:
            self._stored(site, lane, where)
        elif site.instruction.opcode == "ld":
            unwritten = self._unwritten[where].reshape(len(lane), site.elements, -1)
            never = unwritten.any(axis=2) if site.instruction.modifiers[-1] in _NUMBERS else unwritten.all(axis=2)
            used = site.instruction.used_bytes
            if used is not None:
                wanted = (used >> np.arange(site.width) & 1).astype(bool).reshape(site.elements, -1)
                never = (unwritten | ~wanted).all(axis=2) & wanted.any(axis=1)
            if never.any():
                self._told.setdefault((site.index, "loaded"), []).append((lane, never))
                self._told[site.index, "origin"] = self._stored_origins.get(int(offset[never.any(axis=1).argmax()]))

    def global_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """An address without a value is said before the race that it brings."""
        if self._todo and space_of(site.instruction) == "global":
            self._advance(site.index)

    def shared_access(self, site: Site, lanes: Lanes, address: Value, values: tuple[Value, ...]) -> None:
        """The same in shared memory."""
        if self._todo and space_of(site.instruction) == "shared":
            self._advance(site.index)

    def shuffle(
        self, site: InstructionSite, lanes: Lanes, source: np.ndarray, given: np.ndarray, received: np.ndarray
    ) -> None:
        """Each lane gets what its source lane has."""
        if self._todo:
            self._advance(site.index, until=True)
            whole = lanes.put(np.int64(0), lanes.collect(source.astype(np.int64)), False)
            self._told[site.index, "source"] = np.broadcast_to(whole, (lanes.blocks, lanes.threads))

    def done(self) -> None:
        """The last block is over."""
        self._advance(None)

    # Registers

    def _advance(self, limit: int | None, until: bool = False) -> None:
        """Carry out the steps up to the instruction ``limit``; None: all. ``until``: without that instruction."""
        while self._at < len(self._todo):
            step = self._todo[self._at]
            if limit is not None and step.waits and (step.index > limit or (until and step.index == limit)):
                return
            if limit is not None and until and step.index >= limit:
                return
            self._at += 1
            self._carry_out(step)
        if limit is None:
            self._todo, self._at = (), 0
            self._told.clear()

    def _carry_out(self, step: _Step) -> None:
        undefined = self._undefined
        if not undefined and step.kind != "load":
            return
        mask = self._lanes.mask
        predicate = self._told.get((step.index, "predicate"))
        here = mask
        if step.probed and step.kind != "choice" and predicate is not None:
            here = mask & (~predicate if step.instruction.negated else predicate)
        for register, what in ((step.address, "address"), (step.branch, "branch")):
            if register in undefined:
                self._report(step, what, (register,), undefined[register] & here)
        if step.kind == "store" and step.sources and not self._is_local(step) and not self._may_be_padding(step):
            found = [undefined.get(name) if name else None for name in step.sources]
            if all(one is not None for one in found):
                self._report(step, "store", step.sources, np.logical_and.reduce([*found, here]))  # type: ignore[list-item]
        if step.results:
            self._give(step, here, self._results(step, predicate), self._origin(step))

    def _results(self, step: _Step, predicate: np.ndarray | None) -> list[np.ndarray | None]:
        """Of each result, which lanes of the batch have no value; None: all have."""
        found = [self._undefined.get(name) if name else None for name in step.sources]
        known = [one for one in found if one is not None]
        count = len(step.results)
        if step.kind == "load":
            return self._loaded(step)
        if not known or step.kind == "value":
            return [None] * count
        if step.kind == "any":
            return [np.logical_or.reduce(known)] * count
        if step.kind == "all":
            return [np.logical_and.reduce(known) if len(known) == len(found) else None] * count
        if step.kind == "choice":
            nobody = np.zeros(self._lanes.mask.shape, bool)
            first, second, decides = (nobody if one is None else one for one in found)
            if predicate is None:
                return [first & second]
            return [np.where(predicate, first, second) | (decides & (first | second))]
        source = self._told.get((step.index, "source"))
        if source is None:
            return [None] * count
        rows = known[0].reshape(known[0].shape[0], -1, WARP)
        taken = np.take_along_axis(rows, source.reshape(rows.shape), axis=2)
        return [taken.reshape(known[0].shape), *[None] * (count - 1)]

    def _loaded(self, step: _Step) -> list[np.ndarray | None]:
        shape = self._lanes.mask.shape
        results: list[np.ndarray | None] = [None] * len(step.results)
        elements = [o.name if isinstance(o, Register) else None for o in flatten(step.instruction.operands[:1])]
        for lane, never in self._told.pop((step.index, "loaded"), ()):
            for number, name in enumerate(elements):
                if name is not None and never[:, number].any():
                    at = step.results.index(name)
                    whole = np.zeros(shape, bool) if results[at] is None else results[at]
                    assert whole is not None
                    whole.reshape(-1)[lane] = never[:, number]
                    results[at] = whole
        return results

    def _origin(self, step: _Step) -> Instruction | None:
        """The load from local memory from which a value comes that a step passes on; None where there is none."""
        if step.kind == "load":
            stored = self._told.pop((step.index, "origin"), None)
            passes_on = space_of(step.instruction) == "param"  # what a function gets, or gives back
            return stored if passes_on or not step.instruction.frames else stored or step.instruction
        known = (self._origins.get(name) for name in step.sources if name in self._undefined)
        return next((origin for origin in known if origin is not None), None)

    def _give(
        self, step: _Step, here: np.ndarray, results: list[np.ndarray | None], origin: Instruction | None
    ) -> None:
        """The lanes ``here`` get their results; the others keep what they have."""
        for name, result in zip(step.results, results, strict=True):
            before = self._undefined.get(name)
            if result is None and before is None:
                continue
            new = np.zeros(here.shape, bool) if before is None else before & ~here
            if result is not None:
                new |= result & here
            if new.any():
                self._undefined[name] = new
                if origin is not None and result is not None:
                    self._origins[name] = origin
            else:
                self._undefined.pop(name, None)

    def _stored(self, site: Site, lane: np.ndarray, where: tuple[np.ndarray, np.ndarray]) -> None:
        """Local memory has a value where the stored register has."""
        step = self._todo[self._at] if self._at < len(self._todo) else None
        if step is None or step.index != site.index:
            self._unwritten[where] = False
            return
        found = [self._undefined.get(name) if name else None for name in step.sources]
        width = site.width // len(found)
        for number, one in enumerate(found):
            columns = where[1][:, number * width : (number + 1) * width]
            self._unwritten[where[0], columns] = False if one is None else one.reshape(-1)[lane][:, None]
            if (origin := self._origins.get(step.sources[number] or "")) is not None and one is not None:
                self._stored_origins.update(dict.fromkeys(np.unique(columns[:, 0]).tolist(), origin))
        self._told[site.index, "local"] = True

    def _is_local(self, step: _Step) -> bool:
        return space_of(step.instruction) in ("local", "param") or (step.index, "local") in self._told

    def _may_be_padding(self, step: _Step) -> bool:
        """Whether each element is one byte that was loaded as one: a structure with padding is copied like this."""
        return _moves_bytes(step.instruction, "st") and any(
            (origin := self._origins.get(name or "")) is not None and _moves_bytes(origin, "ld")
            for name in step.sources
        )

    def _report(self, step: _Step, what: str, registers: tuple[str | None, ...], bad: np.ndarray) -> None:
        if not bad.any():
            return
        for name in registers:  # one finding per mistake
            if name is not None and name in self._undefined:
                self._undefined[name] = self._undefined[name] & ~bad
        batch, lanes = self._batch, lanes_of(bad)
        origin = next((self._origins[name] for name in registers if name in self._origins), step.instruction)
        place, used = (place_of(i.frames, batch.file) for i in (origin, step.instruction))
        elsewhere = (used.file, used.line) != (place.file, place.line)
        names = unset_variables_of_line(self._source, place.line if place.file == batch.file else None)
        shown = f" ({' or '.join(names)})" if names else ""
        sentence = f"{(_FAR_TEXTS if elsewhere else _TEXTS)[what].format(names=shown)}. {_FIX}"
        other = (step.instruction, lanes) if elsewhere else None
        fault = batch.faults.fault("uninitialized-local", sentence, origin, lanes, np.bool_(True), other=other)
        fault.symbol = names[0] if len(names) == 1 else None
        batch.faults.report(fault, count=lanes.count)

    # What instructions do

    def _steps_of(self, block: Block) -> tuple[_Step, ...]:
        instructions = self._program.image.instructions
        steps = []
        for index in range(block.start, block.stop):
            instruction = instructions[index]
            uses, definitions = reads_and_writes(instruction)
            if not self._tracked.registers.isdisjoint((*uses, *definitions)):
                steps.append(self._step(index, instruction, instruction is block.terminator))
        return tuple(steps)

    def _step(self, index: int, instruction: Instruction, ends: bool) -> _Step:
        uses, definitions = reads_and_writes(instruction)
        guard = instruction.guard.name if instruction.guard is not None else None
        results = tuple(definitions)
        probed = index in self._tracked.probes
        make: Callable[..., _Step] = lambda kind, **more: _Step(index, instruction, kind, probed=probed, **more)  # noqa: E731
        if ends:
            return make("use", branch=guard or next(iter(uses), None))
        if instruction.opcode in _MEMORY or _stores_fragment(instruction):
            addresses = [
                o.base for o in instruction.operands if isinstance(o, Address) and isinstance(o.base, Register)
            ]
            address = next((base.name for base in addresses if base.name in self._tracked.registers), None)
            if instruction.opcode == "ld":
                kind = "load" if loads_local(instruction, self._program.image) else "value"
                return make(kind, results=results, address=address)
            return make("store", sources=_stored_operands(instruction), results=results, address=address)
        if not propagates(instruction):
            return make("value", results=results)
        sources = instruction.operands[1:]
        if instruction.opcode == "shfl" and not isinstance(instruction.operands[0], Register | Pair):
            return make("value", results=results)
        if instruction.opcode == "shfl":
            return make("shuffle", sources=_names(sources[:1]), results=results)
        if instruction.opcode == "selp":
            return make("choice", sources=_names(sources), results=results)
        packs = instruction.opcode == "mov" and len(flatten(sources)) > 1
        kind = "all" if packs or instruction.opcode in _BITWISE else "any"
        counted = [o for o in flatten(sources) if not isinstance(o, Immediate)]
        return make(kind, sources=_names(counted), results=results)


def _names(operands: Any) -> tuple[str | None, ...]:
    return tuple(o.name if isinstance(o, Register) else None for o in operands)


def _stores_fragment(instruction: Instruction) -> bool:
    return instruction.opcode == "wmma" and instruction.has("store")


def _moves_bytes(instruction: Instruction, opcode: str) -> bool:
    """Whether it is this opcode, and each element is one byte."""
    return instruction.opcode == opcode and instruction.modifiers[-1] in _BYTES


def _stored_operands(instruction: Instruction) -> tuple[str | None, ...]:
    """What an instruction writes to memory: of an atomic its last operand, of a store each element."""
    if _stores_fragment(instruction):  # the address, the elements, and how far rows are apart
        stored = instruction.operands[1:2]
    else:
        stored = instruction.operands[-1:] if instruction.opcode in _STORES else ()
    operands: list[Operand] = flatten(stored)
    return _names(operands)

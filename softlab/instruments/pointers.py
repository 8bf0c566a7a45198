"""Which arrays each instruction of a kernel may access, from the pointers that reach its address.

Arrays that no instruction may write need no watching for races. The analysis is one fixed point over all registers: an
array reaches a register if any instruction computes the register from a pointer to the array. The order of the
instructions does not matter, so too many arrays may be found, never too few.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from softlab.emulator.machine.flow import uses_and_definitions
from softlab.emulator.ptx.linker import Image
from softlab.emulator.ptx.syntax import DTYPES, Address, Instruction, Operand, Register, Symbol, Vector

_POINTER_TYPES = ("u64", "s64", "b64")
_LOADS = ("ld", "ldu", "atom")
_STORES = ("st", "atom", "red")
_WATCHED = (*_LOADS, *_STORES, "cp")
#: A pointer that was loaded from memory: it may point to any array.
_ANY = -1
_SPACES = ("global", "shared", "local", "param", "const")
_ARITHMETIC = ("add", "sub", "mad", "fma")


@dataclass(frozen=True)
class PointerAnalysis:
    """What is known of the accesses to global memory of one launch.

    ``quiet``: indices of the instructions that access only arrays that no instruction may write.
    """

    quiet: frozenset[int]


def narrowest(image: Image) -> int:
    """Bytes of the narrowest access to global memory, by a global or a generic address; at most 16."""
    widths = [16]
    for instruction in image.instructions:
        if _by_tensor_map(instruction):  # the map says how wide its elements are
            return 1
        if _may_access_global(instruction):
            kind = instruction.modifiers[-1]
            count = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4", "v8")), 1)
            widths.append(DTYPES[kind].itemsize * count if kind in DTYPES else 4)
    return min(widths)


def _by_tensor_map(instruction: Instruction) -> bool:
    return instruction.opcode == "cp" and instruction.has("tensor") and not instruction.has("prefetch")


def _spaces(instruction: Instruction) -> list[str]:
    return [m.split("::")[0] for m in instruction.modifiers if m.split("::")[0] in _SPACES]


def _may_access_global(instruction: Instruction) -> bool:
    """Whether an instruction accesses memory by a global or a generic address."""
    if instruction.opcode not in _WATCHED and not (instruction.opcode == "wmma" and instruction.has("load", "store")):
        return False
    spaces = _spaces(instruction)
    return not spaces or "global" in spaces


def _writes_global(instruction: Instruction) -> bool:
    if instruction.opcode == "cp":
        return _spaces(instruction)[:1] == ["global"]
    return instruction.opcode in _STORES or (instruction.opcode == "wmma" and instruction.has("store"))


@dataclass(frozen=True)
class _Brought:
    """What an instruction or an address brings in: pointers by their value, by their offset in the parameters, any."""

    addresses: tuple[int, ...] = ()
    offsets: tuple[int, ...] = ()
    any_array: bool = False

    def arrays(self, array_at: Callable[[int], int | None], parameters: bytes) -> frozenset[int]:
        """The arrays that these point to in one launch."""
        given = (int.from_bytes(parameters[offset : offset + 8], "little") for offset in self.offsets)
        found = {array_at(address) for address in (*self.addresses, *given)}
        found.discard(None)
        return frozenset((*found, _ANY) if self.any_array else found)  # type: ignore[arg-type]


_NOTHING = _Brought()


@dataclass(frozen=True)
class _Access:
    """An access to global memory: the register or the symbol of its address."""

    index: int
    writes: bool
    register: str | None
    symbol: _Brought


class PointerFlow:
    """How pointers reach the accesses of a kernel. It is the same for all launches; :meth:`analyse` is for one."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._brought = [self._sources(i) for i in image.instructions]
        self._moves = [(*self._registers(i), i.opcode in _ARITHMETIC) for i in image.instructions]
        self._accesses = [self._access(n, i) for n, i in enumerate(image.instructions) if _may_access_global(i)]
        #: What is brought anywhere, each once.
        self._different = tuple(dict.fromkeys((*self._brought, *(access.symbol for access in self._accesses))))
        self._last: tuple[object, PointerAnalysis] | None = None

    def analyse(self, array_at: Callable[[int], int | None], parameters: bytes) -> PointerAnalysis:
        """The analysis for one launch; one like the launch before costs little.

        Arguments:
            array_at: a number for the array or variable that has this address; None if there is none.
            parameters: the bytes of the launch's parameters.
        """
        known: dict[_Brought, frozenset[int]] = {_NOTHING: frozenset()}
        for brought in self._different:
            if brought not in known:
                known[brought] = brought.arrays(array_at, parameters)
        if self._last is None or self._last[0] != known:
            self._last = known, self._analysis(known)
        return self._last[1]

    def _analysis(self, known: dict[_Brought, frozenset[int]]) -> PointerAnalysis:
        reaching = self._fixed_point([known[brought] for brought in self._brought])
        accesses = {
            access.index: reaching.get(access.register, frozenset()) if access.register else known[access.symbol]
            for access in self._accesses
        }
        written: set[int] = set()
        for access in self._accesses:
            if access.writes:
                written |= accesses[access.index] or {_ANY}
        if _ANY in written:
            return PointerAnalysis(frozenset())
        return PointerAnalysis(
            frozenset(i for i, arrays in accesses.items() if arrays and _ANY not in arrays and not arrays & written)
        )

    def _fixed_point(self, starts: list[frozenset[int]]) -> dict[str, frozenset[int]]:
        """The arrays that reach each register; ``starts``: those that each instruction brings in."""
        arrays: dict[str, frozenset[int]] = {}
        nothing: frozenset[int] = frozenset()
        changed = True
        while changed:
            changed = False
            for start, (uses, definitions, arithmetic) in zip(starts, self._moves, strict=True):
                reaching = start.union(*(arrays.get(name, nothing) for name in uses))
                if arithmetic and len(reaching) > 1:  # a pointer plus a loaded integer
                    reaching = reaching - {_ANY}
                for name in definitions:
                    before = arrays.get(name, nothing)
                    if not reaching <= before:
                        arrays[name] = before | reaching
                        changed = True
        return arrays

    def _access(self, index: int, instruction: Instruction) -> _Access:
        """The access of an instruction to global memory."""
        writes = _writes_global(instruction)
        if _by_tensor_map(instruction):
            return _Access(index, writes, None, _Brought(any_array=True))
        addresses = [operand for operand in instruction.operands if isinstance(operand, Address)]
        if not addresses:
            return _Access(index, writes, None, _NOTHING)
        from_global = instruction.opcode == "cp" and not writes and len(addresses) > 1
        base = addresses[from_global].base
        if isinstance(base, Register):
            return _Access(index, writes, base.name, _NOTHING)
        return _Access(index, writes, None, self._of(base))

    def _of(self, operand: Operand) -> _Brought:
        if isinstance(operand, Symbol) and self._image.spaces.get(operand.name) in ("global", "const"):
            return _Brought(addresses=(self._image.addresses[operand.name],))
        return _NOTHING

    def _sources(self, instruction: Instruction) -> _Brought:
        """What an instruction brings in: by symbols, parameters, and pointers in memory."""
        if instruction.opcode not in _LOADS:
            parts = (p for o in instruction.operands for p in (o.elements if isinstance(o, Vector) else (o,)))
            return _Brought(tuple(a for part in parts for a in self._of(part).addresses))
        if instruction.modifiers[-1] not in _POINTER_TYPES:
            return _NOTHING
        address = next((o for o in instruction.operands if isinstance(o, Address)), None)
        if address is None or not isinstance(address.base, Symbol):
            return _Brought(any_array=True)
        if self._image.spaces.get(address.base.name) != "kernel-param":
            return _Brought(any_array=True)
        offset = self._image.addresses[address.base.name] - _parameter_base(self._image) + address.offset
        count = next((int(m[1:]) for m in instruction.modifiers if m in ("v2", "v4")), 1)
        return _Brought(offsets=tuple(offset + 8 * i for i in range(count)))

    @staticmethod
    def _registers(instruction: Instruction) -> tuple[list[str], list[str]]:
        """The registers whose arrays reach the result, and the result. A load gives nothing of its address."""
        uses, definitions = uses_and_definitions(instruction)
        return ([] if instruction.opcode in _LOADS else uses), definitions


def _parameter_base(image: Image) -> int:
    variable, offset = image.params[0]
    return image.addresses[variable.name] - offset

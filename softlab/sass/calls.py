"""Calls: which functions a kernel's code has, whether they may call themselves, and the driver's own functions.

The address of a device function is eight times its number in the table of functions, which constant bank 2 begins with;
the table has its place in the code. Where only one kernel of a module takes addresses of functions there may be no
table: the address is then the place in the code itself. Functions that the driver brings, such as ``vprintf``, lie
elsewhere: the linker writes their addresses into bank 4. Here they are done at once. How long they take was not
measured.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

import numpy as np

from softlab.emulator.memory.heap import HEAP_BYTES
from softlab.emulator.ptx.linker import FUNCTION_BASE
from softlab.sass.decode import Code
from softlab.sass.faults import MachineFault, machine_fault

if TYPE_CHECKING:
    from softlab.sass.decode import Instruction

#: Where the driver's functions are: no array and no device function is there.
DRIVER_BASE = FUNCTION_BASE + (1 << 40)
_DRIVER_BYTES = 16
_HANDLE_BYTES = 8
#: A thread and a block, each (x, y, z).
Where = tuple[tuple[int, int, int], tuple[int, int, int]]
#: malloc's pieces, as in the emulator: whole units, and one more for the allocator.
_UNIT = 16


def may_recurse(code: Code) -> bool:
    """Whether a function of the code may call itself, directly or by others. A call by address may lead to each one."""
    called = {target for i in code.instructions if i.opcode == "CALL" for target in i.targets}
    heads = sorted({0, *code.functions, *called})

    def head_of(index: int) -> int:
        return heads[bisect_right(heads, index) - 1]

    calls: dict[int, set[int]] = {head: set() for head in heads}
    for instruction in code.instructions:
        if instruction.opcode != "CALL" or is_of_driver(instruction):
            continue
        by_address = any(o.kind in ("R", "UR") for o in instruction.operands)
        labels = {code.starts[o.name] for o in instruction.operands if o.name in code.starts}
        targets = code.functions if by_address else labels or set(instruction.targets)
        calls[head_of(instruction.index)].update(head_of(target) for target in targets)
    return any(head in _reached(head, calls) for head in heads)


def _reached(head: int, calls: Mapping[int, set[int]]) -> set[int]:
    """The functions that a function calls, and that these call, and so on."""
    found: set[int] = set()
    left = list(calls[head])
    while left:
        one = left.pop()
        if one not in found:
            found.add(one)
            left.extend(calls[one])
    return found


def is_of_driver(instruction: Instruction) -> bool:
    """Whether a call goes to an absolute address in a register."""
    return "ABS" in instruction.modifiers and any(o.kind in ("R", "UR") for o in instruction.operands)


def function_handles(functions: Mapping[str, int], table: bytes | bytearray) -> dict[str, int]:
    """Device function -> the number that stands for its address in the machine code.

    Arguments:
        functions: device function -> its place in the code. table: constant bank 2, which begins with the table of
            functions, if the kernel has one. Without a table each function's place is its address.
    """
    whole = len(table) // _HANDLE_BYTES * _HANDLE_BYTES
    entries = np.frombuffer(bytes(table[:whole]), np.uint64).tolist()
    numbers = {name: _HANDLE_BYTES * entries.index(at) for name, at in functions.items() if at in entries}
    return numbers or dict(functions)


class DriverCalls:
    """The driver's functions for one launch. ``called``: those that were called so far.

    ``addresses``: function -> its address.
    """

    def __init__(self, names: list[str], heap: int | None) -> None:
        self.addresses = {name: DRIVER_BASE + _DRIVER_BYTES * k for k, name in enumerate(names)}
        self._names = {address: name for name, address in self.addresses.items()}
        self.called: dict[str, None] = {}
        self._first = self._next = heap or 0
        self._free: dict[int, list[int]] = {}
        self._sizes: dict[int, int] = {}
        self._functions: dict[str, Callable[[np.ndarray], np.ndarray]] = {
            "vprintf": np.zeros_like,  # the number of arguments, which nobody reads
            "malloc": self._malloc,
            "free": self._give_back,
        }

    def call(
        self, address: int, argument: np.ndarray, instruction: Instruction, where: Callable[[], Where]
    ) -> np.ndarray:
        """What a function gives to each lane.

        Arguments:
            argument: uint64 (lanes,), its first one. where: gives the thread and the block of the first lane.

        Raises:
            KernelFault: an assertion that fails, or an address where no function is.
            UnsupportedInstruction: a function that is not known.
        """
        name = self._names.get(address)
        if name is None:
            raise wild_call(instruction)
        if name == "__assertfail":
            raise machine_fault("assert", "the thread fails an assertion", instruction, where())
        if name not in self._functions:
            raise instruction.unsupported(f"a call of {name}, which the driver brings")
        self.called[name] = None
        return self._functions[name](argument)

    def _malloc(self, sizes: np.ndarray) -> np.ndarray:
        return np.array([self._piece(int(size)) for size in sizes], np.uint64)

    def _piece(self, nbytes: int) -> int:
        taken = -(-nbytes // _UNIT) * _UNIT + _UNIT
        if not nbytes:
            return 0
        if same := self._free.get(taken):
            found = same.pop()
        elif self._next + taken > self._first + HEAP_BYTES:
            return 0
        else:
            found, self._next = self._next, self._next + taken
        self._sizes[found] = taken
        return found

    def _give_back(self, pointers: np.ndarray) -> np.ndarray:
        for pointer in pointers.tolist():
            if taken := self._sizes.pop(pointer, 0):
                self._free.setdefault(taken, []).append(pointer)
        return np.zeros_like(pointers)


def wild_call(instruction: Instruction) -> MachineFault:
    """The fault of a call to an address where no function is."""
    return machine_fault("trap", "the thread calls an address where no function is", instruction)


def check_targets(code: Code, targets: np.ndarray, instruction: Instruction) -> None:
    """Refuse a call by address to what is no function. ``targets``: indices of instructions."""
    if not set(np.unique(targets).tolist()) <= code.functions:
        raise wild_call(instruction)

"""The code of a basic block: its steps, and the functions made of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

from softlab.emulator.machine.fusing import Heat, Variables, fused, heat_of
from softlab.emulator.machine.operations import Operation
from softlab.emulator.opcodes.control_flow import Terminator
from softlab.emulator.opcodes.units import Units
from softlab.emulator.ptx.blocks import Block

#: Made for the units of a batch: ``bind(units)(lanes, *reads) -> (*writes, decision)``.
Bind = Callable[[Units], Callable[..., tuple]]


@dataclass(frozen=True)
class Code:
    """A block's code before it is text: its steps, what it gives, and the names that it finds."""

    name: str
    title: str
    arguments: tuple[str, ...]
    operations: tuple[Operation, ...]
    results: tuple[str, ...]
    #: What the last instruction decides, as an expression of these variables.
    decision: str
    decided: tuple[str, ...]
    bindings: dict[str, str]
    variables: Variables

    def bind(self, lines: list[str]) -> tuple[Bind, str]:
        """The function with these lines, and its source."""
        find = [f"    {name} = {function}(units)" for function, name in self.bindings.items()]
        source = "\n".join(
            [
                "def bind(units):",
                *find,
                f"    def {self.name}({', '.join(['L', *self.arguments])}):",
                *(f"        {line}" for line in lines),
                f"        return {', '.join([*self.results, self.decision])},",
                f"    return {self.name}",
                "",
            ]
        )
        exec(compile(source, self.title, "exec"), self.variables.namespace)
        return self.variables.namespace["bind"], source


@dataclass(frozen=True)
class CompiledBlock:
    """``bind(units)(lanes, *reads) -> (*writes, decision)``; ``reads`` and ``writes`` are register numbers.

    ``fused`` is ``bind`` with its pure opcodes compiled; it needs llvmlite.
    """

    block: Block
    bind: Bind
    terminator: Terminator
    reads: tuple[int, ...]
    writes: tuple[int, ...]
    source: str
    code: Code

    @cached_property
    def fused(self) -> Bind:
        """The function with runs of pure opcodes as compiled calls."""
        return self._fused(patient=False)

    @cached_property
    def fused_when_hot(self) -> Bind:
        """The same; for shapes that come seldom, NumPy computes instead."""
        return self._fused(patient=True)

    def _fused(self, *, patient: bool) -> Bind:
        code = self.code
        return code.bind(fused(code.operations, (*code.results, *code.decided), code.variables, patient=patient))[0]

    @cached_property
    def heat(self) -> Heat | None:
        """What running and compiling it cost; None where nothing of it can be compiled."""
        return heat_of(self.code.operations)

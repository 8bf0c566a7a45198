"""The steps that a block's code consists of, as Python and as what LLVM compiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from softlab.emulator.sites import Site


@dataclass(frozen=True)
class Operation:
    """One step of a block's code.

    ``expression`` computes ``results`` in Python from ``sources``, which are names of variables and constants.
    ``native(emitter, *sources)`` gives the same values in LLVM's terms, one or a tuple; None where only Python can.
    ``direct``: the expression is one call into NumPy already. ``load``: the site of a load without a guard from the
    address in the only source. ``weight`` is that of the opcode (:class:`softlab.emulator.opcodes.registry.Semantics`).
    """

    results: tuple[str, ...]
    expression: str
    sources: tuple[str, ...]
    native: Callable[..., Any] | None = None
    direct: bool = False
    load: Site | None = None
    weight: int = 1

    @property
    def line(self) -> str:
        """The step as a line of Python."""
        return f"{', '.join(self.results)} = {self.expression}" if self.results else self.expression


@dataclass(frozen=True)
class Turns:
    """A lane runs the operations again while the predicate ``condition`` holds, at most ``limit`` times.

    ``limit`` is a source, ``made`` the result that counts the turns (int64; "" for none), and ``condition`` may be None
    for exactly ``limit`` turns. ``carried``: source -> the variable or constant that it is in the next turn.
    """

    carried: dict[str, str]
    limit: str
    condition: str | None
    made: str = ""

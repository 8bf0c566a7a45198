"""The registry of machine opcodes: one decorated function per opcode.

The function takes the :class:`~softlab.sass.form.Form` of an instruction and gives the step that executes it. It is
called once per instruction and launch; the step once per execution, for many warps together.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeVar

from softlab.errors import Error

#: What executes an instruction: it gets the list of registers of the lanes that execute it.
Action = Callable[[list], None]


@dataclass(frozen=True, slots=True)
class Opcode:
    """A registered opcode.

    ``kind``: "pure" (the result depends on the operands alone; the machine does the guard), "effect" (memory and
    warp-wide: the function does the guard) or "end" (it ends a straight run of instructions).
    """

    name: str
    kind: str
    function: Callable[..., Any]


_OPCODES: dict[str, Opcode] = {}
Function = TypeVar("Function", bound=Callable[..., Any])


def _register(kind: str, names: tuple[str, ...]) -> Callable[[Function], Function]:
    def register(function: Function) -> Function:
        for name in names:
            if name in _OPCODES:
                raise Error(f"machine opcode {name!r} is registered twice: {_OPCODES[name].function} and {function}")
            _OPCODES[name] = Opcode(name, kind, function)
        return function

    return register


def pure(*names: str) -> Callable[[Function], Function]:
    """Register an opcode without side effect."""
    return _register("pure", names)


def effect(*names: str) -> Callable[[Function], Function]:
    """Register an opcode that touches memory or looks at other lanes."""
    return _register("effect", names)


def end(*names: str) -> Callable[[Function], Function]:
    """Register an opcode behind which the lanes may part, wait or join."""
    return _register("end", names)


#: Opcodes with forms that wait: name -> function that gives the step of such a form, or None for other forms.
_GATES: dict[str, Callable[..., Any]] = {}


def gate(name: str) -> Callable[[Function], Function]:
    """Register the forms of an opcode that wait for an event.

    The step has an attribute ``ready``: a function of the registers that gives (k, 32) bool, the lanes that need not
    wait, or None where the form does not wait.
    """

    def register(function: Function) -> Function:
        _GATES[name] = function
        return function

    return register


def find_gate(name: str) -> Callable[..., Any] | None:
    """The function of the forms of this opcode that wait."""
    return _GATES.get(name)


def find(name: str) -> Opcode | None:
    """The opcode of this name."""
    return _OPCODES.get(name)


def names() -> Iterator[str]:
    """All opcodes, sorted."""
    return iter(sorted(_OPCODES))

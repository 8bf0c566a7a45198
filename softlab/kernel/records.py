"""What the record of a run keeps of its program."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from softlab.cuda.compile import Program
from softlab.errors import EstimateError
from softlab.kernel.variables import VariableStore


def program_fields(program: Program) -> dict[str, Any]:
    """The fields of :class:`softlab.Run` that come from the compiled program."""
    names = ("name", "arch", "file", "source", "registers", "spill_bytes", "static_smem_bytes")
    return {name: getattr(program, name) for name in names}


@dataclass(frozen=True, eq=False)
class Launched:
    """The launch of a run, for an estimate of its time: the program and the arguments.

    ``kept``: the arguments. Numbers are kept. Of an array there is a weak reference alone, so that a run keeps no array
    alive but those that lie in a struct.
    """

    program: Program
    variables: VariableStore
    kept: tuple[Any, ...]

    @classmethod
    def of(cls, program: Program, variables: VariableStore, args: Sequence[Any]) -> Launched:
        """The launch of a program with these arguments. ``variables`` hold what they hold when they are asked."""
        return cls(program, variables, tuple(_weak(argument) for argument in args))

    def arguments(self) -> list[Any]:
        """The arguments as they are now.

        Raises:
            EstimateError: an array is gone.
        """
        return [_strong(number, kept) for number, kept in enumerate(self.kept)]


def _weak(argument: Any) -> Any:
    if isinstance(argument, np.ndarray) or hasattr(argument, "__cuda_array_interface__"):
        return weakref.ref(argument)
    return argument


def _strong(number: int, kept: Any) -> Any:
    if not isinstance(kept, weakref.ref):
        return kept
    array = kept()
    if array is None:
        raise EstimateError(f"the array of argument {number} is gone: call kernel.estimate(...) with arrays instead")
    return array

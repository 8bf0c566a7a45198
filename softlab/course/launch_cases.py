"""The launches that judge a learner's kernel."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class LaunchCase:
    """One launch for which a kernel must give the right result.

    grid, block: as ``Kernel.run`` takes them; args: parameter name -> array or number, in the order of the parameters;
    expected: name -> the right values of that array afterwards; smem: dynamic shared memory in bytes; relative: the
    relative error that a number may have; about: "1000 numbers", for messages.
    """

    grid: int | tuple[int, ...]
    block: int | tuple[int, ...]
    args: Mapping[str, Any]
    expected: Mapping[str, np.ndarray]
    smem: int = 0
    relative: float = 0.0
    about: str = ""

    def fresh(self) -> dict[str, Any]:
        """The arguments, arrays copied: a run changes them. An array that is two arguments is one copy."""
        copies = {id(a): a.copy() for a in self.args.values() if isinstance(a, np.ndarray)}
        return {name: copies.get(id(a), a) for name, a in self.args.items()}

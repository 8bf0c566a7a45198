"""How many bytes memory instructions move per lane, and the loads of constants, which need nothing else."""

from __future__ import annotations

import numpy as np

from softlab.sass.form import Form
from softlab.sass.registry import Action

#: Loads that extend a sign.
SIGNED = {"S8": np.int8, "S16": np.int16}
#: Modifier -> bytes per lane.
WIDTHS = {"U8": 1, "S8": 1, "U16": 2, "S16": 2, "64": 8, "128": 16}


def width_of(form: Form) -> int:
    """Bytes per lane."""
    return next((WIDTHS[m] for m in form.modifiers if m in WIDTHS), 4)


def constant_load(form: Form) -> Action:
    """The step of a load of a constant."""
    width = width_of(form)
    read = form.constant_reader(form.operands[1], width)
    if width == 8:
        put = form.destination64(0)
        return lambda r: put(r, read(r))
    destination = form.destination(0)
    signed = next((SIGNED[m] for m in form.modifiers if m in SIGNED), None)
    if width == 4:

        def whole(r: list) -> None:
            r[destination] = read(r)

        return whole

    def step(r: list) -> None:
        value = read(r)
        r[destination] = value.view(signed).astype(np.int32).view(np.uint32) if signed else value.astype(np.uint32)

    return step

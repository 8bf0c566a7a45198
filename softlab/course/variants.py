"""Exercises with other numbers for each student: the same task, graded alike. The name of the student picks them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from softlab.course.exercises import Exercise


@dataclass(frozen=True)
class Varied:
    """An exercise whose number differs.

    choices: the numbers that a student may get; text: what the notebook asks, and the same with ``{n}`` in place of the
    number; make: gives the exercise with that number.
    """

    choices: tuple[int, ...]
    text: tuple[str, str]
    make: Callable[[int], Exercise]

    def number(self, id: str, student: str) -> int:
        """The number of a student: always the same one for a name."""
        seed = hashlib.sha256(f"{student}\n{id}".encode()).digest()
        return self.choices[int.from_bytes(seed[:8], "big") % len(self.choices)]


def for_student(notebook: Mapping[str, Any], varied: Mapping[str, Varied], student: str) -> dict[str, Any]:
    """The notebook with the numbers of a student, whose name stands in the cells that grade them."""
    cells = []
    for cell in notebook["cells"]:
        source = "".join(cell["source"])
        for id, one in varied.items():
            asked, template = one.text
            if cell["cell_type"] == "markdown":
                source = source.replace(asked, template.replace("{n}", str(one.number(id, student))))
            else:
                call = f'exercise("{id}", {student!r})'
                source = source.replace(f'exercise("{id}")', call)
        cells.append({**cell, "source": source})
    return {**notebook, "cells": cells}

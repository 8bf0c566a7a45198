"""What the record of a run keeps of its program."""

from __future__ import annotations

from typing import Any

from softlab.cuda.compile import Program


def program_fields(program: Program) -> dict[str, Any]:
    """The fields of :class:`softlab.Run` that come from the compiled program."""
    names = ("name", "arch", "file", "source", "registers", "spill_bytes", "static_smem_bytes")
    return {name: getattr(program, name) for name in names}

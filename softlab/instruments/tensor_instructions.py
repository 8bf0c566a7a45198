"""Instructions of tensor cores and the counters that they add to, in the machine code and in the PTX.

The pipes are those of Nsight Compute's metrics ``sm__inst_executed_pipe_tensor_op_*``. A product of a warpgroup counts
twice there, as ``gmma`` and as ``hmma`` or ``imma``. So an H200 counts (``tests/hardware/record_tensor.py``).
``HFMA2.MMA`` is left out: it is on that pipe (``op_hmma_type_hfma2``) and multiplies no matrices.
"""

from __future__ import annotations

from softlab.emulator.ptx.syntax import Instruction

_FLOATS, _INTEGERS, _DOUBLES = ("HMMA", "HGMMA", "QGMMA"), ("IMMA", "BMMA", "IGMMA", "BGMMA"), ("DMMA",)
#: Counter -> the opcodes of the machine code that it counts.
TENSOR_OPCODES = {
    "tensor_instructions": (*_FLOATS, *_INTEGERS, *_DOUBLES),
    "tensor_hmma_instructions": _FLOATS,
    "tensor_imma_instructions": _INTEGERS,
    "tensor_dmma_instructions": _DOUBLES,
    "tensor_gmma_instructions": ("HGMMA", "QGMMA", "IGMMA", "BGMMA"),
}


def counters_of_ptx(instruction: Instruction) -> tuple[str, ...]:
    """The counters to which an instruction of the PTX adds one per warp; none if it is no product of matrices."""
    of_group = instruction.opcode == "wgmma" and instruction.has("mma_async")
    if not of_group and instruction.opcode != "mma" and not (instruction.opcode == "wmma" and instruction.has("mma")):
        return ()
    pipe = "dmma" if instruction.has("f64") else "imma" if instruction.has("s32") else "hmma"
    return "tensor_instructions", f"tensor_{pipe}_instructions", *(("tensor_gmma_instructions",) if of_group else ())

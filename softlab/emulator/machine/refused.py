"""What the parser takes and the emulator does not have, with advice: registers of the driver, 128-bit values, and some
instructions."""

from __future__ import annotations

from softlab.emulator.ptx.body import DRIVER_REGISTERS, GRID_WORKSPACE
from softlab.emulator.ptx.syntax import REFUSED_TYPES, Address, Instruction, Operand, Pair, Register, Special, Vector
from softlab.emulator.ptx.unsupported import unsupported

#: Beginning of a special register's name -> (what it is, what to do instead).
_DRIVER = {
    "reserved_smem": (
        "it is where the driver keeps shared memory of its own",
        "Use __shared__ memory of the kernel",
    ),
    "envreg": ("the driver sets it for its own use", "Pass the value as an argument"),
    "pm": ("it is a performance counter of the GPU", "Read run.counters after the run"),
}


#: Beginning of an instruction -> (what it is, what to do instead).
_LATER = {
    "tcgen05": (
        "it is for the tensor cores and the tensor memory of sm_100, and the emulator has those of sm_90",
        "Compile for sm_90 with mma.sync, or run it on a GPU",
    ),
    "clusterlaunchcontrol": (
        "it is an instruction of sm_100, and the emulator has those of sm_90",
        "Compile for sm_90, or run it on a GPU",
    ),
    "wgmma.mma_async.sp": (
        "products of sparse matrices are not known to the emulator",
        "Use dense ones, or run it on a GPU",
    ),
    "mma.sp": ("products of sparse matrices are not known to the emulator", "Use dense ones, or run it on a GPU"),
    "tensormap": (
        "the emulator has tensor maps that the host makes, and a kernel cannot change them",
        "Pass one softlab.TensorMap per array, or run it on a GPU",
    ),
    "multimem": ("it accesses the memory of several GPUs, and the emulator is one", "Use memory of one GPU"),
}


#: Modes of tensor copies other than tiles: images for convolutions, and those of sm_100.
_GATHERS = ("im2col", "im2col_no_offs", "im2col::w", "im2col::w::128", "tile::gather4", "tile::scatter4")
_TILES = "Copy boxes in tile mode, or run it on a GPU"


def _check_later(instruction: Instruction, file: str | None) -> None:
    """Refuse an instruction that the emulator does not have, by its name."""
    name = ".".join((instruction.opcode, *instruction.modifiers))
    if instruction.opcode == "cp" and instruction.has(*_GATHERS):
        raise unsupported(instruction, "of tensor copies the emulator has the mode .tile", file=file, advice=_TILES)
    for stem, (what, advice) in _LATER.items():
        if name == stem or name.startswith((f"{stem}.", f"{stem}::")):
            raise unsupported(instruction, what, file=file, advice=advice)


def check_known(instruction: Instruction, file: str | None) -> None:
    """Refuse an instruction that reads what the emulator does not have; ``file`` is the kernel's own source file.

    Raises:
        UnsupportedInstruction: with advice.
    """
    _check_later(instruction, file)
    if instruction.opcode == "call" and instruction.has("recursion"):
        raise unsupported(
            instruction,
            "recursion that is this deep is not known to the emulator, which copies a function into itself",
            file=file,
            advice="Recurse less deeply, write it as a loop, or run it on a GPU",
        )
    operands = [part for operand in instruction.operands for part in _parts(operand)]
    wide = any(isinstance(part, Register) and part.type in REFUSED_TYPES for part in operands)
    if wide or (instruction.has(*REFUSED_TYPES) and instruction.opcode != "atom"):
        raise unsupported(
            instruction,
            "of registers of 128 bits the emulator has loads, stores, moves, atom.exch and atom.cas",
            file=file,
            advice="Compute with two values of 64 bits",
        )
    for part in operands:
        if isinstance(part, Special) and part.name in DRIVER_REGISTERS and part.name not in GRID_WORKSPACE:
            what, advice = next(words for stem, words in _DRIVER.items() if part.name.startswith(stem))
            raise unsupported(instruction, f"%{part.name} is not known, since {what}", file=file, advice=advice)


def _parts(operand: Operand) -> tuple[Operand, ...]:
    """The registers in an operand."""
    if isinstance(operand, Vector):
        return operand.elements
    if isinstance(operand, Pair):
        return operand.first, operand.second
    return (operand.base,) if isinstance(operand, Address) else (operand,)

"""The opcodes that are known: importing this package registers them."""

from softlab.sass.opcodes import (  # noqa: F401 - importing registers
    atomics,
    bulk_copies,
    comparisons,
    control,
    conversions,
    doubles,
    floats,
    halves,
    integer,
    matrices,
    mbarriers,
    memory,
    moves,
    predicates,
    shifts,
    special,
    synchronisation,
    warps,
)

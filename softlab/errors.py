"""The errors that softlab raises on purpose. Wrong arguments are plain ``TypeError`` and ``ValueError``."""

from __future__ import annotations

from dataclasses import dataclass

FAULT_KINDS = (
    "global-out-of-bounds",
    "shared-out-of-bounds",
    "misaligned",
    "uninitialized-shared",
    "race",
    "barrier-divergence",
    "inactive-lane",
    "infinite-loop",
    "mbarrier-misuse",
)


class Error(Exception):
    """Base of every error that softlab raises on purpose."""


class CompileError(Error):
    """CUDA source that NVRTC rejects, or NVRTC that cannot be loaded.

    ``log`` is the compiler's own log; the message carries it with the source lines it speaks of.
    """

    def __init__(self, message: str, *, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class PlanError(Error):
    """No launch can be planned: the message says which limit is broken and by how much."""


class UnsupportedInstruction(Error):
    """A PTX instruction that the emulator does not know.

    ``instruction`` is its PTX text and ``line`` the line of the CUDA source it came from (None where unknown).
    """

    def __init__(self, message: str, *, instruction: str, line: int | None = None) -> None:
        super().__init__(message)
        self.instruction = instruction
        self.line = line


@dataclass(frozen=True)
class FaultSite:
    """Where a fault happened. Every field is None where it does not apply or is not known."""

    line: int | None = None
    thread: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    address: int | None = None


class KernelFault(Error):
    """A kernel did what a GPU must not do.

    ``kind`` is one of ``FAULT_KINDS``; ``line`` is the line of the CUDA source; ``thread`` and ``block`` are
    (x, y, z) indices; ``address`` is a byte offset (in the block's shared memory, or from the start of the nearest
    array). Fields that do not apply are None.
    """

    def __init__(self, kind: str, message: str, site: FaultSite | None = None) -> None:
        if kind not in FAULT_KINDS:
            raise ValueError(f"fault kind {kind!r} is not one of {FAULT_KINDS}")
        site = site or FaultSite()
        super().__init__(message)
        self.kind = kind
        self.line = site.line
        self.thread = site.thread
        self.block = site.block
        self.address = site.address

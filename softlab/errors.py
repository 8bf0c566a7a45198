"""The errors that softlab raises on purpose. Wrong arguments are plain ``TypeError`` and ``ValueError``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FAULT_KINDS = (
    "global-out-of-bounds",
    "shared-out-of-bounds",
    "local-out-of-bounds",
    "misaligned",
    "uninitialized-shared",
    "uninitialized-local",
    "race",
    "restrict-alias",
    "barrier-divergence",
    "inactive-lane",
    "infinite-loop",
    "mbarrier-misuse",
    "wgmma-misuse",
)
#: Kinds of a fault by which a kernel stops itself.
STOP_KINDS = ("trap", "assert")


class Error(Exception):
    """Base of every error that softlab raises on purpose. Every one can be pickled, with all its fields."""

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), self.args, self.__dict__)


def _restored(kind: type[Error], args: tuple[Any, ...], fields: dict[str, Any]) -> Error:
    """A pickled error again: keyword arguments of its own are among the fields."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error


class CompileError(Error):
    """CUDA source that NVRTC rejects, or NVRTC that cannot be loaded.

    ``log`` is the compiler's own log; the message carries it with the source lines it speaks of.
    """

    def __init__(self, message: str, *, log: str = "") -> None:
        super().__init__(message)
        self.log = log


class PlanError(Error):
    """No launch can be planned: the message says which limit is broken and by how much."""


class EstimateError(Error):
    """No time can be estimated of this launch: the message says why, and what to do instead."""


class UnsupportedInstruction(Error):
    """A PTX instruction that the emulator does not know.

    ``instruction`` is its PTX text. It came from ``line`` of ``file``, None where they are not known; if that line
    calls a function of a header, ``header`` is the line there, such as "line 5 of tile.cuh".
    """

    def __init__(
        self,
        message: str,
        *,
        instruction: str,
        line: int | None = None,
        file: str | None = None,
        header: str | None = None,
    ) -> None:
        super().__init__(message)
        self.instruction = instruction
        self.line = line
        self.file = file
        self.header = header


@dataclass(frozen=True)
class FaultSite:
    """Where a fault happened. Every field is None where it does not apply or is not known.

    ``argument`` is the index of the kernel argument whose array the address belongs to or is nearest to. ``symbol`` is
    the address as the source names it. ``other_line``, ``other_thread`` and ``other_block`` are those of the other
    access of a race. ``file`` is the source file of ``line``: the kernel's own, unless the whole kernel is in a header.
    ``header``, such as "line 5 of tile.cuh", says where a header is at fault that ``line`` calls; ``other_file`` and
    ``other_header`` likewise.
    """

    line: int | None = None
    thread: tuple[int, int, int] | None = None
    block: tuple[int, int, int] | None = None
    address: int | None = None
    argument: int | None = None
    symbol: str | None = None
    other_line: int | None = None
    other_thread: tuple[int, int, int] | None = None
    other_block: tuple[int, int, int] | None = None
    file: str | None = None
    header: str | None = None
    other_file: str | None = None
    other_header: str | None = None


class KernelFault(Error):
    """A kernel did what a GPU must not do, or stopped itself: a trap, or an assertion that fails.

    ``kind`` is one of ``FAULT_KINDS`` or ``STOP_KINDS``; ``line`` is the line of the CUDA source; ``thread`` and
    ``block`` are (x, y, z) indices; ``address`` is a byte offset (in the block's shared memory, or from the start of
    the nearest array); ``argument`` is the index of the kernel argument that is this array; ``symbol`` is the address
    as the source names it, such as "c[0]". Of a race, ``other_line``, ``other_thread`` and ``other_block`` are the
    other access. ``file`` is the file of ``line``, and ``header`` ("line 5 of tile.cuh") where a header is at fault
    that ``line`` calls; ``other_file`` and ``other_header`` likewise. Fields that do not apply are None.
    """

    def __init__(self, kind: str, message: str, site: FaultSite | None = None) -> None:
        if kind not in (*FAULT_KINDS, *STOP_KINDS):
            raise ValueError(f"fault kind {kind!r} is not one of {(*FAULT_KINDS, *STOP_KINDS)}")
        site = site or FaultSite()
        super().__init__(message)
        self.kind = kind
        self.line = site.line
        self.file = site.file
        self.header = site.header
        self.thread = site.thread
        self.block = site.block
        self.address = site.address
        self.argument = site.argument
        self.symbol = site.symbol
        self.other_line = site.other_line
        self.other_file = site.other_file
        self.other_header = site.other_header
        self.other_thread = site.other_thread
        self.other_block = site.other_block

    def with_note(self, note: str) -> KernelFault:
        """The same fault with a line added to its message."""
        fault = type(self).__new__(type(self), f"{self}\n  {note}")
        fault.args = (f"{self}\n  {note}",)
        fault.__dict__.update(self.__dict__)
        return fault


def first_line(error: Exception) -> str:
    """The first line of an error's message, without a full stop; of a fault also the line of the source."""
    text = str(error).partition("\n")[0].rstrip(".")
    return f"{text} (line {error.line})" if isinstance(error, KernelFault) and error.line else text

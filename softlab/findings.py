"""What a run finds wrong with a kernel: raised at once, or collected while the run goes on."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from softlab.errors import KernelFault

Index3 = tuple[int, int, int]


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a kernel, found ``count`` times.

    ``kind``: one of ``softlab.errors.FAULT_KINDS`` or ``STOP_KINDS``. ``severity``: "error", or "warning" for what
    cannot change the result, such as two threads that write the same value to one address. ``line``, ``thread`` (x, y,
    z) and ``block`` (x, y, z) say where it was found first; ``other_line``, ``other_thread`` and ``other_block`` name
    the other access of a race. ``address``: byte offset in the array, or in the block's shared memory; ``symbol``: the
    same as the source names it, such as "c[0]". ``message``: the whole text. ``file`` is the source file of ``line``;
    ``header``, such as "line 5 of tile.cuh", says where a header is at fault that ``line`` calls; ``other_file`` and
    ``other_header`` likewise. Fields that do not apply are None.
    """

    kind: str
    severity: str
    message: str
    line: int | None = None
    thread: Index3 | None = None
    block: Index3 | None = None
    other_line: int | None = None
    other_thread: Index3 | None = None
    other_block: Index3 | None = None
    address: int | None = None
    symbol: str | None = None
    count: int = 1
    file: str | None = None
    header: str | None = None
    other_file: str | None = None
    other_header: str | None = None

    @classmethod
    def of(cls, fault: KernelFault, severity: str, count: int) -> Finding:
        """The finding that a fault is."""
        return cls(
            kind=fault.kind,
            severity=severity,
            message=str(fault),
            line=fault.line,
            thread=fault.thread,
            block=fault.block,
            other_line=fault.other_line,
            other_thread=fault.other_thread,
            other_block=fault.other_block,
            address=fault.address,
            symbol=fault.symbol,
            count=count,
            file=fault.file,
            header=fault.header,
            other_file=fault.other_file,
            other_header=fault.other_header,
        )


@dataclass
class FaultSink:
    """Takes the faults of one run. Each is raised at once, or with ``collects`` kept while the run goes on.

    Faults of one kind and severity at the same two lines are one finding. Warnings are never raised: they are kept.
    """

    collects: bool = False
    _found: dict[tuple[str, str, int | None, int | None], Finding] = field(default_factory=dict)

    def report(self, fault: KernelFault, *, severity: str = "error", count: int = 1) -> None:
        """Raise an error, or keep what was found ``count`` times.

        Raises:
            KernelFault: an error, unless the sink collects.
        """
        if severity == "error" and not self.collects:
            raise fault
        key = (fault.kind, severity, fault.line, fault.other_line)
        known = self._found.get(key)
        if known is None:
            self._found[key] = Finding.of(fault, severity, count)
        else:
            self._found[key] = replace(known, count=known.count + count)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """All that was found, in the order of the first of each."""
        return tuple(self._found.values())

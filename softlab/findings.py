"""What a run finds wrong with a kernel: raised at once, or collected while the run goes on."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from softlab.errors import KernelFault

Index3 = tuple[int, int, int]
#: The lines of a fault's message that say where it is.
_PLACE = re.compile(r"  (at|the other \w+ is at) ")
#: Places in the headers of CUDA's own libraries.
_LIBRARY = re.compile(r"line \d+ of (cooperative_groups|cub|cuda|thrust)[/.]")


@dataclass(frozen=True)
class Finding:
    """One thing that is wrong with a kernel, found ``count`` times.

    ``kind``: one of ``softlab.errors.FAULT_KINDS`` or ``STOP_KINDS``. ``severity``: "error", or "warning" for what
    cannot change the result, such as two threads that write the same value to one address, and for what the compiler
    may have changed, such as a thread that writes what it has read as read-only data. ``line``, ``thread`` (x, y,
    z) and ``block`` (x, y, z) say where it was found first; ``other_line``, ``other_thread`` and ``other_block`` name
    the other access of a race. ``address``: byte offset in the array, or in the block's shared memory; ``symbol``: the
    same as the source names it, such as "c[0]". ``message``: the whole text. ``file`` is the source file of ``line``;
    ``header``, such as "line 5 of tile.cuh", says where a header is at fault that ``line`` calls; ``other_file`` and
    ``other_header`` likewise. ``argument``: index of the kernel argument that the address belongs to. Fields that do
    not apply are None.
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
    argument: int | None = None

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
            argument=fault.argument,
        )


def found_words(findings: Sequence[Finding]) -> str:
    """Such as "2 errors and 1 warning were found"; "" without findings."""
    counts = {severity: sum(f.severity == severity for f in findings) for severity in ("error", "warning")}
    parts = [f"{count} {name}{'' if count == 1 else 's'}" for name, count in counts.items() if count]
    verb = "was" if len(findings) == 1 else "were"
    return f"{' and '.join(parts)} {verb} found" if parts else ""


def often(count: int) -> str:
    """How often, in words: "once", "384 times"."""
    return "once" if count == 1 else f"{count:,} times".replace(",", "\u202f")


def headline(finding: Finding) -> str:
    """A finding in one line: "error: race, 384 times, line 5 and line 3"."""
    places = dict.fromkeys((line, file) for line, file in (
        (finding.line, finding.file), (finding.other_line, finding.other_file)) if line is not None)  # fmt: skip
    header = len({file for _, file in places}) > 1
    lines = " and ".join(f"line {line}{f' of {file}' if header else ''}" for line, file in places)
    return f"{finding.severity}: {finding.kind}, {often(finding.count)}{f', {lines}' if lines else ''}"


def sentence(finding: Finding) -> str:
    """What is wrong and what to do: the message without the kind and the places, which the fields have."""
    text = finding.message.removeprefix(f"{finding.kind}: ")
    return "\n".join(_as_sentence(line.strip()) for line in text.splitlines() if line and not _PLACE.match(line))


def _as_sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:]}{'' if text.endswith(('.', '!', '?')) else '.'}"


def without_repetitions(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """The findings without those warnings whose places are also those of an error of the same kind.

    A race that mostly writes other values now and then writes the same one.
    """

    def place(finding: Finding) -> tuple[object, ...]:
        return finding.kind, finding.line, finding.file, finding.other_line, finding.other_file

    errors = {place(finding) for finding in findings if finding.severity == "error"}
    return tuple(f for f in findings if f.severity == "error" or place(f) not in errors)


@dataclass
class FaultSink:
    """Takes the faults of one run. Each is raised at once, or with ``collects`` kept while the run goes on.

    Faults of one kind and severity at the same two lines are one finding. Warnings are never raised: they are kept,
    but not those of what CUDA's own libraries do, which nobody can change.
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
        if severity == "warning" and _LIBRARY.match(fault.header or "") and _LIBRARY.match(fault.other_header or ""):
            return
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

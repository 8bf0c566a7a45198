"""Requirements on a learner's kernel. Each function makes one; a requirement returns what is wrong with an attempt."""

from __future__ import annotations

from collections.abc import Callable

from softlab.course.kernels import Attempt, KernelSlip, LaunchCase, Requirement
from softlab.course.places import read_again
from softlab.hardware.devices import with_article
from softlab.hardware.occupancies import occupancy
from softlab.traces import Run

Limit = int | Callable[[LaunchCase], int]


#: Code that takes an exponential of a number as it is, and code whose maximum begins with 0 or a number of another row.
EXP_OF_X = r"exp\w*\(\s*(\w+\s*\[[^\]]*\]|v)\s*\)"
MAXIMUM_FROM_ZERO = r"(float|double)[^;()]*\b(m|max|most|largest|top|maximum)\w*\s*=\s*(0|x\[row\])"
#: Slips of a kernel that takes the logarithm of a sum of exponentials.
LOG_SUM_SLIPS = (
    KernelSlip(
        "e^x overflows for large x: subtract the largest number of the row within the exponent.",
        "inf",
        EXP_OF_X,
    ),
    KernelSlip("That is the logarithm of base 2; `__logf` is the natural one.", "result", r"log2"),
    KernelSlip("The logarithm of the sum is missing.", "result", r"^(?!.*\b(__logf|logf|log)\().*\by\s*\["),
    KernelSlip(
        "The maximum has to begin below every number that may come: -3.4e38f, not 0 and no number of another row.",
        "",
        MAXIMUM_FROM_ZERO,
    ),
    KernelSlip(
        "That is the logarithm of the sum of e^(x - m): add the maximum m again.",
        "result",
        r"=\s*(__)?log2?f?\(\s*\w+\s*\)\s*;",
    ),
)


def at_most(counter: str, limit: Limit, hint: str) -> Requirement:
    """A counter of ``Run.counters`` is at most ``limit``, which is a number or a function of the launch."""

    def lack(attempt: Attempt) -> str:
        most, count = _limit(limit, attempt.launch), attempt.run.counters[counter]
        if count <= most:
            return ""
        again = read_again(attempt.kernel, attempt.launch) if counter == "global_load_requests" else ""
        return f"{_named(counter, count)}, {most} possible{_where(attempt.run, counter)}. {again or hint}"

    return lack


def at_least(counter: str, limit: Limit, hint: str) -> Requirement:
    """A counter is at least ``limit``."""

    def lack(attempt: Attempt) -> str:
        least, count = _limit(limit, attempt.launch), attempt.run.counters[counter]
        return "" if count >= least else f"{_named(counter, count)}, {least} expected. {hint}"

    return lack


def no_bank_conflicts(hint: str = "Write down word % 32 for each lane: which lanes meet?") -> Requirement:
    """Every shared-memory access takes only the wavefronts that its bytes need."""

    def lack(attempt: Attempt) -> str:
        counters = attempt.run.counters
        if not counters["bank_conflicts"]:
            return ""
        lines = attempt.run.by_line()
        worst = max(lines.values(), key=lambda counted: counted["bank_conflicts"], default=counters)
        taken = worst["shared_load_wavefronts"] + worst["shared_store_wavefronts"]
        possible = taken - worst["bank_conflicts"]
        ways = f"{taken / max(possible, 1):.2g}-way"
        return (
            f"bank conflicts are still {ways}: {taken} wavefronts, {possible} possible"
            f"{_where(attempt.run, 'bank_conflicts')}. {hint}"
        )

    return lack


def no_shared_memory(hint: str = "Lanes of a warp can hand values to each other by shuffles.") -> Requirement:
    """The kernel neither declares nor uses shared memory."""

    def lack(attempt: Attempt) -> str:
        static = attempt.kernel.program.static_smem_bytes
        counters = attempt.run.counters
        used = counters["shared_load_instructions"] + counters["shared_store_instructions"]
        if not static and not used:
            return ""
        return f"it uses shared memory: {static} bytes per block, {used} instructions. {hint}"

    return lack


def no_spills(
    hint: str = "A value that does not fit into registers is written to memory and read back.",
) -> Requirement:
    """All values of a thread stay in registers."""

    def lack(attempt: Attempt) -> str:
        program = attempt.kernel.program
        if program.spill_bytes:
            return f"{program.spill_bytes} bytes per thread are spilled. {hint}"
        if program.local_bytes:
            return (
                f"{program.local_bytes} bytes per thread lie in memory, as spilled values do. The compiler keeps an "
                "array in registers only if it knows each index, as in a loop that it unrolls."
            )
        return ""

    return lack


def blocks_per_sm(least: int, hint: str, device: str = "H200") -> Requirement:
    """At least ``least`` blocks of the launch fit on an SM of ``device``."""

    def lack(attempt: Attempt) -> str:
        program, shape = attempt.kernel.program, attempt.run.block
        threads = shape[0] * shape[1] * shape[2]
        smem = program.static_smem_bytes + attempt.launch.smem
        held = occupancy(device, threads=threads, registers=program.registers, smem=smem)
        if held.blocks_per_sm >= least:
            return ""
        limits = " and ".join(held.limiters)
        return (
            f"{held.blocks_per_sm} blocks fit on an SM of {with_article(device)}, {least} are asked for: a thread "
            f"takes {program.registers} registers, a block {smem} bytes of shared memory, and {limits} run out first. "
            f"{hint}"
        )

    return lack


def _limit(limit: Limit, launch: LaunchCase) -> int:
    return limit(launch) if callable(limit) else limit


def _named(counter: str, count: int) -> str:
    return f"{count} {counter.replace('_', ' ')}"


def _where(run: Run, counter: str) -> str:
    """ ", most on line 7: `y[k] = x[k];`"; "" where no line has any."""
    lines = {line: counted[counter] for line, counted in run.by_line().items() if counted[counter]}
    if not lines:
        return ""
    line = max(lines, key=lines.__getitem__)
    return f", most on line {line}: `{run.source.splitlines()[line - 1].strip()}`"

"""The time of a launch: sample blocks, interpret their machine code, simulate one SM, conclude for the whole GPU."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from math import prod

from softlab.cuda.compile import Program
from softlab.cuda.disassembly import disassemble
from softlab.cuda.machine_instructions import MachineFunction
from softlab.hardware.devices import Device, resolve
from softlab.hardware.occupancies import Occupancy, occupancy
from softlab.sass.decided import atomics_decide
from softlab.sass.memory import STACK_LIMIT
from softlab.timing import queues
from softlab.timing.atomics import evened
from softlab.timing.blocks import BlockClock
from softlab.timing.columns import Columns
from softlab.timing.company import company
from softlab.timing.compulsory import bytes_off
from softlab.timing.estimates import Estimate
from softlab.timing.journal import Journal, SmTimeline
from softlab.timing.lengths import longest_of_blocks
from softlab.timing.line_times import LineTimes
from softlab.timing.memory import Memory
from softlab.timing.order import loaded
from softlab.timing.parameters import Parameters, interpolated, parameters
from softlab.timing.program import Pipe, TimedProgram, timed_program
from softlab.timing.sampling import Sample, carve_out, choose, differ, extrapolate, unseen
from softlab.timing.sharing import Sharing, sharing
from softlab.timing.sm import SmRun, simulate
from softlab.timing.stalls import REASONS
from softlab.timing.stand_ins import with_own_data
from softlab.timing.traits import CodeTraits
from softlab.timing.validation import validated
from softlab.timing.work import BlockWork, block_work

Index3 = tuple[int, int, int]

#: A unit in use for at least this share of the time bounds the launch.
_BUSY = 0.6
#: Blocks whose instructions differ by more than this share of their mean (standard deviation) are called different.
_DIFFERENT = 0.2
#: A launch whose stores arrive later than its warps end, by more than this share of the time, has the stall reason
#: "drain" in Nsight Compute: 6 of the 132 profiled launches of the twenty-fourth set, with 8 to 71 % of their stalls.
_DRAINED = 0.1
_SECTOR = 32
#: The driver's name of a function -> what the source calls it.
_CALLED = {"vprintf": "printf"}
_UNITS = {
    "fma": Pipe.FMA, "alu": Pipe.ALU, "fp64": Pipe.FP64, "sfu": Pipe.XU, "uniform": Pipe.UNIFORM,
    "tensor": Pipe.TENSOR,
}  # fmt: skip


@dataclass(frozen=True)
class Timed:
    """A launch to estimate: its program and shape.

    ``extents``: the addresses of its arrays as sectors (first, last). ``cluster``: the blocks of one. ``driver_calls``:
    the functions of the driver that its threads called. ``stack_bytes``: the largest stack of a thread where functions
    call themselves, else 0. ``blocks_wait``: whether blocks wait for others of the grid. ``sharers``: the blocks that
    were interpreted together where blocks share work (:mod:`softlab.timing.queues`), else 0. ``dealt``: whether these
    got their part of the work as if all blocks took theirs (:mod:`softlab.sass.taking`). ``left_out``: blocks whose
    interpretation was given up, since they execute too much.
    """

    program: Program
    grid: Index3
    block: Index3
    smem: int
    extents: tuple[tuple[int, int], ...] = ()
    cluster: Index3 = (1, 1, 1)
    driver_calls: tuple[str, ...] = ()
    stack_bytes: int = 0
    blocks_wait: bool = False
    sharers: int = 0
    dealt: bool = False
    left_out: int = 0

    @property
    def blocks(self) -> int:
        """Blocks of the grid."""
        return prod(self.grid)


def device_of(device: Device | str | None) -> Device:
    """The GPU to estimate for; None is an H200."""
    return resolve("H200" if device is None else device)


def sample_of(launch: Timed, device: Device, sample: int | Sequence[int] | None = None) -> Sample:
    """The blocks to interpret."""
    one = held(launch, device)
    if not one.blocks_per_sm:
        raise ValueError(f"no block of this launch fits on an SM of the {device.name}. {one.reason}")
    return choose(launch.grid, device.sm_count, one.blocks_per_sm, sample, launch.cluster)


def held(launch: Timed, device: Device) -> Occupancy:
    """How many blocks of a launch an SM holds."""
    smem = launch.program.static_smem_bytes + launch.smem
    return _held(device, prod(launch.block), launch.program.registers, smem)


@lru_cache(maxsize=256)
def _held(device: Device, threads: int, registers: int, smem: int) -> Occupancy:
    return occupancy(device, threads=threads, registers=registers, smem=smem)


@lru_cache(maxsize=64)
def _function(program: Program) -> MachineFunction:
    return disassemble(program, alone=True).kernel


def machine_function(program: Program) -> MachineFunction:
    """The machine code of a program's kernel."""
    return _function(program)


@lru_cache(maxsize=64)
def code_traits(program: Program) -> CodeTraits:
    """What the model asks of each instruction of a program's kernel."""
    return CodeTraits.of(_function(program).instructions)


@lru_cache(maxsize=64)
def atomics_may_decide(program: Program) -> bool:
    """:func:`softlab.sass.decided.atomics_decide` of a program's kernel."""
    return atomics_decide(_function(program).instructions)


@lru_cache(maxsize=64)
def _timed(program: Program, device: Device) -> TimedProgram:
    return timed_program(_function(program), parameters(device), program.file)


def estimate(
    launch: Timed, columns: Columns, sample: Sample, device: Device, cache: str = "cold",
    figures: Parameters | None = None, journal: Journal | None = None,
) -> Estimate:  # fmt: skip
    """The estimate of a launch whose sampled blocks were interpreted.

    Arguments:
        columns: what the warps of ``sample.blocks`` executed, and those of other blocks that were interpreted.
        cache: "cold" (L2 holds nothing of it) or "warm" (what fits into L2 is there).
        figures: instead of the device's own.
        journal: new; the estimate's ``timeline`` is made of it.

    Raises:
        UnknownInstruction: a warp executed an instruction that the model has no pipe for.
        ValueError: another cache, or a GPU without figures.
    """
    if cache not in ("cold", "warm"):
        raise ValueError(f'cache = {cache!r}: it is "cold" or "warm"')
    p = _of_cache(figures or parameters(device), cache, sample)
    code = code_traits(launch.program)
    own = timed_program(machine_function(launch.program), p, launch.program.file) if figures else None
    program = own or _timed(launch.program, device)
    program.check(columns.instructions)
    # Whole clusters were interpreted. An SM has no more of their blocks than of others.
    sample = replace(sample, blocks=sample.blocks[: sample.per_sm])
    order = _blocks(columns, sample, code)
    shared = _shared(launch, columns, sample, p, code, warm=cache == "warm")
    memory = _memory(launch, columns, sample, device, p, shared, order, warm=cache == "warm")
    order = list(with_own_data(order, memory.sharing, launch.blocks))
    run = simulate(program, order, p, memory, _clock(launch, sample, p), journal=journal)
    counts = [work.instructions for work in order]
    cycles = extrapolate(run, sample, float(sum(counts)), memory.served)
    cycles = _of_other_sms(launch, columns, sample, device, p, code, program, shared, cycles, warm=cache == "warm")
    cycles = _last_warp(launch, columns, code, p, sample, _busy(memory, run, p), cycles, memory)
    cycles = max(cycles + interpolated(p.start[int(cache == "warm")], sample.active), 1.0)
    why = _unmeasured(launch, columns, code)
    found = _record(launch, sample, device, cache, p, program, memory, run, counts, columns, cycles, why)
    return found if journal is None else replace(found, timeline=SmTimeline.of(journal, order, program.lines))


def _blocks(columns: Columns, sample: Sample, code: CodeTraits) -> list[BlockWork]:
    """The blocks of a sample as they start; one that stands for others comes several times."""
    key = "works", sample.blocks
    works = columns.known.get(key)
    if works is None:
        found = {work.block: work for work in block_work(columns.streams, code, sample.blocks)}
        works = columns.known[key] = [found[block] for block in sample.blocks if block in found]
    return works


def _clock(launch: Timed, sample: Sample, p: Parameters) -> BlockClock:
    return BlockClock(p, sample.resident, sample.active, prod(launch.block))


def _of_cache(p: Parameters, cache: str, sample: Sample) -> Parameters:
    if cache == "warm":
        return p
    return p.with_constant_miss(p.constant_miss + interpolated(p.constant_cold, sample.active))


def _last_warp(
    launch: Timed, columns: Columns, code: CodeTraits, p: Parameters, sample: Sample, busy: float, cycles: float,
    memory: Memory,
) -> float:  # fmt: skip
    """The ``cycles`` with those by which the longest warp of all takes longer than those that were interpreted, and the
    one that waits for DRAM longest than those of this SM, where all blocks run at once. What the SM is ``busy`` with, a
    share of its time, others do meanwhile."""
    if sample.per_sm > sample.resident:
        return cycles
    longest = longest_of_blocks(columns, code, p)
    cycles *= 1 + (1 - busy) * unseen(longest, launch.blocks)
    return cycles + (1 - busy) * memory.slowest.later(sample.active)


def _of_other_sms(
    launch: Timed, columns: Columns, sample: Sample, device: Device, p: Parameters, code: CodeTraits,
    program: TimedProgram, shared: tuple[Sharing, float], cycles: float, *, warm: bool,
) -> float:  # fmt: skip
    """The ``cycles`` of the simulated SM with what others do: those that share work with it and have a block fewer, and
    the one that has the longest warp of all."""
    given = device, p, code, program, shared
    if launch.dealt and queues.is_uneven(sample, launch.blocks):
        fewer = replace(sample, blocks=sample.blocks[:-1], per_sm=sample.per_sm - 1, resident=sample.resident - 1)
        cycles = queues.evened(cycles, _of_sample(launch, columns, fewer, *given, warm=warm), sample, launch.blocks)
    if sample.longest:
        last = replace(sample, blocks=sample.longest, per_sm=len(sample.longest), longest=())
        cycles = max(cycles, _of_sample(launch, columns, last, *given, warm=warm))
    return cycles


def _of_sample(
    launch: Timed, columns: Columns, sample: Sample, device: Device, p: Parameters, code: CodeTraits,
    program: TimedProgram, shared: tuple[Sharing, float], *, warm: bool,
) -> float:  # fmt: skip
    """Cycles of another SM, with these blocks. shared: as the launch finds L2."""
    order = _blocks(columns, sample, code)
    memory = _memory(launch, columns, sample, device, p, shared, order, warm=warm)
    order = list(with_own_data(order, memory.sharing, launch.blocks))
    run = simulate(program, order, p, memory, _clock(launch, sample, p))
    return extrapolate(run, sample, float(sum(work.instructions for work in order)), memory.served)


def _shared(
    launch: Timed, columns: Columns, sample: Sample, p: Parameters, code: CodeTraits, *, warm: bool
) -> tuple[Sharing, float]:
    """What blocks of the grid share, and how much of it L2 has when the launch begins."""
    at_once = sample.resident * sample.active
    key = "shared", launch.blocks, at_once, p.l2_capacity, launch.extents
    shared = columns.known.get(key)
    if shared is None:
        stored = columns.touched(stored=True)
        sectors = len(stored.together)
        written = columns.stored_bytes(code.widths)
        filled = min(1.0, written / (32 * sectors)) if written else 1.0
        shared = columns.known[key] = sharing(
            columns.touched(), stored, launch.blocks, at_once, p.l2_capacity, launch.extents, filled,
            lambda: tuple(loaded(columns).values()), columns.added,
        )  # fmt: skip
    kept = interpolated(p.again, shared.footprint) if warm else 0.0
    if warm and kept < 1:  # what the launch before has stored is written back meanwhile
        shared = replace(shared, written_back=max(shared.written_back, 1 - kept))
    return shared, kept


def _memory(
    launch: Timed, columns: Columns, sample: Sample, device: Device, p: Parameters, shared: tuple[Sharing, float],
    order: Sequence[BlockWork], *, warm: bool,
) -> Memory:  # fmt: skip
    """The caches and the DRAM as the launch finds them."""
    found, kept = shared
    smem = launch.program.static_smem_bytes + launch.smem + device.smem_reserved_per_block
    # The driver takes as much from L1 as all blocks need that an SM has room for, whether the grid has them or not.
    carved = carve_out(held(launch, device).blocks_per_sm * smem)
    at_once = -(-prod(launch.block) // 32) * sample.resident * sample.active
    local = at_once * columns.local_bytes
    works = (
        columns.instructions_of_blocks,
        dict(zip(columns.blocks.tolist(), columns.lanes_adding.tolist(), strict=True)),
    )
    alike, adding = (_alike(launch, sample, work) for work in works)
    warps = min(sample.per_sm, sample.resident) * -(-prod(launch.block) // 32)
    lines = -(-launch.program.local_bytes // 4)
    beside = company(sample.active, launch.blocks, sample.per_sm, alike, order)
    key = "evened", sample.blocks
    even = columns.known.get(key)
    if even is None:
        even = columns.known[key] = evened(columns.passes_adding(sample.blocks), found)
    return Memory(p, found, sample.active, kept, carved, not warm, local, alike, adding, warps, lines, beside, even)


def _alike(launch: Timed, sample: Sample, work: Mapping[int, int]) -> float:
    """Of how many SMs like the simulated one all work of the launch is: it may have more than the others.

    Arguments:
        work: block -> its work, of those that were interpreted.
    """
    blocks = launch.blocks
    usual = [done for block, done in work.items() if len(work) == blocks or 0 < block < blocks - 1]
    own = [work[block] for block in sample.blocks if block in work]
    if not (own and sum(own)):
        return float(sample.active)
    mean = _mean(usual) if usual else _mean(own)
    return min(float(sample.active), mean * blocks / (_mean(own) * sample.per_sm))


def _mean(values: Sequence[int]) -> float:
    return sum(values) / len(values)


def _record(
    launch: Timed, sample: Sample, device: Device, cache: str, p: Parameters, program: TimedProgram, memory: Memory,
    run: SmRun, counts: Sequence[int], columns: Columns, cycles: float, unmeasured: str,
) -> Estimate:  # fmt: skip
    every = list(columns.instructions_of_blocks.values())
    use = _use(memory, run, p)
    total = sum(run.by_reason) or 1.0
    stalls = {name: value / total for name, value in zip(REASONS, run.by_reason, strict=True) if value}
    warps = -(-prod(launch.block) // 32)
    done = run.issued / max(1.0, sum(counts))
    each = max(len(counts) * warps * max(done, 1e-9), 1.0)
    instructions = _mean(every) * launch.blocks if every else 0.0
    scale = instructions / max(1.0, sum(counts) * done)
    bound = _bound(use, stalls, cycles / p.clock_mhz, p)
    notes = (*_notes(run, sample, counts, every, launch.blocks), *_notes_of_end(run, memory, p))
    found = Estimate(
        kernel=launch.program.name,
        device=device.name,
        cache=cache,
        grid=launch.grid,
        block=launch.block,
        microseconds=float(cycles / p.clock_mhz + p.launch_microseconds),
        cycles=float(cycles),
        launch_microseconds=p.launch_microseconds,
        bound=bound,
        stalls=dict(sorted(stalls.items(), key=lambda item: -item[1])),
        use=use,
        occupancy=sample.resident * warps / device.max_warps_per_sm,
        dram_bytes=_dram_bytes(launch, columns, memory, p, scale),
        l1_hit_rate=memory.l1_hits / memory.l1_requests if memory.l1_requests else 0.0,
        l2_hit_rate=memory.l2_hits / memory.l2_requests if memory.l2_requests else 0.0,
        instructions=instructions,
        blocks=len(counts),
        validated=unmeasured or validated(device, bound, cache, p),
        notes=(*notes, *_notes_of_part(columns), *_notes_of_launch(launch)),
        _lines=LineTimes(*run.spent, run.waits, program.lines, total, each),
    )
    found = _with_loads_of_others(found, columns)
    return found if cache == "warm" else _with_bytes_off(found, launch, columns, memory, p, scale)


def _dram_bytes(launch: Timed, columns: Columns, memory: Memory, p: Parameters, scale: float) -> float:
    """The bytes that DRAM moves. scale: of one SM's bytes to all. Where a part of what warps do is known, the rest
    brings nothing anew of arrays that L2 holds."""
    moved = float(memory.dram.moved * scale)
    if columns.further is None or memory.sharing.footprint > p.l2_capacity:
        return moved
    return min(moved, float(sum(_SECTOR * (last - first + 1) for first, last in launch.extents)))


def _with_bytes_off(
    found: Estimate, launch: Timed, columns: Columns, memory: Memory, p: Parameters, scale: float
) -> Estimate:
    """An estimate that says where its bytes are not those that have to be loaded. scale: of one SM's bytes to all."""
    read, fits = found.dram_bytes - memory.dram.written * scale, memory.sharing.footprint <= p.l2_capacity
    if columns.further is not None:  # not all of what has to be loaded is known
        return found
    note = bytes_off(read, columns, launch.grid, launch.cluster, launch.extents, fits=fits)
    return replace(found, notes=(*found.notes, note)) if note else found


def _with_loads_of_others(found: Estimate, columns: Columns) -> Estimate:
    """An estimate whose simulated blocks bring nothing from DRAM, with what other interpreted blocks bring."""
    if found.cache == "warm" or found.dram_bytes:
        return found
    known = len(columns.loaded) * _SECTOR
    note = f"the simulated blocks load nothing; dram_bytes is what {len(columns.blocks)} interpreted blocks load"
    return replace(found, dram_bytes=float(known), notes=(*found.notes, note)) if known else found


def _use(memory: Memory, run: SmRun, p: Parameters) -> dict[str, float]:
    span = max(1.0, run.cycles)
    use = {name: run.busy[pipe] / (4 * span) for name, pipe in _UNITS.items()}
    use["fma"] += run.busy[Pipe.FMA_HEAVY] / (4 * span) / 2
    use["issue"] = run.issued / (4 * span)
    use["shared"] = memory.shared_busy / span
    use["l1"] = (memory.lsu_busy - memory.shared_busy) / span
    use["l2"] = max(memory.l2_busy, memory.l2_write_busy) / span
    use["dram"] = memory.dram.busy / memory.dram.rate / span
    use["atomics"] = memory.units.busy / span if memory.atomics else 0.0
    return {name: min(1.0, float(value)) for name, value in use.items()}


def _busy(memory: Memory, run: SmRun, p: Parameters) -> float:
    """The share of the simulated time in which a unit is at work; that of atomics is until the last one ends."""
    done = memory.units.done / max(1.0, run.cycles) if memory.atomics else 0.0
    return max(*_use(memory, run, p).values(), min(1.0, done))


def _bound(use: Mapping[str, float], stalls: Mapping[str, float], kernel_us: float, p: Parameters) -> str:
    if kernel_us < p.launch_microseconds:
        return "launch"
    name = max(use, key=use.__getitem__)
    if use[name] >= _BUSY:
        return name
    waits = {n: share for n, share in stalls.items() if n not in ("selected", "not_selected")}
    return "barrier" if waits and max(waits, key=waits.__getitem__) == "barrier" else "latency"


def _notes(run: SmRun, sample: Sample, counts: Sequence[int], every: Sequence[int], blocks: int) -> Iterator[str]:
    if len(every) > 1 and differ(every, _DIFFERENT):
        missing = "" if len(every) == blocks else "; the slowest may be missing"
        yield f"blocks differ: {min(every)} to {max(every)} instructions in {len(every)} of {blocks} blocks{missing}"
    if not run.complete:
        yield f"only the first {run.issued} instructions of an SM were simulated; the rest follows from their rate"
    elif sample.per_sm > len(counts):
        yield f"{_of_blocks(len(counts), sample.per_sm)} simulated; the rest follows from their rate"


def _notes_of_end(run: SmRun, memory: Memory, p: Parameters) -> Iterator[str]:
    """What warps wait for at their end, if it is more than the usual way of a store."""
    later = run.drained - run.cycles - memory.drain
    if run.complete and later > _DRAINED * run.drained:
        yield (
            f"the last stores and atomics arrive {later / p.clock_mhz:.1f} us after the warps have come to their end. "
            "Nsight Compute says drain while a warp waits for that; stalls does not have it"
        )


def _notes_of_part(columns: Columns) -> Iterator[str]:
    """What is known of the interpreted warps in part."""
    if columns.further is not None:
        yield (
            f"the interpreted warps execute {columns.executed.sum() / 1e6:.0f} million instructions. What they access "
            f"is known of the first {columns.part:.0%}, and the others are taken to be like these"
        )


def _of_blocks(some: int, of: int) -> str:
    return f"{some} of the {of} blocks of an SM {'was' if some == 1 else 'were'}"


def _notes_of_launch(launch: Timed) -> Iterator[str]:
    if launch.sharers:
        how = "with their part of it" if launch.dealt else "together"
        yield f"blocks share work by atomics: {launch.sharers} of {launch.blocks} blocks were interpreted {how}"
    if launch.left_out:
        yield (
            f"{launch.left_out} blocks that had executed as many instructions as the others were not interpreted to "
            "their ends: whether all have as much to do is not known"
        )
    if launch.stack_bytes > STACK_LIMIT:
        yield (
            f"functions call themselves, and a thread's stack takes {launch.stack_bytes} bytes. A GPU gives "
            f"{STACK_LIMIT}, unless cudaDeviceSetLimit(cudaLimitStackSize, ...) asks for more"
        )


def _unmeasured(launch: Timed, columns: Columns, code: CodeTraits) -> str:
    """Why the error is not known of a launch that does what was not measured; "" for others."""
    reasons = []
    if launch.driver_calls:
        names = " and ".join(_CALLED.get(name, name) for name in launch.driver_calls)
        reasons.append(f"the threads call {names}, whose time was not measured and is not in the estimate")
    if launch.blocks_wait:
        certain = code.looks.any() or code.tries_again or not code.looks_again
        what = "" if certain else "a loop loads what other blocks write, so perhaps "
        reasons.append(f"{what}blocks wait for others of the grid, and how often they look is known roughly")
        if (seen := len(columns.blocks)) < launch.blocks:
            what = f"only {seen} of these {launch.blocks} blocks were interpreted"
            reasons.append(f"{what}, so the waits may be too short")
    elif columns.most_lanes(code.tries) > 1:
        reasons.append("threads of a block wait for each other at a lock, and how often they look is known roughly")
    elif prod(launch.block) > 1 and columns.execute(code.looks):
        reasons.append(
            "threads of a block look at memory until others have written it, and how often is not known: the estimate "
            "may be several times too long or too short"
        )
    if columns.execute(code.sleeps):
        reasons.append("the threads sleep (__nanosleep), and that time is not in the estimate")
    if columns.execute(code.times_itself):
        reasons.append("a loop reads a clock, which counts instructions here and no cycles")
    if launch.sharers == launch.blocks or launch.dealt:
        reasons.append("blocks share work by atomics, and each takes as often as if all blocks went in lock step")
    elif launch.sharers:
        reasons.append(
            f"blocks share work by atomics, and the {launch.sharers} of {launch.blocks} blocks that were interpreted "
            "did the others' part, too: the estimate may be far too long"
        )
    return f"not validated: {'; '.join(reasons)}" if reasons else ""


__all__ = ["Timed", "device_of", "estimate", "machine_function", "sample_of"]

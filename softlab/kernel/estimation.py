"""The estimate of a launch: which blocks, their streams from the machine code, and the timing model."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from softlab.cuda.compile import Program
from softlab.cuda.structs import Struct
from softlab.errors import EstimateError, KernelFault, UnsupportedInstruction
from softlab.hardware.devices import Device, with_article
from softlab.kernel.arguments import checked_arguments
from softlab.kernel.limits import LaunchShape, check_launch
from softlab.kernel.named_faults import named_fault
from softlab.kernel.progress import ProgressBar
from softlab.sass.lanes import WARP
from softlab.sass.streams import Space, Streams, WarpStream
from softlab.sass.taking import without_period
from softlab.timing import model, queues
from softlab.timing import what_if as changes
from softlab.timing.columns import Columns
from softlab.timing.estimates import Estimate
from softlab.timing.issue import ANSWER
from softlab.timing.journal import Journal
from softlab.timing.lengths import longest_of_blocks, most_instructions
from softlab.timing.parameters import parameters
from softlab.timing.sampling import INTERPRETED, Sample, edges, first_wave, more_blocks, slowest
from softlab.timing.sm import BUDGET

if TYPE_CHECKING:
    from softlab.kernel.kernel import Kernel
    from softlab.sass.interpret import Interpretation


_SECTOR = 32
#: Instructions of the warps that are interpreted together whose requests are kept: as many as one SM is simulated for,
#: and as many as are to show how blocks differ. What warps do further is counted. But all is kept where a warp has less
#: than this share of what they have in the mean: the simulation ends with the first that has no more.
_LOGGED, _LEAST = BUDGET + INTERPRETED, 0.25
#: What an SM may spend so that it is simulated to its end. Then all is kept, too.
_SIMULATED = BUDGET
#: Instructions that are interpreted of blocks that look for what others write while nobody writes anything: of all, and
#: of each of their warps.
_PATIENCE, _PATIENCE_OF_WARP = 1_000_000, 16_000
#: Additions and multiplications that a lane does in one machine instruction of single precision.
_FP32_OPERATIONS = {"FADD": 1, "FMUL": 1, "FFMA": 2}


@dataclass(frozen=True)
class SampledLaunch:
    """A launch whose sampled blocks were interpreted: estimates of it for several devices and caches are cheap.

    ``wider``: the sample for twice the occupancy, if it was asked for. ``columns``: of the warps of both samples, and
    of the blocks that show how blocks differ and what they share.
    """

    launch: model.Timed
    sample: Sample
    columns: Columns
    wider: Sample | None = None

    @property
    def streams(self) -> Sequence[WarpStream]:
        """What these warps executed."""
        return self.columns.streams

    def estimate(
        self, device: Device | str | None = None, cache: str = "cold", *, what_if: str = "", timeline: bool = False
    ) -> Estimate:
        """The estimate for a device with as many SMs and as much of each SM as the one it was sampled for."""
        gpu = model.device_of(device)
        journal = Journal() if timeline else None
        if not what_if:
            found = model.estimate(self.launch, self.columns, self.sample, gpu, cache, journal=journal)
            return replace(found, fp32_operations=self._fp32_operations)
        changed = changes.changed_device(gpu, what_if)
        sample = self.sample if changed is gpu else self.wider
        if sample is None:
            raise ValueError(f"the blocks for {what_if!r} were not sampled")
        code = model.machine_function(self.launch.program).instructions
        found = model.estimate(
            self.launch, Columns.of(changes.changed_streams(self.streams, code, what_if)), sample, changed,
            changes.changed_cache(cache, what_if), changes.changed_figures(parameters(gpu), what_if), journal,
        )  # fmt: skip
        notes = found.notes
        if changed is not gpu and sample.resident == self.sample.resident:
            notes = (*notes, "the grid has no more blocks for an SM, so twice the occupancy changes nothing")
        return replace(
            found,
            cache=cache,
            occupancy=found.occupancy * changed.max_warps_per_sm / gpu.max_warps_per_sm,
            validated=f"not validated: no GPU has {what_if!r}; the model's error is that of a change of its input",
            notes=notes,
            what_if=what_if,
            fp32_operations=self._fp32_operations,
        )

    def what_if(
        self, device: Device | str | None = None, cache: str = "cold",
        names: Sequence[str] = tuple(changes.CHANGES), *, timeline: bool = False,
    ) -> changes.WhatIf:  # fmt: skip
        """The launch as it is, with a timeline if asked for, and with each change."""
        base = self.estimate(device, cache, timeline=timeline)
        return changes.WhatIf(base, {name: self.estimate(device, cache, what_if=name) for name in names})

    def changes_what_it_loads(self) -> bool:
        """Whether the interpreted blocks load what they or others of them store: a second launch may do other things.

        Of an array, loads of any place and stores to any place count: which of them meet in the whole grid is not seen.
        """
        loaded, stored = self.columns.loaded, self.columns.stored()
        inside = [(loaded >= first) & (loaded <= last) for first, last in self.launch.extents]
        arrays = any(
            here.any() and ((stored >= first) & (stored <= last)).any()
            for here, (first, last) in zip(inside, self.launch.extents, strict=True)
        )
        return arrays or bool(np.isin(loaded[~np.logical_or.reduce([*inside, loaded < 0])], stored).any())

    @cached_property
    def _fp32_operations(self) -> float:
        """Of the whole launch, if all blocks are like those of the sample."""
        done = self.columns.lane_operations(_fp32_operations_of(self.launch.program)) / self.columns.part
        return done * self.launch.blocks / len(self.columns.blocks) if self.streams else 0.0


@lru_cache(maxsize=64)
def _fp32_operations_of(program: Program) -> np.ndarray:
    """int64, of each instruction of a program's kernel: operations per lane."""
    code = model.machine_function(program).instructions
    return np.array([_FP32_OPERATIONS.get(one.opcode, 0) for one in code], np.int64)


def sample_launch(
    kernel: Kernel, grid: Any, block: Any, args: Sequence[Any], smem: int, device: Device | str | None,
    sample: int | Sequence[int] | None = None, names: Sequence[str] = (),
) -> SampledLaunch:  # fmt: skip
    """Choose the blocks of a launch and interpret their machine code. The arrays stay as they are.

    Arguments:
        names: the changes of :data:`softlab.timing.what_if.CHANGES` that will be asked for.
    """
    gpu, shape = model.device_of(device), LaunchShape.of(grid, block, smem)
    check_launch(kernel.program, shape)
    given = [_on_host(argument) for argument in checked_arguments(kernel.program, args, kernel.layouts)]
    launch = model.Timed(kernel.program, shape.grid, shape.block, shape.smem, (), kernel.cluster)
    changed = [changes.changed_device(gpu, changes.checked(name)) for name in names]
    samples = [model.sample_of(launch, one, sample) for one in (gpu, *(one for one in changed if one is not gpu))]
    per_cluster = prod(launch.cluster)
    more = [edges(one, launch.blocks, per_cluster) for one in samples if sample is None]
    blocks = _Blocks(kernel, shape, given, launch)
    wanted = {b for one in samples for b in one.blocks}.union(*more)
    blocks.whole, blocks.sampled = sample is not None, {b for one in samples for b in one.blocks}
    if sample is None and per_cluster == 1:
        blocks.needed = {0, launch.blocks - 1}.union(*(first_wave(one) for one in samples))
    counts = blocks.deal(wanted, gpu) or blocks.divide(blocks.interpret(wanted, gpu), gpu)
    samples = [replace(one, blocks=tuple(b for b in one.blocks if b in counts)) for one in samples]
    if blocks.launch.dealt and sample is None:
        samples = [_simulated(one, counts, blocks.longest(one, gpu), blocks, gpu) for one in samples]
    elif sample is None and per_cluster == 1:
        longest = [blocks.longest(one, gpu) for one in samples]
        further = {
            b for one, long in zip(samples, longest, strict=True)
            for b in more_blocks(one, counts, launch.blocks, long, blocks.most)
        } - set(counts)  # fmt: skip
        if further:
            blocks.needed = None
            counts |= blocks.interpret(further, gpu)
            longest = [blocks.longest(one, gpu) for one in samples]
        samples = [_simulated(one, counts, long, blocks, gpu) for one, long in zip(samples, longest, strict=True)]
    return SampledLaunch(blocks.launch, samples[0], blocks.columns, samples[1] if len(samples) > 1 else None)


def _simulated(
    sample: Sample, counts: dict[int, int], longest: dict[int, float], blocks: _Blocks, device: Device
) -> Sample:
    """The blocks of the SM that decides: it has the most to do, unless its blocks share the work with all others."""
    launch = blocks.launch
    if launch.dealt and sample.resident < sample.per_sm:
        return sample
    if (launch.sharers == launch.blocks or launch.dealt) and sample.resident == sample.per_sm:
        return queues.usual(sample, counts, longest, queues.pieces(blocks.columns.streams))
    interval = parameters(device).block_interval(prod(launch.block))
    return slowest(sample, counts, launch.blocks, device.sm_count, longest, interval)


class _Blocks:
    """The interpreted blocks of a launch: their ``columns``, and what of the ``launch`` is known by them."""

    def __init__(self, kernel: Kernel, shape: LaunchShape, args: Sequence[Any], launch: model.Timed) -> None:
        self._kernel, self._shape, self._args = kernel, shape, args
        self.launch = launch
        #: Whether all is kept that blocks do, however much it is, and no block is given up.
        self.whole = False
        #: The blocks of the samples.
        self.sampled: set[int] = set()
        #: Blocks without which there is no estimate: others are given up if all have too much to do. None: all.
        self.needed: Collection[int] | None = None
        #: Blocks that may be interpreted together, where blocks wait for others.
        self.most: int | None = None
        self._parts: list[Streams] = []
        self._columns: Columns | None = None

    @property
    def columns(self) -> Columns:
        """The columns of the streams."""
        if self._columns is None:
            self._columns = Columns.of(Streams.joined(self._parts))
        return self._columns

    def interpret(self, blocks: Collection[int], device: Device) -> dict[int, int]:
        """Block -> its instructions, of these blocks; of all where they wait for others of the grid."""
        try:
            return self._interpret(blocks)
        except KernelFault as fault:
            if fault.kind != "infinite-loop" or len(blocks) == self.launch.blocks:
                raise
        _check_together(self.launch, device)
        self.launch = replace(self.launch, blocks_wait=True)
        self._parts = []
        return self._interpret(range(self.launch.blocks))

    @property
    def _may_wait(self) -> bool:
        """Whether blocks wait for others of the grid, or loops may: they go on in turns by time."""
        traits = model.code_traits(self.launch.program)
        return self.launch.blocks_wait or (traits.waits_for_blocks and self.launch.blocks > 1)

    def _patience(self, blocks: int) -> int | None:
        """For how many instructions blocks look for what others write: half a millisecond of a GPU or more. They may
        count how often they look, so that their registers never are as before."""
        if not self._may_wait:
            return None
        return _PATIENCE + _PATIENCE_OF_WARP * blocks * -(-prod(self.launch.block) // WARP)

    @property
    def _warps_may_wait(self) -> bool:
        """Whether warps may wait for others of their block at a lock: they, too, go on in turns by time."""
        return prod(self.launch.block) > WARP and bool(model.code_traits(self.launch.program).tries.any())

    def longest(self, sample: Sample, device: Device) -> dict[int, float]:
        """Block -> the cycles that its longest warp would take by itself; its instructions where an SM has more blocks
        than run at once, which hide each other's waits."""
        if sample.per_sm > sample.resident:
            return most_instructions(self.columns)
        return longest_of_blocks(self.columns, model.code_traits(self.launch.program), parameters(device))

    def divide(self, counts: dict[int, int], device: Device) -> dict[int, int]:
        """The ``counts`` of the interpreted blocks; those of all blocks where these share work, look at what others
        write, or swap where others do, and are few enough."""
        launch = self.launch
        if launch.blocks_wait:  # all of them, in turns by time
            return counts
        at_once = model.held(launch, device).blocks_per_sm * device.sm_count
        some = len(counts) < launch.blocks
        if some and self._may_share and (more := self._shared(counts, at_once, device)):
            return more
        code = model.code_traits(launch.program)
        if self._may_wait:
            self.launch = replace(self.launch, blocks_wait=True)
            self.most = queues.most_together(counts, at_once, grow=code.tries_again)
            return self._anew(range(launch.blocks) if self.most >= launch.blocks else counts, device)
        if some and queues.compare(self.columns, code) and queues.cheap(counts, launch.blocks):
            return self._anew(range(launch.blocks), device)
        return counts

    def deal(self, blocks: Collection[int], device: Device) -> dict[int, int]:
        """As :meth:`interpret`, each with its part of the work that loops take by an atomic. None where no loop does
        so, and where blocks get a piece at most and all of them can be interpreted together."""
        launch, takes = self.launch, model.code_traits(self.launch.program).takes_work
        if not takes or self._may_wait or prod(launch.cluster) > 1 or len(blocks) == launch.blocks:
            return {}
        own = without_period(blocks, launch.blocks)
        at_once = model.held(launch, device).blocks_per_sm * device.sm_count
        try:
            more = self._interpret(own, max(len(own), launch.blocks // 2))
            self._parts, self._columns, self.launch = [], None, launch
            counts = self._interpret(own, launch.blocks)
            fine = queues.is_too_much(counts, launch.blocks, at_once) or queues.take_several(self.columns.streams)
            if fine and queues.have_less(more, counts):
                self.launch = replace(self.launch, sharers=len(counts), dealt=True)
                return counts
        except KernelFault:  # these atomics are for something else
            pass
        self._parts, self._columns, self.launch = [], None, launch
        return {}

    @property
    def _may_share(self) -> bool:
        """Whether blocks may take work from each other: they come back to an atomic whose value decides something."""
        return queues.may_share(self.columns) and model.atomics_may_decide(self.launch.program)

    def _shared(self, counts: dict[int, int], at_once: int, device: Device) -> dict[int, int]:
        """The counts of more blocks than the interpreted ones if blocks share work, else none."""
        parts, columns, launch = self._parts, self.columns, self.launch
        more = self._anew(queues.among(counts, launch.blocks), device)
        less = queues.have_less(counts, more)
        if columns.further is None and self.columns.further is None:
            less |= queues.have_less(queues.stores_of_blocks(columns), queues.stores_of_blocks(self.columns))
        if not less:
            self._parts, self._columns, self.launch = parts, columns, launch
            return {}
        if queues.few_enough(counts, more, launch.blocks, at_once):
            more = self._anew(range(launch.blocks), device)
        self.launch = replace(self.launch, sharers=len(more))
        return more

    def _anew(self, blocks: Collection[int], device: Device) -> dict[int, int]:
        """As :meth:`interpret`, of these blocks alone, with all that they do."""
        self._parts, self.whole = [], True
        return self.interpret(blocks, device)

    def _interpret(self, blocks: Collection[int], sharers: int = 0) -> dict[int, int]:
        """Block -> its instructions. Where blocks or warps wait for others or take work, all requests are kept."""
        others = sharers or self.launch.blocks_wait or self._may_wait or self._warps_may_wait
        found = self._interpreted(blocks, sharers, None if others or self.whole else _LOGGED)
        columns = Columns.of(found.streams)
        if columns.further is not None and (columns.least < _LEAST or self._can_end(columns)):
            kept = blocks if columns.least < _LEAST else {*found.blocks, *self.sampled.intersection(blocks)}
            found = self._interpreted(kept, sharers, None)
            columns = Columns.of(found.streams)
        self._parts.append(found.streams)
        self._columns = columns if len(self._parts) == 1 else None
        self.launch = replace(
            self.launch,
            left_out=self.launch.left_out + len(blocks) - len(found.blocks),
            extents=_extents(found.places),
            driver_calls=tuple(dict.fromkeys((*self.launch.driver_calls, *found.driver_calls))),
            stack_bytes=max(self.launch.stack_bytes, found.stack_bytes),
        )
        return columns.instructions_of_blocks

    def _can_end(self, columns: Columns) -> bool:
        """Whether an SM with the blocks of the sample is simulated to its end. columns: of some blocks."""
        outside = np.count_nonzero(columns.space != Space.SHARED) / max(1, len(columns.instructions))
        each = columns.executed.sum() / len(columns.blocks) * (1 + ANSWER * outside)
        return bool(each * len(self.sampled) <= _SIMULATED)

    def _interpreted(self, blocks: Collection[int], sharers: int, logged: int | None) -> Interpretation:
        """What the blocks executed. logged: as of :meth:`softlab.sass.machine.Machine.run`."""
        from softlab.sass import interpret

        with ProgressBar(len(blocks), "interpreting machine code") as progress:
            try:
                found = interpret(
                    *(self._kernel, self._shape.grid, self._shape.block, self._args),
                    smem=self._shape.smem,
                    blocks=sorted(blocks),
                    variables=self._kernel.variables,
                    paced=self._may_wait or self._warps_may_wait,
                    progress=progress,
                    patience=self._patience(len(blocks)),
                    sharers=sharers,
                    logged=logged,
                    spare=() if self.needed is None or self.whole else set(blocks).difference(self.needed),
                )
            except KernelFault as fault:
                raise named_fault(fault, self._kernel, self._args, self._shape.smem) from fault
            except UnsupportedInstruction as error:
                raise _refused(error) from error
        found.let_go()
        return found


def _refused(error: UnsupportedInstruction) -> UnsupportedInstruction:
    """The error for an instruction that the interpreter does not know, with what to do."""
    advice = "It has no estimate. The counters and checks of a run do not need it"
    return UnsupportedInstruction(
        f"{error}. {advice}.", instruction=error.instruction, line=error.line, file=error.file, header=error.header
    )


def _check_together(launch: model.Timed, device: Device) -> None:
    """Refuse a launch whose blocks wait for others, if these are too many.

    Raises:
        EstimateError: all of its blocks do not fit on the GPU at once, so that some would have to come later.
    """
    held = model.held(launch, device)
    if launch.blocks > held.blocks_per_sm * device.sm_count:
        raise EstimateError(
            f"blocks of {launch.program.name} wait for other blocks, so that all {launch.blocks} would have to be "
            f"interpreted together. {with_article(device.name, first=True)} holds "
            f"{held.blocks_per_sm * device.sm_count} at once. Estimate a smaller grid"
        )


def _on_host(argument: Any) -> Any:
    """An array of a GPU as a copy on the host; everything else as it is."""
    if isinstance(argument, Struct):
        return argument.with_arrays(_on_host)
    return argument.get() if hasattr(argument, "get") and hasattr(argument, "__cuda_array_interface__") else argument


def _extents(places: Sequence[tuple[int, int]]) -> tuple[tuple[int, int], ...]:
    """The first and last sector of each array. places: their addresses and bytes."""
    return tuple(sorted({(at // _SECTOR, (at + size - 1) // _SECTOR) for at, size in places if size}))

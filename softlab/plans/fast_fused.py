"""Fused operators under the policy "fast": how tiles, lanes, a block or a cluster hold a row.

The kernels (kernels/fast_fused.cuh) keep elements in registers, as they came or in the compute type, whichever takes
fewer. All accesses of a thread are in flight together, those of a bias and a mask among them. So what a thread holds is
counted in registers, not in packs. Short rows move as tiles (kernels/fast_fused_tile.cuh).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from softlab.hardware import occupancies
from softlab.plans import flight, oneflow, short_rows, tiles
from softlab.plans.fast_cuts import clusters_of, most_blocks
from softlab.plans.fast_limits import (
    BLOCK_SIZES,
    CLUSTERS,
    FEW_ROWS_BLOCKS_PER_SM,
    FEW_ROWS_PACKS,
    FEW_ROWS_PER_SM,
    GROUP_WIDTHS,
    LIMITS,
    UNALIGNED_HALVES_OF_A_WARP,
    WARP_BLOCK,
    Cut,
)
from softlab.plans.fast_rows import BLOCK, CLUSTER, TILE, WARP, WHICH, grid_of
from softlab.plans.instantiations import WARP_SIZE, WIDEST_PACK_BYTES, Instantiation, WarpShape
from softlab.plans.planner import Choice, FusedSteps, PlanRequest, StepLog

FILE, TILE_FILE = "fast_fused.cuh", "fast_fused_tile.cuh"
KERNELS = (TILE, WARP, BLOCK, CLUSTER)
#: The longest row that moves in tiles, and how many rows there are per SM before tiles take them.
MOST_TILE_ROW_BYTES, TILE_ROWS_PER_SM = 256, 256
#: What rows share is not in the tile: a lane loads it by itself. So where that is much, longer rows are faster in a
#: warp, although they have a head and a tail there. Tiles then take rows of less than TILE_EDGES times the elements of
#: head and tail. If all operands are the row's own, and nothing is dropped, they take rows up to these bytes, by the
#: bytes of an element, and all causal rows. Where elements are dropped, each element of head and tail draws four random
#: numbers, and tiles take all rows. (NVIDIA H100, 2026-11-27 and 28: kernels/FAST.md, "Fused steps".)
TILE_EDGES, OWN_TILE_BYTES = 4.8, {2: 127, 4: 100}
#: Warps on an SM, or ``tiles.LONG_WARPS``: the compiler then gives a lane 80 registers, or 96. A lane's part of a row
#: and its operands in flight may take TILE_REGISTERS of them. With dropout it is TILE_DROPOUT_REGISTERS fewer, for the
#: keys of random numbers.
TILE_WARPS, TILE_REGISTERS, TILE_DROPOUT_REGISTERS = 24, (36, 52), 12
#: With operands of their own, rows of whole packs of these bytes need no tile, but for IDLE_PACKS.
OWN_PACK_BYTES = 8
#: Of few rows those of one word with operands of their own, or causal ones, are faster in the reference's kernels. So
#: are one or two elements with a bias and a mask.
WORD_BYTES = 4
#: Dropped rows of 16 bits in whole packs move as tiles if they fill less of the next power of two of packs, forward and
#: in gradients (H100, 2026-11-28, 42 pairs; with causal mask 9 packs 0.54 -> 0.81, 8 packs 0.89 -> 0.86).
FULL_OF_DROPPED = {1: 0.85, 2: 0.7}
#: Numbers of packs that leave a quarter or more of a row's lanes without one.
IDLE_PACKS = (3, 5, 6)
#: How many registers the compiler gives a thread, about: a base; one for each 4 bytes of its elements in the compute
#: type; per pack, a part of what is in flight and a few more.
BASE_REGISTERS, PART_IN_FLIGHT, PER_PACK = 12, 0.3, 2.2
#: The same for values of 16-bit elements in packs of 16 bytes. A pack takes a register per value, and a part of what
#: its operands have in flight. A row takes a base, and more in a warp, where an element of head or tail counts, too.
#: Results that are dropped take more. Beyond MOST_REGISTERS the compiler spills (NVRTC 13.0, sm_90, 150 kernels).
VALUES_BASE, VALUES_IN_WARP, VALUES_EDGE, VALUES_DROPPED = 14.5, 5, 4, 11
#: Registers of a thread that keeps elements as they came, for its row (in a block, in a warp) and for head and tail.
ROW_REGISTERS, EDGE_REGISTERS = (20, 32), 10
#: In a warp, an element of head or tail of a lane takes more where operands are apart.
APART_EDGE_REGISTERS = 3
#: The same: up to how many it needs, and what the compiler gets then (``fused_threads`` in the kernels).
REGISTER_LIMITS = (((42, 40), (50, 48), (64, 64)), ((42, 40), (50, 48), (66, 64)))
#: Instructions of a lane for a row, in a warp, a block and a cluster; more where an operand is shared, whose row is
#: found by divisions.
ROW_INSTRUCTIONS, SHARED_INSTRUCTIONS = {WARP: 90, BLOCK: 130, CLUSTER: 200}, 100
#: Instructions of a lane for an element that stays packed, of one input, of two; more for a bias or a mask, and for a
#: causal mask. An element of head or tail takes more than one of a pack.
ELEMENT_INSTRUCTIONS, OPERAND_INSTRUCTIONS, CAUSAL_INSTRUCTIONS = {1: 13, 2: 10}, 5, 2
EDGE_ELEMENTS = 3
#: The same for an element whose value is kept; more for a bias or a mask, and for dropout.
VALUE_INSTRUCTIONS, VALUE_OPERAND_INSTRUCTIONS, DROPOUT_INSTRUCTIONS = 13, 1.5, 14
#: How sharp the two bounds, bytes in flight and instructions, are where they meet, and by how much a share must be
#: larger to count.
SHARPNESS, LARGER = 6, 1.01
#: The kernels are compiled for this limit: an SM then holds 1024 threads.
MOST_REGISTERS = 64
#: The most packs that are asked for.
MOST_PACKS = 32
#: Rows of fewer bytes are not worth a cluster: an exchange takes as long as their loads.
CLUSTER_BYTES = FEW_ROWS_PACKS * WIDEST_PACK_BYTES
#: Unaligned rows of fewer bytes are mostly head and tail, so they move in narrower packs that divide them. The fewest
#: lanes that share head and tail.
EDGED_BYTES, EDGED_WIDTH = 128, 8
#: Elements that the body leaves to the tail where operands are apart (``Division::beyond`` in the kernels).
APART_EDGES = 4
#: The longest row of a warp in packs where operands are apart: four packs of each lane. Two warps of a block would both
#: compute where the operand's row begins (H100, float32 x 419 with bias and mask: 0.85 in 64 threads, 0.99 in 32).
APART_PACKS_OF_A_WARP = 128
#: Bytes that the lanes of a group take at once, side by side: a sector.
SECTOR_BYTES = 32


@dataclass(frozen=True)
class _FusedRow:
    """A row of ``packs`` packs of ``pack_size`` elements. If ``unaligned``, it has a head and a tail besides.

    ``words`` of 4 bytes hold an element of all inputs in the compute type; ``in_flight`` of them are loaded for one
    pack, with the operands. ``apart``: rows of an operand begin at other places of a pack. ``edges``: the most elements
    of head and tail. ``keeps``: registers hold elements as they came. ``halves``: packs have eight elements of 16 bits.
    ``values``: registers that their values take per row and per pack. ``moved``: bytes that memory moves for the row;
    ``found``, ``element``: instructions of a lane to find its operand's row, and for each element.
    """

    pack_size: int
    packs: int
    unaligned: bool
    apart: bool
    edges: int
    words: int
    in_flight: int
    nbytes: int
    keeps: bool
    halves: bool
    values: tuple[float, float]
    moved: float
    found: float
    element: float

    def registers(self, packs: int, threads: int) -> int:
        """Registers per thread, about, of threads with ``packs`` each; ``threads`` share head and tail."""
        if self.keeps:
            in_warp = threads <= WARP_SIZE
            of_row = ROW_REGISTERS[in_warp] + (EDGE_REGISTERS if self.edges else 0)
            if in_warp and self.apart:
                of_row += APART_EDGE_REGISTERS * -(-self.edges // threads)
            needed = of_row + packs * self.in_flight
            return next((limit for most, limit in REGISTER_LIMITS[in_warp] if needed <= most), 2 * MOST_REGISTERS)
        if self.halves:
            return self._of_values(packs, threads)
        each = self.pack_size * self.words + PART_IN_FLIGHT * self.in_flight + PER_PACK
        return int(BASE_REGISTERS + packs * each + -(-self.edges // threads) * self.words)

    def _of_values(self, packs: int, threads: int) -> int:
        """What the compiler gets for values of 16-bit elements, or what is needed if that is more."""
        edges, (of_row, of_pack) = -(-self.edges // threads), self.values
        needed = int(of_row + packs * of_pack + (VALUES_IN_WARP + VALUES_EDGE * edges if threads <= WARP_SIZE else 0))
        if needed > MOST_REGISTERS:
            return needed
        if self.apart:
            return min(MOST_REGISTERS, 32 + 8 * packs)
        # As in fused_threads.
        few = packs * (self.pack_size * self.words + 2) + edges <= 31
        return min(48, 24 + 8 * packs) if few else MOST_REGISTERS

    def holds(self, packs: int, threads: int) -> bool:
        """Whether a thread's registers hold this number of packs."""
        return self.registers(packs, threads) <= MOST_REGISTERS


def choose(request: PlanRequest, log: StepLog) -> Choice:
    """Decide; ``log`` records how. The reference's kernels take what the registers of a cluster do not hold."""
    if shape := _tile_shape(request):
        return _tile(request, log, shape)
    if _belongs_to_reference(request):
        rule = "a word, or two elements with bias and mask, cost the reference's kernels less"
        log.note("Is a row one of the shortest?", True, rule, cols=request.cols)
        return oneflow.choose(request, log)
    row = _row(request, log)
    # In short causal rows most packs meet the diagonal, and values would be computed again and again.
    causal = request.fused is not None and request.fused.causal and request.operator.rows_kept == 1
    lanes = replace(row, keeps=row.keeps and not causal)
    packs = -(-row.packs // WARP_SIZE)
    longest = _packs_of_a_warp(request, lanes) * WIDEST_PACK_BYTES * request.operator.rows_kept
    if row.nbytes <= longest and lanes.holds(packs, WARP_SIZE):
        log.note(WHICH, WARP, "a few lanes of a warp hold the row", KERNELS, packs=row.packs)
        return _warp(request, log, lanes)
    few = row.nbytes >= CLUSTER_BYTES and request.rows <= FEW_ROWS_PER_SM * request.device.sm_count
    cut = (_few_rows_cut(request, row) if few else None) or _cut(request, row)
    if cut is None:
        rule = "else the reference's kernels take the row"
        log.note("Do the registers of a block or a cluster hold the row?", False, rule, packs=row.packs)
        return oneflow.choose(request, log)
    kernel = CLUSTER if cut.cluster > 1 else BLOCK
    log.note(WHICH, kernel, f"the registers of a {kernel.removeprefix('fast_')} hold the row", KERNELS, packs=row.packs)
    return _blocks(request, log, row, cut)


def _packs_of_a_warp(request: PlanRequest, row: _FusedRow) -> int:
    """The longest row of a warp in packs of 16 bytes, if registers hold it."""
    if row.halves and not row.keeps:
        return UNALIGNED_HALVES_OF_A_WARP
    if row.apart and request.operator.rows_kept == 1:
        return APART_PACKS_OF_A_WARP
    return LIMITS[request.element.itemsize, request.operator.rows_kept].warp


def _tile_shape(request: PlanRequest) -> tiles.TileShape | None:
    """How tiles hold the rows: None where another kernel takes them."""
    itemsize, many = request.element.itemsize, TILE_ROWS_PER_SM * request.device.sm_count
    if request.pack_size or itemsize == 8 or request.rows < many or request.device.compute_capability < (8, 0):
        return None
    if not _tiles_pay(request.cols, itemsize, request.fused or FusedSteps(), request.operator.rows_kept):
        return None
    steps, device, inputs = request.fused or FusedSteps(), request.device, request.operator.rows_kept
    problem = short_rows.Problem(request.cols, itemsize, inputs, request.operator.name)
    share = inputs / (inputs + _operand_registers(request.cols, itemsize, steps))
    keys = TILE_DROPOUT_REGISTERS * (steps.drops and inputs == 1)
    words, long_words = (int((registers - keys) * share) for registers in TILE_REGISTERS)
    room = tiles.Room(TILE_WARPS, words, long_words, steps.own)
    return tiles.shape(problem, request.rows, device.sm_count, device.smem_per_sm, room)


def _operand_registers(cols: int, itemsize: int, steps: FusedSteps) -> float:
    """Registers for each element of a row in a tile, for what its operands have in flight."""
    vector = tiles.vector_size_of(cols, itemsize)
    if _apart(steps, vector):
        return len(steps.operands)
    return sum(-(-vector * nbytes // 4) / vector for nbytes in steps.operands)


def _tiles_pay(cols: int, itemsize: int, steps: FusedSteps, inputs: int) -> bool:
    """Whether rows move faster in tiles than in lanes of a warp, of many rows."""
    row_bytes = cols * itemsize
    packs, rest = divmod(row_bytes, WIDEST_PACK_BYTES)
    if not rest:
        if itemsize > 2:
            return steps.drops and inputs == 1 and packs in IDLE_PACKS
        return steps.drops and packs < FULL_OF_DROPPED[inputs] * 2 ** (packs - 1).bit_length()
    if steps.drops:
        return row_bytes <= MOST_TILE_ROW_BYTES
    if _all_own(steps):
        packs, rest = divmod(row_bytes, OWN_PACK_BYTES)
        most = MOST_TILE_ROW_BYTES if steps.causal and inputs == 1 else OWN_TILE_BYTES[itemsize]
        return row_bytes <= most and (rest > 0 or packs in IDLE_PACKS)
    biased = max(steps.operands, default=0) == itemsize
    if biased or (steps.causal and itemsize == 4 and inputs == 1):
        return cols < TILE_EDGES * _edges(itemsize)
    return row_bytes <= MOST_TILE_ROW_BYTES


def _belongs_to_reference(request: PlanRequest) -> bool:
    """Whether a row is so short that a tile spends more instructions on the row than on its elements."""
    steps, cols, itemsize = request.fused or FusedSteps(), request.cols, request.element.itemsize
    if request.operator.rows_kept > 1 or steps.drops or itemsize == 8:
        return False
    one_word = cols * itemsize <= WORD_BYTES
    return (one_word and (steps.causal or _all_own(steps))) or (cols <= 2 and len(steps.operands) > 1)


def _all_own(steps: FusedSteps) -> bool:
    """Whether there are operands with an element for each, and rows share none."""
    return bool(steps.operands) and not steps.shared


def _apart(steps: FusedSteps, elements: int) -> bool:
    """Whether an operand's rows and x's rows begin at different places of a vector or pack of ``elements``."""
    return steps.shared and steps.alike % elements > 0


def _edges(itemsize: int) -> int:
    """The most elements of a row's head and tail beside packs of 16 bytes."""
    return SECTOR_BYTES // itemsize + WIDEST_PACK_BYTES // itemsize - 2


def _tile(request: PlanRequest, log: StepLog, shape: tiles.TileShape) -> Choice:
    pack_size = WIDEST_PACK_BYTES // request.element.itemsize
    log.note(WHICH, TILE, "a warp moves many short rows as one piece", KERNELS, cols=request.cols, rows=request.rows)
    log.note("How many lanes share a row?", shape.width, "as few as hold it in their registers", GROUP_WIDTHS)
    rule = f"as few as bring {tiles.TILE_BYTES} bytes in flight per warp, while there are tiles for all SMs"
    log.note("How many rows does a warp move at once?", shape.rows, rule, rows=request.rows)
    apart = shape.odd and _apart(request.fused or FusedSteps(), shape.vector_size)
    blocks = grid_of(
        request, log, -(-request.rows // (shape.block_size // WARP_SIZE * shape.rows)), "one tile per warp"
    )
    numbers = (pack_size, shape.vector_size, shape.vectors, str(shape.odd).lower(), shape.width, shape.slabs)
    template = f"{TILE}_backward" if request.operator.backward else TILE
    stages = request.fused is not None and bool(request.fused.own)
    listed = (*numbers, shape.block_size, shape.blocks_per_sm, str(apart).lower(), str(stages).lower())
    arguments = ", ".join((request.element.cuda, f"Algorithm::{request.operator.algorithm}", *map(str, listed)))
    kernel = Instantiation(TILE_FILE, f"{template}<{arguments}>")
    return Choice(TILE, pack_size, (shape.block_size, 1), blocks, kernel)


def _row(request: PlanRequest, log: StepLog) -> _FusedRow:
    itemsize, inputs, steps = request.element.itemsize, request.operator.rows_kept, request.fused or FusedSteps()
    widest = WIDEST_PACK_BYTES // itemsize
    divides = next(size for size in (8, 4, 2, 1) if size <= widest and request.cols % size == 0)
    edged = not request.pack_size and divides < widest and request.cols * itemsize >= EDGED_BYTES
    question = "How many elements does a thread move at once?"
    rule = "asked for" if request.pack_size else "16 bytes; in a short row the most that divide it"
    pack_size = request.pack_size or (widest if edged else divides)
    log.note(question, pack_size, rule, cols=request.cols, itemsize=itemsize)
    log.note("Do rows have a head and a tail?", edged, "if packs of 16 bytes do not divide them", divides=divides)
    apart = edged and _apart(steps, pack_size)  # then a pack of an operand lies in one more word
    words = inputs * (2 if request.element.compute == "float64" else 1)
    in_operands = sum(-(-pack_size * nbytes // 4) + apart for nbytes in steps.operands)
    in_flight = inputs * -(-pack_size * itemsize // 4) + in_operands
    edges = _edges(itemsize) + APART_EDGES * apart if edged else 0
    packs, nbytes = max(1, request.cols // pack_size), request.cols * itemsize * inputs
    keeps = itemsize == 2 and pack_size > 1 and not steps.drops and (inputs > 1 or not steps.operands)
    read = nbytes / 2 if steps.causal and inputs == 1 else nbytes
    results = 2 if steps.drops and inputs == 1 else 1
    moved = read + request.cols * (itemsize * results + (0 if steps.shared else sum(steps.operands)))
    values = VALUES_BASE + VALUES_DROPPED * (results - 1), pack_size * words + PART_IN_FLIGHT * in_operands
    return _FusedRow(
        pack_size, packs, edged, apart, edges, words, in_flight, nbytes, keeps, itemsize == 2 and pack_size == widest,
        values, moved, SHARED_INSTRUCTIONS * steps.shared, _element_instructions(steps, inputs, keeps),
    )  # fmt: skip


def _element_instructions(steps: FusedSteps, inputs: int, keeps: bool) -> float:
    """Instructions of a lane for each element."""
    own: float = ELEMENT_INSTRUCTIONS[inputs] + OPERAND_INSTRUCTIONS * len(steps.operands)
    if not keeps:
        own = VALUE_INSTRUCTIONS * inputs + VALUE_OPERAND_INSTRUCTIONS * len(steps.operands)
    return own + CAUSAL_INSTRUCTIONS * steps.causal + DROPOUT_INSTRUCTIONS * steps.drops


def _warp(request: PlanRequest, log: StepLog, row: _FusedRow) -> Choice:
    sector = SECTOR_BYTES // (row.pack_size * request.element.itemsize)
    fewest = EDGED_WIDTH if row.unaligned else 1 if row.packs == 1 else sector
    shapes = [(w, -(-row.packs // w)) for w in GROUP_WIDTHS if w >= fewest]
    shapes = [(w, packs) for w, packs in shapes if row.holds(packs, w)]
    lanes = ((_of_lanes(request, row, w, packs), Cut(1, w, packs)) for w, packs in reversed(shapes))
    chosen = _best(row, lanes) if row.keeps else flight.best(lanes)
    assert chosen
    width, packs = flight.widest_of_few(request.device, request.rows, (chosen.block_size, chosen.packs), shapes)
    rule = "the most with enough bytes in flight on an SM, else those that bring the most; of few rows more lanes"
    log.note("How many lanes own a row?", width, rule, GROUP_WIDTHS, packs=row.packs, rows=request.rows)
    log.note("How many packs does a lane hold?", packs, "as few as hold the row")
    shape = WarpShape(row.pack_size, packs * row.pack_size, width, 1, row.unaligned or packs * width != row.packs)
    blocks = grid_of(request, log, -(-request.rows // (WARP_BLOCK // width)), "one group of lanes per row")
    kernel = _kernel(request, row, WARP, (row.pack_size, packs, width))
    return Choice(WARP, row.pack_size, (WARP_BLOCK, 1), blocks, kernel, warp=shape)


def _of_lanes(request: PlanRequest, row: _FusedRow, width: int, packs: int) -> float:
    blocks = _blocks_per_sm(request, WARP_BLOCK, row.registers(packs, width))
    return blocks * WARP_BLOCK // width * row.nbytes / flight.NEEDED_BYTES_OF_WARPS


def _cut(request: PlanRequest, row: _FusedRow) -> Cut | None:
    """The first block or cluster that holds the row with enough bytes in flight on an SM.

    Rows of 16 bits take large blocks only where no others hold them. In 25 pairs of cuts 512 threads reached 0.87 to
    1.01 of the speed of 256 threads in twice as many blocks (H100, 2026-11-27).
    """
    clusters = most_blocks(request.device)
    largest = 512 if clusters else 1024
    smaller = flight.BLOCK_OF_UNALIGNED_HALVES if row.halves and clusters else largest
    return _cut_of(request, row, smaller, clusters) or _cut_of(request, row, largest, clusters)


def _cut_of(request: PlanRequest, row: _FusedRow, largest: int, clusters: int) -> Cut | None:
    """The same with at most ``largest`` threads per block and ``clusters`` blocks per cluster."""
    limits = LIMITS[request.element.itemsize, request.operator.rows_kept]
    few = limits.thread * WIDEST_PACK_BYTES // (row.pack_size * request.element.itemsize)
    sizes = [size for size in BLOCK_SIZES if size <= largest]
    alone = list(_holding(row, (Cut(1, size, MOST_PACKS) for size in sizes)))
    small = [cut for cut in alone if cut.taken(row.packs) <= few][:1]
    by_packs = sorted(alone, key=lambda cut: cut.taken(row.packs))
    table = (Cut(c, size, MOST_PACKS) for c in CLUSTERS if c <= clusters for size in reversed(sizes) if size >= 128)
    shared = _holding(row, table) if row.nbytes > CLUSTER_BYTES else ()
    return _best(row, ((_of_blocks(request, row, cut), cut) for cut in [*small, *by_packs, *shared]))


def _best(row: _FusedRow, candidates: Iterable[tuple[float, Cut]]) -> Cut | None:
    """The best of the cuts, each with its x of softlab.plans.flight. For elements of 16 bits, instructions count."""
    if not (row.keeps or row.halves):
        return flight.best(candidates)
    best, most = None, 0.0
    for x, cut in candidates:
        share = (x**-SHARPNESS + _issue(row, cut) ** -SHARPNESS) ** (-1 / SHARPNESS) if x else 0.0
        if share > most * LARGER:
            best, most = cut, share
    return best


def _issue(row: _FusedRow, cut: Cut) -> float:
    """The time of a row's bytes, over the time in which an SM issues its instructions."""
    threads, packs = cut.cluster * cut.block_size, cut.taken(row.packs)
    kernel = CLUSTER if cut.cluster > 1 else BLOCK if cut.block_size > WARP_SIZE else WARP
    held = packs * row.pack_size + EDGE_ELEMENTS * -(-row.edges // cut.block_size)
    instructions = threads / WARP_SIZE * (ROW_INSTRUCTIONS[kernel] + row.found + held * row.element)
    return row.moved / short_rows.MEMORY_BYTES / (instructions / tiles.INSTRUCTIONS_PER_UNIT)


def _few_rows_cut(request: PlanRequest, row: _FusedRow) -> Cut | None:
    """The cluster for few rows that leaves a thread the fewest packs, without more blocks than help."""
    room = FEW_ROWS_BLOCKS_PER_SM * request.device.sm_count // request.rows
    sizes = [
        (c, size) for c in CLUSTERS if 4 <= c <= min(most_blocks(request.device), room) for size in (128, 256, 512)
    ]
    fitting = _holding(row, (Cut(c, size, MOST_PACKS) for c, size in sizes))
    wide = WIDEST_PACK_BYTES // (row.pack_size * request.element.itemsize)
    return min(
        fitting, key=lambda cut: (max(cut.taken(row.packs), 2 * wide), cut.cluster * cut.block_size), default=None
    )


def _holding(row: _FusedRow, cuts: Iterable[Cut]) -> Iterator[Cut]:
    return (cut for cut in cuts if row.holds(cut.taken(row.packs), cut.block_size))


def _of_blocks(request: PlanRequest, row: _FusedRow, cut: Cut) -> float:
    """The x of softlab.plans.flight."""
    device, inputs = request.device, request.operator.rows_kept
    blocks = _blocks_per_sm(request, cut.block_size, row.registers(cut.taken(row.packs), cut.block_size))
    used = clusters_of(device, cut.cluster) * cut.cluster / device.sm_count
    needed = flight.NEEDED_BYTES * (1 + flight.NEEDED_PER_DOUBLING * (cut.cluster.bit_length() - 1))
    return max(0.0, blocks - flight.IDLE_BLOCKS[inputs]) * row.nbytes / cut.cluster * used / needed


def _blocks_per_sm(request: PlanRequest, threads: int, registers: int) -> int:
    return occupancies.occupancy(request.device, threads=threads, registers=registers).blocks_per_sm


def _blocks(request: PlanRequest, log: StepLog, row: _FusedRow, cut: Cut) -> Choice:
    log.note("How many blocks share a row?", cut.cluster, "one, unless its registers do not hold it", (1, *CLUSTERS))
    log.note("Which block size?", cut.block_size, "one that brings enough bytes in flight on an SM", BLOCK_SIZES)
    packs = log.note("How many packs does a thread hold?", cut.taken(row.packs), "as few as hold the row")
    numbers = (row.pack_size, packs, cut.block_size)
    blocks = grid_of(request, log, request.rows * cut.cluster, "one block or cluster per row")
    if cut.cluster == 1:
        return Choice(BLOCK, row.pack_size, (cut.block_size, 1), blocks, _kernel(request, row, BLOCK, numbers))
    kernel = _kernel(request, row, CLUSTER, (*numbers, cut.cluster))
    return Choice(CLUSTER, row.pack_size, (cut.block_size, 1), blocks, kernel, cluster=cut.cluster)


def _kernel(request: PlanRequest, row: _FusedRow, kernel: str, numbers: tuple[int, ...]) -> Instantiation:
    """The kernel before it gets its loads and stores: see :func:`softlab.plans.instantiations.fused`."""
    operator = request.operator
    template = f"{kernel}_backward" if operator.backward else kernel
    flags = (str(flag).lower() for flag in (row.unaligned, row.apart))
    arguments = ", ".join((request.element.cuda, f"Algorithm::{operator.algorithm}", *map(str, numbers), *flags))
    return Instantiation(FILE, f"{template}<{arguments}>")

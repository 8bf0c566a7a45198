"""Which thread of a launch comes to which element of an array, and what is said where elements are missed or met twice.

A run that keeps its accesses shows it. So each sentence holds for that very launch, whatever the code looks like.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from softlab.course.launch_cases import LaunchCase
from softlab.emulator.lanes import WARP
from softlab.errors import Error
from softlab.kernel import Kernel
from softlab.traces import Run

#: Elements and blocks up to which the accesses are kept.
_LARGEST, _BLOCKS = 16_384, 64
#: Instructions that the blocks of such a launch may issue, and accesses of which a run may have lost some.
_BUDGET, _FULL = 200_000, 20_000
#: How many elements a sentence names.
_NAMED = 4


@dataclass(frozen=True)
class Visits:
    """The accesses of one source line to one array.

    element: (turns, threads) the first element of each access of each thread of the grid, -1 for none; width: elements
    of one access; block: threads per block; shape: of the array.
    """

    name: str
    line: int
    store: bool
    element: np.ndarray
    width: int
    block: int
    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        """Elements of the array."""
        return int(np.prod(self.shape))

    @property
    def verb(self) -> str:
        """What a thread does."""
        return "stores" if self.store else "reads"

    def times(self) -> np.ndarray:
        """(size,) how often each element is met."""
        first = self.element[self.element >= 0]
        every = (first[:, None] + np.arange(self.width)).reshape(-1)
        return np.bincount(every[every < self.size], minlength=self.size)

    def who(self, element: int) -> list[tuple[int, int]]:
        """(thread, turn) of those that meet an element, the earlier turns first."""
        met = (self.element <= element) & (element < self.element + self.width) & (self.element >= 0)
        return [(int(thread), int(turn)) for turn, thread in np.argwhere(met)]

    def step(self) -> int | None:
        """How much further each thread goes from turn to turn; None where that is not one number."""
        there = (self.element[1:] >= 0) & (self.element[:-1] >= 0)
        steps = np.unique((self.element[1:] - self.element[:-1])[there])
        return int(steps[0]) if steps.size == 1 else None

    def apart(self) -> int | None:
        """How far the elements of neighbouring threads of a block are apart; None where that is not one number."""
        rows = self.element.reshape(len(self.element), -1, self.block)
        there = (rows[:, :, 1:] >= 0) & (rows[:, :, :-1] >= 0)
        steps = np.unique((rows[:, :, 1:] - rows[:, :, :-1])[there])
        return int(steps[0]) if steps.size == 1 else None

    def thread(self, number: int) -> str:
        """ "thread 5", "thread 5 of block 2": by its number in the grid."""
        block, thread = divmod(number, self.block)
        return f"thread {thread}" if self.element.shape[1] == self.block else f"thread {thread} of block {block}"

    def at(self, element: int) -> str:
        """ "y[3]", "y[0, 3]"."""
        where = np.unravel_index(element, self.shape)
        return f"{self.name}[{', '.join(str(int(place)) for place in where)}]"


def visits(kernel: Kernel, launch: LaunchCase, name: str) -> list[Visits]:
    """What each line does with an array, in the order of the lines; none where the launch is too large to keep."""
    array, grid, block = launch.args[name], launch.grid, launch.block
    if not isinstance(grid, int) or not isinstance(block, int) or grid > _BLOCKS or array.size > _LARGEST:
        return []
    args = launch.fresh()
    try:
        run = kernel.run(
            grid, block, tuple(args.values()), launch.smem, check="collect", blocks=range(grid), budget=_BUDGET
        )
    except Error:
        return []
    if len(run.global_) >= _FULL:
        return []
    return _of_run(run, list(args).index(name), name, array, block, grid)


def _of_run(run: Run, argument: int, name: str, array: np.ndarray, block: int, grid: int) -> list[Visits]:
    bases = sorted(buffer.base for buffer in run.buffers)
    base = next((buffer.base for buffer in run.buffers if buffer.index == argument), 0)
    if not base:
        return []
    after = next((other for other in bases if other > base), 2 * base)
    log, size, found = run.global_, array.dtype.itemsize, []
    here = log.active & (log.address >= base) & (log.address < after)
    for line, store in sorted({(int(a), bool(b)) for a, b in zip(log.line, log.store, strict=True)}):
        rows = np.flatnonzero((log.line == line) & (log.store == store) & here.any(axis=1))
        widths = set(log.width[rows].tolist())
        if not line or len(widths) != 1 or min(widths) < size:
            continue
        threads = np.zeros(grid * block, np.int64)
        turns: list[np.ndarray] = []
        for row in rows:
            lanes = np.flatnonzero(here[row])
            number = int(log.block[row]) * block + int(log.warp[row]) * WARP + lanes
            turn = int(threads[number].max())
            if turn == len(turns):
                turns.append(np.full(grid * block, -1, np.int64))
            for lane, one in zip(lanes, number, strict=True):
                turns[threads[one]][one] = (int(log.address[row, lane]) - base) // size
            threads[number] += 1
        found.append(Visits(name, line, store, np.array(turns), widths.pop() // size, block, array.shape))
    return found


def stored(kernel: Kernel, launch: LaunchCase, name: str) -> str:
    """Why elements of a result are stored by nobody; "" where the stores do not tell."""
    lines = [line for line in visits(kernel, launch, name) if line.store]
    return _covered(lines[0]) if len(lines) == 1 else ""


def read(kernel: Kernel, launch: LaunchCase, name: str) -> str:
    """Elements of an input that one line leaves out or comes to again, by the way its threads go; "" otherwise."""
    said = [words for line in visits(kernel, launch, name) if not line.store and (words := _covered(line))]
    return said[0] if len(said) == 1 else ""


def stands_still(kernel: Kernel, launch: LaunchCase, name: str, result: str) -> str:
    """An input of which each thread reads one element again and again while it stores to several; "" otherwise."""
    if launch.args[name].size != launch.args[result].size:
        return ""
    loads = [line for line in visits(kernel, launch, name) if not line.store]
    stores = [line for line in visits(kernel, launch, result) if line.store]
    if len(stores) != 1 or len(loads) != 1 or len(stores[0].element) < 2 or not stores[0].step():
        return ""
    ways, line = stores[0].element[:, 0], loads[0]
    if len(np.unique(line.element[0])) < line.block or ways[0] < 0 or not (line.step() == 0 or len(line.element) == 1):
        return ""
    places = _and([stores[0].at(int(place)) for place in ways[ways >= 0][:_NAMED]])
    return (
        f"Thread 0 stores {places}, and reads {line.at(int(line.element[0, 0]))} for all of them: the index of the "
        "read does not change from turn to turn."
    )


def read_again(kernel: Kernel, launch: LaunchCase) -> str:
    """An element of an input that is read by wide loads alone, and several times; "" where there is none."""
    for name, array in launch.args.items():
        if not isinstance(array, np.ndarray) or name in launch.expected:
            continue
        for line in visits(kernel, launch, name):
            if not line.store and line.width > 1 and line.width * array.dtype.itemsize == 16 and (more := _again(line)):
                return f"Each load has 16 bytes. But {more[:1].lower()}{more[1:]}"
    return ""


def _covered(line: Visits) -> str:
    times = line.times()
    if line.element.shape[0] > 1 and line.step() == 0 and len(np.unique(line.element[0])) > 1:
        thread = int(np.argmax(line.element[0] >= 0))
        turns = int((line.element[:, thread] >= 0).sum())
        return (
            f"{line.thread(thread).capitalize()} {line.verb} {line.at(int(line.element[0, thread]))} {turns} times: "
            "its index does not change from turn to turn."
        )
    if times.all():  # who comes again to an element may do so with reason, but not by too small a step
        step, apart = line.step(), line.apart()
        small = step is not None and apart == line.width and 0 < step < line.block * line.width
        return _again(line) if small and not line.store else ""
    if (times > 1).any():
        return _columns(line) or _blocks(line) or _again(line)
    return _gaps(line) or _few(line)


def _columns(line: Visits) -> str:
    """A matrix of which each row is met in its first columns alone."""
    if len(line.shape) != 2:
        return ""
    rows, cols = line.shape
    met = line.times().reshape(rows, cols) > 0
    here = np.flatnonzero(met.any(axis=0))
    if not here.size or here[-1] != here.size - 1 or here.size == cols or not met[:, : here.size].all():
        return ""
    why = f": the column is taken modulo {rows}, the number of rows" if here.size == rows else ""
    return f"Each row is {_done(line)} in the columns 0 to {here[-1]} alone, and has {cols}{why}."


def _blocks(line: Visits) -> str:
    """Blocks that begin too near to each other."""
    firsts = line.element[0][:: line.block]
    if len(firsts) < 2 or (firsts < 0).any() or line.apart() != line.width:
        return ""
    steps, room = np.unique(np.diff(firsts)), line.block * line.width
    if len(steps) != 1 or steps[0] in (0, room) or abs(steps[0]) > room:
        return ""
    step = int(steps[0])
    what = ", which is the number of blocks" if step == len(firsts) else ""
    return (
        f"Block 0 begins with {line.at(int(firsts[0]))} and block 1 with {line.at(int(firsts[1]))}: blocks are {step} "
        f"apart{what}, and a block has {line.block} threads."
    )


def _again(line: Visits) -> str:
    """The first element that is met by two threads, and by which step."""
    times = line.times()
    if not (times > 1).any():
        return ""
    element = int(np.argmax(times > 1))
    (one, turn), (other, then) = line.who(element)[:2]
    if one == other:
        return f"{line.at(element)} is {_done(line)} by {line.thread(one)} again."
    said = f"{line.at(element)} is {_done(line)} by {line.thread(one)} and by {line.thread(other)}"
    step, apart = line.step(), line.apart()
    if turn == then or step is None or apart is None or len(line.element) < 2:
        return f"{said}."
    return f"{said}. {_way(line, step, apart)}"


def _way(line: Visits, step: int, apart: int) -> str:
    """How the threads go, and how many there are."""
    firsts = line.element[0][:: line.block]
    threads = line.element.shape[1] if (np.diff(firsts) == line.block * line.width).all() else line.block
    all_of = f"{'the launch' if threads > line.block else 'a block'} has {threads} threads"
    if line.width > 1:
        all_of += f" that take {line.width} elements each, {threads * line.width} together"
    elif apart != 1:
        all_of += f", whose elements are {apart} apart"
    return f"From turn to turn a thread goes {step} further, and {all_of}."


def _gaps(line: Visits) -> str:
    """Elements that lie between those of one turn and those of the next."""
    step, apart, left = line.step(), line.apart(), np.flatnonzero(line.times() == 0)
    if len(line.element) < 2 or step is None or apart is None or apart != line.width or step <= line.block * line.width:
        return ""
    return f"On line {line.line} nobody {line.verb} {line.at(int(left[0]))}. {_way(line, step, apart)}"


def _few(line: Visits) -> str:
    """Threads that take too few elements each, where all of them take as many, from the first element on."""
    met, threads = int((line.times() > 0).sum()), line.element.shape[1]
    each = line.width * len(line.element)
    if met != threads * each or met == line.size or line.size % threads or not line.times()[:met].all():
        return ""
    own = "1 element" if each == 1 else f"{each} elements"
    return (
        f"On line {line.line} each of the {threads} threads {line.verb} {own}, which makes {met}. There are "
        f"{line.size}: {line.size // threads} per thread."
    )


def outside(kernel: Kernel, launch: LaunchCase, name: str, at: int, *, store: bool) -> str:
    """How the threads of a line come beyond the end of an array, as "Thread t reads element 16 t."; "" otherwise."""
    lines = [line for line in visits(kernel, launch, name) if line.line == at and line.store == store]
    return _beyond(lines[0]) if lines else ""


def _beyond(line: Visits) -> str:
    if said := _of_rows(line):
        return said
    step, apart = line.step(), line.apart()
    if apart is None or apart <= 0:
        return ""
    turns = len(line.element)
    if line.width > 1 and apart > line.width:
        return (
            f"Thread t {line.verb} {line.width} elements from element {apart} t on, where {line.width} t comes next: "
            f"an index of packs counts packs of {line.width}, not elements."
        )
    if line.width > 1 and line.size % line.width == 0 and turns == 1 and _linear(line, apart):
        packs = line.size // line.width
        return (
            f"Thread t {line.verb} {line.width} elements from element {apart} t on: {line.size} elements are {packs} "
            f"packs, number 0 to number {packs - 1}."
        )
    if turns > 1 and step is not None and apart > 1 and step >= line.block:
        return (
            f"In each turn neighbouring threads are {apart} elements apart, and from turn to turn a thread goes {step} "
            f"further. The {line.block} threads of a block need one of the two: neighbours 1 apart and turns {step} "
            f"apart, or neighbours {apart} apart and turns 1 apart."
        )
    if turns == 1 and apart > 1 and line.width == 1 and _linear(line, apart):
        return f"Thread t {line.verb} element {apart} t of {line.name}, and has to come to element t."
    return ""


def _linear(line: Visits, factor: int) -> bool:
    """Whether each thread that comes is at its number in the grid times a factor."""
    first, number = line.element[0], np.arange(line.element.shape[1])
    return bool((first[first >= 0] == factor * number[first >= 0]).all())


def _of_rows(line: Visits) -> str:
    """A thread's number that is split into a row and a column in the wrong way."""
    if len(line.shape) != 2 or len(line.element) != 1 or line.width != 1:
        return ""
    (rows, cols), first = line.shape, line.element[0]
    number = np.arange(first.size)
    use = first >= 0
    if rows == cols or not use.any() or first.size < rows * cols:
        return ""
    if (first == number // rows * cols + number % rows)[use].all():
        return (
            f"Threads 0 to {rows - 1} come to row 0, and thread {rows} comes to row 1, column 0: the row changes after "
            f"{rows} threads, which is the number of rows. A row has {cols} columns."
        )
    for divisor in (cols, rows):
        if (first == number % divisor * cols + number // divisor)[use].all() and divisor > rows:
            return (
                f"Thread 1 comes to row 1, column 0, and thread {rows} to row {rows}, which does not exist: the row is "
                f"the remainder by {divisor}. Row and column are exchanged: a row changes after {cols} threads, "
                "so the row is the quotient."
            )
    return ""


def _done(line: Visits) -> str:
    return "stored" if line.store else "read"


def _and(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]]) if len(words) > 1 else words[0]

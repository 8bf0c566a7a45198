"""Functions that the machine code of a loop of several blocks calls (:mod:`.native_region`)."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from softlab.emulator.lanes import WARP

#: Words of a row of the log: step, load, warp, mask of its lanes, and the address of each.
ROW_WORDS = 4 + WARP
#: Words of an allocation: its base, its bytes, and where they are.
ALLOCATION_WORDS = 3
_SECTOR_SHIFT = 5


class Word(IntEnum):
    """The words that the function is given and leaves results in."""

    MOST_INSTRUCTIONS = 0
    MOST_LANES = 1
    MOST_STEPS = 2
    ALLOCATIONS = 3
    TABLE = 4
    LAST = 5
    BAD = 6
    LOG = 7
    ROWS = 8
    MOST_ROWS = 9
    RECORDED = 10
    ACCESSES = 11
    INSTRUCTIONS = 12
    LANE_INSTRUCTIONS = 13
    LANES = 14
    STEPS = 15
    NOTHING = 16
    STATE = 17
    STATE_BLOCK = 18
    NEXT_STATE = 19
    COUNTS = 20
    TOLD = 21
    RECORDS = 22


class Parts:
    """A module of LLVM with these functions, and what its other functions are written with."""

    def __init__(self) -> None:
        from llvmlite import ir

        self._ir = ir
        self._size, self._lane_bits = ir.IntType(64), ir.IntType(WARP)
        self._byte_pointer = ir.IntType(8).as_pointer()
        self._module = ir.Module("region")
        self._arguments = [
            self._byte_pointer.as_pointer(),
            ir.IntType(16).as_pointer(),
            self._size,
            self._size.as_pointer(),
        ]
        self._find, self._distinct = self._finder(), self._distinct_counter()
        self._copy, self._same = self._mover("copy"), self._mover("same")
        self._note, self._count = self._noter(), self._counter()

    def _function(self, name: str, result: Any, arguments: Sequence[Any], *, internal: bool = True) -> tuple[Any, Any]:
        function = self._ir.Function(self._module, self._ir.FunctionType(result, arguments), name)
        if internal:
            function.linkage = "internal"
            function.attributes.add("noinline")  # one function of all steps would take LLVM many times as long
        return function, self._ir.IRBuilder(function.append_basic_block("entry"))

    def _word(self, builder: Any, words: Any, word: int) -> Any:
        return builder.load(builder.gep(words, [self._size(int(word))]))

    def _set(self, builder: Any, words: Any, word: int, value: Any) -> None:
        builder.store(value, builder.gep(words, [self._size(int(word))]))

    def _add(self, builder: Any, words: Any, word: int, value: Any) -> None:
        self._set(builder, words, word, builder.add(self._word(builder, words, word), value))

    def _finder(self) -> Any:
        """``find(address, width, words)``: where the bytes are; 0 if no allocation has all of them, aligned."""
        ir, size = self._ir, self._size
        function, b = self._function("find", size, [size, size, size.as_pointer()])
        address, width, words = function.args
        table = b.inttoptr(self._word(b, words, Word.TABLE), size.as_pointer())
        count, last = self._word(b, words, Word.ALLOCATIONS), self._word(b, words, Word.LAST)
        look, hit, further, miss, entry = *(function.append_basic_block(n) for n in ("l", "h", "f", "m")), b.block
        aligned = b.icmp_unsigned("==", b.and_(address, b.sub(width, size(1))), size(0))
        b.cbranch(b.and_(aligned, b.icmp_signed(">", count, size(0))), look, miss)
        b.position_at_end(look)
        number, tried = b.phi(size), b.phi(size)
        number.add_incoming(last, entry)
        tried.add_incoming(size(0), entry)
        row = b.mul(number, size(ALLOCATION_WORDS))
        base, nbytes, data = (self._word_at(b, table, b.add(row, size(i))) for i in range(ALLOCATION_WORDS))
        offset = b.sub(address, base)
        inside = b.and_(b.icmp_unsigned(">=", nbytes, width), b.icmp_unsigned("<=", offset, b.sub(nbytes, width)))
        b.cbranch(inside, hit, further)
        b.position_at_end(further)
        after = b.add(number, size(1))
        wrapped = b.select(b.icmp_signed("<", after, count), after, size(0))
        more = b.add(tried, size(1))
        number.add_incoming(wrapped, further)
        tried.add_incoming(more, further)
        b.cbranch(b.icmp_signed("<", more, count), look, miss)
        b.position_at_end(hit)
        self._set(b, words, Word.LAST, number)
        b.ret(b.add(data, offset))
        b.position_at_end(miss)
        b.ret(ir.Constant(size, 0))
        return function

    def _word_at(self, builder: Any, words: Any, at: Any) -> Any:
        return builder.load(builder.gep(words, [at]))

    def _distinct_counter(self) -> Any:
        """``distinct(values, count)``: how many different ones there are."""
        size = self._size
        function, b = self._function("distinct", size, [size.as_pointer(), size])
        values, count = function.args
        found = b.alloca(size)
        b.store(size(0), found)
        with Turns(b, size, "each", count) as i:
            value = self._word_at(b, values, i)
            new = slot(b, self._ir.IntType(1))
            b.store(self._ir.IntType(1)(1), new)
            before = self._word_at(b, values, b.select(b.icmp_signed(">", i, size(0)), b.sub(i, size(1)), size(0)))
            repeated = b.and_(b.icmp_signed(">", i, size(0)), b.icmp_unsigned("==", before, value))
            with b.if_else(repeated) as (then, otherwise):
                with then:
                    b.store(self._ir.IntType(1)(0), new)
                with otherwise, Turns(b, size, "earlier", i) as j:
                    same = b.icmp_unsigned("==", self._word_at(b, values, j), value)
                    b.store(b.and_(b.load(new), b.not_(same)), new)
            b.store(b.add(b.load(found), b.zext(b.load(new), size)), found)
        b.ret(b.load(found))
        return function

    def _mover(self, name: str) -> Any:
        """``copy(to, from, words)`` and ``same(a, b, words)``, which gives 1 or 0."""
        size = self._size
        function, b = self._function(name, size, [size.as_pointer(), size.as_pointer(), size])
        first, second, count = function.args
        if name == "copy":
            with Turns(b, size, "each", count) as i:
                b.store(self._word_at(b, second, i), b.gep(first, [i]))
            b.ret(size(1))
            return function
        with Turns(b, size, "each", count) as i:
            different = b.icmp_unsigned("!=", self._word_at(b, first, i), self._word_at(b, second, i))
            with b.if_then(different):
                b.ret(size(0))
        b.ret(size(1))
        return function

    def _counter(self) -> Any:
        """``count(counts, here, taken)``: add 1 to each of three counts whose mask has any bit: all, taken, others."""
        size = self._size
        function, b = self._function("count", size, [size.as_pointer(), size, size])
        counts, here, taken = function.args
        for column, mask in enumerate((here, taken, b.and_(here, b.not_(taken)))):
            place = b.gep(counts, [size(column)])
            some = b.zext(b.icmp_unsigned("!=", mask, size(0)), size)
            b.store(b.add(b.load(place), some), place)
        b.ret(b.ctpop(taken))
        return function

    def _noter(self) -> Any:
        """``note(words, count, told, addresses, warp, bits, lanes, number, access)``: a warp's load that is told of.

        Its sectors are added to the count. A warp that is recorded gets a row in the log.
        """
        size = self._size
        pointer = size.as_pointer()
        function, b = self._function("note", size, [pointer] * 4 + [size] * 5)
        words, count, told, addresses, warp, bits, every, number, access = function.args
        with b.if_then(b.icmp_unsigned("==", b.load(told), size(0))):
            b.ret(size(0))
        mask = self._word_at(b, told, size(1))
        recorded = b.inttoptr(self._word(b, words, Word.RECORDED), self._byte_pointer)
        wanted = b.icmp_unsigned("!=", b.load(b.gep(recorded, [warp])), self._ir.IntType(8)(0))
        room = b.icmp_unsigned("!=", self._word(b, words, Word.RECORDS), size(0))
        with b.if_then(b.and_(wanted, room)):
            log = b.inttoptr(self._word(b, words, Word.LOG), pointer)
            row = b.gep(log, [b.mul(self._word(b, words, Word.ROWS), size(ROW_WORDS))])
            for position, value in enumerate((access, number, warp, bits)):
                b.store(value, b.gep(row, [size(position)]))
            left = slot(b, size)
            b.store(bits, left)
            with Turns(b, size, "addresses", every) as i:
                remaining = b.load(left)
                lane = b.cttz(remaining, self._ir.IntType(1)(1))
                b.store(b.and_(self._word_at(b, addresses, i), mask), b.gep(row, [b.add(lane, size(4))]))
                b.store(b.and_(remaining, b.sub(remaining, size(1))), left)
            self._add(b, words, Word.ROWS, size(1))
        with Turns(b, size, "sectors", every) as i:
            place = b.gep(addresses, [i])
            b.store(b.lshr(b.load(place), size(_SECTOR_SHIFT)), place)
        b.store(b.add(b.load(count), b.call(self._distinct, [addresses, every])), count)
        b.ret(size(0))
        return function


def slot(builder: Any, kind: Any) -> Any:
    """A variable of the function. One that is made within a loop would take more stack in each turn."""
    with builder.goto_entry_block():
        return builder.alloca(kind)


class Turns:
    """A loop around what is built within; it gives the number of the turn. It may have inner loops and branches."""

    def __init__(self, builder: Any, size: Any, name: str, count: Any) -> None:
        self._builder, self._size, self._name, self._count = builder, size, name, count

    def __enter__(self) -> Any:
        b, size = self._builder, self._size
        before = b.block
        self._body, self._end = b.append_basic_block(self._name), b.append_basic_block(f"{self._name}_end")
        b.cbranch(b.icmp_signed(">", self._count, size(0)), self._body, self._end)
        b.position_at_end(self._body)
        self._turn = b.phi(size)
        self._turn.add_incoming(size(0), before)
        return self._turn

    def __exit__(self, *exception: object) -> None:
        b = self._builder
        following = b.add(self._turn, self._size(1))
        self._turn.add_incoming(following, b.block)
        b.cbranch(b.icmp_signed("<", following, self._count), self._body, self._end)
        b.position_at_end(self._end)

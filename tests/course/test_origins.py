"""Where a stored infinity is made, and which operation makes NaN: random records of a warp, and a search by hand."""

from __future__ import annotations

from random import Random
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from softlab.course import operations, origins

FLOATS = {2: np.float16, 4: np.float32, 8: np.float64}
#: A register of each size of number, and one for addresses.
REGISTERS = ("%rs1", "%f1", "%f2", "%f3", "%fd1", "%rd1")
#: Opcode, types, text.
KINDS = (
    ("add", ("f32",), "add.f32"), ("mul", ("f32",), "mul.f32"), ("sub", ("f64",), "sub.f64"), ("add", ("f16",), "add"),
    ("mov", ("b32",), "mov.b32"), ("cvt", ("f32", "f16"), "cvt"), ("setp", ("pred",), "setp"), ("bar", (), "bar.sync"),
    ("st", ("f32",), "st.global.f32"), ("st", ("f32",), "st.shared.f32"), ("st", ("b64",), "st.global.b64"),
    ("ld", ("f32",), "ld.global.f32"), ("red", ("f32",), "red.global.f32"), ("st", ("b8",), "st.global.b8"),
)  # fmt: skip


class Record:
    """Stands for the record of a warp: random instructions, and registers that are infinite now and then."""

    def __init__(self, seed: int, length: int = 25, kinds: Any = KINDS) -> None:
        random = Random(seed)
        self.registers, made = REGISTERS, []
        self.values = np.zeros((length + 1, len(REGISTERS), 32), np.uint64)
        for register in range(len(REGISTERS) - 1):  # what is there before the first write
            self.values[0, register] = self.number(random)
        self.written: list[list[int]] = []
        executed = []
        for step in range(length):
            early = [kind for kind in kinds if kind[0] != "st"]  # what is stored has a way behind it
            opcode, types, text = random.choice(early if step < length // 2 else kinds)
            uses = random.choices((*REGISTERS, "%p1"), k=random.randint(1, 3))
            result = [] if opcode in ("st", "bar", "red") else [random.choice(REGISTERS[:-1])]
            made.append(SimpleNamespace(opcode=opcode, types=types, text=text, uses=uses, result=result))
            executed.append(random.getrandbits(32) & random.getrandbits(32))
            self.values[step + 1] = self.values[step]
            self.written.append([REGISTERS.index(name) for name in result])
            for register in self.written[-1]:
                for lane in range(32):
                    self.values[step + 1, register, lane] = self.number(random)
        self.image = SimpleNamespace(instructions=made)
        self.steps = {"instruction": np.arange(length), "executed": np.array(executed, np.uint32)}

    @staticmethod
    def number(random: Random) -> int:
        """64 bits of which each part may be an infinity, NaN or a number."""
        some = {
            2: (0x7C00, 0xFC01, 0x3C00, 0x0001), 4: (0x7F800000, 0xFFC00000, 0xFF800000, 1),
            8: (0x7FF0000000000000, 0xFFF8000000000000, 0x4000000040000000),
        }  # fmt: skip
        return random.choice(some[random.choice((2, 4, 4, 4, 4, 8))])

    def __len__(self) -> int:
        return len(self.steps["instruction"])

    def at(self, position: int) -> Any:
        return SimpleNamespace(values=self.values[position])

    def line(self, step: int) -> int:
        return 1000 + step // 2

    def last_write(self, register: int, lane: int, position: int) -> int | None:
        return next((step for step in range(position - 1, -1, -1) if register in self.written[step]), None)


@pytest.fixture(autouse=True)
def registers(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (origins, operations):
        monkeypatch.setattr(module, "uses_and_definitions", lambda one: (one.uses, one.result))


def bytes_of(instruction: Any) -> int:
    """Bytes of its numbers, by its last type; 0 for a type that no number has."""
    sizes = {"f16": 2, "b16": 2, "f32": 4, "b32": 4, "u32": 4, "s32": 4, "f64": 8, "b64": 8}
    return sizes.get(instruction.types[-1], 0) if instruction.types else 0


def finite(bits: Any, size: int) -> bool:
    number = int(bits) & (1 << 8 * size) - 1
    return bool(np.isfinite(np.frombuffer(number.to_bytes(size, "little"), FLOATS[size])[0]))


def by_hand(record: Record) -> set[int] | None:
    for step, instruction in enumerate(record.image.instructions):
        if instruction.opcode == "st" and ".global" in instruction.text and bytes_of(instruction):
            for name in instruction.uses:
                for lane in range(32):
                    there = name in REGISTERS[:-1] and int(record.steps["executed"][step]) >> lane & 1
                    if there and not finite(record.values[step, REGISTERS.index(name), lane], bytes_of(instruction)):
                        found: set[int] = set()
                        follow(record, REGISTERS.index(name), lane, step, bytes_of(instruction), found, set())
                        return found
    return None


def follow(record: Record, register: int, lane: int, step: int, size: int, found: set[int], seen: set) -> None:
    """Add the lines that made what this register holds before a step."""
    made = [one for one in range(step) if register in record.written[one]]
    if not made or (made[-1], register) in seen:
        return
    seen.add((made[-1], register))
    instruction = record.image.instructions[made[-1]]
    size = bytes_of(instruction) or size
    from_ = [REGISTERS.index(name) for name in instruction.uses if name in REGISTERS]
    bad = [one for one in from_ if not finite(record.values[made[-1], one, lane], size)]
    for one in reversed(bad):  # the last one first, as a stack gives them: a shared one is followed in one size
        follow(record, one, lane, made[-1], size, found, seen)
    if not bad:
        found.add(record.line(made[-1]))


def test_the_way_back_beside_a_search_by_hand() -> None:
    results = []
    for seed in range(600):
        record = Record(seed)
        results.append(origins.origins(record))  # type: ignore[arg-type]
        assert results[-1] == by_hand(record), seed
    assert sum(found is None for found in results) > 40
    assert sum(found is not None and len(found) > 1 for found in results) > 5


def test_the_bytes_of_the_numbers_of_an_instruction() -> None:
    for kind, size in {"f16": 2, "b16": 2, "u16": 2, "s32": 4, "f32": 4, "b64": 8, "f64": 8, "b8": 0, "pred": 0,
                       "f16x2": 0, "bf16": 0, "b128": 0, "tf32": 0, "": 0}.items():  # fmt: skip
        assert origins._size(SimpleNamespace(types=("u32", kind))) == size  # type: ignore[arg-type]
    assert origins._size(SimpleNamespace(types=())) == 0  # type: ignore[arg-type]


#: Opcodes that have a sign, and some that have none.
OPERATIONS = tuple(
    (opcode, (kind,), "") for opcode in ("add", "sub", "mul", "div", "fma") for kind in ("f32", "f64", "s32")
)
SIGNS = {"add": "+", "sub": "-", "mul": "*", "div": "/"}


def nan_by_hand(record: Record, line: int, lane: int) -> str:
    for step, one in enumerate(record.image.instructions):
        if record.line(step) == line and one.opcode in SIGNS and one.types[-1] in ("f32", "f64"):
            kind, bits = (np.float32, 2**32) if one.types[-1] == "f32" else (np.float64, 2**64)
            if len(one.uses) == 2 and len(one.result) == 1:
                places = [REGISTERS.index(name) for name in one.uses]
                given = [number(record.values[step, place, lane], kind, bits) for place in places]
                made = number(record.values[step + 1, REGISTERS.index(one.result[0]), lane], kind, bits)
                if made != made and given[0] == given[0] and given[1] == given[1]:
                    return f"{given[0]:g} {SIGNS[one.opcode]} {given[1]:g}"
    return ""


def number(bits: Any, kind: Any, values: int) -> float:
    raw = (int(bits) % values).to_bytes(np.dtype(kind).itemsize, "little")
    return float(np.frombuffer(raw, kind)[0])


def test_the_operation_that_gives_nan_beside_a_search_by_hand() -> None:
    said = []
    for seed in range(250):
        record = Record(seed, 12, OPERATIONS)
        for instruction in record.image.instructions:
            instruction.uses = [name for name in instruction.uses if name != "%p1"] or ["%f1"]
        for line, lane in ((1000 + seed % 6, seed % 32), (1003, 5), (1005, 31)):
            said.append(operations.nan_operation(record, line, lane))  # type: ignore[arg-type]
            assert said[-1] == nan_by_hand(record, line, lane), (seed, line, lane)
    signs = {words.split()[1] for words in said if words}
    assert signs == set(SIGNS.values())
    assert said.count("") > 100

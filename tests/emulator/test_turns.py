"""Lanes that meet at one cell or one address take turns, as a loop over the lanes has them."""

import numpy as np
import pytest

from softlab.emulator.machine.native import available
from softlab.emulator.machine.native_turns import CompiledTurns, compiled_turns
from softlab.emulator.memory.atomics import atomic_function, atomic_table
from softlab.emulator.memory.elements import ONE_OWNER, Reach
from softlab.emulator.memory.turns import accumulated, take_turns
from softlab.instruments.atomics import turns


@pytest.mark.parametrize("dtype", ["i4", "u4", "i8", "u8"])
@pytest.mark.parametrize("cells", [1, 5, 40, 70_000])
def test_integers_that_are_added_at_a_few_cells_wrap_around_as_in_a_loop(dtype: str, cells: int) -> None:
    random = np.random.default_rng(cells)
    most = np.iinfo(dtype).max
    memory = random.integers(0, most, cells, dtype=dtype)
    index = random.integers(0, cells, 300)
    values = random.integers(0, most, 300, dtype=dtype)
    expected, old = memory.copy(), []
    with np.errstate(over="ignore"):
        for cell, value in zip(index, values, strict=True):
            old.append(expected[cell])
            expected[cell] += value
        found = take_turns(memory, index, [values], np.add, accumulated(np.add))
    assert found.tolist() == [int(value) for value in old]
    assert memory.tolist() == expected.tolist()


def test_the_turns_of_a_warp_are_those_of_a_loop_over_its_lanes() -> None:
    random = np.random.default_rng(0)
    address = random.integers(0, 9, (50, 32)).astype(np.uint64) * np.uint64(4) + np.uint64(0x6000_0000_0000)
    active = random.random((50, 32)) < 0.7
    expected = np.full((50, 32), -1)
    for warp in range(50):
        seen: dict[int, int] = {}
        for lane in np.flatnonzero(active[warp]):
            at = int(address[warp, lane])
            expected[warp, lane] = seen.get(at, 0)
            seen[at] = expected[warp, lane] + 1
    assert np.array_equal(turns(address, active), expected)


WITH_LLVM = pytest.mark.skipif(not available(), reason="llvmlite is not installed")
COMPILED = [
    *((f"{name}.{kind}", kind) for name in ("add", "min", "max", "and", "or", "xor", "exch", "cas")
      for kind in ("u32", "s32", "u64", "s64")),
    *((f"{name}.u32", "u32") for name in ("inc", "dec")), ("add.f32", "f32"), ("add.f64", "f64"), ("cas.b16", "u16"),
]  # fmt: skip
KINDS = {"u": "u", "s": "i", "f": "f"}


def numbers(random: np.random.Generator, operation: str, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    """Numbers that meet often, or that go through all bits."""
    if dtype.kind == "f":
        return (random.standard_normal(shape) * 10.0 ** random.integers(-9, 9, shape)).astype(dtype)
    least, most = (0, 5) if operation[:3] in ("cas", "inc", "dec") else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    return random.integers(least, most, shape, dtype=dtype)


@WITH_LLVM
@pytest.mark.parametrize(("operation", "kind"), COMPILED)
@pytest.mark.parametrize("cells", [1, 5, 400])
def test_compiled_turns_are_those_of_numpy(operation: str, kind: str, cells: int) -> None:
    """Old values and the end, bit for bit, also where lanes share addresses and operands."""
    random, dtype = np.random.default_rng(cells), np.dtype(f"{KINDS[kind[0]]}{int(kind[1:]) // 8}")
    compiled = compiled_turns("all", operation, dtype, 8)
    assert compiled is not None
    parts = 1 + operation.startswith("cas")
    for shape, of_index, of_values in [
        ((300,), (300,), (300,)),
        ((300,), (300,), (1,)),
        ((6, 50), (6, 50), (6, 1)),
        ((6, 50), (1, 50), (6, 50)),
        ((6, 50), (6, 1), (1, 50)),
        ((6, 50), (1, 1), ()),
        ((6, 50), (), (6, 50)),
    ]:
        memory = numbers(random, operation, dtype, (6, cells))
        values = [numbers(random, operation, dtype, of_values)[...] for _ in range(parts)]
        index = np.asarray(random.integers(0, cells, of_index))
        owner = np.arange(6)[:, None] if len(shape) == 2 else random.integers(0, 6, shape)
        expected = memory.copy()
        flat = np.broadcast_to(owner * cells + index, shape).reshape(-1)
        whole = [np.broadcast_to(value, shape).reshape(-1) for value in values]
        with np.errstate(all="ignore"):
            old = take_turns(expected.reshape(-1), flat, whole, atomic_function(operation), atomic_table(operation))
        found = memory.copy()
        offset = 3 * dtype.itemsize
        address = (index * dtype.itemsize - offset).astype(np.uint64)[()]
        told: list[bytes] = []
        reach = Reach(
            found.view(np.uint8),
            owner,
            address,
            offset,
            0,
            (cells - 1) * dtype.itemsize,
            lambda found=found, told=told: told.append(found.tobytes()),  # type: ignore[misc]
        )
        done = compiled.at(reach, shape, tuple(values))
        assert done is not None
        assert done[0].shape == shape
        assert done[0].tobytes() == old.tobytes()
        assert found.tobytes() == expected.tobytes()
        assert done[1] == (found.reshape(-1)[flat] != old).any()
        assert told == [memory.tobytes()]
        found = memory.copy()
        taken = compiled.take(found.reshape(-1), flat, whole)
        assert taken is not None
        assert (taken[0].tobytes(), taken[1], found.tobytes()) == (old.tobytes(), done[1], expected.tobytes())


@WITH_LLVM
@pytest.mark.parametrize("address_bytes", [4, 8])
@pytest.mark.parametrize(
    ("address", "allowed"),
    [(0, False), (3, False), (4, True), (6, False), (12, True), (16, False), (-4, False), (1 << 31, False)],
)
def test_compiled_turns_do_nothing_where_an_address_is_not_allowed(
    address: int, allowed: bool, address_bytes: int
) -> None:
    """Bytes 4 to 15 may be used; the offset of -8 is in the address already."""
    compiled = compiled_turns("all", "add.u32", np.dtype("u4"), address_bytes)
    assert compiled is not None
    memory, told = np.zeros(64, np.uint8), []
    lanes = np.array([12, address + 8, 16], np.int64).astype(f"u{address_bytes}")
    reach = Reach(memory, ONE_OWNER, lanes, -8, 4, 12, lambda: told.append(1))
    found = compiled.at(reach, (3,), (np.ones(3, np.uint32),))
    assert (found is not None) == allowed == bool(told)
    assert memory.any() == allowed


@WITH_LLVM
def test_which_nan_a_sum_of_two_gives_is_left_to_numpy() -> None:
    compiled = compiled_turns("all", "add.f32", np.dtype("f4"), 8)
    assert compiled is not None
    memory = np.array([np.nan, 1], np.float32)
    assert compiled.take(memory, np.array([0, 1]), [np.array([1, np.nan], np.float32)]) is None
    assert memory[1] == 1
    old, changed = compiled.take(memory, np.array([0, 0]), [np.array([1, 2], np.float32)]) or (None, False)
    assert np.isnan(old).all()
    assert changed


@WITH_LLVM
def test_turns_are_compiled_when_they_are_hot() -> None:
    turns = CompiledTurns("add.u32", np.dtype("u4"), 8)
    assert not turns.ready("none")
    calls = [turns.ready("hot") for _ in range(3000)]
    assert not calls[0]
    assert calls[-1]
    assert sorted(calls) == calls
    assert CompiledTurns("add.u32", np.dtype("u4"), 8).ready("all")


@pytest.mark.parametrize("operation", ["add.f16x2", "add.bf16x2", "add.bf16", "add.f16"])
def test_sums_of_16_bits_are_left_to_numpy(operation: str) -> None:
    dtype = np.dtype({"add.f16": "f2", "add.bf16": "u2"}.get(operation, "u4"))
    assert compiled_turns("all", operation, dtype, 8) is None

"""Where arrays lie at virtual addresses: alignment, gaps, parts of arrays, the nearest one, handles."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.memory.allocations import HANDLE_BASE, Allocation, Allocations, ArgumentView, ReadOnlyArray
from softlab.emulator.ptx.linker import ALLOCATION_ALIGN, ARGUMENT_BASE, GUARD_BYTES


def data(size: int, offset: int = 0) -> np.ndarray:
    return np.arange(size + offset, dtype=np.uint8)[offset:]


def test_arrays_lie_apart_and_aligned() -> None:
    made, end = Allocations(), ARGUMENT_BASE
    for number, (size, offset) in enumerate([(0, 0), (1, 0), (512, 0), (513, 4), (100, 511), (100, 516), (7, 32)]):
        base = made.add(data(size, offset), name=f"a{number}", offset=offset)
        assert base % ALLOCATION_ALIGN == offset % ALLOCATION_ALIGN
        assert base - offset % ALLOCATION_ALIGN == (ARGUMENT_BASE if not number else -(-end // 512) * 512)
        one = made.all[number]
        assert (one.base, one.end, one.nbytes, one.name) == (base, base + size, size, f"a{number}")
        end = base + size + GUARD_BYTES
    assert made.bases == sorted(made.bases) == [one.base for one in made.all]
    low = made.add(data(8), name="low", base=4096)
    assert (low, made.bases[0], made.all[0].name) == (4096, 4096, "low"), "in the order of the addresses"
    between = made.add(data(8), name="between", base=made.bases[2] + 4096)
    assert made.bases == sorted(made.bases)
    assert made.all[made.bases.index(between)].name == "between"


@pytest.mark.parametrize("lead", [0, 1, 4, 8, 31])
def test_items_are_counted_from_an_aligned_address(lead: int) -> None:
    """The bytes before the array are there, and belong to its owner."""
    owner = np.arange(200, dtype=np.uint8)
    one = Allocation(ARGUMENT_BASE + 64 + lead, owner[lead : lead + 100], name="x", index=2, itemsize=4, writeable=True)
    assert (one.lead, one.origin, one.end) == (lead, ARGUMENT_BASE + 64, ARGUMENT_BASE + 164 + lead)
    assert np.array_equal(one.whole, owner[: lead + 100])
    assert np.shares_memory(one.whole, owner)
    for item in ("u1", "u2", "u4", "u8", "c16"):
        view = one.view(np.dtype(item))
        assert len(view) == (lead + 100) // np.dtype(item).itemsize
        assert view.tobytes() == owner[: len(view) * np.dtype(item).itemsize].tobytes()
        assert one.view(np.dtype(item)) is view
    assert (one.index, one.itemsize, one.views) == (2, 4, [])


def test_an_array_that_cannot_be_written() -> None:
    Allocation(ARGUMENT_BASE, data(8), name="x", index=0, itemsize=1, writeable=True).check_writeable()
    one = Allocation(ARGUMENT_BASE, data(8), name="the array of x", index=0, itemsize=1, writeable=False)
    with pytest.raises(ReadOnlyArray, match="the kernel writes to the array of x, which is read-only: pass an array"):
        one.check_writeable()


def test_the_nearest_array() -> None:
    """That which holds the address, else the one that is less far away, within the gap."""
    made = Allocations()
    assert made.nearest(ARGUMENT_BASE) is None
    first, second = (
        made.add(data(100), name=name, base=base) for name, base in (("a", 1 << 40), ("b", (1 << 40) + 1000))
    )
    far = made.add(data(100), name="c", base=(1 << 40) + 4 * GUARD_BYTES)
    expected = {
        first: "a", first + 99: "a", first + 100: "a", first + 549: "a", first + 551: "b", second - 1: "b",
        second + 100: "b", first - 1: "a", first - GUARD_BYTES + 1: "a", first - GUARD_BYTES: None,
        second + 99 + GUARD_BYTES: "b", second + 100 + GUARD_BYTES: None, far - GUARD_BYTES + 1: "c",
        far - GUARD_BYTES: None, far + 100 + GUARD_BYTES: None, 0: None,
    }  # fmt: skip
    for address, name in expected.items():
        found = made.nearest(address)
        assert (found.name if found is not None else None) == name, address - first


def test_arrays_that_go() -> None:
    made = Allocations()
    bases = [made.add(data(size), name=f"heap {size}") for size in (16, 32, 64)]
    assert made.remove(bases[1] + 1, "heap 32") is None
    assert made.remove(bases[1], "heap 16") is None
    assert made.remove(ARGUMENT_BASE - 1, "heap 16") is None
    assert made.remove(bases[1], "heap 32") == 32
    assert made.bases == [bases[0], bases[2]]
    assert [one.nbytes for one in made.all] == [16, 64]
    assert made.remove(bases[1], "heap 32") is None


def test_other_bytes_at_an_address() -> None:
    made = Allocations()
    bases = [made.add(data(16), name="a"), made.add(data(16), name="table", writeable=False)]
    before, other = made.all[1].data, data(48)
    assert made.replace(bases[1], other) is before
    assert (made.all[1].data is other, made.all[1].name, made.all[1].writeable) == (True, "table", False)
    assert (made.all[1].index, made.all[1].itemsize, made.all[1].end) == (None, None, bases[1] + 48)
    assert made.all[0].name == "a"


def test_handles_of_textures() -> None:
    made, images = Allocations(), [object(), object()]
    assert [made.handle(image) for image in (*images, images[0])] == [HANDLE_BASE, HANDLE_BASE + 1, HANDLE_BASE]
    assert made.handles == {HANDLE_BASE: images[0], HANDLE_BASE + 1: images[1]}


def test_arguments_that_are_one_memory() -> None:
    made = Allocations()
    bases = [made.add(data(16), name=name) for name in "ab"]
    views = [ArgumentView(0, 0, 16, 4), ArgumentView(1, 4, 8, 2)]
    for view in views:
        made.add_view(bases[1], view)
    assert [one.views for one in made.all] == [[], views]

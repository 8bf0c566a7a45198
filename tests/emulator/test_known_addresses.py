"""What is known of addresses is what NumPy says of their arrays."""

from __future__ import annotations

import numpy as np
import pytest

from softlab.emulator.memory import known_addresses
from softlab.emulator.memory.known_addresses import Addresses, KnownAddresses


def _addresses(random: np.random.Generator, kind: type[np.unsignedinteger]) -> np.ndarray:
    """(1, lanes) or (1, 1): runs, strides, descending, equal or any addresses, some near the ends of the range."""
    lanes = np.arange(random.choice([1, 7, 32]))
    step = int(random.choice([-16, -4, 0, 1, 4, 8, 16, 64]))
    relative = lanes * step if random.random() < 0.7 else random.integers(0, 64, len(lanes)) * 4
    last = int(np.iinfo(kind).max)
    first = (0, 4, 1000, 2**31 - 8, last - 63)[random.integers(5)]
    return np.array([[(one + first) % (last + 1) for one in relative.tolist()]], kind)


def _compare(known: Addresses, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(known.array, expected)
    assert (known.first, known.lowest, known.highest) == (expected[0, 0], expected.min(), expected.max())
    for width in (1, 2, 4, 8, 16):
        aligned = not (expected % expected.dtype.type(width)).any()
        assert known.is_aligned(width) == aligned
        if aligned and expected.max() < 2**62:
            items = (expected // expected.dtype.type(width)).astype(np.int64)
            np.testing.assert_array_equal(known.items(width), items)
            columns = known.columns(width)
            listed = range(columns.start, columns.stop) if isinstance(columns, slice) else columns.tolist()
            assert list(listed) == items[0].tolist()
            assert isinstance(columns, slice) == (items[0] == items[0, 0] + np.arange(items.size)).all()


@pytest.mark.parametrize("kind", [np.uint32, np.uint64])
def test_what_is_known_is_what_the_array_says(kind: type[np.unsignedinteger]) -> None:
    random, known, found, wrapped = np.random.default_rng(7), KnownAddresses(), 0, 0
    for _ in range(80):
        base = _addresses(random, kind)
        for offset in (0, 4, -4, 64, -1024, 2**20):
            expected = base + kind(offset % (int(np.iinfo(kind).max) + 1))
            here = known.at(base, offset)
            if here is None:  # some of the addresses, or of those that they were found from, have wrapped around
                wrapped += 1
                assert any(int(one.max()) - int(one.min()) > 2**30 for one in (base, expected))
                continue
            found += 1
            _compare(here, expected)
            assert known.of(here.array) is here
            for width in (8, 16):
                aligned = known.aligned(here, width)
                assert aligned is not None
                _compare(aligned, expected & ~kind(width - 1))
    assert found > 200
    assert wrapped > 5


def test_equal_addresses_are_one_object_and_others_are_not_known() -> None:
    known = KnownAddresses()
    one, same, apart = np.array([[8, 4]], np.uint32), np.array([[8, 4]], np.uint32), np.array([[8, 12]], np.uint32)
    assert known.of(one) is known.of(same)
    assert known.at(one, 16) is known.at(same, 16)
    assert known.of(apart) is not known.of(one)
    assert known.of(np.array([[8, 4]], np.uint64)) is not known.of(one)
    for other in (np.uint32(4), np.zeros((2, 2), np.uint32), np.zeros(2, np.uint32)):
        assert known.of(other) is None


def test_arrays_that_are_kept_are_never_taken_for_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_addresses, "_MOST_ARRAYS", 8)
    random, known = np.random.default_rng(1), KnownAddresses()
    for _ in range(300):  # a freed array's identity comes again at once
        address = np.sort(random.integers(0, 100, (1, 4))).astype(np.uint64)
        here = known.at(address, 4)
        assert here is not None
        np.testing.assert_array_equal(here.array, address + np.uint64(4))


def test_what_is_known_takes_twice_the_bytes_of_the_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    """The addresses themselves and how far they are apart. Beyond the limit all is forgotten."""
    monkeypatch.setattr(known_addresses, "_MOST_BYTES", 10 * 64)
    known, kept = KnownAddresses(), [np.arange(8, dtype=np.uint64)[None] * 4 + np.uint64(64 * n) for n in range(7)]
    counts = []
    for address in kept:
        known.of(address)
        counts.append(len(known._known))
    assert counts == [1, 2, 3, 4, 5, 1, 2]
    moved = KnownAddresses()
    counts = []
    for address in kept:
        moved.at(address, 8)
        counts.append(len(moved._known))
    assert counts == [1, 2, 3, 1, 2, 3, 1], "those further on take as much"


@pytest.mark.parametrize(("different", "kept"), [(3, True), (4, False)])
def test_contents_that_come_again_stay_known(different: int, kept: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(known_addresses, "_MOST_ARRAYS", 8)
    known, found, arrays = KnownAddresses(), [], []
    for turn in range(40):
        arrays.append(np.arange(8, dtype=np.uint64)[None] * 4 + np.uint64(64 * (turn % different)))
        found.append(known.of(arrays[-1]))
        np.testing.assert_array_equal(found[-1].array, arrays[-1])  # type: ignore[union-attr]
        assert len(known._known) <= 8
    assert (len(set(map(id, found))) == different) == kept

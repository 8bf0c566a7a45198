"""Numbers of some sectors, or lines, in arrays: to look up many at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

import numpy as np


class Shares(Mapping[int, float]):
    """Sector, or line -> its number."""

    def __init__(self, keys: np.ndarray, numbers: np.ndarray) -> None:
        """keys: int64 (n,), ascending, each once. numbers: float64 (n,)."""
        self._keys, self._numbers = keys, numbers

    @classmethod
    def of(cls, known: Mapping[int, float]) -> Shares:
        """The same numbers."""
        if isinstance(known, Shares):
            return known
        return cls.joined([(np.array(list(known), np.int64), np.array(list(known.values()), float))])

    @classmethod
    def joined(cls, parts: Sequence[tuple[np.ndarray, np.ndarray]]) -> Shares:
        """The numbers of all parts, keys and numbers each. Of a key that comes several times the last one counts."""
        keys = np.concatenate([*(keys for keys, _ in parts), np.zeros(0, np.int64)])
        numbers = np.concatenate([*(numbers for _, numbers in parts), np.zeros(0)])
        order = keys.argsort(kind="stable")
        keys, numbers = keys[order], numbers[order]
        last = np.ones(len(keys), bool)
        np.not_equal(keys[1:], keys[:-1], out=last[:-1])
        return cls(keys[last], numbers[last])

    def at(self, keys: np.ndarray, other: float) -> np.ndarray:
        """The number of each key, ``other`` for one without: float64. keys: int64, ascending, each once."""
        found = np.full(len(keys), other)
        places = keys.searchsorted(self._keys)
        known = (places < len(keys)).nonzero()[0]
        known = known[keys[places[known]] == self._keys[known]]
        found[places[known]] = self._numbers[known]
        return found

    @cached_property
    def _by_key(self) -> dict[int, float]:
        return dict(zip(self._keys.tolist(), self._numbers.tolist(), strict=True))

    def __getitem__(self, key: int) -> float:
        return self._by_key[key]

    def __iter__(self) -> Iterator[int]:
        return iter(self._by_key)

    def __len__(self) -> int:
        return len(self._keys)

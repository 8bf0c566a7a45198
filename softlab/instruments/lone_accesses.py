"""Records accesses to shared memory that no other access since the last barrier concerns, and repeated atomics.

All blocks make them at the same addresses. What such an access records follows from its pattern, and it is no race.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from softlab.emulator.lanes import Box, Lanes, Value
from softlab.emulator.memory.known_addresses import Addresses
from softlab.emulator.sites import Site
from softlab.instruments.native_shadow import NativeShadow
from softlab.instruments.shadow import Shadow
from softlab.instruments.shadow_patterns import AccessPattern, AccessPatterns

#: Accesses kept. Without a limit, memory would grow with the run.
_MOST_FOUND = 4096


#: Whether the access stores, whether it is strong, its shape, its addresses (a number where all lanes have the same),
#: and the columns of its lanes.
_Key = tuple[bool, bool, bytes, Addresses | int, bytes]


@dataclass
class _Found:
    """An access that came before: its pattern, the word of the first lane, and the compiled code that records it."""

    pattern: AccessPattern
    word: int
    record: Callable[[int], int] | None = None


#: An atomic that came once.
_NO_WORDS = np.zeros(0, np.int64)
_SEEN = _Found(AccessPattern(_NO_WORDS, _NO_WORDS, _NO_WORDS, True, ()), 0)


class LoneAccesses:
    """Those of one batch. ``native``: the compiled loops, where the run may use them."""

    def __init__(self, batch: Any, shadow: Shadow, native: NativeShadow | None) -> None:
        self._shadow = shadow
        self._native = native
        self._compiled = batch.compiled
        self._known = batch.shared.known
        self._stamps = shadow.stamps(True)
        self._found: dict[_Key, _Found] = {}
        self._patterns: AccessPatterns = batch.program.fact(AccessPatterns)

    def record(
        self, site: Site, lanes: Lanes, address: Value, shape: bytes, may_be: Callable[[int, int], bool],
        make: Callable[[Site, Lanes, Value, int], AccessPattern], again: bool = False,
    ) -> bool:  # fmt: skip
        """Record the access; False, and nothing is recorded, where it is not known at once that it is alone.

        ``shape`` tells which words each lane accesses, from that of its address on. ``may_be(first, end)``: whether
        only threads of the block have accessed these bytes. ``make`` gives the pattern of an access from its site,
        lanes, addresses and the word of the first lane. ``again``: it is a strong write, such as an atomic, which is
        recorded where it repeats others.
        """
        shadow = self._shadow
        if not shadow.alike or shadow.has_meetings or not isinstance(lanes, Box) or lanes.rows is not None:
            return False
        known = self._known.of(address)
        if known is not None:
            first, least, most = known.first, known.lowest, known.highest
        elif not isinstance(address, np.ndarray):
            first = least = most = int(address)
        else:
            return False
        if not may_be(least, most + site.width) or (again and not shadow.has_only_barriers):
            return False
        if shadow.stamps(True) is not self._stamps:
            self._stamps = shadow.stamps(True)
            self._found.clear()
        key = site.store, again, shape, first if known is None else known, lanes.column_key
        found = self._found.get(key)
        if found is None or found is _SEEN:
            if found is None and again:  # to make a pattern takes as long as a look: only for what comes twice
                self._keep(key, _SEEN)
                return False
            word, place = divmod(first, shadow.granule)
            found = self._keep(key, self._new(key, lanes, word, place, partial(make, site, lanes, address, word)))
        if found.record is not None:
            return found.record(shadow.time) != 0
        return self._record(found, site.store, again)

    def _new(self, key: _Key, lanes: Box, word: int, place: int, make: Callable[[], AccessPattern]) -> _Found:
        _, _, shape, known, columns = key
        content = b"" if isinstance(known, int) else known.pattern.content
        return _Found(self._patterns.find((content, shape, columns, lanes.threads, place), make), word)

    def _keep(self, key: _Key, found: _Found) -> _Found:
        if len(self._found) >= _MOST_FOUND:
            self._found.clear()
        self._found[key] = found
        return found

    def _record(self, found: _Found, store: bool, again: bool) -> bool:
        """Record an access for which there is no compiled code yet."""
        native, shadow, word, pattern = self._native, self._shadow, found.word, found.pattern
        if native is not None and native.pattern_is_ready(self._compiled, again):
            found.record = native.again(pattern, word) if again else native.alone(pattern, word, store)
            return found.record(shadow.time) != 0
        return shadow.record_again(pattern, word) if again else shadow.record_alone(pattern, word, store)

"""Records accesses to shared memory that no other access since the last barrier concerns.

All blocks make them at the same addresses. What such an access records follows from its pattern, and it is no race.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
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


@dataclass
class _Found:
    """An access that came before: its pattern, the word of the first lane, and what compiled code is given."""

    pattern: AccessPattern
    word: int
    given: list[int] = field(default_factory=list)


class LoneAccesses:
    """Those of one batch. ``native``: the compiled loops, where the run may use them."""

    def __init__(self, batch: Any, shadow: Shadow, native: NativeShadow | None) -> None:
        self._shadow = shadow
        self._native = native
        self._compiled = batch.compiled
        self._known = batch.shared.known
        self._stamps = shadow.stamps(True)
        #: Index of the instruction, addresses (a number where all lanes have the same), columns -> what is known.
        self._found: dict[tuple[int, Addresses | int, bytes], _Found] = {}
        self._patterns: AccessPatterns = batch.program.fact(AccessPatterns)

    def record(
        self,
        site: Site,
        lanes: Lanes,
        address: Value,
        shape: bytes,
        may_be: Callable[[int, int], bool],
        make: Callable[[Site, Lanes, Value, int], AccessPattern],
    ) -> bool:
        """Record the access; False, and nothing is recorded, where it is not known at once that it is alone.

        ``shape`` tells which words each lane accesses, from that of its address on. ``may_be(first, end)``: whether
        only threads of the block have accessed these bytes. ``make`` gives the pattern of an access from its site,
        lanes, addresses and the word of the first lane.
        """
        shadow = self._shadow
        if not shadow.alike or not isinstance(lanes, Box) or lanes.rows is not None:
            return False
        known = self._known.of(address)
        if known is not None:
            first, least, most, content = known.first, known.lowest, known.highest, known.pattern.content
        elif not isinstance(address, np.ndarray):
            first = least = most = int(address)
            content = b""
        else:
            return False
        if not may_be(least, most + site.width):
            return False
        if shadow.stamps(True) is not self._stamps:
            self._stamps = shadow.stamps(True)
            self._found.clear()
        key = site.index, first if known is None else known, lanes.column_key
        found = self._found.get(key)
        if found is None:
            word, place = divmod(first, shadow.granule)
            of_all = content, shape, lanes.column_key, lanes.threads, place
            pattern = self._patterns.find(of_all, lambda: make(site, lanes, address, word))
            found = self._keep(key, _Found(pattern, word))
        return self._record(found, site.store)

    def _keep(self, key: tuple[int, Addresses | int, bytes], found: _Found) -> _Found:
        if len(self._found) >= _MOST_FOUND:
            self._found.clear()
        self._found[key] = found
        return found

    def _record(self, found: _Found, store: bool) -> bool:
        native = self._native
        if native is None or not native.alone_is_ready(self._compiled):
            return self._shadow.record_alone(found.pattern, found.word, store)
        if not found.given:
            found.given = native.given_alone(found.pattern, found.word, store)
        return native.record_given(found.given)

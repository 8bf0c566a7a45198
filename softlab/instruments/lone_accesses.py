"""Records accesses to shared memory that no other access since the last barrier concerns.

All blocks make them at the same addresses. What such an access records follows from its pattern, and it is no race.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from softlab.emulator.lanes import Box, Lanes, Value
from softlab.emulator.sites import Site
from softlab.instruments.native_shadow import NativeShadow
from softlab.instruments.shadow import Shadow
from softlab.instruments.shadow_patterns import AccessPattern, AccessPatterns


class LoneAccesses:
    """Those of one batch. ``native``: the compiled loops, where the run may use them."""

    def __init__(self, batch: Any, shadow: Shadow, native: NativeShadow | None) -> None:
        self._shadow = shadow
        self._native = native
        self._compiled = batch.compiled
        self._known = batch.shared.known
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
        word, place = divmod(first, shadow.granule)
        key = content, shape, lanes.column_key, lanes.threads, place
        pattern = self._patterns.find(key, lambda: make(site, lanes, address, word))
        if self._native is not None and self._native.alone_is_ready(self._compiled):
            return self._native.record_alone(pattern, word, site.store)
        return shadow.record_alone(pattern, word, site.store)

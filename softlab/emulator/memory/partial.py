"""Accesses of which some lanes are at fault, in a run that collects its faults: the other lanes go on.

Lanes at fault load 0 and store nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any

import numpy as np

from softlab.emulator.host import BadLanes
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.sites import Site

_Load = Callable[[Any, Lanes, Site, Value], Any]
_Store = Callable[..., None]
_Cells = Callable[[Any, Lanes, Site, Value], Iterator[tuple[np.ndarray, np.ndarray, Any]]]


def partial_load(load: _Load) -> _Load:
    """A ``load`` method whose lanes at fault get 0."""

    @wraps(load)
    def of_good_lanes(memory: Any, lanes: Lanes, site: Site, address: Value) -> Any:
        try:
            return load(memory, lanes, site, address)
        except BadLanes as fault:
            good = fault.others(lanes)
        zero = site.dtype.type(0)
        found = (zero,) * site.elements
        if good is not None:
            values = of_good_lanes(memory, good, site, good.take(lanes.put(address, address, True)))
            values = values if site.elements > 1 else (values,)
            found = tuple(lanes.take(good.put(zero, value, False)) for value in values)
        return found if site.elements > 1 else found[0]

    return of_good_lanes


def partial_store(store: _Store) -> _Store:
    """A ``store`` method whose lanes at fault store nothing."""

    @wraps(store)
    def of_good_lanes(memory: Any, lanes: Lanes, site: Site, address: Value, *values: Value) -> None:
        try:
            store(memory, lanes, site, address, *values)
        except BadLanes as fault:
            good = fault.others(lanes)
            if good is not None:
                whole = [lanes.put(value, value, True) for value in (address, *values)]
                of_good_lanes(memory, good, site, *(good.take(value) for value in whole))

    return of_good_lanes


def partial_cells(cells: _Cells) -> _Cells:
    """A ``cells`` method that leaves out the lanes at fault."""

    @wraps(cells)
    def of_good_lanes(
        memory: Any, lanes: Lanes, site: Site, address: Value
    ) -> Iterator[tuple[np.ndarray, np.ndarray, Any]]:
        try:
            yield from list(cells(memory, lanes, site, address))
        except BadLanes as fault:
            good = fault.others(lanes)
            if good is None:
                return
            numbers = np.flatnonzero(lanes.full_extent(lanes.take(good.mask)))
            whole = lanes.put(address, address, True)
            for items, index, which in of_good_lanes(memory, good, site, good.take(whole)):
                yield items, index, numbers[which]

    return of_good_lanes

"""An explorer driven through its controls, with what it shows in each state."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from softlab.site.grids import Every, Grid, Values
from softlab.site.packing import Nodes, key_of
from softlab.site.scenes import Snapshot, plain, snapshot_of, tree_of, widgets_of

Where = dict[str, Any]


@dataclass
class Sweep:
    """The states of one explorer.

    scene: its tree; traits: what a key has, in their order; inputs: what moves them, (node, slot, trait, label of a
    switch or None); links: (node, slot, node, slot) that the page moves without a state; states: key -> slot -> number
    of a value in ``nodes``; at: key -> the key that the explorer took instead, where it did; views: class -> JavaScript
    and style sheet.
    """

    scene: dict[str, Any]
    traits: tuple[str, ...]
    inputs: list[tuple[int, str, str, Any]]
    links: list[tuple[int, str, int, str]]
    nodes: Nodes = field(default_factory=Nodes)
    states: dict[str, dict[tuple[int, str], int]] = field(default_factory=dict)
    at: dict[str, str] = field(default_factory=dict)
    views: dict[str, tuple[str, str]] = field(default_factory=dict)

    def add(self, key: str, shown: Snapshot) -> None:
        """Keep what a state shows."""
        self.states[key] = {slot: self.nodes.add(value) for slot, value in shown.items()}


def values_at(explorer: Any, trait: str, values: Values) -> Sequence[Any]:
    """The values that a trait gets in a sweep, with the controls before it where they are now."""
    if not isinstance(values, Every):
        return values(explorer) if callable(values) else values
    if values.control:
        return range(len(getattr(explorer, values.control).options))
    control = explorer.controls[trait][0]
    if hasattr(control, "_options_values"):
        return tuple(control._options_values)
    if isinstance(control.value, bool):
        return (False, True)
    every = range(int(control.min), int(control.max) + 1, int(control.step))
    return every[: values.most] if values.most else every


def put(explorer: Any, where: Mapping[str, Any]) -> None:
    """Give the traits their values, in this order; a note of an earlier state goes."""
    if getattr(explorer, "note", ""):
        explorer.note = ""
    for trait, value in where.items():
        if getattr(explorer, trait) != value:
            setattr(explorer, trait, value)


def visited(explorer: Any, traits: Sequence[str], slice_: Mapping[str, Values], base: Where) -> Iterator[Where]:
    """Every combination of a slice of a grid; the explorer is there when it comes. Traits that it omits: ``base``."""

    def rest(number: int, asked: Where) -> Iterator[Where]:
        if number == len(traits):
            yield dict(asked)
            return
        trait = traits[number]
        for value in values_at(explorer, trait, slice_.get(trait, (base[trait],))):
            now = {**asked, trait: value}
            put(explorer, {**now, **{later: base[later] for later in traits[number + 1 :]}})
            yield from rest(number + 1, now)

    yield from rest(0, {})


def swept(explorer: Any, grid: Grid, starts: Sequence[Where]) -> Sweep:
    """Drive an explorer through its grid.

    Arguments:
        explorer: one that nobody looks at: it is moved.
        grid: its slices; without one a single state is kept.
        starts: states that lessons show first. Each control is also moved alone from each of them.
    """
    traits = grid.traits
    scene, views = tree_of(explorer.widget), views_of(explorer)
    made = Sweep(scene, traits, inputs_of(explorer, grid), links_of(explorer), views=views)
    base = {trait: getattr(explorer, trait) for trait in traits}
    for start in starts or (base,):
        alone: list[Mapping[str, Values]] = [{}, *({trait: values} for trait, values in grid.every.items())]
        for slice_ in alone:
            _sweep(explorer, grid, slice_, {**base, **start}, made)
    for slice_ in grid.slices:
        _sweep(explorer, grid, slice_, base, made)
    return made


def _sweep(explorer: Any, grid: Grid, slice_: Mapping[str, Values], base: Where, made: Sweep) -> None:
    for asked in visited(explorer, grid.traits, slice_, base):
        key = key_of(plain(list(asked.values())))
        if key in made.states:
            continue
        shown = snapshot_of(explorer.widget)
        made.add(key, shown | stops(explorer, grid, made))
        taken = key_of(plain([getattr(explorer, trait) for trait in grid.traits]))
        if taken != key:
            made.at[key] = taken


def stops(explorer: Any, grid: Grid, made: Sweep) -> Snapshot:
    """Where a slider has pictures: the values of the grid that it offers now."""
    found: Snapshot = {}
    for number, slot, trait, label in made.inputs:
        values = grid.every.get(trait)
        if slot == "value" and label is None and values is not None and not isinstance(values, Every):
            found[number, "stops"] = plain(sorted(values_at(explorer, trait, values)))
    return found


def inputs_of(explorer: Any, grid: Grid) -> list[tuple[int, str, str, Any]]:
    """What moves the traits of a key: (node, slot, trait, label of a switch or None)."""
    numbers = {id(widget): number for number, widget in enumerate(widgets_of(explorer.widget))}
    found: list[tuple[int, str, str, Any]] = []
    for trait in grid.traits:
        for control in explorer.controls.get(trait, ()):
            slot = "index" if hasattr(control, "_options_values") else "value"
            found.append((numbers[id(control)], slot, trait, None))
        values = grid.every[trait]
        if isinstance(values, Every) and values.control:
            found.append((numbers[id(getattr(explorer, values.control))], "index", trait, None))
    for path, trait in grid.moved_by.items():
        name, slot = path.split(".")
        found.append((numbers[id(getattr(explorer, name))], slot, trait, None))
    for name, trait in grid.switches.items():
        for label, switch in getattr(explorer, name).items():
            found.append((numbers[id(switch)], "value", trait, label))
    return found


def links_of(explorer: Any) -> list[tuple[int, str, int, str]]:
    """The links within the page that an explorer has made (``jslink``)."""
    numbers = {id(widget): number for number, widget in enumerate(widgets_of(explorer.widget))}
    found = []
    for link in vars(explorer).values():
        if hasattr(link, "source") and hasattr(link, "target"):
            (source, slot), (target, other) = link.source, link.target
            found.append((numbers[id(source)], slot, numbers[id(target)], other))
    return found


def views_of(explorer: Any) -> dict[str, tuple[str, str]]:
    """Class -> JavaScript and style sheet of the widgets that draw themselves."""
    found = {}
    for widget in widgets_of(explorer.widget):
        if hasattr(widget, "_esm"):
            found[type(widget).__name__] = (str(widget._esm), str(widget._css))
    return found

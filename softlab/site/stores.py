"""What the pages draw explorers from: a store of states per explorer, shared by the lessons that show it."""

from __future__ import annotations

import hashlib
import inspect
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from softlab import explorers
from softlab.site.grids import GRIDS, Grid
from softlab.site.packing import key_of, packed
from softlab.site.scenes import plain
from softlab.site.sweeps import Sweep, swept

#: A store of more characters is cut into files by the value of its first trait.
MOST_CHARACTERS = 400_000


@dataclass(frozen=True)
class Store:
    """The files of a store: name -> text, and what the pages have to load first."""

    name: str
    files: Mapping[str, str]
    views: Mapping[str, tuple[str, str]]
    states: int


@dataclass(frozen=True)
class Shared:
    """An explorer that any lesson can make again: its class and the arguments that are no state."""

    cls: str
    options: str

    @property
    def name(self) -> str:
        """The name of its store."""
        more = "" if self.options == "{}" else "-" + hashlib.sha256(self.options.encode()).hexdigest()[:6]
        return self.cls.removesuffix("Explorer").lower() + more

    def made(self) -> Any:
        """One with the first values of the class."""
        return getattr(explorers, self.cls)(**json.loads(self.options))


def grid_of(shown: Any) -> Grid:
    """The grid of an explorer; one state for a picture without controls."""
    return GRIDS.get(type(shown).__name__, Grid())


def start_of(shown: Any) -> dict[str, Any]:
    """Where the controls stand: the traits of a key."""
    return {trait: getattr(shown, trait) for trait in grid_of(shown).traits}


def shared(explorer: Any) -> Shared | None:
    """How to make the explorer again, None if it works on objects of its lesson."""
    arguments, options = explorer._made_with
    bound = inspect.signature(type(explorer)).bind(*arguments, **options).arguments
    rest = {name: value for name, value in bound.items() if name not in {*grid_of(explorer).traits, "parts"}}
    try:
        return Shared(type(explorer).__name__, json.dumps(rest, sort_keys=True))
    except TypeError:
        return None


def again(explorer: Any) -> Any:
    """Another explorer that was made like this one."""
    arguments, options = explorer._made_with
    return type(explorer)(*arguments, **options)


class Lone:
    """A picture that a lesson shows without controls, as an explorer of one state."""

    def __init__(self, widget: Any) -> None:
        self.widget = widget
        self.controls: dict[str, list[Any]] = {}


def store_of(name: str, explorer: Any, starts: Sequence[dict[str, Any]] = (), grid: Grid | None = None) -> Store:
    """Drive an explorer through its grid and write its store."""
    found = swept(explorer, grid_of(explorer) if grid is None else grid, starts)
    return Store(name, files_of(name, found), found.views, len(found.states))


def files_of(name: str, found: Sweep) -> dict[str, str]:
    """The files of a store: ``store.js`` has what all states share, ``0.js`` and so on have the states."""
    slots = sorted({slot for state in found.states.values() for slot in state})
    rows = {key: [state.get(slot, -1) for slot in slots] for key, state in found.states.items()}
    missing = found.nodes.add(None)
    rows = {key: [missing if ref < 0 else ref for ref in refs] for key, refs in rows.items()}
    moving = [k for k in range(len(slots)) if len({refs[k] for refs in rows.values()}) > 1]
    first = next(iter(rows.values()))
    fixed = {
        f"{number} {slot}": found.nodes.value(first[k]) for k, (number, slot) in enumerate(slots) if k not in moving
    }
    chunks, parts = _parts(found, {key: [refs[k] for k in moving] for key, refs in rows.items()})
    about = {
        "scene": found.scene,
        "traits": list(found.traits),
        "inputs": [list(one) for one in found.inputs],
        "links": [list(one) for one in found.links],
        "views": list(found.views),
        "slots": [list(slots[k]) for k in moving],
        "fixed": fixed,
        "chunks": chunks,
    }
    files = {"store.js": f"softlab.store({json.dumps(name)}, {json.dumps(packed(about))});\n"}
    for number, text in enumerate(parts):
        files[f"{number}.js"] = f'softlab.chunk({json.dumps(f"{name}/{number}")}, "{text}");\n'
    return files


def _parts(found: Sweep, rows: Mapping[str, list[int]]) -> tuple[dict[str, int] | int, list[str]]:
    """The states in one file, or in one per value of the first trait: (number, or value -> number; the files)."""

    def text(keys: Sequence[str]) -> str:
        chunk = found.nodes.chunk({key: rows[key] for key in keys})
        return packed({**chunk, "at": {key: found.at[key] for key in keys if key in found.at}})

    whole = text(list(rows))
    if len(whole) <= MOST_CHARACTERS:
        return 0, [whole]
    groups: dict[str, list[str]] = {}
    for key in rows:
        groups.setdefault(key_of(json.loads(key)[:1]), []).append(key)
    return {value: number for number, value in enumerate(groups)}, [text(keys) for keys in groups.values()]


def write(store: Store, folder: Path) -> None:
    """Write a store below ``folder``."""
    for file, text in store.files.items():
        path = folder / store.name / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def write_views(stores: Sequence[Store], folder: Path) -> None:
    """Write the JavaScript and style sheets of the views. They are modules; a script works without a server."""
    folder.mkdir(parents=True, exist_ok=True)
    for view, (script, style) in sorted({name: text for store in stores for name, text in store.views.items()}.items()):
        body, _, end = script.rpartition("export default ")
        if not body:
            raise ValueError(f"the JavaScript of {view} has no `export default`")
        made = f"(() => {{\n{body}softlab.view({json.dumps(view)}, {end.strip().rstrip(';')});\n}})();\n"
        (folder / f"{view}.js").write_text(made, encoding="utf-8")
        (folder / f"{view}.css").write_text(style, encoding="utf-8")


def key_at(start: Mapping[str, Any]) -> str:
    """The key of a start."""
    return key_of(plain(list(start.values())))

"""States in few bytes: each value is kept once, pictures are cut into their pieces, and files are compressed.

A chunk is ``{"nodes": [...], "states": {key: [node, ...]}}``, compressed with gzip and written in base 64, inside a
script that hands it to the page. A script works from a folder without a server, where a page may fetch no data. A node
is a plain value, or a list that begins with its kind:

- ``[0, node, ...]``: a list;
- ``[1, names, node, ...]``: an object, ``names`` the node of the list of its names;
- ``[2, node, ...]``: a text, cut into pieces.
"""

from __future__ import annotations

import base64
import gzip
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

LIST, OBJECT, TEXT = 0, 1, 2
#: Shorter texts stay whole.
_SHORT = 60
#: Where a drawing is cut: before a drawing and after it; then between its elements.
_DRAWINGS = re.compile(r"(?=<svg\b)|(?<=</svg>)")
_ELEMENTS = re.compile(r"(?<=>)(?=<)")


class Nodes:
    """Values, each kept once; a value is known by its number."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self._known: dict[Any, int] = {}

    def add(self, value: Any) -> int:
        """The number of a JSON value."""
        if isinstance(value, Mapping):
            names = self.add(list(value))
            return self._number((OBJECT, names, *(self.add(item) for item in value.values())))
        if isinstance(value, list | tuple):
            return self._number((LIST, *(self.add(item) for item in value)))
        if isinstance(value, str) and len(value) > _SHORT and "<" in value:
            return self._text(value, _DRAWINGS if "<svg" in value else _ELEMENTS)
        return self._leaf(value)

    def _text(self, text: str, cut: re.Pattern[str]) -> int:
        pieces = [piece for piece in cut.split(text) if piece]
        if len(pieces) == 1:
            return self._leaf(text) if cut is _ELEMENTS else self._text(text, _ELEMENTS)
        more = cut is _DRAWINGS
        return self._number((TEXT, *(self._text(p, _ELEMENTS) if more else self._leaf(p) for p in pieces)))

    def _leaf(self, value: Any) -> int:
        return self._number((type(value).__name__, value))

    def _number(self, node: tuple[Any, ...]) -> int:
        if node not in self._known:
            self._known[node] = len(self.nodes)
            self.nodes.append(node)
        return self._known[node]

    def value(self, number: int) -> Any:
        """The value of a number."""
        node = self.nodes[number]
        if isinstance(node[0], str):
            return node[1]
        kind, *parts = node
        values = [self.value(part) for part in parts]
        if kind == OBJECT:
            return dict(zip(values[0], values[1:], strict=True))
        return "".join(values) if kind == TEXT else values

    def chunk(self, states: Mapping[str, Sequence[int]]) -> dict[str, Any]:
        """The states with the nodes that they need, numbered anew in the order of their use."""
        numbers: dict[int, int] = {}
        written: list[Any] = []

        def visit(number: int) -> int:
            if number not in numbers:
                node = self.nodes[number]
                inner = not isinstance(node[0], str)
                parts = [node[0], *(visit(part) for part in node[1:])] if inner else node[1]
                numbers[number] = len(written)
                written.append(parts)
            return numbers[number]

        made = {key: [visit(number) for number in refs] for key, refs in states.items()}
        return {"nodes": written, "states": made}


def decoded(nodes: Sequence[Any], number: int) -> Any:
    """The value of a node of a chunk: what ``static/runtime.js`` makes of it."""
    node = nodes[number]
    if not isinstance(node, list):
        return node
    kind, *parts = node
    if kind == OBJECT:
        return dict(zip(decoded(nodes, parts[0]), (decoded(nodes, part) for part in parts[1:]), strict=True))
    values = [decoded(nodes, part) for part in parts]
    return "".join(values) if kind == TEXT else values


def packed(data: Any) -> str:
    """JSON, compressed, in base 64; the same bytes for the same data."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    return base64.b64encode(gzip.compress(text.encode(), 9, mtime=0)).decode()


def unpacked(text: str) -> Any:
    """What :func:`packed` was given."""
    return json.loads(gzip.decompress(base64.b64decode(text)))


def key_of(values: Iterable[Any]) -> str:
    """The key of a state: the values of its controls, as JavaScript writes them."""
    return json.dumps(list(values), ensure_ascii=False, separators=(",", ":"))

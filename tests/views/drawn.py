"""What a picture shows, read back from its SVG or HTML: for tests."""

from __future__ import annotations

import re
from xml.etree import ElementTree


def marks(picture: str, **data: object) -> list[dict[str, str]]:
    """The marks with the given ``data-*`` values (None: any value): their data, x, y, width, height, tip, marked."""
    found = []
    for group in ElementTree.fromstring(picture).iter("g"):
        named = {key.removeprefix("data-"): value for key, value in group.attrib.items() if key.startswith("data-")}
        if all(key in named and value in (None, named[key]) for key, value in data.items()):
            shape, tip = group.find("rect"), group.find("title")
            edge = "stroke-width" in shape.attrib
            found.append({**named, **shape.attrib, "tip": tip.text or "", "marked": str(edge)})
    return found


def words(picture: str) -> list[str]:
    """All texts of an SVG, in order."""
    return [element.text or "" for element in ElementTree.fromstring(picture).iter("text")]


def cells(html: str) -> list[list[str]]:
    """The cells of all rows of an HTML table, the head left out."""
    rows = re.findall(r"<tr>(.*?)</tr>", html, re.S)
    return [found for row in rows if (found := re.findall(r"<td[^>]*>(.*?)</td>", row, re.S))]

"""An explorer's widgets as plain data: what stands where, and what each of them shows now.

A scene is a tree of nodes ``{"id", "kind", "children"}``. A snapshot says what they show: (id, slot) -> JSON value.
The tree of an explorer stays the same while its controls move, so a state is a snapshot alone.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

#: Class of ipywidgets -> kind of node. A widget of softlab with JavaScript is a "view".
KINDS = {
    "VBox": "column", "HBox": "row", "IntSlider": "slider", "FloatSlider": "slider", "SelectionSlider": "choice",
    "Dropdown": "menu", "ToggleButtons": "buttons", "ToggleButton": "toggle", "Checkbox": "checkbox",
    "HTML": "html", "Label": "html", "Button": "button", "Play": "play",
}  # fmt: skip
_SLOTS = {
    "slider": ("value", "min", "max", "step", "description", "disabled"),
    "choice": ("index", "description", "disabled"),
    "menu": ("index", "description", "disabled"),
    "buttons": ("index", "tooltip", "disabled"),
    "toggle": ("value", "description"),
    "checkbox": ("value", "description"),
    "html": ("value",),
    "button": ("description",),
    "play": ("interval", "disabled"),
}
_WITH_OPTIONS = ("choice", "menu", "buttons")
_OF_EVERY_WIDGET = ("layout", "tabbable", "tooltip")
_LAYOUT = ("display", "visibility", "min_height")

Snapshot = dict[tuple[int, str], Any]


def kind_of(widget: Any) -> str:
    """The kind of a widget.

    Raises:
        ValueError: the site cannot draw such a widget.
    """
    if hasattr(widget, "_esm"):
        return "view"
    for cls in type(widget).__mro__:
        if cls.__name__ in KINDS:
            return KINDS[cls.__name__]
    raise ValueError(f"the site draws no {type(widget).__name__}: add it to softlab.site.scenes")


def widgets_of(widget: Any) -> Iterator[Any]:
    """The widget and all below it, in the order of their ids: 0, 1, ..."""
    yield widget
    for child in getattr(widget, "children", ()):
        yield from widgets_of(child)


def tree_of(widget: Any, numbers: Iterator[int] | None = None) -> dict[str, Any]:
    """The scene of a widget."""
    numbers = iter(range(1 << 30)) if numbers is None else numbers
    node: dict[str, Any] = {"id": next(numbers), "kind": kind_of(widget)}
    if node["kind"] == "view":
        node["view"] = type(widget).__name__
    if children := getattr(widget, "children", ()):
        node["children"] = [tree_of(child, numbers) for child in children]
    return node


def snapshot_of(widget: Any) -> Snapshot:
    """What the widget and all below it show."""
    found: Snapshot = {}
    for number, one in enumerate(widgets_of(widget)):
        kind = kind_of(one)
        if kind == "view":
            own = [name for name in one.keys if not name.startswith("_") and name not in _OF_EVERY_WIDGET]
            found |= {(number, name): plain(getattr(one, name)) for name in own}
        for name in _SLOTS.get(kind, ()):
            found[number, name] = plain(getattr(one, name))
        if kind in _WITH_OPTIONS:
            found[number, "options"] = list(one._options_labels)
            found[number, "values"] = plain(list(one._options_values))
        for name in _LAYOUT:
            if (value := getattr(one.layout, name)) is not None:
                found[number, f"layout.{name}"] = value
    return found


def plain(value: Any) -> Any:
    """A value as JSON has it: no tuples, no NumPy scalars, 1.0 as JavaScript writes it."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if hasattr(value, "item"):
        value = value.item()
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value

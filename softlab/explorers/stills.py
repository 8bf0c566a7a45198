"""The still picture of a widget: what it shows now, for pages that run no widgets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import ipywidgets as widgets

from softlab.views.stills import Part, choices, parts_of, still

#: The type under which the picture stands in an output.
MIME = "image/svg+xml"


def still_of(
    widget: widgets.Widget, title: str, state: Mapping[str, Any] | None = None, further: Iterable[Part] = ()
) -> str:
    """The SVG of all that a widget shows. Its controls are not drawn: ``state`` says where they stand.

    A widget of softlab draws itself: it has a method ``still_parts``. further: what the picture has besides, below.
    """
    return still([*_parts(widget), *further], title=title, state=state)


def _parts(widget: widgets.Widget) -> Iterator[Part]:
    if hasattr(widget, "still_parts"):
        yield from widget.still_parts()
    elif isinstance(widget, widgets.HTML):
        yield from parts_of(widget.value)
    elif isinstance(widget, widgets.RadioButtons):
        yield choices("", widget.options, widget.value or "")
    for child in getattr(widget, "children", ()):
        yield from _parts(child)


def with_still(bundle: Any, picture: str) -> Any:
    """A widget's output with the picture beside it. A page that runs widgets shows the widget."""
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    if data is not None:
        data[MIME] = picture
    return bundle

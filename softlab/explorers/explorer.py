"""What every explorer has: traits for its state, and a widget that shows it."""

from __future__ import annotations

from typing import Any, Self

import ipywidgets as widgets
from traitlets import HasTraits

_NAME_WIDTH = "62px"


class Explorer(HasTraits):
    """Base of the explorers: traits are the state, for cells to set and tests to read; ``widget`` shows it.

    (An explorer is not itself a widget: ipywidgets uses names such as ``layout`` itself.)
    """

    widget: widgets.Widget

    @classmethod
    def example(cls) -> Self:
        """One with something to see, for ``softlab explore``. One that cannot be made without arguments has its own."""
        return cls()

    def bind(self, trait: str, control: widgets.ValueWidget) -> None:
        """Keep a trait and a control's value equal. The trait decides: it may take another value."""

        def to_trait(change: Any) -> None:
            if change.new != getattr(self, trait):
                setattr(self, trait, change.new)
                show(getattr(self, trait))

        def to_control(change: Any) -> None:
            show(change.new)

        def show(value: Any) -> None:
            if isinstance(control, widgets.IntSlider) and value > control.max:
                control.max = value
            control.value = value

        show(getattr(self, trait))
        control.observe(to_trait, "value")
        self.observe(to_control, trait)

    def _repr_mimebundle_(self, **options: Any) -> Any:
        bundle = self.widget._repr_mimebundle_(**options)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if data is not None:
            data["text/plain"] = repr(self)
        return bundle

    def __repr__(self) -> str:
        state = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.trait_names(state=True))
        return f"{type(self).__name__}({state})"


def buttons(options: Any, tip: str) -> widgets.ToggleButtons:
    """A switch of a few values; :func:`named` puts its name before it."""
    return widgets.ToggleButtons(options=options, tooltip=tip, style={"button_width": "auto"}, layout={"width": "auto"})


def named(name: str, control: widgets.Widget) -> widgets.HBox:
    """A control with its name in front of it, in line with the sliders' names."""
    label = widgets.Label(name, layout={"width": _NAME_WIDTH, "display": "flex", "justify_content": "flex-end"})
    return widgets.HBox([label, control], layout={"flex": "0 0 auto", "margin": "0 24px 0 0"})


def slider(least: int, most: int, description: str, width: str = "420px", **more: Any) -> widgets.IntSlider:
    """A slider of whole numbers that can also be typed."""
    made = widgets.IntSlider(least, least, most, description=description, **more)
    made.style.description_width = _NAME_WIDTH
    made.layout = {"width": width, "flex": "0 0 auto"}
    return made


def menu(options: Any, description: str, width: str = "200px") -> widgets.Dropdown:
    """A drop-down list."""
    made = widgets.Dropdown(options=options, description=description)
    made.style.description_width = _NAME_WIDTH
    made.layout = {"width": width, "flex": "0 0 auto"}
    return made

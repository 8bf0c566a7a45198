"""What every explorer has: traits for its state, and a widget that shows it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, ClassVar, Self

import ipywidgets as widgets
from traitlets import HasTraits

from softlab.errors import CompileError
from softlab.explorers.stills import still_of, with_still
from softlab.views.stills import Part

_NAME_WIDTH = "62px"


class Explorer(HasTraits):
    """Base of the explorers: traits are the state, for cells to set and tests to read; ``widget`` shows it.

    (An explorer is not itself a widget: ipywidgets uses names such as ``layout`` itself.)
    """

    widget: widgets.VBox
    #: The number of the lesson that introduces it: the order of the tabs of ``softlab explore``.
    lesson: ClassVar[str] = ""
    _made_with: tuple[tuple[Any, ...], dict[str, Any]]
    #: Trait -> the controls that move it.
    controls: dict[str, list[widgets.ValueWidget]]
    _twin: Explorer | None
    _notice: widgets.HTML | None = None
    #: The state when a cell displayed it, None before.
    displayed: dict[str, Any] | None = None
    _first_state: dict[str, Any]

    def __new__(cls, *arguments: Any, **options: Any) -> Self:
        """Keep the arguments: :meth:`at` makes another explorer with them."""
        made = super().__new__(cls, *arguments, **options)
        made._made_with = (arguments, options)
        made.controls, made._twin = {}, None
        return made

    @classmethod
    def example(cls) -> Self:
        """One with something to see, for ``softlab explore``. One that cannot be made without arguments has its own."""
        return cls()

    def bind(self, trait: str, control: widgets.ValueWidget) -> None:
        """Keep a trait and a control's value equal. The trait decides: it may take another value.

        A value whose kernel cannot be compiled is not taken: the control goes back, and a notice says why.
        """

        def to_trait(change: Any) -> None:
            before = getattr(self, trait)
            if change.new == before:
                return
            try:
                setattr(self, trait, change.new)
            except CompileError as error:
                setattr(self, trait, before)
                self._tell(str(error))
            else:
                self._tell("")
            show(getattr(self, trait))

        def to_control(change: Any) -> None:
            show(change.new)

        def show(value: Any) -> None:
            if isinstance(control, widgets.IntSlider) and value > control.max:
                control.max = value
            control.value = value

        self.controls.setdefault(trait, []).append(control)
        show(getattr(self, trait))
        control.observe(to_trait, "value")
        self.observe(to_control, trait)

    def _tell(self, message: str) -> None:
        """Show a message below the picture; "" takes it away."""
        if self._notice is not None:
            self.widget.children = [child for child in self.widget.children if child is not self._notice]
            self._notice = None
        if message:
            self._notice = widgets.HTML(f'<p role="alert">{escape(message)}</p>')
            self.widget.children = [*self.widget.children, self._notice]

    def at(self, **state: Any) -> dict[str, Any]:
        """The ``summary`` for other values of the controls. The picture stays as it is.

        Controls that are not named have the values that the explorer was made with, wherever a learner has moved them.

        >>> explorer = OccupancyExplorer(threads=256, registers=32)
        >>> explorer.at(registers=33)["blocks_per_sm"], explorer.at()["blocks_per_sm"]
        (6, 8)

        Raises:
            TypeError: there is no such control.
        """
        if self._twin is None:
            arguments, options = self._made_with
            self._twin = type(self)(*arguments, **options)
            self._first_state = self._twin.state
        if unknown := state.keys() - self._first_state.keys():
            raise TypeError(f"no control {', '.join(sorted(unknown))}: there are {', '.join(self._first_state)}")
        # In the order of the controls: a later one may depend on an earlier one.
        for name, value in {**self._first_state, **state}.items():
            if getattr(self._twin, name) != value:
                setattr(self._twin, name, value)
        summary: dict[str, Any] = self._twin.summary  # type: ignore[attr-defined]
        return dict(summary)

    @property
    def state(self) -> dict[str, Any]:
        """Control -> value, and what else the representation shows."""
        others = sorted(set(self.trait_names(state=True)) - set(self.controls))
        return {name: getattr(self, name) for name in (*self.controls, *others)}

    def _repr_mimebundle_(self, **options: Any) -> Any:
        self.displayed = self.state
        bundle = self.widget._repr_mimebundle_(**options)
        data = bundle[0] if isinstance(bundle, tuple) else bundle
        if data is not None:
            data["text/plain"] = repr(self)
        return with_still(bundle, self.still())

    def still(self) -> str:
        """What it shows now as one SVG, for pages that run no widgets."""
        words = " ".join(re.findall("[A-Z][a-z]*", type(self).__name__)).capitalize()
        return still_of(self.widget, words, self.state, self._further_parts())

    def _further_parts(self) -> Iterable[Part]:
        """What a still shows besides, where what the explorer shows is left out of it."""
        return ()

    def __repr__(self) -> str:
        state = ", ".join(f"{name}={getattr(self, name)!r}" for name in self.trait_names(state=True))
        return f"{type(self).__name__}({state})"


def buttons(options: Any, tip: str) -> widgets.ToggleButtons:
    """A switch of a few values; :func:`named` puts its name before it."""
    return widgets.ToggleButtons(options=options, tooltip=tip, style={"button_width": "auto"}, layout={"width": "auto"})


def side_by_side(controls: Sequence[widgets.Widget]) -> widgets.HBox:
    """Controls side by side. On a narrow page some of them go to the next line."""
    return widgets.HBox(controls, layout={"flex_flow": "row wrap"})


def steady(text: widgets.HTML, lines: int) -> widgets.HTML:
    """The text with space for ``lines`` lines, so that what stands below stays where it is while a slider moves."""
    text.layout.min_height = f"{20 * lines}px"
    return text


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

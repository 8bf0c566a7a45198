"""A value of a control whose kernel does not compile: the control goes back, and the learner reads why."""

from __future__ import annotations

import ipywidgets as widgets
import pytest
from traitlets import Int

from softlab.errors import CompileError
from softlab.explorers.explorer import Explorer


class Compiled(Explorer):
    """An explorer of a kernel that compiles for even numbers alone."""

    number = Int(2)

    def __init__(self) -> None:
        super().__init__()
        self.slider, self.picture = widgets.IntSlider(2, 0, 9), widgets.HTML()
        self.widget = widgets.VBox([self.slider, self.picture])
        self.observe(self._draw, "number")
        self._draw()
        self.bind("number", self.slider)

    def _draw(self, change: object = None) -> None:
        if self.number % 2:
            raise CompileError(f"no kernel of {self.number} <numbers>")
        self.picture.value = str(self.number)


def test_the_control_goes_back_and_says_why() -> None:
    explorer = Compiled()
    explorer.slider.value = 4
    for odd in (5, 7):
        explorer.slider.value = odd
        assert (explorer.number, explorer.slider.value, explorer.picture.value) == (4, 4, "4")
        (notice,) = explorer.widget.children[2:]
        assert f"no kernel of {odd} &lt;numbers&gt;" in notice.value
    explorer.slider.value = 6
    assert explorer.picture.value == "6"
    assert len(explorer.widget.children) == 2


def test_a_cell_that_sets_the_trait_gets_the_error() -> None:
    with pytest.raises(CompileError):
        Compiled().number = 3

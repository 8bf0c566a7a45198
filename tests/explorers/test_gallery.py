"""The page of all explorers: none is missing, each can be made, and a tab is filled when it is opened."""

from __future__ import annotations

import pytest

from softlab import explorers
from softlab.explorers.explorer import Explorer
from softlab.explorers.gallery import Gallery, catalogue


def test_every_explorer_has_a_tab():
    offered = {name for name in explorers.__all__ if name.endswith("Explorer")}
    assert {cls.__name__ for cls in catalogue().values()} == offered
    assert "Block size" in catalogue()
    assert len(catalogue()) >= 9


@pytest.mark.parametrize("title", catalogue())
def test_every_explorer_has_an_example_and_says_what_it_is_for(title):
    cls = catalogue()[title]
    assert isinstance(cls.example(), Explorer)
    first = (cls.__doc__ or "").partition("\n")[0]
    assert first.endswith("."), "its first line is a sentence: the page shows it"


def test_a_tab_is_filled_when_it_is_opened():
    gallery = Gallery()
    first, second, *_ = gallery.catalogue
    assert list(gallery.opened) == [first]
    assert [bool(page.children) for page in gallery.widget.children[:2]] == [True, False]
    gallery.widget.selected_index = 1
    assert list(gallery.opened) == [first, second]
    assert gallery.widget.children[1].children[1] is gallery.opened[second].widget
    made = gallery.opened[first]
    assert gallery.open(first) is made, "what was moved stays as it is"
    assert gallery.widget.selected_index == 0

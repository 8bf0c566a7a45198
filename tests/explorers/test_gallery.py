"""The page of all explorers: none is missing, each can be made, and a tab is filled when it is opened."""

from __future__ import annotations

import re

import pytest

from softlab import explorers
from softlab.explorers.explorer import Explorer
from softlab.explorers.gallery import Gallery, _purpose, catalogue
from tests.tools.notebooks import NOTEBOOKS


def test_every_explorer_has_a_tab():
    offered = {name for name in explorers.__all__ if name.endswith("Explorer")}
    assert {cls.__name__ for cls in catalogue().values()} == offered
    assert "Block size" in catalogue()
    assert len(catalogue()) >= 9


def test_the_tabs_come_in_the_order_of_the_lessons():
    """The lesson of each is the first one that shows it."""
    order = [cls.lesson for cls in catalogue().values()]
    assert order == sorted(order)
    shown = {}
    for path in sorted(NOTEBOOKS.glob("*.ipynb"), key=lambda path: path.name.partition("-")[0]):
        for name in re.findall(r"\b(\w+Explorer)[(.]", path.read_text("utf-8")):
            shown.setdefault(name, path.name.partition("-")[0])
    assert {cls.__name__: cls.lesson for cls in catalogue().values() if cls.lesson} == shown


def test_a_page_shows_its_purpose_without_backquotes():
    gallery = Gallery()
    for title in ("Littles law", "Plan"):
        gallery.open(title)
    shown = [page.children[0].value for page in gallery.widget.children if page.children]
    assert len(shown) == 3
    assert not any("`" in words for words in shown)
    assert _purpose(type("Made", (), {"__doc__": "Rows of ``a<b>``."})) == "Rows of <code>a&lt;b&gt;</code>."


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

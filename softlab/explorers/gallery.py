"""All explorers on one page, a tab each: what ``softlab explore`` shows."""

from __future__ import annotations

import inspect
import re
from html import escape

import ipywidgets as widgets

from softlab import explorers
from softlab.explorers.explorer import Explorer


def catalogue() -> dict[str, type[Explorer]]:
    """Title -> class of every explorer that ``softlab.explorers`` offers: "Block size" -> ``BlockSizeExplorer``.

    They come in the order of the lessons that introduce them. One that no lesson introduces comes last.
    """
    found: dict[str, type[Explorer]] = {}
    for name in explorers.__all__:
        offered = getattr(explorers, name)
        if inspect.isclass(offered) and issubclass(offered, Explorer) and name.endswith("Explorer"):
            words = re.findall("[A-Z][a-z]*", name.removesuffix("Explorer"))
            found[" ".join(words).capitalize()] = offered
    return dict(sorted(found.items(), key=lambda item: (not item[1].lesson, item[1].lesson, item[0])))


class Gallery:
    """A page of tabs. An explorer is made when its tab is first opened, so that the page is there at once.

    ``widget`` shows it; ``opened``: title -> explorer, of the tabs that were opened.
    """

    def __init__(self) -> None:
        self.catalogue = catalogue()
        self.opened: dict[str, Explorer] = {}
        self._titles = list(self.catalogue)
        self._pages = [widgets.VBox() for _ in self._titles]
        self.widget = widgets.Tab(self._pages, titles=self._titles)
        self.widget.observe(lambda change: self.open(self._titles[change.new]), "selected_index")
        self.widget.selected_index = 0
        self.open(self._titles[0])

    def open(self, title: str) -> Explorer:
        """Show the tab of that title; its explorer."""
        index = self._titles.index(title)
        if title not in self.opened:
            page, cls = self._pages[index], self.catalogue[title]
            page.children = [widgets.HTML("Loading …")]
            self.opened[title] = cls.example()
            page.children = [widgets.HTML(f"<p>{_purpose(cls)}</p>"), self.opened[title].widget]
        self.widget.selected_index = index
        return self.opened[title]

    def _ipython_display_(self) -> None:
        from IPython.display import display

        display(self.widget)


def _purpose(cls: type[Explorer]) -> str:
    """The first sentence of its docstring as HTML: what stands in double backquotes there is code."""
    return re.sub("``(.+?)``", r"<code>\1</code>", escape((inspect.getdoc(cls) or "").partition("\n")[0]))

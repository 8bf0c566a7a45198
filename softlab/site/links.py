"""Links of the project's documents and lessons, as links between the pages of the site."""

from __future__ import annotations

import posixpath
import re
from dataclasses import dataclass, field
from html import escape, unescape
from pathlib import Path

from softlab.course.glossary import words

_LINK = re.compile(r"(!?)\[((?:[^\[\]]|\[[^\]]*\])*)\]\(([^)\s]+)\)")
_WORD = re.compile(r'<a class="softlab-word" href="[^"]*" title="([^"]*)">')
_FENCES = re.compile(r"(^```.*?^```$)", re.DOTALL | re.MULTILINE)
#: Files that become pages of source code where a document links to them.
_SOURCES = {".py", ".cuh", ".cu", ".toml", ".yml", ".json", ""}
_MOST_BYTES = 200_000


def page_of(path: str) -> str:
    """The page of a file, without an ending: "notebooks/07-occupancy.ipynb" -> "lessons/07-occupancy"."""
    known = {"GLOSSARY.md": "glossary", "README.md": "about", "kernels/README.md": "kernels/index"}
    if path in known:
        return known[path]
    folder, _, name = path.rpartition("/")
    stem, ending = posixpath.splitext(name)
    if ending == ".ipynb":
        return f"lessons/{stem}"
    if ending == ".md":
        return posixpath.join(folder, stem.lower() if folder != "docs" else stem)
    if folder.startswith("kernels"):
        return f"{folder}/{name.replace('.', '_')}"
    return f"files/{path.replace('.', '_')}"


@dataclass
class Links:
    """Rewrites the links of one document.

    root: of the project; document: its path there; pages: those that the site has; with_sources:
    whether other files of source code become pages where they are linked to; sources, images: files that were
    linked to, for the site to have them, too.
    """

    root: Path
    document: str
    pages: frozenset[str]
    with_sources: bool = True
    sources: set[str] = field(default_factory=set)
    images: set[str] = field(default_factory=set)

    @property
    def page(self) -> str:
        """The page of the document."""
        return page_of(self.document)

    def rewritten(self, text: str) -> str:
        """The Markdown with links between pages; what is code stays."""
        parts = _FENCES.split(text)
        parts[::2] = [self._words(_LINK.sub(self._link, part)) for part in parts[::2]]
        return "".join(parts)

    def _relative(self, target: str) -> str:
        return posixpath.relpath(target, posixpath.dirname(self.page) or ".")

    def _link(self, found: re.Match[str]) -> str:
        picture, words, target = found.groups()
        words = _LINK.sub(self._link, words)
        if "://" in target or target.startswith(("#", "mailto:")):
            return f"{picture}[{words}]({target})"
        target, _, anchor = target.partition("#")
        path = posixpath.normpath(posixpath.join(posixpath.dirname(self.document), target))
        if picture or path.endswith((".svg", ".png")):
            self.images.add(path)
            return f"{picture}[{words}]({self._relative(path)})"
        page = page_of(path)
        if page not in self.pages:
            file = self.root / path
            if (
                not self.with_sources
                or file.suffix not in _SOURCES
                or not file.is_file()
                or file.stat().st_size > _MOST_BYTES
            ):
                return words  # the site has no such page
            self.sources.add(path)
        return f"[{words}]({self._relative(page)}.md{'#' + anchor if anchor else ''})"

    def _words(self, text: str) -> str:
        return _WORD.sub(self._word, text)

    def _word(self, found: re.Match[str]) -> str:
        definition = unescape(found[1])
        term = next((word.terms[0] for word in words() if plain(word.definition) == plain(definition)), "")
        anchor = f"#{anchor_of(term)}" if term else ""
        page = self._relative("glossary")
        return f'<a class="softlab-word" href="{page}.html{anchor}" title="{escape(definition, quote=True)}">'


def plain(text: str) -> str:
    """A definition without its marks."""
    return re.sub(r"[`*]", "", text)


def anchor_of(term: str) -> str:
    """The anchor of a word of the glossary."""
    return "word-" + re.sub(r"[^a-z0-9]+", "-", term.lower()).strip("-")

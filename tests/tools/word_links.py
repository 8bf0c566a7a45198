"""Words of the glossary as links where they first stand in a lesson: hovering shows what they mean.

A link has the definition as its title. Without a mouse it is reached by the Tab key, and JupyterLab shows the title
then, too (``softlab/app/jupyter/labextensions``). It leads to the glossary.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape

from nbformat import NotebookNode

from softlab.course.glossary import Word, words

TARGET = "../GLOSSARY.md"
_LINKED = re.compile(r'<a class="softlab-word"[^>]*>(.*?)</a>', re.DOTALL)
#: What is no prose: code, formulas, links, pictures, HTML, headings, addresses.
_PROTECTED = re.compile(
    r"```.*?```|`[^`\n]*`|\$\$.*?\$\$|\$[^$\n]+\$|!?\[[^\]]*\]\([^)]*\)|<[^>\n]+>|^#[^\n]*$|^\|[-| :]+\|$|https?://\S+",
    re.DOTALL | re.MULTILINE,
)


def with_word_links(notebook: NotebookNode) -> None:
    """Link each word that a lesson of the course explains, once, where it first stands in the prose of this one.

    The first cell (title, objectives) stays as it is.
    """
    left = [word for word in words() if word.lessons]
    for cell in notebook.cells[1:]:
        if cell.cell_type == "markdown":
            cell.source, left = linked(_LINKED.sub(r"\1", cell.source), left)


def linked(text: str, left: Sequence[Word]) -> tuple[str, list[Word]]:
    """The text with links, and the words that it does not have."""
    first: dict[int, tuple[int, Word]] = {}
    missing = []
    # The longest first: "rows in flight" is one word, though "rows" is another.
    for word in sorted(left, key=lambda word: -max(map(len, word.terms))):
        places = sorted(place for term in word.terms for place in _places(term, text))
        free = [place for place in places if not any(a < place[1] and place[0] < b for a, (b, _) in first.items())]
        if free:
            first[free[0][0]] = (free[0][1], word)
        else:
            missing.append(word)
    for start in sorted(first, reverse=True):
        end, word = first[start]
        title = escape(word.definition.replace("`", ""), quote=True)
        link = f'<a class="softlab-word" href="{TARGET}" title="{title}">{text[start:end]}</a>'
        text = text[:start] + link + text[end:]
    return text, missing


def _places(term: str, text: str) -> Iterator[tuple[int, int]]:
    """Where a term stands in the prose, also in the plural."""
    kept = [found.span() for found in _PROTECTED.finditer(text)]
    pattern = rf"(?<![\w-]){re.escape(term)}(?:s|es)?(?![\w-])"
    flags = 0 if term.isupper() else re.IGNORECASE
    for found in re.finditer(pattern, text, flags):
        if not any(a < found.end() and found.start() < b for a, b in kept):
            yield found.span()

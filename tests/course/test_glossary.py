"""GLOSSARY.md as data, and the words of the lessons that lead to it."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

from softlab.course import glossary
from softlab.course.catalogue import lessons
from tests.tools import notebooks, word_links

ROOT = Path(__file__).resolve().parents[2]


def test_every_item_of_the_file_is_an_entry():
    text = (ROOT / "GLOSSARY.md").read_text()
    assert len(glossary.words()) == text.count("\n- ")
    assert text.count("(lesson ") == sum(bool(word.lessons) for word in glossary.words())


def test_entries_are_short_and_their_lessons_exist():
    numbers = {lesson.number for lesson in lessons()}
    for word in glossary.words():
        assert set(word.lessons) <= numbers, word
        assert len(word.definition.split()) <= 50, word
        assert word.definition.endswith("."), word


def test_an_entry():
    found = glossary.word("lane")
    assert found is glossary.word("thread")
    assert found.lessons == ("02",)
    assert "0 to 31" in found.definition
    with pytest.raises(ValueError, match=r"no word 'warf' in GLOSSARY\.md; there are row, column"):
        glossary.word("warf")


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("- **lane** A thread of a warp.\n", "an item that is not"),
        ("- **lane**: One.\n- **thread, lane**: Two.\n", "more than one entry for lane"),
    ],
)
def test_a_damaged_glossary_is_an_error(text, problem):
    with pytest.raises(ValueError, match=problem):
        glossary.parsed(text)


LESSONS = sorted(notebooks.NOTEBOOKS.glob("*.ipynb"))


@pytest.mark.parametrize("path", LESSONS, ids=lambda path: path.stem)
def test_words_are_linked_where_they_first_stand_in_a_lesson(path):
    """`python -m tests.tools.notebooks words` links them; `write` does, too."""
    notebook = nbformat.read(path, as_version=4)
    before = [cell.source for cell in notebook.cells]
    word_links.with_word_links(notebook)
    assert [cell.source for cell in notebook.cells] == before
    text = "\n".join(before)
    titles = re.findall(r'class="softlab-word" href="[^"]+" title="([^"]+)"', text)
    assert len(titles) == len(set(titles)) >= 5


def test_only_prose_is_linked_and_each_word_once():
    text = "# A warp\n`warp` $warp$ [warp](x) A block has warps, a warp has lanes. ```\nlane\n```"
    found, left = word_links.linked(text, [glossary.word("warp"), glossary.word("lane")])
    assert left == []
    assert found.count("<a ") == 2
    assert found.startswith("# A warp\n`warp` $warp$ [warp](x) A block has <a class")
    assert ">warps</a>, a warp has <a class" in found
    assert ">lanes</a>. ```\nlane\n```" in found


def test_linking_twice_changes_nothing_and_follows_the_glossary():
    cells = [nbformat.v4.new_markdown_cell(text) for text in ("# Title with a warp", "A warp.", "A warp, a lane.")]
    notebook = nbformat.v4.new_notebook(cells=cells)
    word_links.with_word_links(notebook)
    once = [cell.source for cell in notebook.cells]
    word_links.with_word_links(notebook)
    assert [cell.source for cell in notebook.cells] == once
    assert once[0] == "# Title with a warp"
    assert once[2].startswith("A warp, a <a ")
    notebook.cells[1].source = notebook.cells[1].source.replace("32 threads", "33 threads")
    word_links.with_word_links(notebook)
    assert [cell.source for cell in notebook.cells] == once

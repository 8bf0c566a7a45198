"""The words of the project, read from GLOSSARY.md. The lessons link each word of the course to it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

from softlab.shipped import shipped

FILE = "GLOSSARY.md"
#: "- **term, term**: definition (lesson 02, 05)", once its lines are joined.
_ENTRY = re.compile(r"- \*\*(?P<terms>[^*]+)\*\*: (?P<definition>.+?)(?: \(lesson (?P<lessons>\d\d(?:, \d\d)*)\))?")


@dataclass(frozen=True)
class Word:
    """One entry. terms: the word and others explained with it; lessons: their numbers, none if the course omits it."""

    terms: tuple[str, ...]
    definition: str
    lessons: tuple[str, ...] = ()


@cache
def words() -> tuple[Word, ...]:
    """Every entry of the glossary, in its order."""
    return parsed(shipped(FILE).read_text(encoding="utf-8"))


def parsed(text: str) -> tuple[Word, ...]:
    """The entries of a glossary: its list items, each of one or more lines.

    Raises:
        ValueError: an item is no entry, or a term has two entries.
    """
    items = re.findall(r"^- .+(?:\n  .+)*", text, re.MULTILINE)
    found = tuple(_word(" ".join(item.split())) for item in items)
    terms = [term for word in found for term in word.terms]
    twice = sorted({term for term in terms if terms.count(term) > 1})
    if twice:
        raise ValueError(f"{FILE} has more than one entry for {', '.join(twice)}")
    return found


def _word(item: str) -> Word:
    entry = _ENTRY.fullmatch(item)
    if entry is None:
        raise ValueError(f"{FILE} has an item that is not '- **term**: definition (lesson 02)': {item}")
    lessons = entry["lessons"].split(", ") if entry["lessons"] else ()
    return Word(tuple(entry["terms"].split(", ")), entry["definition"], tuple(lessons))


def word(term: str) -> Word:
    """The entry of a term, such as "bank conflict".

    Raises:
        ValueError: the glossary has none.
    """
    for found in words():
        if term in found.terms:
            return found
    known = ", ".join(term for found in words() for term in found.terms)
    raise ValueError(f"no word {term!r} in {FILE}; there are {known}")

"""The host's ``auto`` variables written out: types such as those of CuTe's layouts and tiles have no other name."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

#: A variable whose type stands nowhere: ``auto x = f();``, and by a class template of CuTe, ``TiledCopy x = f();``.
_DEDUCED = r"(?:auto|TiledCopy|TiledMMA|Tensor|Layout)(?:\s+const)?\s+(?P<name>\w+)\s*=\s*(?P<value>[^;]+);"
#: An object of a class template without a value: ``Copy_Atom<Copy, half_t> x;``.
_EMPTY = r"(?P<kind>[A-Za-z_][\w:]*\s*<[^;={}()]*>)\s+(?P<object>\w+)\s*(?:\{\s*\})?;"
_VARIABLE = re.compile(rf"(?<![\w:<,.])(?:{_DEDUCED}|{_EMPTY})")
_NAME = re.compile(r"(?<![\w.:])[A-Za-z_]\w*")
#: A parameter whose type is one word, and no pointer.
_PARAMETER = re.compile(r"(?:const\s+)?([\w:]+)(?:\s+const)?\s*&?\s*\b(\w+)")


def host_values(
    before: str, parameters: tuple[str, ...], argument: Callable[[str], str | None]
) -> tuple[dict[str, str], set[str]]:
    """Variables and parameters of a function, each with an expression of its type that names none of them; and those
    for which there is none.

    Arguments:
        before: the text of the function up to the place in question.
        parameters: those of the function.
        argument: what the device can take for an expression, None where it has an unknown name.
    """
    found: dict[str, str] = {}
    unknown: set[str] = set()
    for name, value in (*_parameters(parameters), *_variables(before)):
        known = argument(_replaced(value, found)) if unknown.isdisjoint(_NAME.findall(value)) else None
        found.pop(name, None)
        if known is None:
            unknown.add(name)
        else:
            found[name] = f"({known})"
    return found, unknown - found.keys()


def _parameters(parameters: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    for match in filter(None, map(_PARAMETER.fullmatch, parameters)):
        yield match[2], f"{match[1]}{{}}"


def _variables(text: str) -> Iterator[tuple[str, str]]:
    for match in _VARIABLE.finditer(re.sub(r"//[^\n]*|/\*.*?\*/", " ", text, flags=re.DOTALL)):
        yield (match["name"], match["value"]) if match["name"] else (match["object"], f"{match['kind']}{{}}")


def _replaced(text: str, values: Mapping[str, str]) -> str:
    return _NAME.sub(lambda word: values.get(word[0], word[0]), " ".join(text.split()))


def written_out(text: str, values: Mapping[str, str]) -> str:
    """A text whose ``decltype(...)`` have these expressions for the names of variables."""
    parts, at = [], 0
    for match in re.finditer(r"\bdecltype\s*\(", text):
        if match.start() < at:
            continue
        end = _closing(text, match.end())
        parts += [text[at : match.end()], _replaced(text[match.end() : end], values)]
        at = end
    return "".join([*parts, text[at:]])


def _closing(text: str, at: int) -> int:
    """Where the parenthesis closes that opens before this place."""
    depth = 1
    for end in range(at, len(text)):
        depth += (text[end] == "(") - (text[end] == ")")
        if not depth:
            return end
    return len(text)

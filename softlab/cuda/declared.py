"""What a file declares and defines for the device: variables and functions that the files of a program share."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from softlab.cuda.file_items import SHARED_SPACES, File, declarations, head_in, joined
from softlab.cuda.macros import macros_of
from softlab.cuda.readable import readable
from softlab.cuda.source_files import Places, decode
from softlab.cuda.syntax import declared_in, is_prototype, method_of, names_of, parser

if TYPE_CHECKING:
    from tree_sitter import Node


def defined(path: Path, folders: Sequence[Path] = ()) -> set[str]:
    """The words in the names of the functions and variables that a file itself defines for the device.

    Raises:
        OSError: the file cannot be read.
    """
    file = File(joined(decode(path.read_bytes())).encode(), path, Places(folders))
    file.macros = macros_of(file.text, path, file.places)
    spaces = file.standing_for(SHARED_SPACES)
    nodes = list(declarations(parser().parse(readable(file)).root_node))
    found = [declaration_of(file, node, spaces) for node in nodes]
    # A method has its attribute where its class declares it.
    found += [(names_of(inner), True) for inner in map(declared_in, nodes) if method_of(inner)]
    return {word.decode() for names, is_defined in found if is_defined for word in names}


def undefined(files: Collection[File]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The names of variables, and those of functions, that what is kept declares for the device and does not define."""
    declared: dict[str, dict[bytes, None]] = {"variable": {}, "function": {}}
    defined: set[bytes] = set()
    for file in files:
        spaces = file.standing_for(SHARED_SPACES)
        for node in (item.node for item in file.items if item.kept and item.node is not None):
            names, is_defined = declaration_of(file, node, spaces)
            if is_defined:
                defined |= names
            else:
                kind = "function" if is_prototype(declared_in(node)) else "variable"
                declared[kind] |= dict.fromkeys(sorted(names))
    left = {kind: [name.decode() for name in names if name not in defined] for kind, names in declared.items()}
    return tuple(left["variable"]), tuple(left["function"])


def own_variables(file: File) -> set[bytes]:
    """The names of the variables that a file has for itself: another file may have others with these names."""
    found: set[bytes] = set()
    for item in file.items:
        node = item.node
        if node is not None and (inner := declared_in(node)).type == "declaration" and not is_prototype(inner):
            words = set(re.findall(r"\w+", head_in(file, node, inner)))
            if "extern" not in words and not words.isdisjoint({"static", "const", "constexpr"}):
                found |= item.names
    return found


def declaration_of(file: File, node: Node, spaces: re.Pattern[str]) -> tuple[set[bytes], bool]:
    """The names of a function or a variable of the device, and whether it is defined here; no names for others."""
    inner = declared_in(node)
    head = head_in(file, node, inner)
    if node.type == "ERROR" or inner.type not in ("function_definition", "declaration") or not spaces.search(head):
        return set(), False
    is_extern = re.search(r"\bextern\b(?!\s*\")", head) and not re.search(r"=|\{", head)
    return names_of(inner), inner.type == "function_definition" or not (is_prototype(inner) or is_extern)

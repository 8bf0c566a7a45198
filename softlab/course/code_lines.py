"""The code of a kernel by lines: its calls, the branches around a line, and which values differ between threads."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from softlab.cuda.syntax import function_of, parser, text_of, walk

if TYPE_CHECKING:
    from tree_sitter import Node

_LOOPS = ("for_statement", "while_statement", "do_statement")
_BRANCHES = (*_LOOPS, "if_statement", "conditional_expression", "switch_statement")
_LEAVES = ("return_statement", "continue_statement", "break_statement")
#: Words that a value has which differs from thread to thread.
_OWN = frozenset(("threadIdx", "thread_rank"))
_LONGEST = 60


@dataclass(frozen=True)
class Code:
    """The syntax tree of a kernel, by lines from 1 on."""

    source: str

    @cached_property
    def root(self) -> Node:
        """Of the whole text."""
        return parser().parse(self.source.encode()).root_node

    def calls(self, *words: str) -> tuple[tuple[int, str], ...]:
        """(line, name) of the calls of a function whose name has one of the words."""
        found = []
        for call in walk(self.root, ("call_expression",)):
            name = text_of(call.child_by_field_name("function"))
            if any(word in name for word in words):
                found.append((call.start_point[0] + 1, name))
        return tuple(found)

    def assignments(self) -> tuple[tuple[int, str], ...]:
        """(line, what is assigned to) of the assignments."""
        nodes = walk(self.root, ("assignment_expression",))
        return tuple((first_line(node), text_of(node.child_by_field_name("left"))) for node in nodes)

    @cached_property
    def barriers(self) -> tuple[int, ...]:
        """The lines of the block's barriers."""
        others = ("syncwarp", "shfl", "vote", "ballot", "_any_", "_all_", "reduce", "match", "wait")
        return tuple(line for line, name in self.calls("sync") if not any(word in name for word in others)) + tuple(
            first_line(node) for node in walk(self.root, ("gnu_asm_expression",)) if "bar" in text_of(node)
        )

    @cached_property
    def cluster_barriers(self) -> tuple[int, ...]:
        """The lines of barriers of a cluster."""
        groups = {"cluster", *re.findall(r"\bcluster_group\b\s*&?\s*(\w+)", self.source)}
        groups.update(re.findall(r"\bauto\s*&?\s*(\w+)\s*=\s*[\w:]*this_cluster\b", self.source))
        calls = [node for node in walk(self.root, ("call_expression",)) if groups & set(_names(text_of(node)))]
        asm = [node for node in walk(self.root, ("gnu_asm_expression",)) if "barrier.cluster" in text_of(node)]
        named = [node for node in calls if re.search(r"sync|barrier", text_of(node.child_by_field_name("function")))]
        return tuple(first_line(node) for node in (*named, *asm))

    def function(self, line: int) -> tuple[str, int, int] | None:
        """The function that has a line: its name, its first line and its last one; None outside of all."""
        for node in walk(self.root, ("function_definition",)):
            if _in(node, line):
                name = text_of(function_of(node)).partition("(")[0].strip()
                return name, first_line(node), last_line(node)
        return None

    @cached_property
    def warp_barriers(self) -> tuple[int, ...]:
        """The lines of the warps' barriers."""
        return tuple(line for line, _ in self.calls("__syncwarp"))

    def around(self, line: int) -> tuple[Node, ...]:
        """The loops and branches whose body or head the line is in, outermost first."""
        return tuple(node for node in walk(self.root, _BRANCHES) if first_line(node) <= line <= last_line(node))

    def loop(self, one: int, other: int) -> Node | None:
        """The innermost loop that has both lines."""
        loops = [node for node in self.around(one) if node.type in _LOOPS and node in self.around(other)]
        return loops[-1] if loops else None

    def condition(self, line: int, beside: Sequence[int] = ()) -> str:
        """The head of the innermost loop or branch of a line, of those that the lines ``beside`` are not all in."""
        nodes = [node for node in self.around(line) if not beside or not all(_in(node, other) for other in beside)]
        # A loop that all threads go round together is the rule; what only some do stands in an ``if``.
        tests = [node for node in nodes if node.type == "if_statement"]
        return head((tests or nodes)[-1]) if nodes else ""

    @cached_property
    def own(self) -> frozenset[str]:
        """The names whose values differ from thread to thread: what is made from the thread's number."""
        pairs = []
        for node in walk(self.root, ("init_declarator", "assignment_expression")):
            target = node.child_by_field_name("declarator") or node.child_by_field_name("left")
            pairs.append((_names(text_of(target)), set(_names(text_of(node)))))
        found: set[str] = set(_OWN)
        for _ in pairs:
            before = len(found)
            found |= {target[0] for target, names in pairs if target and names & found}
            if len(found) == before:
                break
        return frozenset(found)

    def parting(self, line: int) -> str:
        """The head of the innermost branch of a line that some threads may take and others not, "" for none."""
        heads = [head(node) for node in self.around(line)]
        parting = [text for text in heads if self.own & set(_names(text))]
        tests = [text for text in parting if text.startswith("if")]
        return (tests or parting or [""])[-1]

    def left(self, line: int) -> tuple[int, str]:
        """The line before it where some threads leave, and the head of that branch; (0, "") for none."""
        for node in walk(self.root, _LEAVES):
            at = first_line(node)
            passes = at < line and (self.loop(at, line) or node.type == "return_statement")
            if passes and (text := self.parting(at)):
                return at, text
        return 0, ""


def _names(text: str) -> list[str]:
    return re.findall(r"[A-Za-z_]\w*", text)


def first_line(node: Node) -> int:
    """The line where a node begins."""
    return node.start_point[0] + 1


def last_line(node: Node) -> int:
    """The line where a node ends."""
    return node.end_point[0] + 1


def _in(node: Node, line: int) -> bool:
    return first_line(node) <= line <= last_line(node)


def head(node: Node) -> str:
    """The text of a loop or branch up to its body."""
    body = node.child_by_field_name("body") or node.child_by_field_name("consequence")
    text = text_of(node)
    if body is not None:
        text = (node.text or b"")[: body.start_byte - node.start_byte].decode(errors="replace")
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."

"""What causes a fault, from its lines and the code between them: the sentence that a report of the fault lacks.

A report says which two accesses meet. This module says why nothing keeps them apart: no barrier on the way from one
line to the other, a barrier in a branch, a barrier of one warp between two warps, a fence in the wrong place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from softlab.course.launch_cases import LaunchCase
from softlab.cuda.syntax import function_of, parser, text_of, walk
from softlab.emulator.lanes import WARP
from softlab.errors import KernelFault

if TYPE_CHECKING:
    from tree_sitter import Node

_LOOPS = ("for_statement", "while_statement", "do_statement")
_BRANCHES = (*_LOOPS, "if_statement", "conditional_expression", "switch_statement")
_LONGEST = 60
#: Factors between an index and a thread's number that are told; bytes of a word of shared memory.
_LARGEST_FACTOR, _WORD = 64, 4


def fault_cause(fault: KernelFault, source: str, launch: LaunchCase) -> str:
    """A sentence on what causes the fault, "" where the code does not say. source: CUDA C++ that the lines count in."""
    code = _Code(source)
    if fault.kind == "global-out-of-bounds":
        return _index(fault, launch)
    if fault.kind == "race":
        return _race(fault, code, launch)
    if fault.kind in ("barrier-divergence", "inactive-lane") and fault.line:
        what = "barrier" if fault.kind == "barrier-divergence" else "shuffle"
        found = [code.condition(line) for line in (fault.line, fault.other_line) if line]
        conditions = [f"`{condition}`" for condition in dict.fromkeys(found) if condition]
        if conditions:
            return f"The {what} stands under {' and '.join(conditions)}: not all of its threads come there alike."
    if fault.kind == "uninitialized-shared":
        return _never_written(fault, code)
    return ""


def barrier_conditions(source: str) -> dict[int, str]:
    """Line of a barrier of the block -> the head of the branch that it stands in, for those in an ``if``."""
    code = _Code(source)
    found = {}
    for line, name in code.calls("__syncthreads"):
        branches = [node for node in code.around(line) if node.type == "if_statement"]
        if branches and name:
            found[line] = _head(branches[-1])
    return found


def with_barrier_at_the_end(source: str, kernel: str) -> str:
    """The source with one more barrier at the end of the kernel; "" where the kernel is not found."""
    text = source.encode()
    for node in walk(_Code(source).root, ("function_definition",)):
        body, declarator = node.child_by_field_name("body"), function_of(node)
        if body is not None and text_of(declarator).startswith(f"{kernel}("):
            end = body.end_byte - 1
            return (text[:end] + b" __syncthreads(); " + text[end:]).decode(errors="replace")
    return ""


@dataclass(frozen=True)
class _Code:
    """The syntax tree of a kernel, by lines from 1 on."""

    source: str

    @cached_property
    def root(self) -> Node:
        return parser().parse(self.source.encode()).root_node

    def calls(self, *words: str) -> tuple[tuple[int, str], ...]:
        """(line, name) of the calls of a function whose name has one of the words."""
        found = []
        for call in walk(self.root, ("call_expression",)):
            name = text_of(call.child_by_field_name("function"))
            if any(word in name for word in words):
                found.append((call.start_point[0] + 1, name))
        return tuple(found)

    def around(self, line: int) -> tuple[Node, ...]:
        """The loops and branches whose body or head the line is in, outermost first."""
        return tuple(node for node in walk(self.root, _BRANCHES) if _first(node) <= line <= _last(node))

    def loop(self, one: int, other: int) -> Node | None:
        """The innermost loop that has both lines."""
        loops = [node for node in self.around(one) if node.type in _LOOPS and node in self.around(other)]
        return loops[-1] if loops else None

    def condition(self, line: int, beside: Sequence[int] = ()) -> str:
        """The head of the innermost loop or branch of a line, of those that the lines ``beside`` are not all in."""
        nodes = [node for node in self.around(line) if not beside or not all(_in(node, other) for other in beside)]
        # A loop that all threads go round together is the rule; what only some do stands in an ``if``.
        tests = [node for node in nodes if node.type == "if_statement"]
        return _head((tests or nodes)[-1]) if nodes else ""


def _first(node: Node) -> int:
    return node.start_point[0] + 1


def _last(node: Node) -> int:
    return node.end_point[0] + 1


def _in(node: Node, line: int) -> bool:
    return _first(node) <= line <= _last(node)


def _head(node: Node) -> str:
    """The text of a loop or branch up to its body."""
    body = node.child_by_field_name("body") or node.child_by_field_name("consequence")
    text = text_of(node)
    if body is not None:
        text = (node.text or b"")[: body.start_byte - node.start_byte].decode(errors="replace")
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 3]}..."


def _race(fault: KernelFault, code: _Code, launch: LaunchCase) -> str:
    first, then = fault.other_line, fault.line
    if first is None or then is None or fault.file != fault.other_file:
        return ""
    if fault.block is not None and fault.other_block is not None and fault.block != fault.other_block:
        return _between_blocks(first, then, str(fault), code)
    loop = code.loop(first, then)
    if then > first:
        way, path = f"Line {then} comes after line {first}", [*range(first, then + 1)]
    elif loop is not None:
        way = (
            f"Line {then} in the loop's next round comes after line {first}"
            if then < first
            else (f"Line {then} comes round again, and in each round another thread is at the same line")
        )
        path = [*range(first, _last(loop) + 1), *range(_first(loop), then + 1)]
    else:
        at = "at the same line" if then == first else f"at line {first}"
        return f"One thread may be at line {then} while another one is {at}, and nothing makes either wait."
    barriers = [line for line, name in code.calls("__syncthreads", "sync") if "syncwarp" not in name and line in path
                and "shfl" not in name and "vote" not in name and "ballot" not in name]  # fmt: skip
    warp_barriers = [line for line, name in code.calls("__syncwarp") if line in path]
    if not barriers and warp_barriers:
        if _warps_differ(fault, launch):
            return f"{way}, and only the __syncwarp() of line {warp_barriers[0]} stands between: for one warp alone."
        return f"{way}, and the __syncwarp() of line {warp_barriers[0]} does not stand between these two."
    if not barriers:
        return f"{way}, and no barrier stands between."
    for line in barriers:
        if condition := code.condition(line, (first, then)):
            return f"{way}, and the barrier of line {line} stands under `{condition}`: it is not there each time."
    return f"{way}, and the barrier of line {barriers[0]} does not stand between these two."


def _warps_differ(fault: KernelFault, launch: LaunchCase) -> bool:
    """Whether the two threads are known to be in different warps."""
    if fault.thread is None or fault.other_thread is None:
        return True
    wide, high = (launch.block, 1) if isinstance(launch.block, int) else (*launch.block, 1)[:2]
    one, other = ((z * high + y) * wide + x for x, y, z in (fault.thread, fault.other_thread))
    return one // WARP != other // WARP


def _between_blocks(first: int, then: int, message: str, code: _Code) -> str:
    if "shared memory" in message.partition("\n")[0]:
        return (
            "The two blocks are in one cluster, and a barrier of the block alone does not make one wait for the other."
        )
    if "reads" not in message.partition("\n")[0]:
        return "Two blocks come to one element, and blocks run in any order: a barrier is for the threads of one block."
    fences = [line for line, name in code.calls("fence") if "_block" not in name]
    signs = [line for line, name in code.calls("atomic") if line >= first]
    if not fences:
        return (
            f"No fence stands behind the store of line {first}, so another block may see the sign and not the number."
        )
    if signs and not any(first <= fence <= signs[0] for fence in fences):
        side = "before the store" if fences[0] < first else "behind the sign"
        return (
            f"The fence of line {fences[0]} stands {side}. It has to stand between the store of line {first} and "
            f"the sign of line {signs[0]}."
        )
    return (
        f"The store of line {first} has its fence. But line {then} runs without having seen the sign of that block, "
        "or before all of its threads have stored."
    )


def _index(fault: KernelFault, launch: LaunchCase) -> str:
    """Which element a thread wants, by its number in the grid; for blocks and grids of one dimension."""
    thread, block, size_of_block = fault.thread, fault.block, launch.block
    if thread is None or block is None or fault.address is None or fault.argument is None:
        return ""
    if not isinstance(size_of_block, int) or not isinstance(launch.grid, int):
        return ""
    array = list(launch.args.values())[fault.argument]
    size = int(array.dtype.itemsize)
    element, number = fault.address // size, block[0] * size_of_block + thread[0]
    who = f"Thread {thread[0]} of block {block[0]}, number {number} of the grid,"
    if element == number:
        return f"{who} wants the element of its own number. There are {array.size}, so a test has to keep it out."
    if number and element % number == 0 and element // number <= _LARGEST_FACTOR:
        return f"{who} wants element {element}, {element // number} times its number."
    return f"{who} wants element {element}, and the last one is {array.size - 1}."


def _element(fault: KernelFault, code: _Code) -> tuple[str, str]:
    """The name of the shared array of an address, and the element: "part", "part[4]"; "" where it is not known."""
    if fault.symbol:
        return fault.symbol.partition("[")[0], fault.symbol
    arrays = []
    for node in walk(code.root, ("declaration",)):
        if "__shared__" in text_of(node):
            whole = (child for child in walk(node, ("array_declarator",)) if not _inner(child))
            arrays += [text_of(child) for child in whole]
    plain = [text for text in arrays if text.count("[") == 1]
    if len(arrays) != 1 or not plain or fault.address is None:
        return (arrays[0].partition("[")[0], "") if len(arrays) == 1 else ("", "")
    name = plain[0].partition("[")[0]
    return name, f"{name}[{fault.address // _WORD}]"


def _inner(declarator: Node) -> bool:
    """Whether it is a part of the declarator of one array: s[8] of s[8][4]."""
    return declarator.parent is not None and declarator.parent.type == declarator.type


def _never_written(fault: KernelFault, code: _Code) -> str:
    name, element = _element(fault, code)
    if not name:
        return ""
    stores = []
    for node in walk(code.root, ("assignment_expression", "update_expression", "call_expression")):
        target = node.child_by_field_name("left") or node.child_by_field_name("argument")
        text = text_of(target) if target is not None else text_of(node)
        kept = target is not None or "atomic" in text_of(node.child_by_field_name("function"))
        if kept and name in text and node.start_point[0] + 1 not in stores:
            stores.append(node.start_point[0] + 1)
    if not stores:
        return f"No line stores to {name}."
    under = code.condition(stores[0])
    where = " and ".join(f"line {line}" for line in stores[:3])
    read = f"{element} is read here" if element else "another element is read here"
    return (
        f"{name} is stored to on {where}{f', under `{under}`' if under else ''}, and {read}, which nobody has stored."
    )

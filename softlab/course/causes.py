"""What causes a fault, from its lines and the code between them: the sentence that a report of the fault lacks.

A report says which two accesses meet. This module says why nothing keeps them apart: no barrier on the way from one
line to the other, a barrier in a branch, a barrier of one warp between two warps, a fence in the wrong place.
"""

from __future__ import annotations

import re
from math import prod
from typing import TYPE_CHECKING

from softlab.course.code_lines import Code, first_line, head
from softlab.course.launch_cases import LaunchCase
from softlab.course.ways import Way
from softlab.cuda.syntax import function_of, text_of, walk
from softlab.emulator.lanes import WARP
from softlab.errors import KernelFault

if TYPE_CHECKING:
    from tree_sitter import Node

#: The largest factor between an index and a thread's number that is told.
_LARGEST_FACTOR = 64
#: A part of the name of a call in which a warp works together, and how it is called.
_TOGETHER = {"syncwarp": "__syncwarp()", "shfl": "shuffle", "ballot": "vote", "_any": "vote", "_all": "vote",
             "reduce": "reduction"}  # fmt: skip
#: Bytes of an element of a shared array, by its type.
_BYTES = {"char": 1, "half": 2, "__half": 2, "short": 2, "int": 4, "unsigned": 4, "unsigned int": 4, "float": 4,
          "double": 8, "long long": 8}  # fmt: skip


def fault_cause(fault: KernelFault, source: str, launch: LaunchCase) -> str:
    """A sentence on what causes the fault, "" where the code does not say. source: CUDA C++ that the lines count in."""
    code = Code(source)
    if fault.kind == "global-out-of-bounds":
        return _index(fault, code, launch)
    if fault.kind == "shared-out-of-bounds":
        return _slot(fault, code)
    if fault.kind == "race":
        return _race(fault, code, launch)
    if fault.kind == "barrier-divergence" and fault.line:
        return _missed(fault, code)
    if fault.kind == "inactive-lane" and fault.line:
        return _lanes(fault, code)
    if fault.kind == "uninitialized-shared":
        return _never_written(fault, code)
    return ""


def barrier_conditions(source: str) -> dict[int, str]:
    """Line of a barrier of the block -> the head of the branch that it stands in, for those in an ``if``."""
    code = Code(source)
    found = {}
    for line, name in code.calls("__syncthreads"):
        branches = [node for node in code.around(line) if node.type == "if_statement"]
        if branches and name:
            found[line] = head(branches[-1])
    return found


def with_barrier_at_the_end(source: str, kernel: str) -> str:
    """The source with one more barrier at the end of the kernel; "" where the kernel is not found."""
    text = source.encode()
    for node in walk(Code(source).root, ("function_definition",)):
        body, declarator = node.child_by_field_name("body"), function_of(node)
        if body is not None and text_of(declarator).startswith(f"{kernel}("):
            end = body.end_byte - 1
            return (text[:end] + b" __syncthreads(); " + text[end:]).decode(errors="replace")
    return ""


def only_buffers(source: str) -> tuple[str, int, int] | None:
    """(name, buffers, bytes of one) of the one shared array, if it has several dimensions; None otherwise."""
    arrays = _shared_arrays(Code(source))
    if len(arrays) != 1:
        return None
    (array, width), (name, *rest) = arrays[0], arrays[0][0].split("[")
    sizes = [int(size) for size in re.findall(r"\[(\d+)\]", array)]
    if len(sizes) < 2 or len(sizes) != len(rest) or not width:
        return None
    return name.strip(), sizes[0], width * prod(sizes[1:])


def _missed(fault: KernelFault, code: Code) -> str:
    """Why not all threads come to a barrier: the branch that it stands in, or where some leave before it."""
    lines = [line for line in (fault.line, fault.other_line) if line]
    conditions = [f"`{text}`" for text in dict.fromkeys(code.parting(line) for line in lines) if text]
    if conditions:
        where = " and ".join(conditions)
        return f"The barrier stands under {where}: not all of its threads come there alike."
    at, condition = code.left(lines[0])
    return f"On line {at} some threads leave, under `{condition}`, and go round the barrier." if at else ""


def _lanes(fault: KernelFault, code: Code) -> str:
    """Which lanes do not come to what a warp does together, or are not named."""
    line = fault.line or 0
    calls = [name for at, name in code.calls("sync", ".") if at == line]
    known = (said for word, said in _TOGETHER.items() if any(word in name for name in calls))
    what = next(known, "warp-synchronous instruction")
    condition, (at, left) = code.parting(line), code.left(line)
    here = f"stands under `{condition}`" if condition else f"comes after line {at}, where lanes leave under `{left}`"
    if "does not name it" in str(fault):
        who = f"Lane {fault.thread[0] % WARP}" if fault.thread else "A lane"
        return f"{who} comes to the {what} of line {line}, and the mask there leaves it out."
    return f"The {what} {here}: not all of its threads come there alike." if condition or at else ""


def _race(fault: KernelFault, code: Code, launch: LaunchCase) -> str:
    first, then = fault.other_line, fault.line
    if said := _of_cluster(first, then or 0, str(fault).partition("\n")[0], code):
        return said
    if first is None or then is None or fault.file != fault.other_file:
        return ""
    if fault.block is not None and fault.other_block is not None and fault.block != fault.other_block:
        return _between_blocks(first, then, str(fault).partition("\n")[0], code)
    if first == then and "in the same instruction" in str(fault):
        return f"Two threads have one and the same place on line {then}, at one time: no barrier keeps them apart."
    way, loads = Way.between(first, then, code), re.search(r"\breads?\b", str(fault).partition("\n")[0]) is not None
    if way is None:
        return _of_one_line(first, then, loads, code)
    barriers, warp_barriers = (
        [line for line in lines if line in way.lines] for lines in (code.barriers, code.warp_barriers)
    )
    if not barriers and warp_barriers:
        if _warps_differ(fault, launch):
            return (
                f"{way.words}, and only the __syncwarp() of line {warp_barriers[0]} stands between: for one warp alone."
            )
        if first == then:
            return _within_a_round(then, loads, warp_barriers[0], "__syncwarp()")
        return f"{way.words}, and the __syncwarp() of line {warp_barriers[0]} does not stand between these two."
    if not barriers:
        return f"{way.words}, and no barrier stands between{_no_barrier(way, code)}.{_met(way, fault, code)}"
    for line in barriers:
        if condition := code.condition(line, (first, then)):
            return f"{way.words}, and the barrier of line {line} stands under `{condition}`: it is not there each time."
    if first == then:
        return _within_a_round(then, loads, barriers[0], "barrier")
    return f"{way.words}, and the barrier of line {barriers[0]} does not stand between these two."


def _met(way: Way, fault: KernelFault, code: Code) -> str:
    """Where two calls meet, and which barrier has to stand between accesses of several blocks; "" for neither."""
    _, element = _element(fault, code)
    if way.calls and element:
        said = f" Both calls come to {element}."
        if not re.search(r"\bwrites\b.*\bread\b", str(fault).partition("\n")[0]):
            return said
        return f"{said} A thread may store there for the next call while another one still reads for the call before."
    remote = [line for line, _ in code.calls("map_shared_rank") if line in (fault.line, fault.other_line)]
    return f" Line {remote[0]} goes to the other blocks, too: it takes a barrier of the cluster." if remote else ""


def _of_one_line(first: int, then: int, loads: bool, code: Code) -> str:
    """Two accesses that no thread makes one after the other. loads: whether one of them is a load."""
    if then != first:
        return f"One thread may be at line {then} while another one is at line {first}, and nothing makes either wait."
    other, two = ("still loads there", "load and store") if loads else ("stores there, too", "these two")
    said = f"One thread may store on line {then} while another one {other}, and nothing makes either wait"
    for lines, what in ((code.barriers, "barrier"), (code.warp_barriers, "__syncwarp()")):
        for line in lines:
            where = "behind" if line > then else "before"
            return f"{said}: the {what} of line {line} stands {where} both, and not between {two}."
    return f"{said}."


def _within_a_round(line: int, loads: bool, barrier: int, what: str) -> str:
    kept = f"the {what} of line {barrier} keeps rounds apart, and nothing keeps"
    if loads:
        return (
            f"On line {line} a lane stores what another one loads on the same line in the same round: {kept} the loads "
            "of a round before its stores."
        )
    return f"On line {line} two threads store to one place in the same round: {kept} the stores of a round apart."


def _no_barrier(way: Way, code: Code) -> str:
    """What stands there in place of a barrier, as ": the fence of line 7 ..."; "" for nothing."""
    fences = [line for line, _ in code.calls("fence") if line in way.lines]
    if fences:
        return f": at the fence of line {fences[0]} no thread waits for another one"
    return ": volatile makes no thread wait" if re.search(r"\bvolatile\b(?!\s*\()", code.source) else ""


def _warps_differ(fault: KernelFault, launch: LaunchCase) -> bool:
    """Whether the two threads are known to be in different warps."""
    if fault.thread is None or fault.other_thread is None:
        return True
    wide, high = (launch.block, 1) if isinstance(launch.block, int) else (*launch.block, 1)[:2]
    one, other = ((z * high + y) * wide + x for x, y, z in (fault.thread, fault.other_thread))
    return one // WARP != other // WARP


def _between_blocks(first: int, then: int, message: str, code: Code) -> str:
    """Why nothing orders the accesses of two blocks. first, then: their lines; message: of the fault."""
    if "shared memory" in message:
        return (
            "The two blocks are in one cluster, and a barrier of the block alone does not make one wait for the other."
        )
    atomics = [line for line, _ in code.calls("atomic")]
    waits = [first_line(node) for node in walk(code.root, ("while_statement",))]
    if "is an atomic" in message and (then in waits or "writes" in message):
        plain, other = (then, first) if first in atomics else (first, then)
        return f"The access of line {plain} is no atomic, and that of line {other} is one: both have to be."
    if "reads" not in message:
        if then == first and any(line == then and "_block" in name for line, name in code.calls("atomic")):
            return f"The atomic of line {then} holds among the threads of one block, and here two blocks meet."
        if "which a thread of another block read" in message and then != first:
            return _read_too_early(first, then, waits, atomics, code)
        if then == first:
            return (
                f"Two blocks come to one element on line {then}. Blocks run in any order, and without an atomic one "
                "stores over what the other one has stored."
            )
        return "Two blocks come to one element, and blocks run in any order: a barrier is for the threads of one block."
    return _published(first, then, [line for line in atomics if line > first], code)


def _of_cluster(first: int | None, then: int, message: str, code: Code) -> str:
    """Why a block of a cluster comes too early or too late to the shared memory of another one; "" for other races."""
    if "shared memory of" not in message or not then:
        return ""
    of_blocks = [line for line in code.barriers if line not in code.cluster_barriers]
    before, behind = [line for line in of_blocks if line < then], [line for line in of_blocks if line > then]
    if "may have ended" in message:
        access = "written to it" if "writes" in message else "read from it"
        return (
            f"The other block may end before line {then} has {access}. All blocks have to wait for each other once "
            f"more behind line {then}, at a barrier of the cluster.{_alone(behind[:1])}"
        )
    if "may not have begun" in message:
        wrote = ", and need not have written what is read here" if "reads" in message else ""
        return (
            f"No barrier of the cluster comes before line {then}: the other block need not have begun{wrote}."
            f"{_alone(before[-1:])}"
        )
    way = Way.between(first, then, code) if first is not None and "another block" in message else None
    if way is None or any(line in way.lines for line in code.cluster_barriers):
        return ""
    between = [line for line in of_blocks if line in way.lines]
    return f"{way.words} in another block, and no barrier of the cluster stands between.{_alone(between[-1:])}"


def _alone(lines: list[int]) -> str:
    """What a barrier of the block does among the blocks of a cluster; "" where there is none."""
    return f" The barrier of line {lines[0]} waits for the threads of its own block alone." if lines else ""


def _read_too_early(read: int, store: int, waits: list[int], atomics: list[int], code: Code) -> str:
    """Why a block reads before the other one has stored."""
    wait = next((line for line in waits if line < read), 0)
    if wait and not any(wait < line < read for line in code.barriers):
        return (
            f"Line {read} reads before line {store} has stored: who waits on line {wait} waits for itself, and no "
            f"barrier between line {wait} and line {read} makes the other threads wait, too."
        )
    sign = next((line for line in atomics if line > store), 0)
    if sign and not any(store < line <= sign for line in code.barriers):
        return (
            f"The sign of line {sign} is up as soon as one thread has stored: no barrier between line {store} and it "
            "gathers the others."
        )
    if wait:
        ends = next(text for line, text in _waiting(code) if line == wait)
        return f"Line {read} reads before line {store} has stored: the wait of line {wait}, `{ends}`, ends too early."
    return f"Line {read} reads before line {store} has stored, and waits for no sign of it."


def _published(store: int, load: int, signs: list[int], code: Code) -> str:
    """Why a store is not seen with the sign that tells of it."""
    all_fences = code.calls("fence")
    fences = [line for line, name in all_fences if "_block" not in name]
    if not fences:
        near = "".join(f" That of line {line} reaches its own block alone." for line, _ in all_fences[:1])
        return (
            f"No fence stands behind the store of line {store}, so another block may see the sign and not the number."
            f"{near}"
        )
    if not signs:
        fenced = "has its fence" if any(line >= store for line in fences) else "has no fence behind it"
        return f"The store of line {store} {fenced}, and no atomic tells line {load} that it is done."
    sign = signs[0]
    between = [line for line in fences if store <= line <= sign]
    if not between:
        side = "before the store" if fences[0] < store else "behind the sign"
        return (
            f"The fence of line {fences[0]} stands {side}. It has to stand between the store of line {store} and "
            f"the sign of line {sign}."
        )
    gathered = [line for line in code.barriers if store <= line <= sign]
    some = code.condition(between[0], (store,))
    if some and gathered and between[0] < gathered[0]:
        return (
            f"The fence of line {between[0]} stands under `{some}`, before the barrier of line {gathered[0]}: it "
            "orders the number of that thread, and those of the others have no fence."
        )
    if code.condition(sign, (store,)) and not gathered:
        only = next((f" The __syncwarp() of line {line} is for one warp." for line in code.warp_barriers), "")
        return (
            f"No barrier stands between the store of line {store} and the sign of line {sign}, which one thread sets: "
            f"it may be up before the others have stored.{only}"
        )
    return _not_awaited(store, load, code)


def _not_awaited(store: int, load: int, code: Code) -> str:
    """Why a load does not wait for a store that is published as it should be."""
    if wait := next((line for line, _ in _waiting(code) if line < load), 0):
        return f"Line {wait} waits for less than all that line {store} stores, or line {load} does not wait for it."
    under = f", under `{condition}`," if (condition := code.condition(load, (store,))) else ""
    return (
        f"The store of line {store} has its fence. But line {load} runs{under} without having seen the sign of that "
        "block: it does not ask whether the count says that all have come."
    )


def _waiting(code: Code) -> list[tuple[int, str]]:
    return [(first_line(node), head(node)) for node in walk(code.root, ("while_statement",))]


def _let_through(code: Code, line: int) -> str:
    """ " The test `if (i <= n)` lets it through.", "" where the line stands under no test of the thread."""
    condition = code.parting(line).removesuffix("?").strip()
    return f" The test `{condition}` lets it through." if condition else ""


def _index(fault: KernelFault, code: Code, launch: LaunchCase) -> str:
    """Which element a thread wants, by its number in the grid; for blocks and grids of one dimension."""
    thread, block, size_of_block = fault.thread, fault.block, launch.block
    if thread is None or block is None or fault.address is None or fault.argument is None:
        return ""
    if not isinstance(size_of_block, int) or not isinstance(launch.grid, int):
        return ""
    array = list(launch.args.values())[fault.argument]
    size = int(array.dtype.itemsize)
    element, number = fault.address // size, block[0] * size_of_block + thread[0]
    who, test = f"Thread {thread[0]} of block {block[0]}, number {number} of the grid,", ""
    if fault.line:
        test = _let_through(code, fault.line)
    if element == number:
        there = f"There are {array.size}, so a test has to keep it out."
        return f"{who} wants the element of its own number. {there}{test}"
    if number and element % number == 0 and element // number <= _LARGEST_FACTOR:
        return f"{who} wants element {element}, {element // number} times its number.{test}"
    return f"{who} wants element {element}, and the last one is {array.size - 1}.{test}"


def _slot(fault: KernelFault, code: Code) -> str:
    """Which thread wants an element that a shared array does not have."""
    size = re.search(r"which has (\d+) bytes", str(fault))
    if fault.thread is None or not fault.symbol or size is None or not fault.line:
        return ""
    name, test = fault.symbol.partition("[")[0], _let_through(code, fault.line)
    if int(size[1]) == 0:
        return f"{name} has no element in this launch."
    width = next((width for array, width in _shared_arrays(code) if array.partition("[")[0] == name), 0)
    where = f"beyond the end of {name}"
    if width:
        last = int(size[1]) // width - 1
        where = f"and {name} has " + (
            f"the elements 0 to {last}" if fault.symbol.count("[") == 1 else f"{last + 1} elements"
        )
    return f"Thread {fault.thread[0]} comes to {fault.symbol}, {where}.{test}"


def _outermost(node: Node) -> bool:
    return node.parent is None or node.parent.type != node.type


def _element(fault: KernelFault, code: Code) -> tuple[str, str]:
    """The name of the shared array of an address, and the element: "part", "part[4]"; "" where it is not known."""
    if fault.symbol:
        return fault.symbol.partition("[")[0], fault.symbol
    arrays = _shared_arrays(code)
    if len(arrays) != 1:
        return "", ""
    (array, width), name = arrays[0], arrays[0][0].partition("[")[0]
    sizes = re.findall(r"\[(\d+)\]", array)
    if fault.address is None or not width or not sizes or array.count("[") != len(sizes):
        return name, ""
    places, left = [], fault.address // width
    for size in reversed(sizes[1:]):
        left, place = divmod(left, int(size))
        places.append(place)
    return name, name + "".join(f"[{place}]" for place in (left, *reversed(places)))


def _shared_arrays(code: Code) -> list[tuple[str, int]]:
    """("part[4][32]", bytes of an element) of what is declared in shared memory; 0 bytes for a type not known."""
    arrays = []
    for node in walk(code.root, ("declaration",)):
        if "__shared__" in text_of(node):
            width = _BYTES.get(text_of(node.child_by_field_name("type")), 0)
            names = [child for child in node.named_children if child.type == "identifier"]
            found = [text_of(child) for child in walk(node, ("array_declarator",)) if _outermost(child)]
            found += [text_of(child) for child in names if "__" not in text_of(child)]
            arrays += [(text, width) for text in found]
    return arrays


def _never_written(fault: KernelFault, code: Code) -> str:
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
    if stores == [fault.line]:
        return f"Line {fault.line} changes {element or name}, and nobody has stored to it before."
    way = Way.between(stores[0], fault.line or 0, code)
    if way and not any(line in way.lines for line in code.barriers):
        return f"{way.words}, and no barrier stands between: a thread reads {element or name} before it is stored."
    at, left = code.left(fault.line or 0)
    if at and element:
        return f"Nobody stores {element}: on line {at} threads leave, under `{left}`, and store nothing."
    under = code.condition(stores[0])
    where = " and ".join(f"line {line}" for line in stores[:3])
    read = f"{element} is read here" if element else "another element is read here"
    return (
        f"{name} is stored to on {where}{f', under `{under}`' if under else ''}, and {read}, which nobody has stored."
    )

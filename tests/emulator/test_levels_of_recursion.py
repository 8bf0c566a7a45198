"""How often a function that calls itself is copied into itself."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from softlab.emulator.ptx import calls
from softlab.emulator.ptx.linker import link
from softlab.emulator.ptx.parser import parse
from softlab.emulator.ptx.syntax import Register, Symbol
from tests.sampled import each

HEAD = ".version 8.8\n.target sm_90\n.address_size 64\n"
MARK = "bfind.u32 %r1, 77;"


def copies(functions: str) -> int:
    """How often the marked instruction stands in the kernel that calls f."""
    declared = ".func f();\n.func g();\n"
    text = f"{HEAD}{declared}{functions}\n.visible .entry k()\n{{\ncall.uni f, ();\nret;\n}}\n"
    return sum(i.opcode == "bfind" for i in link(parse(text), "k").instructions)


def function(name: str, *lines: str) -> str:
    return "\n".join([f".func {name}()\n{{\n.reg .b32 %r<3>;", *lines, "ret;\n}"])


@pytest.mark.parametrize("ways", [1, 2, 3, 4, 5, 22, 23, 513])
def test_copies_multiply_at_each_level_up_to_512_at_one_level(ways: int) -> None:
    """f calls g in ``ways`` places, and each g calls f. Both together are 128 levels deep at most."""
    found = copies(function("f", MARK, *["call.uni g, ();"] * ways) + "\n" + function("g", "call.uni f, ();"))
    if ways == 1:
        assert found == 128 // 2
        return
    levels = [1]
    while levels[-1] * ways <= 512:
        levels.append(levels[-1] * ways)
    assert found == sum(levels)


@pytest.mark.parametrize(
    ("more", "levels"), each(2, [(0, 128), (124, 128), (125, 127), (508, 32), (1020, 16), (3000, 16)])
)
def test_a_function_that_calls_itself_twice_shares_its_levels(more: int, levels: int) -> None:
    """16384 instructions of all levels together: 4 instructions and ``more`` more per level, at least 16 levels."""
    lines = [MARK, "call.uni f, ();", *["mov.u32 %r2, 1;"] * more, "call.uni f, ();"]
    assert copies(function("f", *lines)) == levels == min(max(16384 // (4 + more), 16), 128)


def test_a_function_that_calls_itself_once_is_as_deep_as_any() -> None:
    assert copies(function("f", MARK, "call.uni f, ();")) == calls._DEEPEST_RECURSION == 128


@pytest.mark.parametrize("pointers", [0, 1, 2, 3])
@pytest.mark.parametrize("calls_of_itself", [0, 1, 3])
@pytest.mark.parametrize("functions", [0, 1, 2, 5])
def test_a_call_through_a_pointer_may_reach_each_function_whose_address_is_taken(
    pointers: int, calls_of_itself: int, functions: int
) -> None:
    """So it counts once for each of them."""
    register, symbol = Register("%rd1", "b64"), Symbol("f")
    made = [SimpleNamespace(opcode="call", operands=(target,))
            for target in (*[register] * pointers, *[symbol] * calls_of_itself)]  # fmt: skip
    callee = SimpleNamespace(name="f", instructions=[*made, SimpleNamespace(opcode="add", operands=())])
    inliner = object.__new__(calls.Inliner)
    inliner.__dict__.update(
        _depths={}, _sharing=set(), _targets=[callee] * functions, module=SimpleNamespace(functions={"f": callee})
    )
    ways, copies, depth = pointers * functions + calls_of_itself, 1, 0
    while copies <= 512 and depth < 128:
        depth, copies = depth + 1, copies * max(ways, 1)
    assert inliner._deepest(callee) == depth
    assert inliner._deepest(callee) == depth, "it is known now"

"""printf in the emulator: every conversion beside the C library's, and the buffer that a GPU has."""

from __future__ import annotations

import ctypes
import itertools
import sys

import numpy as np
import pytest

from softlab.emulator.machine.output import PRINT_BYTES, PrintBuffer
from softlab.emulator.memory.allocations import Allocations
from softlab.emulator.opcodes.conversions import Conversion
from softlab.emulator.opcodes.printf import _ArgumentReader
from softlab.emulator.ptx.linker import LOCAL_WINDOW
from softlab.kernel import Kernel
from tests.sampled import each

FLAGS = ("", "-", "0", "+", " ", "#", "-0", "+0", "# ", "#0", "-+", "+ #0-")
WIDTHS = (0, 1, 5, 12, 30)
PRECISIONS = (None, 0, 1, 3, 15, 20)
INTEGERS = (0, 1, -1, 42, -300, 2**31 - 1, -(2**31), 2**40, -(2**63))
FLOATS = (0.0, -0.0, 1.0, -1.5, 0.1, 1e10, 123456.5, 2.5, 1e-5, 1e300, 5e-324, 2**-1030, 1.9999, float("inf"),
          float("-inf"), float("nan"), -float("nan"), 0.5)  # fmt: skip


def c_text(form: str, value) -> str:
    """What the C library makes of it."""
    buffer = ctypes.create_string_buffer(4096)
    ctypes.CDLL(None).snprintf(buffer, ctypes.c_size_t(len(buffer)), form.encode(), value)
    return buffer.value.decode()


def forms(letter: str):
    for flags, width, precision in itertools.product(FLAGS, WIDTHS, PRECISIONS):
        tail = "" if precision is None else f".{precision}"
        yield f"%{flags}{width or ''}{tail}", Conversion.of(flags, width, precision, letter)


needs_glibc = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the oracle is glibc's snprintf")


@needs_glibc
@pytest.mark.parametrize("letter", each(2, "diuoxX"))
def test_integers(letter):
    for (form, conversion), value in itertools.product(forms(letter), INTEGERS):
        mine = value if letter in "di" else value % 2**64
        assert conversion.integer(mine) == c_text(f"{form}ll{letter}", ctypes.c_longlong(value)), (form, value)


@needs_glibc
@pytest.mark.parametrize("letter", each(3, "eEfFgGaA"))
def test_floats(letter):
    for (form, conversion), value in itertools.product(forms(letter), FLOATS):
        assert conversion.floating(value) == c_text(form + letter, ctypes.c_double(value)), (form, value)


@needs_glibc
@pytest.mark.parametrize("flags", ["", "-"])
@pytest.mark.parametrize("width", [0, 3, 9])
def test_text(flags, width):
    for precision, value in itertools.product((None, 0, 2, 20), ("", "abc", "a longer text")):
        tail = "" if precision is None else f".{precision}"
        form = f"%{flags}{width or ''}{tail}s"
        assert Conversion.of(flags, width, precision, "s").text(value) == c_text(form, value.encode())


def printed(capsys, statement: str, *args) -> str:
    source = f'extern "C" __global__ void k({"const char* s" if args else ""}) {{ {statement} }}'
    Kernel(source, "k").run(1, 1, args)
    return capsys.readouterr().out


def test_a_kernel_prints_as_c_does(capsys):
    """Also sizes, the star, "%%", and bytes that together are one character."""
    text = printed(
        capsys,
        r"""printf("%5d|%-8s|%08.3f|%+e|%x|%#x|%llu|%c|%%|%*d|%-*d|%.*f|%.f|",
              42, "abc", 3.14159, 1.5, 255, 255, ~0ull, 'x', 6, 7, -6, 7, 2, 1.0 / 3, 2.5);
            printf("%hd|%hhu|%+u|%08.3d|%#o|%5%|%.*d|%p|%p|%s|%6s|%.3s\n",
              70000, 511, 5, 5, 8, -1, 9, (void*)0, (void*)0x1234, (const char*)0, "\xc3\xa9", "\xc3\xa9\xc3\xa9");""",
    )
    assert text == (
        "   42|abc     |0003.142|+1.500000e+00|ff|0xff|18446744073709551615|x|%|     7|7     |0.33|2|"
        "4464|255|5|     005|010|%|9|(nil)|0x1234|(null)|    é|é�\n"
    )


def test_strings_of_an_array_and_of_the_stack(capsys):
    given = np.frombuffer(b"from an array\0rest", np.uint8).copy()
    statement = 'char own[8]; for (int i = 0; i < 3; ++i) own[i] = s[i] - 32; own[3] = 0; printf("%s, %s", s, own);'
    assert printed(capsys, statement, given) == "from an array, FRO"


def test_a_string_that_is_nowhere_is_said(capsys):
    assert printed(capsys, 'printf("%s", (const char*)0x12345678);') == "(no string at 0x12345678)"


def test_a_launch_prints_a_mebibyte_at_most(capsys):
    source = r'extern "C" __global__ void k() { for (int i = 0; i < 40; ++i) printf("%0126d\n", i); }'
    kernel = Kernel(source, "k")
    for _ in range(2):  # each launch has a buffer of its own
        kernel.run(1, 512)
        *lines, last = capsys.readouterr().out.splitlines()
        assert len(lines) == PRINT_BYTES // 127
        assert {len(line) for line in lines} == {126}
        assert last == "[softlab: the launch prints more than 1048576 bytes; the rest is dropped]"


def test_the_buffer_takes_whole_texts_and_counts_bytes():
    written = []
    buffer = PrintBuffer(5, written.append)
    for text in ("éé", "", "é", "a"):
        buffer(text)
    assert "".join(written) == "éé\n[softlab: the launch prints more than 5 bytes; the rest is dropped]\n"


def test_a_huge_width_is_bounded(capsys):
    assert len(printed(capsys, 'printf("%*d", 2147483647, 1);')) == 1 << 16


@pytest.mark.parametrize(
    ("call", "count"),
    [
        ('"a"', 0), ('"%d", 7', 1), ('"%d %s", 7, "x"', 2), ('"%d %f %c", 7, 0.5, 33', 3), ('"%*d", 5, 7', 2),
        ('"%%", 7', 0), ('"%llx %p %d %d", 7ll, y, 1, 2', 4),
    ],
)  # fmt: skip
def test_a_call_returns_how_many_arguments_it_has_printed(call: str, count: int) -> None:
    source = f'extern "C" __global__ void k(int* y) {{ y[threadIdx.x] = printf({call}); }}'
    y = np.full(2, 99, np.int32)
    Kernel(source, "k").run(1, 2, (y,))
    assert y.tolist() == [count, count]


def test_arguments_end_with_the_stack() -> None:
    """Each lies at a multiple of its size. Behind the last one, or before the first one, there are zeros."""
    stack = np.arange(1, 25, dtype=np.uint8)
    reader = _ArgumentReader(Allocations(), stack, 0)
    first, second = (int.from_bytes(stack[at : at + 4].tobytes(), "little") for at in (0, 4))
    assert [reader.take("u4"), reader.take("u4")] == [first, second]
    reader.take("i4")
    assert reader.take("u8") == int.from_bytes(stack[16:].tobytes(), "little"), "from the next multiple of 8 on"
    assert reader.count == 4
    assert [reader.take("u4"), reader.take("f8"), reader.count] == [0, 0, 4]
    assert _ArgumentReader(Allocations(), stack, -8).take("u8") == 0
    assert _ArgumentReader(Allocations(), stack[:23], 16).take("u8") == 0


def test_strings_end_with_their_memory() -> None:
    memory = Allocations()
    base = memory.add(np.frombuffer(b"abc\0def", np.uint8).copy(), name="s")
    stack = np.frombuffer(b"on\0stack", np.uint8)
    reader = _ArgumentReader(memory, stack, 0)
    found = [reader.text(at) for at in (base, base + 4, base + 6, base + 3, LOCAL_WINDOW, LOCAL_WINDOW + 7, 0)]
    assert found == ["abc", "def", "f", "", "on", "k", "(null)"]
    for nowhere in (base + 7, base - 1, LOCAL_WINDOW + 8, LOCAL_WINDOW - 1):
        assert reader.text(nowhere) == f"(no string at {nowhere:#x})"
    long = memory.add(np.full(5000, ord("x"), np.uint8), name="long")
    assert len(reader.text(long)) == 4096


def test_strings_in_the_middle_of_long_memory() -> None:
    """Of several arrays, so that their addresses are of all kinds."""
    memory, random = Allocations(), np.random.default_rng(4)
    for size in (700, 3, 1000, 5000, 300):
        data = random.integers(65, 91, size).astype(np.uint8)
        data[random.integers(0, size, size // 20)] = 0
        base, text = memory.add(data.copy(), name="s"), data.tobytes()
        reader = _ArgumentReader(memory, np.zeros(8, np.uint8), 0)
        for at in (0, 1, size // 2, size - 1, *random.integers(0, size, 20).tolist()):
            assert reader.text(base + at).encode() == text[at:].split(b"\0")[0]


@pytest.mark.parametrize(
    ("form", "kinds", "text"),
    [
        ("%hhd", ("i4", -1), "-1"), ("%hhu", ("i4", -1), "255"), ("%hd", ("i4", 40_000), "-25536"),
        ("%hu", ("i4", 70_000), "4464"), ("%d", ("i4", -7), "-7"), ("%u", ("i4", -7), "4294967289"),
        ("%x", ("i4", -1), "ffffffff"), ("%ld", ("i8", -(1 << 40)), str(-(1 << 40))),
        ("%lld", ("i8", 1 << 40), str(1 << 40)),
        ("%jx", ("i8", -1), "f" * 16), ("%zu", ("i8", 1 << 40), str(1 << 40)), ("%td", ("i8", -2), "-2"),
        ("%Ld", ("i4", -3), "-3"), ("%c", ("i4", 0x141), "A"), ("%lc", ("i4", 66), "B"), ("%p", ("i8", 0), "(nil)"),
        ("%p", ("i8", 255), "0xff"), ("%5.1f|", ("f8", 2.25), "  2.2|"), ("%q", ("i4", 1), "%q"),
    ],
)  # fmt: skip
def test_a_conversion_takes_the_bytes_of_its_size(form: str, kinds: tuple[str, float], text: str) -> None:
    stack = np.array([kinds[1]], kinds[0]).view(np.uint8)
    reader = _ArgumentReader(Allocations(), stack, 0)
    assert reader.formatted(form) == text
    assert reader.count == (form != "%q")

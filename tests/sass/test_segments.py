"""Steps that are compiled together give the bits that they give one by one."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from softlab.cuda.disassembly import find_nvdisasm
from softlab.emulator.machine import native
from softlab.emulator.machine.native import NativeFunction, available, compiling
from softlab.kernel import Kernel
from softlab.sass import interpret
from softlab.sass.form import PAIRS, PREDICATE, Slots
from softlab.sass.segments import PureStep, Segment, segments, way_of
from softlab.sass.traces import Trace, Traced, Untraced
from tests.compilers import another_compiler

pytestmark = pytest.mark.skipif(not available(), reason="needs llvmlite")

_BINARY = (
    np.add, np.subtract, np.multiply, np.bitwise_and, np.bitwise_or, np.bitwise_xor, np.left_shift, np.right_shift,
    np.minimum, np.maximum, np.less, np.less_equal, np.greater, np.greater_equal, np.equal, np.not_equal,
)  # fmt: skip
_EDGES = np.array(
    [0, 1, 2, 31, 32, 33, 63, 64, 127, 255, 1 << 31, (1 << 32) - 1, (1 << 63) - 1, 1 << 63, (1 << 64) - 1], np.uint64
)  # fmt: skip
_SOURCE = """
#include <cuda_fp16.h>
extern "C" __global__ void k(const unsigned* a, const float* x, unsigned* out, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned long long wide = (unsigned long long)a[i] * a[i + 1] + n;
  unsigned v = a[i], w = a[i + 2];
  float f = x[i];
  for (int k = 0; k < 3 + (v & 3); ++k) {
    v = __funnelshift_l(v, w, k + 5) ^ __brev(w) + __popc(v);
    w = min(w, v * 2654435761u) + max((int)v, -(int)w) + (v > w ? v >> (k & 31) : abs((int)w));
    wide = (wide >> (w & 63)) * 0x9E3779B97F4A7C15ull + (v & 1 ? wide << 7 : ~wide);
    f = fmaf(f, 1.0009765f, v & 4 ? __fdividef(f, 3.0f + k) : -fabsf(f));
    if (w % 7 == k) { v += __byte_perm(v, w, 0x5140); f = fminf(f, 4.0f) * 0.5f; }
  }
  out[2 * i] = v ^ w; out[2 * i + 1] = (unsigned)(wide >> 32) + (unsigned)wide;
  y[i] = f;
}"""


def _compiled(trace: Trace, value: Traced) -> np.ufunc:
    sources = [name for name in trace.dtypes if name[0] == "s"]
    made = NativeFunction(
        trace.needed([value.name]), sources, [value.name], trace.dtypes, trace.constants, sources
    )  # fmt: skip
    _KEPT.append(made)
    return made.ufunc


_KEPT: list[NativeFunction] = []  # NumPy only points to their code


@pytest.mark.parametrize("dtype", [np.uint32, np.int32, np.uint64, np.int64])
def test_operations_of_integers(dtype):
    given = np.array(list(product(_EDGES, repeat=2)), np.uint64).T.astype(np.dtype(dtype).str.replace("i", "u"))
    a, b = (np.ascontiguousarray(one).view(dtype) for one in given)
    with np.errstate(all="ignore"):
        for function in _BINARY:
            trace = Trace()
            found = function(*(trace.source(name, np.dtype(dtype)) for name in ("s0", "s1")))
            known = function(a, b)
            assert isinstance(found, Traced)
            assert found.dtype == known.dtype
            np.testing.assert_array_equal(_compiled(trace, found)(a, b), known, err_msg=str(function))
        for function in (np.negative, np.invert, np.absolute if a.dtype.kind == "i" else np.bitwise_count):
            trace = Trace()
            found = function(trace.source("s0", np.dtype(dtype)))
            np.testing.assert_array_equal(_compiled(trace, found)(a), function(a), err_msg=str(function))


def test_predicates_choices_and_other_types():
    trace = Trace()
    p, a = trace.source("s0", np.dtype(bool)), trace.source("s1", np.dtype(np.uint32))
    value = np.where(
        np.logical_and(~p, a > np.uint32(5)), np.multiply(p, np.uint32(3)) + a, a.view(np.int32).view("u4")
    )
    wide = (value.astype(np.uint64) << np.uint64(33)) - np.left_shift(a, np.uint64(32), dtype=np.uint64)
    low, high = wide.halves()
    result = (low ^ high).view(np.float32).view(np.uint32)
    bits = np.tile(_EDGES.astype(np.uint32), 2)
    holds = np.arange(len(bits)) % 2 == 0
    known = np.where(~holds & (bits > 5), holds * np.uint32(3) + bits, bits)
    known64 = (known.astype(np.uint64) << np.uint64(33)) - (bits.astype(np.uint64) << np.uint64(32))
    np.testing.assert_array_equal(
        _compiled(trace, result)(holds, bits), (known64 ^ known64 >> np.uint64(32)).astype(np.uint32)
    )


def test_what_cannot_be_written_down_says_so():
    trace = Trace()
    a = trace.source("s0", np.dtype(np.uint32))
    for action in (
        lambda: a.view(np.float32) + np.float32(1), lambda: np.add.reduce(a), lambda: bool(a), lambda: a[0],
        lambda: a.astype(np.float32), lambda: np.sort(a), lambda: np.logical_and(a, a), lambda: np.sqrt(a),
    ):  # fmt: skip
        with pytest.raises(Untraced):
            action()


def _step(index, action, reads, writes, guard=None):
    return PureStep(index, action, guard, frozenset(reads), frozenset(writes), ())


def test_a_segment_keeps_how_its_results_lie():
    """A value that all lanes share stays one value; what a warp or a lane has once stays so."""

    def add(r):
        r[3], r[4], r[5] = r[0] + r[0], r[1] + r[0], r[1] * r[2]

    def move(r):
        r[6], r[0] = r[0], np.uint32(9)

    def put(r):
        r[7] = r[5] + r[6]

    steps = [_step(0, add, (0, 1, 2), (3, 4, 5)), _step(1, move, (0,), (6, 0)),
             _step(2, put, (5, 6, PREDICATE), (7,), lambda r: r[PREDICATE])]  # fmt: skip
    refused: list[int] = []
    segment = Segment(steps, Slots(), refused.append)
    r = [np.uint32(0)] * (PAIRS + 2)
    r[0], r[1], r[2] = np.uint32(7), np.arange(3, dtype=np.uint32)[:, None], np.arange(32, dtype=np.uint32)[None, :]
    r[7], r[PREDICATE], r[PAIRS] = np.uint32(1), np.arange(32)[None, :] > 4, {}
    way = way_of(r, segment.inputs)
    assert segment.ways.get(way) is None
    segment.take(way, 0.0, r, "all")
    compiled = segment.ways.get(way)
    assert compiled is not None
    one, two = r[1], r[2]
    results = compiled.run(r)
    assert (r[3], r[6], r[0]) == (14, 7, 9)
    assert isinstance(r[3], np.uint32)
    assert (r[4].shape, r[5].shape) == ((3, 1), (3, 32))
    np.testing.assert_array_equal(r[5], one * two)
    np.testing.assert_array_equal(r[7], np.where(np.arange(32) > 4, one * two + 7, 1))
    assert [(at, number) for at, number, _ in compiled.guards] == [(2, -1)]
    assert len(results) == 4
    assert not refused


def test_a_step_that_cannot_be_traced_is_named():
    def sums(r):
        r[1] = r[0].view(np.float32) + np.float32(1)

    refused: list[int] = []
    segment = Segment([_step(4, sums, (0,), (1,)), _step(5, sums, (0,), (1,))], Slots(), refused.append)
    r = [np.uint32(0)] * (PAIRS + 2)
    segment.take(way_of(r, segment.inputs), 0.0, r, "all")
    assert (segment.usable, refused) == (False, [4])


def _all_kinds(r):
    """A result of each kind: of lanes, of all alike, another register's, a constant, and 64 bits."""
    r[3], r[4], r[5], r[6] = r[1] + r[2], r[0] + r[0], r[1], np.uint32(9)
    r[7], r[8] = (r[1].astype(np.uint64) * r[2]).halves() if isinstance(r[1], Traced) else (r[1], r[2])


def _kept_segment(refused):
    steps = [
        PureStep(0, _all_kinds, None, frozenset((0, 1, 2)), frozenset(range(3, 9)), (), "a1"),
        PureStep(1, lambda r: r.__setitem__(9, r[3] ^ r[0]), lambda r: r[PREDICATE], frozenset((0, 3, PREDICATE)),
                 frozenset((9,)), (), "a2"),
        PureStep(2, lambda r: r.__setitem__(10, r[0]), lambda r: np.True_, frozenset((0,)), frozenset((10,)), (), "a3"),
    ]  # fmt: skip
    return Segment(steps, Slots(), refused.append)


def _registers():
    r = [np.uint32(0)] * (PAIRS + 2)
    r[0], r[1], r[2] = np.uint32(7), np.arange(3, dtype=np.uint32)[:, None], np.arange(32, dtype=np.uint32)[None, :]
    r[9], r[PREDICATE], r[PAIRS] = np.uint32(1), np.arange(32)[None, :] > 4, {}
    return r


def _given(results):
    return [(one.dtype, np.shape(one), one.tobytes()) for one in results]


def test_a_kept_segment_is_not_compiled_again(tmp_path, monkeypatch):
    """Another process reads it, with neither a trace nor LLVM's passes; a damaged one is made anew."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    one, r = _kept_segment([]), _registers()
    way = way_of(r, one.inputs)
    one.take(way, 0.001, r, "hot")
    assert one.ways.get(way) is None
    one.take(way, 10.0, r, "hot")
    known = _registers()
    results = one.ways[way].run(known)
    other, again = _kept_segment([]), _registers()
    another_compiler(monkeypatch)
    with monkeypatch.context() as later:
        later.setattr(Segment, "_compile", None)
        other.take(way, 0.05, again, "hot")
    assert other.ways[way].guards == one.ways[way].guards
    assert _given(other.ways[way].run(again)) == _given(results)
    assert _given(again[:11]) == _given(known[:11])
    kept = {path: path.read_text() for path in tmp_path.rglob("*.txt")}
    for path in kept:
        path.write_text("damaged")
    another_compiler(monkeypatch)
    third, anew = _kept_segment([]), _registers()
    third.take(way, 10.0, anew, "hot")
    assert _given(third.ways[way].run(anew)) == _given(results)
    assert kept == {path: path.read_text() for path in kept}


def test_a_segment_for_which_a_process_before_took_long_is_compiled_at_once(tmp_path, monkeypatch):
    native._compiler()
    found = []
    for process, calls in ((0, (0.0042, 0.0025)), (0, (0.0045,)), (1, (0.0045,))):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / str(process)))
        one, r = _kept_segment([]), _registers()
        for seconds in calls:
            one.take(way_of(r, one.inputs), seconds, r, "hot")
        found.append(len(one.ways))
    assert found == [0, 1, 0]


def test_that_a_step_cannot_be_traced_is_kept(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))

    def sums(r):
        r[1] = r[0].view(np.float32) + np.float32(1)

    steps = [PureStep(k, sums, None, frozenset((0,)), frozenset((1,)), (), "b") for k in (4, 5)]
    r = [np.uint32(0)] * (PAIRS + 2)
    for seconds in (10.0, 0.05):
        refused: list[int] = []
        segment = Segment(steps, Slots(), refused.append)
        segment.take(way_of(r, segment.inputs), seconds, r, "hot")
        assert (segment.usable, refused) == (False, [4])
        monkeypatch.setattr(Segment, "_compile", None)


def test_segments_are_neighbours_of_few_operands():
    one, wide = _step(0, None, (0,), (1,)), _step(0, None, range(30), ())
    other = _step(0, None, range(30, 60), ())
    assert segments([one, one, None, one, None, one, one, one]) == [(0, 2), (5, 8)]
    assert segments([wide, wide, other, other]) == [(0, 2), (2, 4)]
    assert segments([one] * 100) == [(0, 48), (48, 96), (96, 100)]


@pytest.mark.skipif(not find_nvdisasm(), reason="needs nvdisasm (nvidia-cuda-nvdisasm)")
def test_a_kernel_is_the_same():
    kernel = Kernel(_SOURCE, "k")
    random = np.random.default_rng(1)
    a = random.integers(0, 1 << 32, 202, dtype=np.uint64).astype(np.uint32)
    a[:3] = 0, 1 << 31, (1 << 32) - 1
    arguments = (
        a,
        random.standard_normal(200).astype(np.float32),
        np.zeros(400, np.uint32),
        np.zeros(200, np.float32),
        190,
    )
    found = []
    for choice in ("none", "all"):
        with compiling(choice):
            found.append(interpret(kernel, 4, 50, arguments))
    for number in (2, 3):
        assert found[0].output(number).tobytes() == found[1].output(number).tobytes()
    for one, other in zip(found[0].streams, found[1].streams, strict=True):
        np.testing.assert_array_equal(one.instructions, other.instructions)
        np.testing.assert_array_equal(one.active, other.active)
        np.testing.assert_array_equal(one.accesses.sectors, other.accesses.sectors)

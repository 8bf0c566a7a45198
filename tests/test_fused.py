"""Fused softmax against extended precision: each function object alone and together, forward and backward.

The bound is that of the plain operator, and what scale and bias may be off by when they are rounded.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import softlab
from softlab import fused
from softlab.cuda.structs import Struct
from softlab.dtypes import element_type
from softlab.kernel import Kernel
from softlab.operators import rows
from softlab.operators.functors import BroadcastLayout
from softlab.plans import fast_fused
from tests.kernels.philox import KNOWN_ANSWERS, kept, philox, words
from tests.reference import Reference, assert_within, gradient_reference, reference
from tests.sampled import each, one_of, sampled

#: One of each kernel: a group of lanes and a whole warp, shared memory, uncached (double always is).
SHAPES = {
    "short": ((2, 3, 4, 6), "float32"),
    "warp": ((2, 2, 3, 77), "bfloat16"),
    "even": ((1, 2, 4, 64), "float16"),
    "smem": ((2, 1, 2, 1100), "float32"),
    "double": ((2, 2, 3, 34), "float64"),
    "uncached": ((1, 1, 2, 12_500), "float32"),
}


#: What x may hold besides numbers.
SPECIAL = (np.inf, -np.inf, np.nan, 0.0, -0.0)


@dataclass(frozen=True)
class FusedCase:
    """A problem and what is fused to it. ``bias`` and ``mask`` are shapes; ``special``: values of some elements."""

    shape: tuple[int, ...]
    dtype: str = "float32"
    scale: float | None = None
    bias: tuple[int, ...] | None = None
    mask: tuple[int, ...] | None = None
    fill: float = -np.inf
    causal: bool = False
    diagonal: int = 0
    dropout: float = 0.0
    seed: int = 0
    special: tuple[tuple[int, float], ...] = ()
    policy: str = "oneflow"
    random: np.random.Generator = field(default_factory=lambda: np.random.default_rng(7), compare=False, repr=False)

    @property
    def element(self) -> np.dtype:
        return element_type(self.dtype).numpy

    @property
    def unit(self) -> float:
        """Half an ulp of 1 in the compute type."""
        return 2.0**-53 if self.dtype == "float64" else 2.0**-24

    def values(self, shape: tuple[int, ...]) -> np.ndarray:
        return (self.random.standard_normal(shape) * 2).astype(self.element)

    def x(self) -> np.ndarray:
        x = self.values(self.shape)
        for index, value in self.special:
            x.reshape(-1)[index % x.size] = value
        return x

    def operands(self) -> dict[str, np.ndarray]:
        given = {}
        if self.bias is not None:
            given["bias"] = self.values(self.bias)
        if self.mask is not None:
            given["mask"] = self.random.random(self.mask) < 0.6
        return given

    def keywords(self, *names: str) -> dict[str, Any]:
        everything = {name: getattr(self, name) for name in ("scale", "causal", "diagonal", "policy")}
        everything |= {"fill": self.fill} if "fill" in names else {}
        return everything | ({"dropout": self.dropout, "seed": self.seed} if self.dropout else {})

    def compute(self, number: float) -> np.longdouble:
        """A number as the kernel has it."""
        return np.longdouble(np.float64(number) if self.dtype == "float64" else np.float32(number))

    def keeps(self, operands: dict[str, np.ndarray]) -> np.ndarray:
        """Where neither the mask nor the diagonal puts the fill value."""
        keep = np.broadcast_to(operands.get("mask", True), self.shape)
        return keep & np.tril(np.ones(self.shape[-2:], bool), self.diagonal) if self.causal else keep

    def kept(self) -> np.ndarray:
        """What dropout multiplies by."""
        scale = self.compute(1 / (1 - self.dropout))
        return np.where(kept(self.shape, self.dropout, self.seed), scale, 0) if self.dropout else np.ones(self.shape)


def expected(case: FusedCase, x: np.ndarray, operands: dict[str, np.ndarray], op: str) -> Reference:
    """softmax(fill(scale * x + bias)), in extended precision."""
    with np.errstate(invalid="ignore"):
        scaled = x.astype(np.longdouble) * (1 if case.scale is None else case.compute(case.scale))
    v = scaled + operands.get("bias", np.zeros(1)).astype(np.longdouble)
    keep = case.keeps(operands)
    # A product and a sum are rounded, or a fused multiply-add is; every difference may be off by two such errors.
    off = np.where(keep & np.isfinite(v), (np.abs(scaled) + np.abs(v)) * case.unit, 0)
    v = np.where(keep, v, case.compute(case.fill))
    off = 2 * off.max(axis=-1, keepdims=True) + (2 * case.unit * 40 if case.dtype == "float64" else 0)
    given = v.astype(np.float64) if case.dtype == "float64" else v
    right = reference(given, op, wanted=case.element)
    size = np.where(np.isfinite(right.value), np.abs(right.value) if op == "softmax" else 1, 0)
    return Reference(right.value, right.tolerance + off * size)


def check_forward(case: FusedCase, op: str = "softmax", put: Any = lambda a: a, get: Any = lambda a: a) -> None:
    x, operands = case.x(), case.operands()
    there = {name: put(array) for name, array in operands.items()}
    got = getattr(fused, op)(put(x), **there, **case.keywords("fill"))
    right = expected(case, x, operands, op)
    if not case.dropout:
        assert_within(get(got), right.value, right.tolerance, str(case))
        return
    dropped, whole = (get(array) for array in got)
    assert_within(whole, right.value, right.tolerance, f"{case}, without dropout")
    factor = case.kept()
    bound = (right.tolerance + 4 * case.unit * np.abs(right.value)) * factor + right.tolerance
    value = np.where(factor == 0, 0, right.value * factor)
    assert_within(dropped, value, np.where(factor == 0, 0, bound), f"{case}, with dropout")


def check_backward(case: FusedCase, op: str = "softmax", put: Any = lambda a: a, get: Any = lambda a: a) -> None:
    x, operands = case.x(), case.operands()
    dy = case.values(case.shape)
    y = expected(case, x, operands, op).value.astype(case.element)
    there = {"mask": put(operands["mask"])} if "mask" in operands else {}
    got = get(getattr(fused, f"{op}_backward")(put(dy), put(y), **there, **case.keywords()))

    arriving = dy.astype(np.longdouble) * case.kept()
    compute = np.dtype(np.float64 if case.dtype == "float64" else np.float32)
    right = gradient_reference(arriving.astype(compute), y.astype(compute), f"{op}_backward")
    scale = np.abs(case.compute(1 if case.scale is None else case.scale))
    with np.errstate(invalid="ignore"):
        whole = y.astype(np.longdouble)
        share = whole if op == "softmax" else np.exp(whole)
        weight = np.abs(whole if op == "softmax" else np.ones_like(whole))
        # The rounding of dy with dropout, once here and once there.
        moved = 2 * case.unit * (np.abs(arriving) * weight + share * (np.abs(arriving) * weight).sum(-1, keepdims=True))
        value = right.value * (1 if case.scale is None else case.compute(case.scale))
        tolerance = (right.tolerance + moved) * scale + 2 * case.unit * np.abs(value)
        tolerance += np.abs(value) * float(ml_dtypes.finfo(case.element).eps) / 2
        tolerance += float(ml_dtypes.finfo(case.element).smallest_subnormal)
    keep = case.keeps(operands)
    assert_within(got, np.where(keep, value, 0), np.where(keep, tolerance, 0), f"gradient, {case}")


def fusions(shape: tuple[int, ...]) -> dict[str, dict[str, Any]]:
    """Each function object alone, in each of its kinds, and some together."""
    batch, heads, rows, cols = shape
    return {
        "nothing": {},
        "scale": {"scale": 0.37},
        "bias": {"bias": shape},
        "bias along the row": {"bias": (cols,)},
        "bias of each row": {"bias": (rows, 1)},
        "mask": {"mask": shape},
        "mask for all heads": {"mask": (batch, 1, rows, cols)},
        "mask of each matrix": {"mask": (batch, heads, 1, 1)},
        "mask of one": {"mask": ()},
        "fill": {"mask": (heads, 1, cols), "fill": -3.0},
        "causal": {"causal": True},
        "causal with a diagonal": {"causal": True, "diagonal": -1, "fill": -10.0},
        "dropout": {"dropout": 0.4, "seed": 2**63 + 5},
        "scale, mask": {"scale": 1.7, "mask": (batch, 1, 1, cols)},
        "scale, bias, mask, dropout": {
            "scale": -0.5, "bias": (heads, 1, cols), "mask": (1, heads, rows, 1), "dropout": 0.1, "seed": 1,
        },
        "all": {
            "scale": 0.2, "bias": (rows, cols), "mask": (batch, 1, rows, cols), "causal": True,
            "diagonal": cols // 2, "fill": -8.0, "dropout": 0.75, "seed": 99,
        },
    }  # fmt: skip


#: What is run on every shape; the others on two, one of them uncached, because each kernel is a compilation.
TOGETHER = ("mask for all heads", "causal with a diagonal", "scale, bias, mask, dropout", "all")
EACH = [
    (where, what)
    for where, (shape, _) in SHAPES.items()
    for what in (fusions(shape) if where in ("short", "double") else TOGETHER)
]


def in_the_sample(where: str, what: str) -> bool:
    """Each kernel, and each function object: what `.ci/run` runs; `make test` runs all of ``EACH``."""
    return where == "short" or what == "all"


#: Of each shape but the first forward or backward, in turns.
FORWARD = sampled(EACH, lambda *case: in_the_sample(*case) and case[0] not in ("warp", "double"))
BACKWARD = sampled(EACH, lambda *case: in_the_sample(*case) and case[0] not in ("smem", "uncached"))


def case_of(where: str, what: str) -> FusedCase:
    shape, dtype = SHAPES[where]
    return FusedCase(shape, dtype, **fusions(shape)[what])


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every run in the emulator looks for faults: races, reads of what nobody wrote."""
    original = Kernel.run

    def run(self: Kernel, *arguments: Any, **keywords: Any) -> Any:
        return original(self, *arguments, **{**keywords, "check": True})

    monkeypatch.setattr(Kernel, "run", run)


@pytest.mark.parametrize(("where", "what"), FORWARD)
def test_forward(where: str, what: str, checked: None) -> None:
    check_forward(case_of(where, what))


@pytest.mark.parametrize(("where", "what"), BACKWARD)
def test_backward(where: str, what: str, checked: None) -> None:
    if not what.startswith("bias"):
        check_backward(case_of(where, what))


#: One of each kernel of the policy "fast": lanes with packs of 16 bytes, with packs of one element, and with heads and
#: tails; a block with an idle thread, a cluster.
FAST_SHAPES = {
    "lanes": ((1, 2, 4, 64), "float16"),
    "narrow": ((2, 2, 3, 7), "bfloat16"),
    "edges": ((2, 2, 3, 77), "float16"),
    "block": ((2, 1, 2, 1000), "float32"),
    "cluster": ((1, 1, 2, 8200), "float64"),
}
FAST_EACH = [(where, what) for where, (shape, _) in FAST_SHAPES.items() for what in fusions(shape)]


@pytest.mark.parametrize(
    ("where", "what"), sampled(FAST_EACH, lambda where, what: what == ("all" if where != "lanes" else TOGETHER[2]))
)
def test_policy_fast(where: str, what: str, checked: None) -> None:
    shape, dtype = FAST_SHAPES[where]
    case = FusedCase(shape, dtype, **fusions(shape)[what], policy="fast")
    check_forward(case)
    if not what.startswith("bias"):
        check_backward(case)


@pytest.mark.parametrize("what", ["fill", "causal"])
def test_log_softmax_of_policy_fast(what: str) -> None:
    shape, dtype = FAST_SHAPES["lanes"]
    case = FusedCase(shape, dtype, **fusions(shape)[what], policy="fast")
    check_forward(case, "log_softmax")
    check_backward(case, "log_softmax")


TILED = {
    "odd": ((2, 1, 35, 23), "float16"), "even": ((1, 1, 33, 42), "float32"), "masks": ((1, 2, 20, 35), "bfloat16"),
    "single": ((1, 1, 70, 1), "float16"), "few": ((1, 1, 33, 6), "bfloat16"),
}  # fmt: skip


@pytest.mark.parametrize(
    ("where", "what"), each(2, [("odd", "all"), ("even", "causal"), ("even", "all"), ("masks", "fill")])
)
def test_short_rows_of_policy_fast_move_as_tiles(
    where: str, what: str, monkeypatch: pytest.MonkeyPatch, checked: None
) -> None:
    monkeypatch.setattr(fast_fused, "TILE_ROWS_PER_SM", 0)
    shape, dtype = TILED[where]
    case = FusedCase(shape, dtype, **fusions(shape)[what], policy="fast")
    check_forward(case)
    if not what.startswith("bias"):
        check_backward(case)


@pytest.mark.parametrize(
    ("where", "drops"),
    sampled(product(TILED, (False, True)), lambda where, drops: list(TILED).index(where) % 3 == 2 * drops),
)
def test_tiles_of_rows_with_operands_of_their_own(
    where: str, drops: bool, monkeypatch: pytest.MonkeyPatch, checked: None
) -> None:
    """`.ci/run` takes each place once, with dropout or without, `make test` both."""
    monkeypatch.setattr(fast_fused, "TILE_ROWS_PER_SM", 0)
    monkeypatch.setattr(fast_fused, "OWN_TILE_BYTES", {2: 256, 4: 256})
    shape, dtype = TILED[where]
    dropping: Any = {"dropout": 0.25, "seed": 5} if drops else {}
    case = FusedCase(shape, dtype, scale=0.5, bias=shape, mask=shape, policy="fast", **dropping)
    check_forward(case)
    check_backward(FusedCase(shape, dtype, scale=0.5, mask=shape, policy="fast", **dropping))


#: Rows of a tile belong to several matrices, or a tile begins in the middle of one; operands with three dimensions of
#: rows; one element per row; rows whose pairs lie as those of x, and rows whose pairs do not.
PLACED: tuple[dict[str, Any], ...] = (
    {"shape": (3, 2, 7, 23), "dtype": "float16", "bias": (3, 1, 7, 23), "mask": (2, 1, 23), "fill": -3.0},
    {"shape": (2, 3, 34, 9), "dtype": "bfloat16", "bias": (34, 9), "causal": True, "diagonal": -20},
    {"shape": (2, 3, 5, 9), "dtype": "float32", "mask": (2, 1, 5, 1), "causal": True, "diagonal": 2},
    {"shape": (1, 2, 71, 45), "dtype": "float16", "causal": True, "diagonal": -30, "dropout": 0.3, "seed": 8},
    {"shape": (40, 1, 3, 1), "dtype": "float16", "bias": (3, 1), "mask": (40, 1, 1, 1), "fill": -2.0},
    {"shape": (3, 1, 33, 1), "dtype": "float32", "causal": True, "scale": 2.0, "bias": (3, 1, 33, 1)},
)


@pytest.mark.parametrize(
    "given",
    sampled(PLACED, lambda given: PLACED.index(given) % 4 == 0),
    ids=lambda given: f"{given['dtype']} x {given['shape'][-1]}",
)
def test_rows_of_tiles_lie_anywhere_in_their_matrices(
    given: dict[str, Any], monkeypatch: pytest.MonkeyPatch, checked: None
) -> None:
    """`.ci/run` takes every fourth place, `make test` all."""
    monkeypatch.setattr(fast_fused, "TILE_ROWS_PER_SM", 0)
    check_forward(FusedCase(policy="fast", special=((3, np.nan), (-1, np.inf), (20, -np.inf)), **given))
    check_forward(FusedCase(policy="fast", **{**given, "dropout": 0.0}), "log_softmax")
    check_backward(FusedCase(policy="fast", **{**given, "bias": None}))


@pytest.mark.parametrize(
    ("cols", "dtype"), each(2, [(77, "float16"), (293, "bfloat16"), (45, "float32"), (19, "float64")])
)
def test_operands_that_unaligned_rows_share_begin_anywhere(cols: int, dtype: str, checked: None) -> None:
    """Odd lengths: the rows of x, of a matrix of biases and of a mask begin at all distances from a word."""
    shape = (9, 1, 9, cols)
    given: Any = {"scale": 0.5, "bias": (9, cols), "mask": (9, 1, 1, cols), "policy": "fast"}
    check_forward(FusedCase(shape, dtype, **given))
    check_backward(FusedCase(shape, dtype, **{**given, "bias": None}))


@pytest.mark.parametrize(
    ("of_bias", "of_mask"), [((4, 1, 2), (1, 2, 2)), ((1, 2, 2), (4, 1, 2)), ((4, 1, 2), (1, 1, 2))]
)
def test_each_block_has_a_row_of_its_own(of_bias: tuple[int, ...], of_mask: tuple[int, ...]) -> None:
    """Blocks follow one another by the rows that matrices share of a mask or a bias, and the other one shares others.

    Before 2026-11-30 two of 16 rows were computed twice in the first case, and two were not written.
    """
    draw = np.random.default_rng(7)
    x, bias = (draw.normal(size=(*shape, 390)).astype(np.float32) for shape in ((4, 2, 2), of_bias))
    mask = draw.random((*of_mask, 390)) < 0.5
    out = fused.softmax(x, bias=bias, mask=mask, policy="fast", out=np.full_like(x, np.nan))
    weights = np.where(mask, np.exp(x.astype(np.float64) + bias), 0)
    np.testing.assert_allclose(out, weights / weights.sum(axis=-1, keepdims=True), rtol=1e-5, atol=1e-7)


def test_policy_fast_reads_no_sector_beyond_the_diagonal() -> None:
    """Row r of float32 needs the sectors of its first r + 1 elements, 8 elements each."""
    rows, cols = 4, 64
    x = np.zeros((rows, cols), np.float32)
    for diagonal in (-1, 0, 20):
        run = fused.trace(x, causal=True, diagonal=diagonal, policy="fast")
        assert run.plan.kernel == "fast_warp"
        needed = sum(-(-min(max(r + diagonal + 1, 0), cols) // 8) for r in range(rows))
        assert run.counters["global_load_sectors"] == needed, diagonal


def test_without_a_policy_the_rule_of_the_plain_operators_decides(monkeypatch: pytest.MonkeyPatch) -> None:
    x = np.zeros((2, 6), np.float32)
    assert fused.trace(x, policy=None).plan.kernel == "warp"
    monkeypatch.setattr(rows, "policy_of", lambda asked, *, on_gpu: asked or "fast")
    assert fused.trace(x, policy=None).plan.kernel == "fast_warp"


LOG_SOFTMAX = product(("short", "smem", "double"), ("bias along the row", "mask for all heads", "fill", "causal"))


@pytest.mark.parametrize(
    ("where", "what"),
    sampled(
        LOG_SOFTMAX,
        lambda where, what: (where, what) in (("short", "fill"), ("short", "mask for all heads"), ("double", "causal")),
    ),
)
def test_log_softmax(where: str, what: str) -> None:
    check_forward(case_of(where, what), "log_softmax")
    check_backward(case_of(where, what), "log_softmax")


@st.composite
def cases(draw: st.DrawFn, dtype: str) -> FusedCase:
    """Anything: shapes of 1 to 4 dimensions, operands of any shape that broadcasts."""
    shape = (*draw(st.lists(st.integers(1, 4), max_size=3)), draw(st.sampled_from([1, 2, 5, 32, 33, 70])))

    def operand() -> tuple[int, ...] | None:
        if draw(st.booleans()):
            return None
        given = shape[draw(st.integers(0, len(shape))) :]
        return tuple(size if draw(st.booleans()) else 1 for size in given)

    causal = len(shape) > 1 and draw(st.booleans())
    return FusedCase(
        shape,
        dtype,
        scale=draw(st.none() | st.floats(-4, 4, width=32)),
        bias=operand(),
        mask=operand(),
        fill=draw(st.sampled_from([-np.inf, -5.0, 0.0])),
        causal=causal,
        diagonal=draw(st.integers(-2, 5)) if causal else 0,
        dropout=draw(st.sampled_from([0.0, 0.0, 0.3, 0.9])),
        seed=draw(st.integers(0, 2**64 - 1)),
        special=tuple(draw(st.lists(st.tuples(st.integers(0, 200), st.sampled_from(SPECIAL)), max_size=3))),
        random=np.random.default_rng(draw(st.integers(0, 1000))),
    )


#: `.ci/run` takes float32 alone, `make test` all three types.
ANY_TYPE = sampled(("float32", "float16", "float64"), lambda dtype: dtype == "float32")


@pytest.mark.parametrize("dtype", ANY_TYPE)
@settings(max_examples=14, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(data=st.data())
def test_anything(dtype: str, data: st.DataObject) -> None:
    case = data.draw(cases(dtype))
    check_forward(case)
    check_backward(case)


@pytest.mark.gpu
@pytest.mark.parametrize(("where", "what"), EACH)
def test_on_the_gpu(where: str, what: str) -> None:
    import cupy

    case = case_of(where, what)
    check_forward(case, put=cupy.asarray, get=cupy.asnumpy)
    check_backward(case, put=cupy.asarray, get=cupy.asnumpy)


@pytest.mark.gpu
@pytest.mark.parametrize("where", list(TILED))
@pytest.mark.parametrize("drops", [False, True], ids=["kept", "dropped"])
def test_tiles_on_the_gpu(where: str, drops: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    import cupy

    monkeypatch.setattr(fast_fused, "TILE_ROWS_PER_SM", 0)
    monkeypatch.setattr(fast_fused, "OWN_TILE_BYTES", {2: 256, 4: 256})
    shape, dtype = TILED[where]
    dropping: Any = {"dropout": 0.25, "seed": 5} if drops else {}
    for others in ({"bias": shape, "mask": shape}, {"mask": shape}, {"causal": True}, {"bias": shape[-1:]}):
        case = FusedCase(shape, dtype, scale=0.5, policy="fast", **others, **dropping)
        check_forward(case, put=cupy.asarray, get=cupy.asnumpy)
        if "bias" not in others:
            check_backward(case, put=cupy.asarray, get=cupy.asnumpy)


@pytest.mark.gpu
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(["float32", "float16", "float64"]).flatmap(cases))
def test_anything_on_the_gpu(case: FusedCase) -> None:
    import cupy

    check_forward(case, put=cupy.asarray, get=cupy.asnumpy)
    check_backward(case, put=cupy.asarray, get=cupy.asnumpy)


@pytest.mark.gpu
def test_an_operand_that_starts_within_a_pack() -> None:
    import cupy

    case = FusedCase((3, 64), bias=(64,), mask=(3, 64))

    def put(array: np.ndarray) -> Any:
        memory = cupy.zeros(array.size + 1, array.dtype)
        memory[1:] = cupy.asarray(array).reshape(-1)
        return memory[1:].reshape(array.shape)

    check_forward(case, put=put, get=cupy.asnumpy)
    check_backward(case, put=put, get=cupy.asnumpy)


# Derivatives


@pytest.mark.further
def test_the_gradient_is_the_derivative_of_the_whole_chain() -> None:
    """Differences of the fused forward operator in double precision, dropout and all."""
    random = np.random.default_rng(2)
    x, weight = random.standard_normal((2, 3, 5)), random.standard_normal((2, 3, 5))
    bias, mask = random.standard_normal((3, 1)), random.random((2, 1, 5)) < 0.7
    mask[..., 0] = True
    common = {"scale": 1.3, "mask": mask, "causal": True, "diagonal": 1}
    dropout = {"dropout": 0.3, "seed": 11}

    def loss(x: np.ndarray) -> float:
        return float((fused.softmax(x, bias=bias, fill=-2.0, **common, **dropout)[0] * weight).sum())

    expected = np.zeros_like(x)
    for index in np.ndindex(*x.shape):
        step = np.zeros_like(x)
        step[index] = 1e-5
        expected[index] = (loss(x + step) - loss(x - step)) / 2e-5
    _, y = fused.softmax(x, bias=bias, fill=-2.0, **common, **dropout)
    np.testing.assert_allclose(fused.softmax_backward(weight, y, **common, **dropout), expected, rtol=1e-7, atol=1e-9)


# Dropout


@pytest.mark.parametrize(("counter", "key", "output"), KNOWN_ANSWERS)
def test_philox_gives_the_published_answers(counter: Any, key: Any, output: Any) -> None:
    """The kernels' generator, and the oracle in NumPy that the other tests rest on."""
    source = """
    #include "dropout.cuh"
    extern "C" __global__ void generate(uint4 counter, uint2 key, uint4* result) { *result = philox(counter, key); }
    """
    result = np.zeros(4, np.uint32)
    arguments = (Struct(*map(np.uint32, counter)), Struct(*map(np.uint32, key)), result)
    Kernel(source, "generate").run(1, 1, arguments)
    assert tuple(result) == output
    assert tuple(philox(np.array([counter], np.uint64), key)[0]) == output


DROPPED_SHAPES = ((33, 7), (5, 64), (3, 1026), (2, 2, 130))
DROPPED_TYPES = ("float16", "bfloat16", "float32", "float64")
#: `.ci/run` takes each shape once, and each type once; `make test` takes all.
DROPPED = sampled(
    product(DROPPED_SHAPES, DROPPED_TYPES),
    lambda shape, dtype: (DROPPED_SHAPES.index(shape) + DROPPED_TYPES.index(dtype)) % 4 == 0,
)


@pytest.mark.parametrize(("shape", "dtype"), DROPPED)
def test_what_is_dropped_depends_on_the_index_and_the_seed_alone(shape: tuple[int, ...], dtype: str) -> None:
    x = np.zeros(shape, element_type(dtype).numpy)
    for seed in (0, 2**40 + 3):
        dropped, _ = fused.softmax(x, dropout=0.5, seed=seed)
        assert np.array_equal(dropped != 0, kept(shape, 0.5, seed))


def test_as_many_are_dropped_as_asked_for() -> None:
    """Within five standard deviations, for the words and for what the kernel makes of them."""
    for probability in (0.001, 0.1, 0.5, 0.99):
        count, seen = 1 << 18, words(1 << 18, 5) < round(probability * 2**32)
        deviation = np.sqrt(probability * (1 - probability) / count)
        assert abs(seen.mean() - probability) < 5 * deviation
    dropped, y = fused.softmax(np.zeros((64, 512), np.float32), dropout=0.1, seed=5)
    assert np.array_equal(dropped == 0, ~kept((64, 512), 0.1, 5))
    assert abs(float(dropped.mean()) / float(y.mean()) - 1) < 5 * np.sqrt(0.1 / 0.9 / dropped.size)


def test_another_seed_drops_others() -> None:
    x = np.zeros((8, 64), np.float32)
    first, second, again = (fused.softmax(x, dropout=0.5, seed=seed)[0] for seed in (1, 2, 1))
    assert np.array_equal(first, again)
    assert 0.3 < np.mean((first == 0) == (second == 0)) < 0.7


@pytest.mark.gpu
def test_the_gpu_drops_what_the_emulator_drops() -> None:
    import cupy

    for shape in ((33, 7), (5, 64), (3, 1026), (2, 20_000)):
        dropped, _ = fused.softmax(cupy.zeros(shape, cupy.float32), dropout=0.3, seed=2**50)
        assert np.array_equal(dropped.get() != 0, kept(shape, 0.3, 2**50))


# One kernel, the same plan


def test_it_is_the_dispatchers_plan_with_the_fused_kernel() -> None:
    x = np.zeros((6, 40), np.float32)
    plain, done = softlab.plan(6, 40, device="H200"), fused.trace(x, scale=2.0, mask=x == 0, device="H200")
    same = ("kernel", "pack_size", "block", "grid", "smem_bytes", "thread_group_width", "cols_per_thread", "file")
    assert [getattr(done.plan, name) for name in same] == [getattr(plain, name) for name in same]
    assert done.plan.name == (
        "softmax_warp_fused<float, Algorithm::softmax, MaskLoad<float, ScaleLoad<float, DirectLoad<float, float>>, "
        "Broadcast<unsigned char, 1, true>>, DirectStore<float, float>, 2, 2, 32, 2, true>"
    )
    assert np.array_equal(done.output, fused.softmax(x, scale=2.0, mask=x == 0))


@pytest.mark.parametrize("shape", one_of(2, [(16, 512), (4, 2048)], len))
def test_what_is_moved(shape: tuple[int, int]) -> None:
    """x in, y out, and the operand: nothing is written in between."""
    x, sectors = np.zeros(shape, np.float32), 4 * shape[0] * shape[1] // 32

    def moved(**fusing: Any) -> tuple[float, float]:
        counters = fused.trace(x, **fusing).counters
        return counters["global_load_sectors"] / sectors, counters["global_store_sectors"] / sectors

    assert moved(scale=2.0) == (1, 1)
    assert moved(mask=x == 0) == (1.25, 1)
    assert moved(bias=x) == (2, 1)
    assert moved(dropout=0.5, seed=1) == (1, 2)
    loads, stores = moved(causal=True)
    assert stores == 1
    assert loads < 0.06  # a few columns of each row; the rest of the row is not read


def test_offsets() -> None:
    assert BroadcastLayout.of((4, 8), (4, 8)) == BroadcastLayout((4,), (8,), True)
    assert BroadcastLayout.of((2, 3, 4, 8), (2, 3, 4, 8)) == BroadcastLayout((24,), (8,), True)
    assert BroadcastLayout.of((2, 1, 4, 8), (2, 3, 4, 8)) == BroadcastLayout((2, 3, 4), (32, 0, 8), True)
    assert BroadcastLayout.of((4, 1), (2, 3, 4, 8)) == BroadcastLayout((6, 4), (0, 1), False)
    assert BroadcastLayout.of((3, 4, 1), (2, 3, 4, 8)) == BroadcastLayout((2, 12), (0, 1), False)
    assert BroadcastLayout.of((), (2, 3, 4, 8)) == BroadcastLayout((24,), (0,), False)
    assert BroadcastLayout.of((8,), (1, 1, 8)) == BroadcastLayout((1,), (0,), True)
    assert BroadcastLayout.of((), (1,)) == BroadcastLayout((1,), (0,), True)


@given(st.data())
def test_offsets_are_where_numpy_broadcasts(data: st.DataObject) -> None:
    shape = tuple(data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=5)))
    own = tuple(size if data.draw(st.booleans()) else 1 for size in shape[data.draw(st.integers(0, len(shape))) :])
    flat = np.arange(int(np.prod(own)))
    expected = np.broadcast_to(flat.reshape(own), shape).reshape(-1, shape[-1])
    layout = BroadcastLayout.of(own, shape)
    for row in range(expected.shape[0]):
        left, offset = row, 0
        for size, stride in reversed(list(zip(layout.sizes, layout.strides, strict=True))):
            offset += left % size * stride
            left //= size
        assert left == 0
        cols = np.arange(shape[-1]) if layout.along_row else np.zeros(shape[-1], int)
        assert np.array_equal(flat[offset + cols], expected[row])


@given(st.data())
def test_rows_that_begin_at_the_same_place_of_a_pack(data: st.DataObject) -> None:
    shape = (*data.draw(st.lists(st.integers(1, 4), min_size=1, max_size=4)), data.draw(st.integers(1, 20)))
    own = tuple(size if data.draw(st.booleans()) else 1 for size in shape[data.draw(st.integers(0, len(shape))) :])
    cols, layout = shape[-1], BroadcastLayout.of(own, shape)
    flat = np.arange(int(np.prod(own))).reshape(own)
    if layout.along_row:
        begins = np.broadcast_to(flat, shape).reshape(-1, cols)[:, 0] - np.arange(int(np.prod(shape[:-1]))) * cols
        assert layout.alike(cols, 16) == next(k for k in (16, 8, 4, 2, 1) if not (begins % k).any())


# Arrays


@pytest.mark.parametrize("axis", each(3, [0, 1, -1]))
def test_every_axis(axis: int) -> None:
    """Operands are turned with x; dropout counts elements with the axis last."""
    random = np.random.default_rng(4)
    x, dy = (random.standard_normal((3, 4, 5)).astype(np.float32) for _ in range(2))
    bias, mask = random.standard_normal((4, 1)).astype(np.float32), random.random((3, 1, 5)) < 0.8
    turn = lambda a: np.ascontiguousarray(np.swapaxes(np.broadcast_to(a, x.shape), axis, -1))  # noqa: E731
    common = {"scale": 0.5, "dropout": 0.2, "seed": 3}
    got = fused.softmax(x, axis, bias=bias, mask=mask, fill=-4.0, **common)
    expected = fused.softmax(turn(x), bias=turn(bias), mask=turn(mask), fill=-4.0, **common)
    for a, b in zip(got, expected, strict=True):
        assert np.array_equal(a, np.swapaxes(b, axis, -1))
    gradient = fused.softmax_backward(dy, got[1], axis, mask=mask, **common)
    turned = fused.softmax_backward(turn(dy), turn(got[1]), mask=turn(mask), **common)
    assert np.array_equal(gradient, np.swapaxes(turned, axis, -1))


def test_scalars_and_empty_arrays() -> None:
    assert fused.softmax(np.float32(3), scale=2.0, bias=np.float32(1), mask=np.True_) == 1
    assert fused.softmax(np.zeros((0, 5), np.float32), mask=np.ones(5, bool)).shape == (0, 5)
    dropped, y = fused.softmax(np.zeros((3, 0), np.float32), dropout=0.5, seed=0)
    assert dropped.shape == y.shape == (3, 0)
    with pytest.raises(ValueError, match="nothing to trace"):
        fused.trace(np.zeros((3, 0), np.float32))


def test_out_takes_the_first_result_and_may_be_an_operand() -> None:
    x, bias = (np.random.default_rng(k).standard_normal((4, 6)).astype(np.float32) for k in range(2))
    expected, y = fused.softmax(x, bias=bias, dropout=0.5, seed=4)
    out = np.empty_like(x)
    got = fused.softmax(x, bias=bias, dropout=0.5, seed=4, out=out)
    assert got[0] is out
    assert np.array_equal(out, expected)
    assert np.array_equal(got[1], y)
    fused.softmax(x, bias=bias[:1], out=bias)  # every row reads what the first row writes
    assert np.array_equal(bias, fused.softmax(x, bias=np.random.default_rng(1).standard_normal((4, 6))[:1].astype("f")))


def test_dtypes_of_operands_and_result() -> None:
    x = np.random.default_rng(0).standard_normal((3, 8))
    bias = np.float64([0.5] * 8)
    got = fused.softmax(x, dtype="float32", bias=bias, mask=np.ones(8, np.uint8) * 200)
    assert got.dtype == np.float32
    assert np.allclose(got, softlab.softmax(x))
    assert fused.softmax([[1.0, 2.0]], mask=[True, False]).tolist() == [[1, 0]]
    assert np.array_equal(fused.softmax(x, mask=np.asfortranarray(x > 0)), fused.softmax(x, mask=x > 0), equal_nan=True)


@pytest.mark.parametrize("op", ["softmax", "log_softmax"])
def test_a_row_masked_throughout(op: str) -> None:
    x, mask = np.ones((2, 4), np.float32), np.array([[False] * 4, [True, False] * 2])
    y = getattr(fused, op)(x, mask=mask)
    assert np.isnan(y[0]).all()
    assert y[1].tolist() == ([0.5, 0, 0.5, 0] if op == "softmax" else [y[1, 0], -np.inf] * 2)
    assert getattr(fused, f"{op}_backward")(np.ones_like(y), y, mask=mask)[0].tolist() == [0] * 4


# Errors

X = np.zeros((2, 3, 4), np.float32)


@pytest.mark.parametrize(
    ("keywords", "error", "message"),
    [
        ({"mask": X}, TypeError, "mask has dtype float32: give bool .* is a bias"),
        ({"mask": np.ones((2, 4), bool)}, ValueError, r"mask has shape \(2, 4\), which .* to x's \(2, 3, 4\)"),
        ({"mask": np.ones((2, 2, 3, 4), bool)}, ValueError, "does not broadcast"),
        ({"mask": np.ones((5, 1, 1, 1), bool)}, ValueError, "does not broadcast"),
        ({"bias": np.zeros(4, int)}, TypeError, "dtype int64 is not supported"),
        ({"bias": X[:, :2]}, ValueError, r"bias has shape \(2, 2, 4\)"),
        ({"scale": "2"}, TypeError, "scale must be a real number, not '2'"),
        ({"scale": True}, TypeError, "scale must be a real number"),
        ({"scale": np.ones(3)}, TypeError, "scale must be a real number"),
        ({"scale": 1j}, TypeError, "scale must be a real number"),
        ({"fill": None}, TypeError, "fill must be a real number, not None"),
        ({"causal": 1}, TypeError, "causal must be True or False, not 1; an offset is given as diagonal="),
        ({"diagonal": 1}, ValueError, "diagonal = 1 without causal=True"),
        ({"causal": True, "diagonal": 0.5}, TypeError, "diagonal must be an integer"),
        ({"causal": True, "axis": 0}, ValueError, "covers the last two dimensions"),
        ({"dropout": 0.5}, ValueError, "dropout needs a seed"),
        ({"dropout": 1.0, "seed": 1}, ValueError, r"dropout = 1\.0: it is a probability, from 0 to less than 1"),
        ({"dropout": 1.5, "seed": 1}, ValueError, r"dropout = 1\.5: it is a probability"),
        ({"dropout": -0.1, "seed": 1}, ValueError, r"dropout = -0\.1"),
        ({"dropout": float("nan"), "seed": 1}, ValueError, "dropout = nan"),
        ({"dropout": 0.5, "seed": 1.5}, TypeError, r"seed must be an integer, not 1\.5"),
        ({"dropout": 0.5, "seed": 2**64}, ValueError, "seed = 18446744073709551616: it is from 0"),
        ({"dropout": 0.5, "seed": -1}, ValueError, "seed = -1"),
        ({"axis": 3}, ValueError, "axis 3 is out of range"),
        ({"out": X[:1]}, ValueError, "out has shape"),
        ({"policy": "best"}, ValueError, "policy 'best'"),
        ({"policy": "invariant"}, ValueError, "policy 'invariant': fused operators have policy='oneflow' or 'fast'"),
    ],
)  # fmt: skip
def test_wrong_arguments(keywords: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        fused.softmax(X, **keywords)


def test_wrong_arguments_of_gradients_and_traces() -> None:
    with pytest.raises(ValueError, match=r"which does not broadcast to dy's \(2, 3, 4\)"):
        fused.softmax_backward(X, X, mask=np.ones(3, bool))
    with pytest.raises(ValueError, match="dropout needs a seed"):
        fused.softmax_backward(X, X, dropout=0.1)
    with pytest.raises(ValueError, match="causal mask covers the last two dimensions"):
        fused.log_softmax_backward(X[0, 0], X[0, 0], causal=True)
    with pytest.raises(TypeError, match="a gradient takes no bias"):
        fused.trace((X, X), op="softmax_backward", bias=X)
    with pytest.raises(ValueError, match="op 'softmin' is not one of softmax, log_softmax"):
        fused.trace(X, op="softmin")

"""The edges of row softmax: what goes in, what must come out, and libraries to try it on.

An edge is judged for every library by the same oracle: ``verdict`` is "right", or says what came instead.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import softlab
from tests.reference import assert_within, reference

INF, NAN = np.inf, np.nan
RIGHT = "right"


@dataclass(frozen=True)
class Library:
    """A function that computes a softmax.

    ``array``: a host array as the library's; ``full``: (shape, value, dtype name) -> array; ``call``: (op, x, axis,
    options) -> result, options being ``dtype`` (a name) and ``out``; ``host``: array -> NumPy array.
    """

    name: str
    array: Callable[[np.ndarray], Any]
    full: Callable[[tuple[int, ...], float, str], Any]
    call: Callable[[str, Any, int, dict[str, Any]], Any]
    host: Callable[[Any], np.ndarray]


@dataclass(frozen=True)
class Refusal:
    """What must come: an exception; softlab's is of this name, with these words in its message."""

    name: str
    words: tuple[str, ...]


@dataclass(frozen=True)
class EdgeCase:
    """One edge.

    ``memory`` is a host array that the library takes, and ``view`` what of it is x. ``out`` takes (library, the
    library's memory, x) to the array for the result. ``wanted`` is the result, or the :class:`Refusal`; None for the
    oracle's. ``big`` makes x on the GPU alone, and ``look`` is the part of the result that is compared.
    """

    name: str
    memory: np.ndarray | None
    view: Callable[[Any], Any] = lambda memory: memory
    op: str = "softmax"
    axis: int = -1
    dtype: str | None = None
    out: Callable[[Library, Any, Any], Any] | None = None
    wanted: Any = None
    relative: float | None = None
    big: Callable[[Library], Any] | None = None
    look: Callable[[Any], Any] = lambda result: result


def verdict(edge: EdgeCase, library: Library) -> str:
    """What came of an edge: "right", or what there was instead."""
    try:
        memory = edge.big(library) if edge.big else library.array(np.array(edge.memory))
        x = edge.view(memory)
    except Exception as error:
        return f"has no such array ({_said(error)})"
    try:
        got = result(edge, library, memory, x)
    except Exception as error:
        return _judged_error(edge, library, error)
    if isinstance(edge.wanted, Refusal):
        return f"no error: gives {got.dtype.name} of shape {got.shape}"
    value, tolerance = _expected(edge, got)
    if got.shape != value.shape:
        return f"shape {got.shape}, not {value.shape}"
    if edge.relative is not None:
        tolerance = np.abs(value) * edge.relative
    try:
        assert_within(got, value, tolerance, "beyond rounding")
    except AssertionError as error:
        return str(error)
    return RIGHT


def result(edge: EdgeCase, library: Library, memory: Any, x: Any) -> np.ndarray:
    """What the library gives for x, a view of its memory, on the host."""
    options: dict[str, Any] = {} if edge.dtype is None else {"dtype": edge.dtype}
    if edge.out:
        options["out"] = edge.out(library, memory, x)
    got = library.call(edge.op, x, edge.axis, options)
    return library.host(edge.look(options.get("out", got)))


def _judged_error(edge: EdgeCase, library: Library, error: Exception) -> str:
    if "unexpected keyword argument" in str(error):
        return f"has no {str(error).split()[-1].strip(chr(39))}="
    if not isinstance(edge.wanted, Refusal):
        return _said(error)
    if not library.name.startswith("softlab"):
        return f"{RIGHT} ({_said(error)})"
    names = {kind.__name__ for kind in type(error).__mro__}
    fits = edge.wanted.name in names and all(word in str(error) for word in edge.wanted.words)
    return RIGHT if fits else _said(error)


def _said(error: Exception) -> str:
    text = " ".join(str(error).split())
    return f"{type(error).__name__}: {text[:120]}{'...' if len(text) > 120 else ''}"


def _expected(edge: EdgeCase, got: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if edge.wanted is not None:
        value = np.asarray(edge.wanted, np.float64)
        return value, np.zeros(value.shape)
    x = edge.view(np.array(edge.memory))
    x = x.astype(edge.dtype) if edge.dtype else np.ascontiguousarray(x).reshape(x.shape)
    if not x.size:
        return np.zeros(x.shape), np.zeros(x.shape)
    turned = np.moveaxis(x, edge.axis, -1) if x.ndim else x.reshape(1)
    # Fast intrinsics have the wider bounds; a library with accurate ones must meet them all the more.
    oracle = reference(turned, edge.op)
    back = (lambda a: np.moveaxis(a, -1, edge.axis)) if x.ndim else (lambda a: a.reshape(()))
    return back(oracle.value), back(oracle.tolerance)


def _rows(*rows: list[float], dtype: str = "float32") -> np.ndarray:
    return np.array(rows, dtype)


def _normal(*shape: int, dtype: str = "float32", seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def _new(shape: tuple[int, ...], dtype: str = "float32") -> Callable[[Library, Any, Any], Any]:
    return lambda library, memory, x: library.full(shape, 7.0, dtype)


_TYPE, _VALUE = "TypeError", "ValueError"
_MANY = 2**31

EDGES = (
    # Values
    EdgeCase("row of -inf alone", _rows([-INF] * 6, [1, 2, 3, 4, 5, 6])),
    EdgeCase("row of -inf alone, long", np.full((2, 3000), -INF, np.float32)),
    EdgeCase("row with some -inf", _rows([0, -INF, 0], [-INF, 5, -INF]), wanted=[[0.5, 0, 0.5], [0, 1, 0]]),
    EdgeCase("log_softmax with some -inf", _rows([3, -INF, -INF]), op="log_softmax", wanted=[[0, -INF, -INF]]),
    EdgeCase("row with +inf", _rows([0, INF, 0], [1, 2, 3])),
    EdgeCase("row with NaN", _rows([0, NAN, 0], [1, 2, 3])),
    EdgeCase("row with NaN and -inf alone", _rows([-INF, NAN, -INF])),
    EdgeCase("row with NaN, long, float16", np.float16(np.where(np.arange(5000) == 4321, NAN, np.zeros((2, 5000))))),
    EdgeCase("half 65504", _rows([65504, -65504, 65504, 0], dtype="float16")),
    EdgeCase("differences beyond float's range", _rows([3e38, -3e38, 0]), wanted=[[1, 0, 0]]),
    EdgeCase("log_softmax at an offset of 1e7", np.float32([[0, 1, 2, 3]]) + np.float32(1e7), op="log_softmax"),
    EdgeCase("log_softmax far from the maximum", _rows([0, -1000]), op="log_softmax", wanted=[[0, -1000]]),
    EdgeCase("float64 to 1e-14", _normal(3, 1500, dtype="float64") * 5, relative=1e-14),
    EdgeCase("log_softmax, float64 to 1e-14", _normal(3, 1500, dtype="float64") * 5, op="log_softmax", relative=1e-14),
    # Shapes
    EdgeCase("one column", _normal(5, 1), wanted=np.ones((5, 1))),
    EdgeCase("0 rows", np.zeros((0, 5), np.float32)),
    EdgeCase("0 columns", np.zeros((5, 0), np.float32)),
    EdgeCase("0 rows, axis 0", np.zeros((0, 5), np.float32), axis=0),
    EdgeCase("0 dimensions", np.array(3.0, np.float32), wanted=1.0),
    EdgeCase("0 dimensions, log_softmax, axis 0", np.array(3.0, np.float32), op="log_softmax", axis=0, wanted=0.0),
    EdgeCase("5 dimensions, axis 2", _normal(2, 3, 4, 2, 3), axis=2),
    EdgeCase("1023 columns, float16", _normal(3, 1023, dtype="float16")),
    EdgeCase("1024 columns, float16", _normal(3, 1024, dtype="float16")),
    EdgeCase("1025 columns, float16", _normal(3, 1025, dtype="float16")),
    EdgeCase("50257 columns", _normal(2, 50257)),
    EdgeCase(
        "more than 2^31 elements, rows of 4096",
        None,
        big=lambda library: _with_tail(library.full((_MANY // 4096 + 8, 4096), 0.0, "float16")),
        look=lambda y: y[-2:, :4],
        wanted=[[1 / 4096] * 4, [0, 0, 0, 0]],
    ),
    EdgeCase(
        "more than 2^31 elements, one row",
        None,
        big=lambda library: _with_tail(library.full((1, _MANY + 64), -INF, "float16")),
        look=lambda y: y[0, -3:],
        wanted=[0, 0.5, 0.5],
    ),
    # Strides and addresses
    EdgeCase("columns (axis 0)", _normal(40, 33), axis=0),
    EdgeCase("transposed", _normal(40, 33), lambda a: a.T),
    EdgeCase("every third column", _normal(8, 99), lambda a: a[:, ::3]),
    EdgeCase("inner part", _normal(9, 66), lambda a: a[1:, 1:]),
    EdgeCase("negative strides", _normal(8, 64), lambda a: a[::-1, ::-1]),
    EdgeCase("strides of 0", _normal(1, 64), lambda a: _repeated(a, (6, 64))),
    EdgeCase("from element 1, float32", _normal(3 * 64 + 1), lambda a: a[1:].reshape(3, 64)),
    EdgeCase("from element 1, float16", _normal(3 * 64 + 1, dtype="float16"), lambda a: a[1:].reshape(3, 64)),
    EdgeCase("from element 1, long rows", _normal(2 * 4096 + 1), lambda a: a[1:].reshape(2, 4096)),
    # Dtypes
    EdgeCase("int32", np.arange(6, dtype="int32").reshape(2, 3), wanted=Refusal(_TYPE, ("int32", "astype"))),
    EdgeCase("int64", np.arange(6, dtype="int64").reshape(2, 3), wanted=Refusal(_TYPE, ("int64", "astype"))),
    EdgeCase("bool", np.array([[True, False]]), wanted=Refusal(_TYPE, ("bool", "astype"))),
    EdgeCase("complex64", np.ones((2, 3), "complex64"), wanted=Refusal(_TYPE, ("complex64", "x.real"))),
    EdgeCase("int32, dtype float32", np.arange(6, dtype="int32").reshape(2, 3), dtype="float32"),
    EdgeCase("float16, dtype float32", _normal(3, 50, dtype="float16"), dtype="float32"),
    # out
    EdgeCase("out is x", _normal(6, 50), out=lambda library, memory, x: x),
    EdgeCase("out is x, axis 0", _normal(6, 50), axis=0, out=lambda library, memory, x: x),
    EdgeCase("out is x, transposed", _normal(50, 6), lambda a: a.T, out=lambda library, memory, x: x),
    EdgeCase("out overlaps x by rows", _normal(6, 50), lambda a: a[:5], out=lambda library, memory, x: memory[1:]),
    EdgeCase(
        "out overlaps x by an element",
        _normal(5 * 1500 + 1),
        lambda a: a[:-1].reshape(5, 1500),
        out=lambda library, memory, x: memory[1:].reshape(5, 1500),
    ),
    EdgeCase(
        "out has strides",
        _normal(5, 20),
        out=lambda library, memory, x: library.full((20, 10), 0.0, "float32")[:, ::2].T,
    ),
    EdgeCase(
        "out has strides of 0",
        _normal(5, 20),
        out=lambda library, memory, x: _repeated(library.full((1, 20), 0.0, "float32"), (5, 20)),
        wanted=Refusal(_VALUE, ("several elements at one address",)),
    ),
    EdgeCase("out of another shape", _normal(5, 20), out=_new((20, 5)), wanted=Refusal(_VALUE, ("(20, 5)", "(5, 20)"))),
    EdgeCase(
        "out of float16", _normal(5, 20), out=_new((5, 20), "float16"), wanted=Refusal(_TYPE, ("float16", "float32"))
    ),
    # Axes
    EdgeCase("axis 2 of 2", _normal(5, 20), axis=2, wanted=Refusal(_VALUE, ("axis 2", "-2 to 1"))),
    EdgeCase("axis -3 of 2", _normal(5, 20), axis=-3, wanted=Refusal(_VALUE, ("axis -3", "-2 to 1"))),
)  # fmt: skip


def _repeated(array: Any, shape: tuple[int, ...]) -> Any:
    """The array repeated by strides of 0, in its own library."""
    if hasattr(array, "expand"):
        return array.expand(shape)
    if isinstance(array, np.ndarray):
        return np.lib.stride_tricks.as_strided(array, shape, (0, array.strides[1]))
    from cupy.lib.stride_tricks import as_strided

    return as_strided(array, shape, (0, array.strides[1]))


def _with_tail(x: Any) -> Any:
    """The last row's last two elements are 0; its others are -inf."""
    x[-1, :] = -INF
    x[-1, -2:] = 0
    return x


def emulator(policy: str | None = None) -> Library:
    """softlab on NumPy arrays."""
    return Library("softlab, emulator", np.array, np.full, _softlab(policy), np.asarray)


def on_gpu(policy: str | None = None) -> Library:
    """softlab on CuPy arrays."""
    import cupy

    return Library("softlab, GPU", cupy.asarray, cupy.full, _softlab(policy), cupy.asnumpy)


def _softlab(policy: str | None) -> Callable[[str, Any, int, dict[str, Any]], Any]:
    return lambda op, x, axis, options: getattr(softlab, op)(x, axis, policy=policy, **options)


def torch_on_gpu() -> Library:
    """PyTorch's own operators on CUDA tensors."""
    import torch

    def call(op: str, x: Any, axis: int, options: dict[str, Any]) -> Any:
        if "dtype" in options:
            options = {**options, "dtype": getattr(torch, options["dtype"])}
        return getattr(torch, op)(x, axis, **options)

    return Library(
        "torch",
        lambda host: torch.from_numpy(np.array(host)).cuda(),
        lambda shape, value, dtype: torch.full(shape, value, dtype=getattr(torch, dtype), device="cuda"),
        call,
        lambda result: result.cpu().numpy(),
    )


def cupyx_on_gpu() -> Library:
    """cupyx.scipy.special on CuPy arrays: no out=, no dtype=."""
    import cupy
    from cupyx.scipy import special

    def call(op: str, x: Any, axis: int, options: dict[str, Any]) -> Any:
        return getattr(special, op)(x, axis, **options)

    return Library("cupyx.scipy.special", cupy.asarray, cupy.full, call, cupy.asnumpy)


LIBRARIES = {
    "softlab, emulator": emulator,
    "softlab, GPU": on_gpu,
    "torch": torch_on_gpu,
    "cupyx.scipy.special": cupyx_on_gpu,
}

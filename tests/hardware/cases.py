"""The cases whose counters are recorded on a GPU: a gallery of classic access patterns, and the softmax kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import product
from pathlib import Path

import numpy as np

from softlab.cuda.compile import Program, compile_program, compile_programs, kernel_folder, kernel_sources
from softlab.dtypes import ELEMENT_TYPES, element_type
from softlab.kernel import Kernel
from softlab.plans import Plan, forced, plan

#: The architecture of the GPU that the counters are recorded on.
ARCH = "sm_90"


@dataclass(frozen=True)
class CaseLaunch:
    """Which kernel, and how it is launched. ``together``: kernels of its file that are compiled with it."""

    file: str
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    smem: int = 0
    options: tuple[str, ...] = ()
    together: tuple[str, ...] = ()

    def compile(self) -> Program:
        """The kernel's program for ``ARCH``. Those of a file of the gallery are compiled at once."""
        together = self.together or _kernels_of_gallery().get(self.file, ())
        if self.kernel in together:
            return _compiled_together(self.file, together)[together.index(self.kernel)]
        return compile_program(_source(self.file), self.kernel, arch=ARCH, options=self.options, file=self.file)

    def made(self) -> Kernel:
        """The kernel: launches of the same kernel share it, so that it is read once."""
        return _kernel(replace(self, grid=(), block=(), smem=0))


def _source(file: str) -> str:
    shipped = kernel_sources()
    folders = (kernel_folder() / "gallery", Path(__file__).parent / "kernels")
    found = [folder / file for folder in folders if (folder / file).is_file()]
    return shipped[file] if file in shipped else found[0].read_text()


@lru_cache(maxsize=1)
def _kernels_of_gallery() -> dict[str, tuple[str, ...]]:
    """File of the gallery -> the kernels that are launched."""
    found: dict[str, dict[str, None]] = {}
    for case in (*_gallery(), *_second_gallery(), *_third_gallery()):
        launch = case.launch()
        found.setdefault(launch.file, {})[launch.kernel] = None
    return {file: tuple(kernels) for file, kernels in found.items()}


@lru_cache(maxsize=32)
def _compiled_together(file: str, kernels: tuple[str, ...]) -> list[Program]:
    return compile_programs(_source(file), kernels, arch=ARCH, file=file)


@lru_cache(maxsize=64)
def _kernel(launch: CaseLaunch) -> Kernel:
    return Kernel.from_program(launch.compile())


@dataclass(frozen=True)
class CounterCase:
    """One launch and its data. ``arguments`` gives fresh NumPy arrays and scalars, always the same.

    ``launch`` may ask the compiler (a plan does), so only the machine that compiles calls it.
    """

    name: str
    launch: Callable[[], CaseLaunch]
    arguments: Callable[[], list]


def _floats(n: int) -> np.ndarray:
    return np.random.default_rng(n).standard_normal(n).astype(np.float32)


def _float_copy(read: int, written: int | None = None, *scalars: int) -> Callable[[], list]:
    """Arguments (in, out, ints...) with that many float32 elements."""
    return lambda: [
        _floats(read),
        np.zeros(read if written is None else written, np.float32),
        *(np.int32(value) for value in scalars),
    ]


def _bytes(n: int, bins: int, scalar: int, values: int = 256) -> Callable[[], list]:
    def make() -> list:
        data = np.random.default_rng(n).integers(0, values, n).astype(np.uint8)
        return [data, np.zeros(bins, np.uint32), np.int32(scalar)]

    return make


def _small(dtype: type, n: int, stride: int) -> Callable[[], list]:
    return lambda: [np.arange(n).astype(dtype), np.zeros(n, dtype), np.int32(stride)]


def _gather(n: int) -> list:
    return [np.random.default_rng(7).integers(0, n, n).astype(np.int32), _floats(n), np.zeros(n, np.float32)]


def _product(n: int) -> Callable[[], list]:
    return lambda: [_floats(n * n), _floats(n * n + 1)[1:].copy(), np.zeros(n * n, np.float32), np.int32(n)]


def _integers(read: int, written: int, *scalars: int, sort: bool = False) -> Callable[[], list]:
    def make() -> list:
        data = np.random.default_rng(read).integers(0, 1000, read).astype(np.int32)
        return [np.sort(data) if sort else data, np.zeros(written, np.int32), *(np.int32(s) for s in scalars)]

    return make


def _matrix_vector(rows: int, columns: int) -> Callable[[], list]:
    def make() -> list:
        rng = np.random.default_rng(columns)
        return [rng.standard_normal((rows, columns)), rng.standard_normal(columns), np.zeros(rows), np.int32(columns)]

    return make


def _launched(
    name: str,
    file: str,
    kernel: str,
    grid: tuple[int, ...],
    block: tuple[int, ...],
    arguments: Callable[[], list],
    smem: int = 0,
    together: tuple[str, ...] = (),
) -> CounterCase:
    return CounterCase(name, lambda: CaseLaunch(file, kernel, grid, block, smem, together=together), arguments)


def _gallery() -> list[CounterCase]:
    cases = [
        _launched(
            f"transpose {tile}",
            "transpose.cu",
            f"transpose<Tile::{tile}>",
            (2, 3),
            (32, 8),
            _float_copy(6144, None, 96, 64),
        )
        for tile in ("plain", "padded", "swizzled")
    ]
    cases += [
        _launched(
            f"reduction {order}", "reduction.cu", f"block_sum<Order::{order}>", (4,), (256,), _float_copy(1024, 4)
        )
        for order in ("interleaved", "sequential", "shuffle")
    ]
    cases += [
        _launched("scan hillis-steele", "scan.cu", "scan_hillis_steele", (4,), (256,), _float_copy(1024)),
        _launched("scan blelloch", "scan.cu", "scan_blelloch", (4,), (256,), _float_copy(2048)),
        _launched(
            "histogram shared atomics",
            "histogram.cu",
            "histogram_shared_atomics",
            (4,),
            (256,),
            _bytes(5000, 256, 5000),
        ),
        _launched(
            "histogram few values", "histogram.cu", "histogram_shared_atomics", (2,), (256,), _bytes(3000, 256, 3000, 3)
        ),
        _launched("histogram private", "histogram.cu", "histogram_private", (2,), (128,), _bytes(2048, 32, 8)),
        _launched("matrix product 16", "matrix_product.cu", "matrix_product<16>", (4, 4), (16, 16), _product(64)),
        _launched("matrix product 32", "matrix_product.cu", "matrix_product<32>", (2, 2), (32, 32), _product(64)),
        _launched("matrix product 8", "matrix_product.cu", "matrix_product<8>", (4, 4), (8, 8), _product(32)),
        _launched("stencil", "stencil.cu", "stencil", (6,), (128,), _float_copy(768, None, 768)),
        _launched("bitonic sort", "bitonic_sort.cu", "bitonic_sort", (3,), (256,), _float_copy(768)),
        _launched("gather", "global_access.cu", "gather", (8,), (128,), lambda: _gather(1024)),
        _launched(
            "structures in global memory",
            "global_access.cu",
            "center_of_structures",
            (4,),
            (128,),
            _float_copy(2048, 512),
        ),
        _launched("half warps", "global_access.cu", "copy_half_warps", (4,), (128,), _float_copy(512)),
        _launched("shared broadcast", "shared_access.cu", "shared_broadcast", (4,), (128,), _float_copy(512)),
    ]
    cases += [
        _launched(f"global stride {s}", "global_access.cu", "copy_strided", (4,), (128,), _float_copy(512 * s, 512, s))
        for s in (1, 2, 3, 8, 32)
    ]
    cases += [
        _launched(f"global offset {k}", "global_access.cu", "copy_offset", (4,), (128,), _float_copy(600, None, k))
        for k in (1, 8, 31)
    ]
    cases += [
        _launched(f"global {v}", "global_access.cu", f"copy_vector<{v}>", (4,), (128,), _float_copy(512 * width))
        for v, width in (("float2", 2), ("float4", 4))
    ]
    cases += [
        _launched(f"shared stride {s}", "shared_access.cu", f"shared_stride<{s}>", (4,), (128,), _float_copy(512))
        for s in (1, 2, 3, 4, 8, 16, 32)
    ]
    cases += [
        _launched(
            f"shared {v} turn {turn}",
            "shared_access.cu",
            f"shared_vector<{v}>",
            (4,),
            (128,),
            _float_copy(512 * width, None, turn),
        )
        for v, width in (("float2", 2), ("float4", 4))
        for turn in (0, 3)
    ]
    cases += [
        _launched(f"shared {t} stride {s}", "shared_access.cu", f"shared_small<{t}>", (2,), (128,), _small(d, 256, s))
        for t, d in (("unsigned char", np.uint8), ("unsigned short", np.uint16))
        for s in (1, 3, 4)
    ]
    cases += [
        _launched(
            f"shared structures of {w}",
            "shared_access.cu",
            f"shared_structures<{w}>",
            (4,),
            (64,),
            _float_copy(256 * w, 256),
        )
        for w in (3, 4, 5, 8)
    ]
    return cases


def _second_gallery() -> list[CounterCase]:
    """Patterns unlike those of the first gallery: first met when those were settled."""

    def halves() -> list:
        pairs = _floats(1024).astype(np.float16)
        return [pairs, np.zeros_like(pairs)]

    def compacted() -> list:
        return [_floats(512), np.zeros(512, np.float32), np.zeros(4, np.uint32), np.float32(0.3)]

    return [
        _launched("convolution", "convolution.cu", "convolution_1d", (5,), (96,), _float_copy(488, 480)),
        _launched(
            "convolution 2d", "convolution.cu", "convolution_2d", (3, 2), (16, 16), _float_copy(52 * 36, 1536, 48)
        ),
        _launched(
            "stencil 3d", "stencil_3d.cu", "stencil_3d", (3, 4), (16, 8), _float_copy(48 * 32 * 5, None, 48, 32, 5)
        ),
        _launched("blocked product", "blocked_product.cu", "blocked_product", (2, 2), (16, 16), _product(128)),
        _launched("matrix vector 200", "blocked_product.cu", "matrix_vector", (6,), (128,), _matrix_vector(24, 200)),
        _launched("matrix vector 97", "blocked_product.cu", "matrix_vector", (6,), (128,), _matrix_vector(24, 97)),
        *(
            _launched(f"sum of {n} neighbours", "loops.cu", "sum_of_neighbours", (3,), (64,), _integers(768, 192, n))
            for n in (0, 1, 2, 7, 16)
        ),
        *(
            _launched(f"unrolled sum {n}", "loops.cu", "unrolled_sum", (3,), (64,), _integers(768, 192, n))
            for n in (0, 5, 12)
        ),
        _launched("first match", "loops.cu", "first_match", (3,), (64,), _integers(768, 192)),
        _launched("lower bound", "loops.cu", "lower_bound", (3,), (64,), _integers(768, 192, 250, sort=True)),
        _launched("clamp in place", "loops.cu", "clamp_in_place", (3,), (64,), _integers(768, 192)),
        _launched("structure of arrays", "structures.cu", "structure_of_arrays", (2,), (96,), _float_copy(192)),
        _launched("quadruples", "structures.cu", "quadruples", (4,), (128,), _integers(2048, 512)),
        _launched("pairs of halves", "structures.cu", "pairs_of_halves", (4,), (128,), halves),
        *(
            _launched(
                f"several arrays {n}",
                "structures.cu",
                "several_arrays",
                (3,),
                (128,),
                _float_copy(3 * n, None, n),
                14 * n,
            )
            for n in (128, 100)
        ),
        *(
            _launched(
                f"generic pointer {name}",
                "structures.cu",
                "generic_pointer",
                (4,),
                (128,),
                _float_copy(512, None, flag),
            )
            for name, flag in (("to global", 0), ("to shared", 1))
        ),
        _launched("volatile pairs", "structures.cu", "volatile_pairs", (4,), (128,), _float_copy(1024)),
        _launched("scan by warps", "warps.cu", "scan_by_warps", (3,), (200,), _float_copy(600)),
        _launched("scan by warps 512", "warps.cu", "scan_by_warps", (2,), (512,), _float_copy(1024)),
        _launched("warps with roles", "warps.cu", "warps_with_roles", (3,), (128,), _float_copy(96 * 15, 288, 5)),
        _launched("compact", "warps.cu", "compact", (4,), (128,), compacted),
        _launched("edges", "warps.cu", "edges", (3,), (200,), _integers(600, 600)),
    ]


def _third_gallery() -> list[CounterCase]:
    """Branches and neighbouring accesses in every form, met last."""

    def branches(kernel: str, *scalars: int, name: str = "") -> CounterCase:
        arguments = _integers(384, 384, *scalars)
        return _launched(name or kernel.replace("_", " "), "branches.cu", kernel, (3,), (128,), arguments)

    def vectors(kernel: str, arguments: Callable[[], list]) -> CounterCase:
        return _launched(kernel.replace("_", " "), "vectors.cu", kernel, (3,), (64,), arguments)

    def doubles() -> list:
        return [np.random.default_rng(5).standard_normal(192), np.zeros(192)]

    def bytes_to_shorts() -> list:
        return [np.random.default_rng(6).integers(0, 256, 768).astype(np.uint8), np.zeros(768, np.uint16)]

    return [
        *(
            branches(kernel)
            for kernel in (
                "nested_conditions", "both_sides", "choices", "seldom_used", "same_word_twice", "odd_even_sort",
            )
        ),
        branches("early_exits", 333),
        *(branches("condition_in_loop", n, name=f"condition in loop {n}") for n in (0, 3, 8, 21)),
        *(branches("triangle", n, name=f"triangle {n}") for n in (1, 6, 9)),
        vectors("mixed_fields", _float_copy(192)),
        vectors("rows_of_six", _float_copy(1152)),
        vectors("eight_words", _float_copy(1536, None, 3)),
        vectors("store_load_store", doubles),
        vectors("global_neighbours", _float_copy(768)),
        vectors("look_up", bytes_to_shorts),
    ]  # fmt: skip


def _softmax(name: str, make: Callable[[], Plan], rows: int, cols: int, dtype: str) -> CounterCase:
    def arguments() -> list:
        values = np.random.default_rng(cols).standard_normal((rows, cols)).astype(element_type(dtype).numpy)
        return [values, np.zeros_like(values), np.int64(rows), np.int64(cols)]

    def launch() -> CaseLaunch:
        made = make()
        return CaseLaunch(made.file, made.name, (made.grid,), made.block, made.smem_bytes, tuple(made.options))

    return CounterCase(name, launch, arguments)


def _softmax_cases() -> list[CounterCase]:
    shapes = ((33, 5), (40, 64), (33, 333), (16, 1022), (9, 1025), (9, 2048), (5, 13000), (4, 13001))
    planned = [
        _softmax(
            f"{op} {dtype} {rows}x{cols}", partial(plan, rows, cols, dtype, op=op, device="H200"), rows, cols, dtype
        )
        for op, dtype, (rows, cols) in product(("softmax", "log_softmax"), ELEMENT_TYPES, shapes)
    ]
    sizes = ((1024, 256), (1500, 128), (4096, 1024))
    layouts = []
    for dtype, layout, pack, (cols, block) in product(
        ("float16", "bfloat16", "float32"), ("column", "row", "row_scalar"), (1, 2), sizes
    ):
        make = partial(
            forced, 7, cols, dtype,
            kernel="block_smem", pack_size=pack, block_size=block, layout=layout, device="H200",
        )  # fmt: skip
        layouts.append(_softmax(f"layout {layout} {dtype} pack {pack} {cols} block {block}", make, 7, cols, dtype))
    return planned + layouts


def all_cases() -> list[CounterCase]:
    """Every case; names are unique."""
    return _gallery() + _softmax_cases() + _second_gallery() + _third_gallery()

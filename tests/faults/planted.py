"""Faults planted in good kernels: one replacement in the source each, and where it must be found."""

from __future__ import annotations

from dataclasses import dataclass

from softlab.compile import Program
from tests.faults.cases import GOOD, Good
from tests.faults.cases_cluster import CLUSTER

Index = tuple[int, int, int]


@dataclass(frozen=True)
class Planted:
    """A fault: ``old`` becomes ``new`` in the source of a good kernel.

    ``line`` is a text of the line of the changed source that is to blame, which no other line has, ``turn`` one of the
    last line of a loop that starts there; ``thread``, ``block`` and ``address`` are what the fault must say, None where
    several are right.
    """

    kind: str
    name: str
    good: str
    old: str
    new: str
    line: str
    thread: Index | None = None
    block: Index | None = None
    address: int | None = None
    turn: str | None = None

    @property
    def of(self) -> Good:
        """The good kernel."""
        return (GOOD | CLUSTER)[self.good]

    @property
    def source(self) -> str:
        """The changed source."""
        source = self.of.source
        if source.count(self.old) != 1:
            raise ValueError(
                f"{self.name}: {self.old!r} stands {source.count(self.old)} times in {self.good}, not once"
            )
        return source.replace(self.old, self.new)

    @property
    def lines(self) -> range:
        """The numbers of the lines to blame: one, but for a loop without an end, each line of which is right."""
        return range(self._number(self.line), self._number(self.turn or self.line) + 1)

    def _number(self, text: str) -> int:
        found = [number for number, line in enumerate(self.source.splitlines(), 1) if text in line]
        if len(found) != 1:
            raise ValueError(f"{self.name}: {text!r} is in the lines {found}, not in one")
        return found[0]

    def compile(self) -> Program:
        """The program with the fault."""
        return self.of.compile(self.source)


_OUT, _SHARED, _MISALIGNED = "global-out-of-bounds", "shared-out-of-bounds", "misaligned"
_UNINITIALIZED, _RACE, _DIVERGENT = "uninitialized-shared", "race", "barrier-divergence"
_INACTIVE, _ENDLESS = "inactive-lane", "infinite-loop"

_LAST_PACK = """        if (!padding || col < cols) {
#pragma unroll
          for (int i = 0; i < pack_size; ++i) { pack[i] = normalize"""
_BARRIER = "\n      __syncthreads();"

PLANTED: tuple[Planted, ...] = (
    # Global memory, beyond the end or before the beginning
    Planted(
        _OUT,
        "one turn too many",
        "scale and add",
        "i < n; i += gridDim",
        "i <= n; i += gridDim",
        "y[i] += a * x[i]",
        (104, 0, 0),
        (3, 0, 0),
        4000,
    ),
    Planted(
        _OUT,
        "rows are not tested",
        "add matrices",
        "row < rows && column",
        "column",
        "sum[k] = a[k] + b[k]",
        (0, 4, 0),
        (0, 2, 0),
        5600,
    ),
    Planted(
        _OUT,
        "index from a function",
        "smooth",
        "i < 0 ? 0 : i >= n ? n - 1 : i",
        "i >= n ? n - 1 : i",
        "return x[k]",
        (0, 0, 0),
        (0, 0, 0),
        -4,
    ),
    Planted(
        _OUT,
        "tail of a vector",
        "copy by four",
        "y[n / 4 * 4 + i] =",
        "y[n / 4 * 4 + i + 1] =",
        "y[n / 4 * 4 + i + 1] =",
        (2, 0, 0),
        (0, 0, 0),
        1004,
    ),
    Planted(
        _OUT,
        "vectors as many as elements",
        "copy by four",
        "i < n / 4)",
        "i <= n / 4)",
        "<const float4*>(x)[i]",
        (14, 0, 0),
        (1, 0, 0),
        992,
    ),
    Planted(
        _OUT, "a template's tuples", "reverse tuples", "in[n - 1 - i]", "in[n - i]", "in[n - i]", (0, 0, 0), (0, 0, 0)
    ),
    Planted(_OUT, "index in the data", "gather", "in[index[k]]", "in[index[k] - 1]", "in[index[k] - 1]", address=-4),
    Planted(
        _OUT,
        "columns for rows",
        "transpose",
        "(blockIdx.x * 32 + row) * rows",
        "(blockIdx.x * 32 + row) * 128",
        "tile[at(threadIdx.x, row)]",
    ),
    Planted(
        _OUT,
        "atomics",
        "histogram",
        "atomicAdd(&out[threadIdx.x], bins",
        "atomicAdd(&out[threadIdx.x + 1], bins",
        "&out[threadIdx.x + 1]",
        (255, 0, 0),
        (0, 0, 0),
        1024,
    ),
    Planted(
        _OUT,
        "padding is stored, in a header",
        "warp softmax",
        _LAST_PACK,
        _LAST_PACK.replace("col < cols", "true"),
        "output.template store<pack_size>",
        (13, 2, 0),
        (2, 0, 0),
        3960,
    ),
    # Shared memory, beyond the end or before the beginning
    Planted(
        _SHARED,
        "halo forgotten",
        "stencil",
        "window[128 + 2 * kRadius]",
        "window[128 + kRadius]",
        "window[threadIdx.x + 128 + kRadius]",
        (0, 0, 0),
        (0, 0, 0),
        524,
    ),
    Planted(
        _SHARED,
        "before the first",
        "Hillis-Steele scan",
        "thread >= distance ?",
        "thread >= 0 ?",
        "buffer[from][thread - distance]",
        (0, 0, 0),
        (0, 0, 0),
        -4,
    ),
    Planted(
        _SHARED,
        "dynamic, by one",
        "sum of any block",
        "partial[thread] = i < n",
        "partial[thread + 32] = i < n",
        "partial[thread + 32] =",
        (96, 0, 0),
        (0, 0, 0),
        512,
    ),
    Planted(_SHARED, "one turn too many", "matrix product", "k < tile; ++k", "k <= tile; ++k", "k <= tile; ++k"),
    Planted(
        _SHARED,
        "atomics, as the data say",
        "histogram",
        "atomicAdd(&bins[in[k]]",
        "atomicAdd(&bins[in[k] + 1]",
        "&bins[in[k] + 1]",
        None,
        None,
        1024,
    ),
    Planted(
        _SHARED,
        "in a member function",
        "shared softmax",
        "shared.write(pack, values);",
        "shared.write(pack + 1, values);",
        "shared.write(pack + 1, values);",
        (37, 0, 0),
        (0, 0, 0),
    ),
    Planted(
        _SHARED,
        "bytes",
        "swap bytes",
        "bytes[k * 96 + thread]",
        "bytes[k * 97 + thread]",
        "bytes[k * 97 + thread]",
        (93, 0, 0),
        (0, 0, 0),
        384,
    ),
    Planted(
        _SHARED,
        "structures",
        "pass structures",
        "bodies[(thread + 1) % 48]",
        "bodies[thread + 1]",
        "bodies[thread + 1]",
        (47, 0, 0),
        (0, 0, 0),
    ),
    # Vectors at odd places
    Planted(
        _MISALIGNED,
        "a row that starts one later",
        "copy by four",
        "reinterpret_cast<const float4*>(x)[i]",
        "reinterpret_cast<const float4*>(x + 1)[i]",
        "<const float4*>(x + 1)[i]",
        (0, 0, 0),
        (0, 0, 0),
        4,
    ),
    Planted(
        _MISALIGNED,
        "after divergence",
        "values of even keys",
        "(records + 8 * i + 4)",
        "(records + 8 * i + 2)",
        "records + 8 * i + 2",
        None,
        (0, 0, 0),
    ),
    Planted(
        _MISALIGNED,
        "doubles behind an odd byte",
        "two types",
        "reinterpret_cast<double*>(raw)",
        "reinterpret_cast<double*>(raw + 4)",
        "values[thread] = x",
        (0, 0, 0),
        (0, 0, 0),
        4,
    ),
    Planted(
        _MISALIGNED,
        "shared pairs",
        "pairs of a tile",
        "(floats + 2 * thread)",
        "(floats + thread)",
        "floats + thread)",
        (1, 0, 0),
        (0, 0, 0),
        4,
    ),
    Planted(
        _MISALIGNED,
        "in a header",
        "narrow softmax",
        "Load<T, Compute>{x, cols}",
        "Load<T, Compute>{x + 1, cols}",
        "input.template load<pack_size>",
        (0, 0, 0),
        (0, 0, 0),
        2,
    ),
    Planted(
        _MISALIGNED,
        "an atomic",
        "classes",
        "atomicMin(&least, x[i])",
        "atomicMin(reinterpret_cast<int*>(reinterpret_cast<char*>(&least) + 2), x[i])",
        "atomicMin",
    ),
    # Shared memory that nobody wrote
    Planted(
        _UNINITIALIZED,
        "part of the halo",
        "stencil",
        "if (threadIdx.x < kRadius) {",
        "if (threadIdx.x < kRadius - 1) {",
        "sum += window",
        (2, 0, 0),
        (0, 0, 0),
        8,
    ),
    Planted(_UNINITIALIZED, "counters", "histogram", "  bins[threadIdx.x] = 0;\n", "", "&bins[in[k]]"),
    Planted(
        _UNINITIALIZED,
        "the block's rest",
        "sum of any block",
        "partial[blockDim.x + thread] = 0.0f;",
        "",
        "partial[thread] += partial[thread + stride]",
        (36, 0, 0),
        (0, 0, 0),
        400,
    ),
    Planted(
        _UNINITIALIZED,
        "every second row",
        "transpose",
        "row += 8) {\n    tile",
        "row += 16) {\n    tile",
        "tile[at(threadIdx.x, row)]",
    ),
    Planted(
        _UNINITIALIZED,
        "the first buffer",
        "two buffers",
        "  buffer[0][thread] = x[thread];\n",
        "",
        "sum += buffer[now][63 - thread]",
    ),
    Planted(
        _UNINITIALIZED,
        "a quarter of the bytes",
        "swap bytes",
        "k < 4; ++k) {\n    bytes",
        "k < 3; ++k) {\n    bytes",
        "word = words[95 - thread]",
        (0, 0, 0),
        (0, 0, 0),
    ),
    Planted(
        _UNINITIALIZED,
        "the last mean",
        "subtract row mean",
        "if (thread < 16) {",
        "if (thread < 15) {",
        "- mean[row]",
        (0, 3, 0),
        (0, 0, 0),
    ),
    Planted(
        _UNINITIALIZED,
        "a member of a structure",
        "pass structures",
        "bodies[thread] = in[blockIdx.x * 48 + thread];",
        "bodies[thread].mass = in[blockIdx.x * 48 + thread].mass;",
        "Body body = bodies",
    ),
    # Races
    Planted(
        _RACE,
        "no barrier in the loop",
        "sequential reduction",
        "partial[thread + stride];\n      __syncthreads();",
        "partial[thread + stride];",
        "if (thread < stride) partial[thread] +=",
    ),
    Planted(
        _RACE,
        "no barrier after loading",
        "bitonic sort",
        "threadIdx.x;\n  keys[thread] = in[blockIdx.x * 256 + thread];\n  __syncthreads();",
        "threadIdx.x;\n  keys[thread] = in[blockIdx.x * 256 + thread];",
        "const float other = keys[partner]",
    ),
    Planted(
        _RACE,
        "the next tile too soon",
        "matrix product",
        "tile_b[k][threadIdx.x];\n    __syncthreads();",
        "tile_b[k][threadIdx.x];",
        "tile_a[threadIdx.y][threadIdx.x] = a",
    ),
    Planted(
        _RACE,
        "no __syncwarp",
        "turn in warps",
        "    mine[lane] = value;\n    __syncwarp();",
        "    mine[lane] = value;",
        "value = mine[(lane + 1) % 32]",
    ),
    Planted(
        _RACE,
        "__syncwarp for __syncthreads",
        "subtract row mean",
        "mean[thread] = sum / 32;\n  }\n  __syncthreads();",
        "mean[thread] = sum / 32;\n  }\n  __syncwarp();",
        "- mean[row]",
    ),
    Planted(
        _RACE,
        "a tree without a barrier",
        "Blelloch scan",
        "    __syncthreads();\n    if (thread < pairs) tree",
        "    if (thread < pairs) tree",
        "if (thread < pairs) tree",
    ),
    Planted(
        _RACE, "counting without atomics", "histogram", "atomicAdd(&bins[in[k]], 1u)", "++bins[in[k]]", "++bins[in[k]]"
    ),
    Planted(
        _RACE,
        "an atomic against a plain write",
        "classes",
        "atomicMin(&least, x[i]);",
        "if (x[i] < least) least = x[i];",
        "x[i] < least",
    ),
    Planted(
        _RACE,
        "one buffer for two",
        "two buffers",
        "buffer[1 - now][thread] = x",
        "buffer[now][thread] = x",
        "sum += buffer[now][63 - thread]",
    ),
    Planted(
        _RACE,
        "a reduction without its barriers",
        "shared softmax",
        "block_all_reduce<Sum, block_size>(thread_sum)",
        "thread_sum",
        "shared.read(pack, values);",
    ),
    Planted(
        _RACE,
        "bytes over words",
        "swap bytes",
        "words[95 - thread];\n  __syncthreads();",
        "words[95 - thread];",
        "words[thread] = __byte_perm",
    ),
    Planted(
        _RACE,
        "in place, reads not over",
        "prefix sum",
        "    }\n    __syncthreads();\n    sums[thread] += value;",
        "    }\n    sums[thread] += value;",
        "sums[thread] += value",
    ),
    # Barriers in divergent code
    Planted(
        _DIVERGENT,
        "in a branch of the loop",
        "sequential reduction",
        "if (thread < stride) partial[thread] += partial[thread + stride];\n      __syncthreads();",
        "if (thread < stride) {\n        partial[thread] += partial[thread + stride];\n        __syncthreads();\n"
        "      }\n      //",
        "        __syncthreads();",
    ),
    Planted(
        _DIVERGENT,
        "a loop of each thread's own length",
        "reverse tiles",
        "int start = blockIdx.x * 96; start < n;",
        "int start = blockIdx.x * 96; start + threadIdx.x < n;",
        "__syncthreads();  // all have written",
    ),
    Planted(
        _DIVERGENT,
        "in the first row of threads",
        "column sums",
        "    sum[threadIdx.x] = total;\n  }\n  __syncthreads();",
        "    sum[threadIdx.x] = total;\n    __syncthreads();  // here\n  }",
        "__syncthreads();  // here",
    ),
    Planted(
        _DIVERGENT,
        "one barrier for each half",
        "two halves",
        "  if (thread < 64) {\n    squares[thread] = x[thread] * x[thread];\n  } else {",
        "  if (thread < 64) {\n    squares[thread] = x[thread] * x[thread];\n"
        "    __syncthreads();  // here\n    __threadfence_block();\n    y[thread] = 0;\n  } else {",
        "__syncthreads();  // here",
    ),
    Planted(
        _DIVERGENT,
        "a reduction in a branch, in a header",
        "shared softmax",
        "const Compute row_max = block_all_reduce<Max, block_size>(thread_max);",
        "Compute row_max = 0;\n    if (threadIdx.x < 100) { row_max = block_all_reduce<Max, block_size>(thread_max); }",
        "row_max = block_all_reduce<Max, block_size>(thread_max); }",
    ),
    Planted(
        _DIVERGENT,
        "threads leave between two barriers",
        "prefix sum",
        "    __syncthreads();\n    sums[thread] += value;",
        "    if (thread == 40 && distance == 4) {\n      y[0] = 1;\n      break;\n    }\n"
        "    __syncthreads();  // here\n"
        "    sums[thread] += value;",
        "__syncthreads();  // here",
    ),
    # Warp-wide instructions without all their lanes
    Planted(
        _INACTIVE,
        "in a branch, all lanes named",
        "shuffle reduction",
        "    if (thread < 32) {",
        "    if (thread < 16) {",
        "__shfl_xor_sync(0xffffffffu",
    ),
    Planted(
        _INACTIVE,
        "lanes that have left",
        "sum with a mask",
        "unsigned int left = mask",
        "unsigned int left = ~0u",
        "__shfl_sync(mask, x[i]",
        (64, 0, 0),
        (3, 0, 0),
    ),
    Planted(
        _INACTIVE,
        "the other half's mask",
        "reverse halves",
        "-__shfl_xor_sync(0xffff0000, value, 15)",
        "-__shfl_xor_sync(0x0000ffff, value, 15)",
        "-__shfl_xor_sync(0x0000ffff",
    ),
    Planted(
        _INACTIVE,
        "a distance into the other half",
        "reverse halves",
        "value = __shfl_xor_sync(0x0000ffff, value, 15)",
        "value = __shfl_xor_sync(0x0000ffff, value, 16)",
        "value = __shfl_xor_sync(0x0000ffff, value, 16)",
    ),
    Planted(
        _INACTIVE,
        "a group that is not all there, in a header",
        "sums of groups",
        "group_all_reduce<Sum, 8>(value, lanes)",
        "group_all_reduce<Sum, 16>(value, lanes)",
        "group_all_reduce<Sum, 16>",
    ),
    Planted(
        _INACTIVE,
        "a vote in a branch",
        "count odd",
        "__popc(__ballot_sync(mask, true))",
        "__popc(__ballot_sync(0xffffffff, true))",
        "__ballot_sync(0xffffffff, true)",
    ),
    Planted(
        _INACTIVE,
        "turns of each lane's own number",
        "maximum of rows",
        "    most = fmaxf(most, x[(blockIdx.x * blockDim.y + threadIdx.y) * columns + column]);\n  }",
        "    most = fmaxf(most, x[(blockIdx.x * blockDim.y + threadIdx.y) * columns + column]);\n"
        "    most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, 1));\n  }",
        "__shfl_xor_sync(0xffffffff, most, 1)",
    ),
    # Loops without an end
    Planted(
        _ENDLESS,
        "a step of zero",
        "scale and add",
        "i += gridDim.x * blockDim.x",
        "i += gridDim.y - 1",
        "i += gridDim.y - 1",
        turn="y[i] += a * x[i]",
    ),
    Planted(
        _ENDLESS,
        "the half that does not shrink",
        "search",
        "low = middle + 1",
        "low = middle",
        "while (low < high)",
        turn="high = middle;",
    ),
    Planted(
        _ENDLESS,
        "a lock that nobody opens",
        "sum under a lock",
        "    atomicExch(lock, 0);\n",
        "",
        "while (atomicCAS(lock, 0, 1) != 0)",
        turn="while (atomicCAS(lock, 0, 1) != 0)",
    ),
    Planted(
        _ENDLESS,
        "a flag that nobody raises",
        "flag in shared memory",
        "    ready = 1;\n",
        "",
        "while (ready == 0)",
        turn="while (ready == 0)",
    ),
    Planted(
        _ENDLESS,
        "the block never agrees",
        "bubble sort",
        "left > right",
        "left >= right - 5000",
        "while (moved)",
        turn="moved = __syncthreads_or(moved)",
    ),
    Planted(
        _ENDLESS,
        "rows that do not advance",
        "uncached softmax",
        "row += gridDim.x",
        "row += 0",
        "row += 0",
        turn="output.template store",
    ),
)

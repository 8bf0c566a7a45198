"""Fixes of the bug clinic, and wrong fixes with words of their hint. All are changes of the bug's kernel."""

from __future__ import annotations

from softlab import course
from tests.course.answers import Answers, changed

Edits = tuple[tuple[str, str], ...]
SYNC, WARP_SYNC, FENCE = "__syncthreads();", "__syncwarp();", "__threadfence();"


def fixed(name: str, *edits: tuple[str, str]) -> str:
    return changed(course.bug(name).source, *edits)


def bug(name: str, right: tuple[Edits, ...], wrong: tuple[tuple[Edits, str], ...]) -> Answers:
    return Answers(
        f"18-{name}",
        right=tuple(fixed(name, *edits) for edits in right),
        wrong=((fixed(name), "Not yet: "), *((fixed(name, *edits), words) for edits, words in wrong)),
    )


SCALED = "x[row * 64 + threadIdx.x] * slot;"
ONE_SUM = "    sum += tile[63 - threadIdx.x];"
RING_SUM = "sum += ring[k % 3][63 - threadIdx.x];"
MOST = "  most = fmaxf(part[0], part[1]);"
STORE_SUM = "if (lane == 0) part[warp] = sum;"
STEP = "      part[t] += part[t + far];"
CLEAR = "if (t < 16) mine[t] = 0;"
COUNTED = "    last = atomicAdd(arrived, 1) == gridDim.x - 1;"
MEAN = "    a[i] = (a[i - 1] + a[i] + a[i + 1]) / 3;"
IN_MEAN = "  if (i > 0 && i < n - 1)\n"
PAIR = "  y[i] = x[i] + x[(i + 1) % 128];"
SOME = "    part[t] = x[t];\n    __syncthreads();\n    v = part[n - 1 - t];\n  }"
TILES = "  for (int i = t; i < n; i += 64) {"
ALL_ROUND = "  for (int first = 0; first < n; first += 64) {\n    int i = first + t;"
TAIL = "    float v = x[i], right = __shfl_down_sync(some, v, 1);"
BALLOT = "  unsigned some = __ballot_sync(0xffffffff, i + 1 < n);\n"
IN_TAIL = "  if (i < n) {\n"
STORE_TAIL = "    if (i + 1 < n) d[i] = right - v;\n  }"
HALO = "  if (t == 63) tile[65] = x[63];\n"
PACKS = """  for (int k = threadIdx.x; k < cols / 4; k += 32)
    ((float4*)to)[k] = ((const float4*)from)[k];
"""
PACK = "((float4*)to)[k] = ((const float4*)from)[k];"
REST = "cols / 4 * 4 + threadIdx.x"
POWER = "  float e = expf(v);"
MAXIMUM = """  float most = v;
  for (int far = 16; far; far /= 2) most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, far));
  float e = expf(v - most);"""
ADD_HALF = "    sum = __hadd(sum, x[row * 32 + threadIdx.x]);"
IN_HALF = (("__half sum = __float2half(0)", "float sum = 0"), ("__half2float(sum)", "sum"))
EIGHT = "  for (int k = 0; k < 8; ++k) y[first + k] = 2 * x[first + k];"
FIRST = "(blockIdx.x * blockDim.x + threadIdx.x) * 8"
ADD_ONE = "  atomicAdd(&count[i % 2], x[i] > 0);"
BALLOTS = """  unsigned all = __ballot_sync(0xffffffff, x[i] > 0);
  if (threadIdx.x % 32 < 2) atomicAdd(&count[i % 2], __popc(all & (i % 2 ? 0xaaaaaaaa : 0x55555555)));"""
PACKS_OF_FOUR = """  for (int k = 0; k < 2; ++k) {
    float4 v = ((const float4*)(x + first))[k];
    v.x *= 2, v.y *= 2, v.z *= 2, v.w *= 2;
    ((float4*)(y + first))[k] = v;
  }"""
COUNTS_OF_BLOCKS = """  int even = __syncthreads_count(x[i] > 0 && i % 2 == 0);
  int odd = __syncthreads_count(x[i] > 0 && i % 2);
  if (threadIdx.x < 2) atomicAdd(&count[threadIdx.x], threadIdx.x ? odd : even);"""
SHUFFLED_COUNTS = """  int n = x[i] > 0;
  for (int far = 16; far > 1; far /= 2) n += __shfl_down_sync(0xffffffff, n, far);
  if (threadIdx.x % 32 < 2) atomicAdd(&count[i % 2], n);"""

ANSWERS = (
    bug(
        "one-slot",
        right=(
            ((SCALED, f"{SCALED}\n    {SYNC}"),),
            (
                ("float slot;", "float slot[2];"),
                ("slot = scale", "slot[row % 2] = scale"),
                ("* slot;", "* slot[row % 2];"),
            ),
            (("= 0; row < rows; ++row) {", f"= 0; row < rows; ++row) {{\n    {SYNC}"),),
        ),
        wrong=(
            (((SCALED, f"{SCALED}\n    {WARP_SYNC}"),), "for one warp alone"),
            (((SYNC, f"{SYNC}\n    {SYNC}"),), "and no barrier stands between"),
            (
                (("if (threadIdx.x == 0) slot = scale[row];", "{ slot = scale[row]; }"),),
                "and no barrier stands between",
            ),
            ((("float slot;", "volatile float slot;"),), "makes no thread wait"),
            (((SCALED, f"{SCALED}\n    {FENCE}"),), "no thread waits for another one"),
            (((SCALED, f"{SCALED}\n    if (threadIdx.x == 0) {SYNC}"),), "come there alike"),
            (((SCALED, f"{SCALED}\n    {SYNC}"), ("scale[row]", "scale[0]")), "y[i] is -x[i]"),
        ),
    ),
    bug(
        "tile-in-use",
        right=(
            ((ONE_SUM, f"{ONE_SUM}\n    {SYNC}"),),
            (
                ("tile[64]", "tile[2][64]"),
                ("tile[threadIdx.x]", "tile[k % 2][threadIdx.x]"),
                ("+= tile[", "+= tile[k % 2]["),
            ),
            (("++k) {", f"++k) {{\n    {SYNC}"),),
        ),
        wrong=(
            (((ONE_SUM, f"{ONE_SUM}\n    {WARP_SYNC}"),), "for one warp alone"),
            (((f"    {SYNC}\n", ""), (ONE_SUM, f"{ONE_SUM}\n    {SYNC}")), "and no barrier stands between"),
            (((SYNC, f"{SYNC}\n    {SYNC}"),), "and no barrier stands between"),
            (
                (
                    ("tile[64]", "tile[2][64]"),
                    ("tile[threadIdx.x]", "tile[0][threadIdx.x]"),
                    ("+= tile[", "+= tile[0]["),
                ),
                "and no barrier stands between",
            ),
            ((("float tile", "volatile float tile"),), "makes no thread wait"),
        ),
    ),
    bug(
        "one-tile-too-far",
        right=(
            (("fetched <= k + 2", "fetched < k + 2"),),
            ((RING_SUM, f"{RING_SUM}\n    {SYNC}"),),
            (("ring[3]", "ring[4]"), ("fetched % 3", "fetched % 4"), ("k % 3", "k % 4")),
        ),
        wrong=(
            ((("fetched <= k + 2", "fetched < k + 3"),), "and no barrier stands between"),
            ((("ring[3]", "ring[4]"),), "and no barrier stands between"),
            ((("ring[3]", "ring[2]"), ("fetched % 3", "fetched % 2"), ("k % 3", "k % 2")), "change nothing in"),
            (((RING_SUM, f"{RING_SUM}\n    {WARP_SYNC}"),), "for one warp alone"),
            ((("fetched <= k + 2", "fetched < k"),), "has to be there before it is read"),
        ),
    ),
    bug(
        "used-again",
        right=(
            ((MOST, f"{MOST}\n  {SYNC}"),),
            (
                ("part[2];", "part[2], sums[2];"),
                ("part[warp] = sum", "sums[warp] = sum"),
                ("(part[0] + part[1])", "(sums[0] + sums[1])"),
            ),
            (
                ("part[2];", "part[4];"),
                ("part[warp] = sum", "part[2 + warp] = sum"),
                ("(part[0] + part[1])", "(part[2] + part[3])"),
            ),
        ),
        wrong=(
            (((MOST, f"{MOST}\n  {WARP_SYNC}"),), "for one warp alone"),
            (((STORE_SUM, f"{STORE_SUM}\n  {SYNC}"),), "and no barrier stands between"),
            (((STORE_SUM, f"if (lane == 0) {{ {SYNC} part[warp] = sum; }}"),), "come there alike"),
            (((STORE_SUM, "if (lane == 0) atomicExch(&part[warp], sum);"),), "and no barrier stands between"),
            (
                (("part[warp] = sum", "part[2 + warp] = sum"), ("(part[0] + part[1])", "(part[2] + part[3])")),
                "lets it through",
            ),
        ),
    ),
    bug(
        "four-slots-32-lanes",
        right=(
            (("v = part[lane];", "v = lane < 4 ? part[lane] : 0;"),),
            (("v = part[lane];", "v = 0;\n    if (lane < blockDim.x / 32) v = part[lane];"),),
            (
                ("float part[4]", "float part[32]"),
                ("float v = x", f"if (warp == 0) part[lane] = 0;\n  {SYNC}\n  float v = x"),
            ),
        ),
        wrong=(
            ((("part[4]", "part[32]"),), "which nobody has stored"),
            ((("if (warp == 0) {", "if (warp == 0 && lane < 4) {"),), "come there alike"),
            ((("v = part[lane];", "v = part[lane % 4];"),), "what it should be"),
            ((("v = part[lane];", "v = lane <= 4 ? part[lane] : 0;"),), "lets it through"),
            ((("v = part[lane];", "if (lane < 4) v = part[lane];"),), "times, where each number counts once"),
        ),
    ),
    bug(
        "last-warp",
        right=(
            ((STEP, f"    {{\n      if (t < far) part[t] += part[t + far];\n      {WARP_SYNC}\n    }}"),),
            ((STEP, f"    {{ float w = part[t + far]; {WARP_SYNC} part[t] += w; {WARP_SYNC} }}"),),
            (
                ("far /= 2)\n", "far /= 2) {\n"),
                (STEP, f"      if (t < far) part[t] += part[t + far];\n      {SYNC}\n    }}"),
                ("  if (t < 32) {\n    for", "    for"),
                ("    if (t == 0) *total = part[0];\n  }", "    if (t == 0) *total = part[0];"),
            ),
        ),
        wrong=(
            ((("float part[64]", "volatile float part[64]"),), "volatile makes no thread wait"),
            (((STEP, f"    {{ part[t] += part[t + far]; {WARP_SYNC} }}"),), "in the same round"),
            (((STEP, "      if (t < far) part[t] += part[t + far];"),), "and no barrier stands between"),
            (((STEP, f"    {{ {FENCE} part[t] += part[t + far]; }}"),), "__syncwarp()"),
        ),
    ),
    bug(
        "bins-not-clear",
        right=(
            ((CLEAR, f"{CLEAR}\n  {SYNC}"),),
            ((CLEAR, f"for (int b = t; b < 16; b += 64) mine[b] = 0;\n  {SYNC}"),),
            ((CLEAR, f"mine[t % 16] = 0;\n  {SYNC}"),),
        ),
        wrong=(
            (((CLEAR, f"{CLEAR}\n  {WARP_SYNC}"),), "for one warp alone"),
            (((CLEAR, "if (t < 16) atomicExch(&mine[t], 0);"),), "and no barrier stands between"),
            (((CLEAR, f"mine[t] = 0;\n  {SYNC}"),), "has the elements 0 to"),
            (((CLEAR, SYNC),), "nobody has stored to it before"),
            (
                ((CLEAR, f"{CLEAR}\n  {SYNC}"), ("atomicAdd(&mine[x[i] % 16], 1)", "mine[x[i] % 16]++")),
                "and no barrier stands between",
            ),
        ),
    ),
    bug(
        "last-block",
        right=(
            ((COUNTED, f"    {FENCE}\n{COUNTED}"),),
            (
                (
                    "  if (threadIdx.x == 0) {\n    part[blockIdx.x] = v;",
                    f"  if (threadIdx.x == 0) {{\n    part[blockIdx.x] = v;\n    {FENCE}",
                ),
            ),
            (("part[blockIdx.x] = v;", "atomicExch(&part[blockIdx.x], v);\n    __threadfence();"),),
        ),
        wrong=(
            (((COUNTED, f"{COUNTED}\n    {FENCE}"),), "stands behind the sign"),
            (((COUNTED, f"    __threadfence_block();\n{COUNTED}"),), "reaches its own block alone"),
            ((("float* part", "volatile float* part"),), "volatile makes each of them happen"),
            ((("float sum = 0;", f"float sum = 0;\n    {FENCE}"),), "stands behind the sign"),
            (
                (("if (last && threadIdx.x == 0) {", "if (threadIdx.x == 0) {"), (COUNTED, f"    {FENCE}\n{COUNTED}")),
                "Not yet: ",
            ),
        ),
    ),
    bug(
        "flag-too-early",
        right=(
            (("if (t == 0) atomicExch(ready, 1);", "if (t == 0) { __threadfence(); atomicExch(ready, 1); }"),),
            (
                (
                    "    __syncthreads();\n    if (t == 0) atomicExch",
                    "    __threadfence();\n    __syncthreads();\n    if (t == 0) atomicExch",
                ),
            ),
            (
                (
                    "    __syncthreads();\n    if (t == 0) atomicExch",
                    "    __syncthreads();\n    __threadfence();\n    if (t == 0) atomicExch",
                ),
            ),
        ),
        wrong=(
            ((("atomicExch(ready, 1);", f"atomicExch(ready, 1);\n    {FENCE}"),), "stands behind the sign"),
            ((("if (t == 0) atomicExch", "__threadfence_block();\n    if (t == 0) atomicExch"),), "another block"),
            ((("{}", f"{{}}\n    {FENCE}"),), "stands behind the sign"),
            ((("atomicExch(ready, 1)", "*ready = 1"),), "is no atomic"),
        ),
    ),
    bug(
        "smooth-in-place",
        right=(
            (
                (IN_MEAN, "  bool inner = i > 0 && i < n - 1;\n"),
                (MEAN, f"  float v = inner ? (a[i - 1] + a[i] + a[i + 1]) / 3 : 0;\n  {SYNC}\n  if (inner) a[i] = v;"),
            ),
            (
                (
                    IN_MEAN,
                    "  __shared__ float old[128];\n  old[i] = a[i];\n  __syncthreads();\n  if (i > 0 && i < n - 1)\n",
                ),
                (MEAN, "    a[i] = (old[i - 1] + old[i] + old[i + 1]) / 3;"),
            ),
        ),
        wrong=(
            (((MEAN, "  { float v = (a[i - 1] + a[i] + a[i + 1]) / 3; a[i] = v; }"),), "nothing makes either wait"),
            (
                ((MEAN, "    atomicExch(&a[i], (a[i - 1] + a[i] + a[i + 1]) / 3);"),),
                "nothing makes either wait",
            ),
            (
                ((IN_MEAN, ""), (MEAN, f"  float v = (a[i - 1] + a[i] + a[i + 1]) / 3;\n  {SYNC}\n  a[i] = v;")),
                "and the last one is",
            ),
            (
                ((MEAN, f"  {{ float v = (a[i - 1] + a[i] + a[i + 1]) / 3; {WARP_SYNC} a[i] = v; }}"),),
                "stands before both",
            ),
        ),
    ),
    bug(
        "same-array-twice",
        right=(
            ((PAIR, f"  float v = x[i] + x[(i + 1) % 128];\n  {SYNC}\n  y[i] = v;"),),
            ((PAIR, f"  float v = x[i], right = x[i < 127 ? i + 1 : 0];\n  {SYNC}\n  y[i] = v + right;"),),
            ((PAIR, f"  __shared__ float s[128];\n  s[i] = x[i];\n  {SYNC}\n  y[i] = s[i] + s[(i + 1) % 128];"),),
        ),
        wrong=(
            (((PAIR, "  float v = x[i] + x[(i + 1) % 128];\n  y[i] = v;"),), "and no barrier stands between"),
            (((PAIR, f"  float v = x[i] + x[(i + 1) % 128];\n  {WARP_SYNC}\n  y[i] = v;"),), "for one warp alone"),
            ((("float* y", "float* __restrict__ y"),), "nothing makes either wait"),
            (((PAIR, "  y[i] = __ldg(&x[i]) + __ldg(&x[(i + 1) % 128]);"),), "nothing makes either wait"),
        ),
    ),
    bug(
        "barrier-for-some",
        right=(
            ((SOME, f"    part[t] = x[t];\n  }}\n  {SYNC}\n  if (t < n) v = part[n - 1 - t];"),),
            ((SOME, f"    part[t] = x[t];\n  }}\n  {SYNC}\n  v = t < n ? part[n - 1 - t] : 0;"),),
        ),
        wrong=(
            (((SOME, SOME.replace(SYNC, "")),), "and no barrier stands between"),
            (((SOME, SOME.replace(SYNC, WARP_SYNC)),), "for one warp alone"),
            (((SOME, f"{SOME} else {{\n    {SYNC}\n  }}"),), "come there alike"),
            (
                ((SOME, SOME.replace(SYNC, "")), ("  if (t < n) {", f"  {SYNC}\n  if (t < n) {{")),
                "and no barrier stands between",
            ),
        ),
    ),
    bug(
        "uneven-loop",
        right=(
            (
                (TILES, ALL_ROUND),
                ("tile[t] = x[i]", "if (i < n) tile[t] = x[i]"),
                ("    largest = fmax", "    if (i < n) largest = fmax"),
            ),
            (
                (f"x[i];\n    {SYNC}", f"x[i];\n    {WARP_SYNC}"),
                (f"1]));\n    {SYNC}", f"1]));\n    {WARP_SYNC}"),
            ),
            (
                (TILES, "  for (int i = t; i - t < n; i += 64) {"),
                ("tile[t] = x[i]", "tile[t] = i < n ? x[i] : 0"),
            ),
        ),
        wrong=(
            (((TILES, ALL_ROUND),), "they do not load or store"),
            (((TILES, f"{ALL_ROUND}\n    if (i >= n) break;"),), "and go round the barrier"),
            (
                ((f"x[i];\n    {SYNC}\n", "x[i];\n"), (f"1]));\n    {SYNC}\n", "1]));\n")),
                "and no barrier stands between",
            ),
            (
                ((TILES, ALL_ROUND), ("tile[t] = x[i]", "tile[t] = x[i % n]"), ("first < n;", "first + 64 <= n;")),
                "change nothing in",
            ),
        ),
    ),
    bug(
        "lanes-that-stayed-away",
        right=(
            (
                ("    for (int", "  }\n    for (int"),
                ("far);\n  }", "far);"),
            ),
            (("  if (lane < n) {\n    v = x[lane];", "  {\n    v = lane < n ? x[lane] : 0;"),),
        ),
        wrong=(
            ((("0xffffffff", "__activemask()"),), "come there alike"),
            ((("0xffffffff", "(1u << n) - 1"),), "come there alike"),
            ((("__shfl_xor_sync", "__shfl_down_sync"),), "come there alike"),
            ((("  if (lane < n) {\n", "  {\n"),), "so a test has to keep it out"),
            ((("  if (lane < n) {\n    v = x[lane];", "  {\n    v = lane < n ? x[lane] : 1;"),), "that changes no sum"),
        ),
    ),
    bug(
        "mask-of-the-tail",
        right=(
            (
                (BALLOT, ""),
                (IN_TAIL, ""),
                (TAIL, "  float v = i < n ? x[i] : 0, right = __shfl_down_sync(0xffffffff, v, 1);"),
                (STORE_TAIL, "  if (i + 1 < n) d[i] = right - v;"),
            ),
            ((BALLOT, ""), (TAIL, "    float v = x[i], right = i + 1 < n ? x[i + 1] : 0;")),
        ),
        wrong=(
            ((("0xffffffff, i + 1 < n", "0xffffffff, i < n"),), "come there alike"),
            ((("__shfl_down_sync(some", "__shfl_down_sync(0xffffffff"),), "come there alike"),
            (((IN_TAIL, "  if (i + 1 < n) {\n"),), "come there alike"),
            ((("__shfl_down_sync(some", "__shfl_down_sync(__activemask()"),), "come there alike"),
        ),
    ),
    bug(
        "one-past-the-end",
        right=((("i <= n", "i < n"),), (("i <= n", "i <= n - 1"),), (("if (i <= n)", "if (i >= n) return;\n "),)),
        wrong=(
            ((("i <= n", "i < n + 1"),), "lets it through"),
            ((("i <= n", "i < n - 1"),), "never stored"),
            ((("i <= n", "i < 100"),), "never stored"),
            ((("if (i <= n) ", ""),), "so a test has to keep it out"),
        ),
    ),
    bug(
        "slots-of-nobody",
        right=(
            (("v = part[lane];", "v = lane < blockDim.x / 32 ? part[lane] : -INFINITY;"),),
            (("v = part[lane];", "if (lane < blockDim.x / 32) v = part[lane];"),),
            (("  float v = x", f"  part[lane] = -INFINITY;\n  {SYNC}\n  float v = x"),),
        ),
        wrong=(
            ((("v = part[lane];", "v = lane < 3 ? part[lane] : -INFINITY;"),), "which nobody has stored"),
            (
                (("v = part[lane];", "v = lane < blockDim.x / 32 ? part[lane] : 0;"),),
                "the maximum begins too high",
            ),
            (
                (("v = part[lane];", "v = lane <= blockDim.x / 32 ? part[lane] : -INFINITY;"),),
                "which nobody has stored",
            ),
            ((("if (warp == 0) {", "if (warp == 0 && lane < blockDim.x / 32) {"),), "come there alike"),
            (
                (("  float v = x", "  if (warp == 0) part[lane] = -INFINITY;\n  float v = x"),),
                "and no barrier stands between",
            ),
        ),
    ),
    bug(
        "halo-of-one-side",
        right=(
            (("tile[65];\n", "tile[66];\n"),),
            (("tile[65];\n", "tile[64 + 2];\n"),),
            ((HALO, ""), ("tile[t + 2] / 4", "tile[min(t + 2, 64)] / 4")),
        ),
        wrong=(
            ((("tile[65];\n", "tile[64];\n"),), "has the elements 0 to"),
            ((("tile[65] = x[63]", "tile[64] = x[63]"),), "has the elements 0 to"),
            (((HALO, ""),), "has the elements 0 to"),
            (((HALO, ""), ("tile[65];\n", "tile[66];\n")), "which nobody has stored"),
            ((("tile[65];\n", "tile[66];\n"), (f"  {SYNC}\n", "")), "and no barrier stands between"),
        ),
    ),
    bug(
        "four-at-once",
        right=(
            ((PACKS, ""), (REST, "threadIdx.x")),
            (
                (PACKS, PACKS.replace("  for", "  if (cols % 4 == 0) for")),
                (REST, "(cols % 4 == 0 ? cols : 0) + threadIdx.x"),
            ),
            (
                (PACKS, PACKS.replace("4", "2").replace("  for", "  if (cols % 2 == 0) for")),
                (REST, "(cols % 2 == 0 ? cols : 0) + threadIdx.x"),
            ),
        ),
        wrong=(
            (((PACKS, PACKS.replace("float4", "float2")),), "never stored"),
            (((PACKS, PACKS.replace("4", "2")), (REST, "cols / 2 * 2 + threadIdx.x")), "Where does row 1 begin"),
            (((PACKS, PACKS.replace("  for", "  if (cols % 2 == 0) for")),), "Where does row 1 begin"),
            ((("k < cols / 4;", "k < cols / 4 - 1;"),), "Where does row 1 begin"),
            (((PACKS, ""),), "never stored"),
            (((PACKS, ""), (REST, "threadIdx.x"), ("k < cols; k", "k <= cols; k")), "lets it through"),
        ),
    ),
    bug(
        "exp-of-a-hundred",
        right=(
            ((POWER, MAXIMUM),),
            ((POWER, MAXIMUM.replace("expf(v - most)", "exp2f((v - most) * 1.44269504f)")),),
        ),
        wrong=(
            (((POWER, "  float e = expf(v - 100);"),), "takes 0 / 0"),
            (((POWER, "  float e = expf(fminf(v, 80));"),), "come out as"),
            (((POWER, "  float e = __expf(v);"),), "takes inf / inf"),
            (((POWER, MAXIMUM.replace("xor", "down")),), "own place on"),
            (
                ((POWER, "  double e = exp((double)v);"), ("float sum = e", "double sum = e")),
                "whatever the numbers are",
            ),
            ((("e / sum", "isnan(e / sum) ? 0 : e / sum"),), "is nothing but 0"),
        ),
    ),
    bug(
        "row-of-minus-infinity",
        right=(
            (("expf(v - most)", "most == -INFINITY ? 0 : expf(v - most)"), ("= e / sum", "= sum == 0 ? 0 : e / sum")),
            (("expf(v - most)", "expf(v - fmaxf(most, -1e30f))"), ("= e / sum", "= sum == 0 ? 0 : e / sum")),
            (("= e / sum", "= most == -INFINITY ? 0 : e / sum"),),
        ),
        wrong=(
            ((("expf(v - most)", "most == -INFINITY ? 0 : expf(v - most)"),), "takes 0 / 0"),
            ((("= e / sum", "= sum == 0 ? 0 : e / sum"),), "takes -inf - -inf"),
            ((("e / sum", "e / (sum + 1e-9f)"),), "takes -inf - -inf"),
            ((("expf(v - most)", "expf(v)"),), "Not yet: "),
        ),
    ),
    bug(
        "sum-in-half",
        right=(
            (*IN_HALF, (ADD_HALF, "    sum += __half2float(x[row * 32 + threadIdx.x]);")),
            (*IN_HALF, (ADD_HALF, "    sum += (float)x[row * 32 + threadIdx.x];"), ("float sum = 0", "double sum = 0")),
        ),
        wrong=(
            ((("__hadd(", "__hadd_sat("),), "change nothing in"),
            (
                (*IN_HALF, (ADD_HALF, "    sum = __half2float(__hadd(__float2half(sum), x[row * 32 + threadIdx.x]));")),
                "ones are lost",
            ),
            ((("row = 0; row < rows; ++row", "row = rows - 1; row >= 0; --row"),), "rounded to a half"),
            ((("__half2float(sum)", "__half2float(sum) + 0"),), "ones are lost"),
        ),
    ),
    bug(
        "down-the-columns",
        right=(
            (("[32][32]", "[32][33]"),),
            (("[32][32]", "[32][35]"),),
            (("tile[k][lane]", "tile[k][lane ^ k]"), ("tile[lane][k]", "tile[lane][k ^ lane]")),
        ),
        wrong=(
            ((("[32][32]", "[33][32]"),), "lanes meet in bank"),
            ((("[32][32]", "[32][34]"),), "lanes meet in bank"),
            (
                (("tile[k][lane] =", "tile[lane][k] ="), ("= tile[lane][k]", "= tile[k][lane]")),
                "lanes meet in bank",
            ),
            ((("[32][32]", "[32][64]"),), "lanes meet in bank"),
            (
                (("[32][32]", "[32][33]"), ("y[k * 32 + lane] = tile[lane][k]", "y[k * 32 + lane] = tile[k][lane]")),
                "each number stands where it stood before",
            ),
        ),
    ),
    bug(
        "a-piece-for-each-thread",
        right=(
            ((FIRST, "blockIdx.x * 512 + threadIdx.x"), (EIGHT, EIGHT.replace("first + k", "first + 64 * k"))),
            ((FIRST, "blockIdx.x * blockDim.x + threadIdx.x"), (EIGHT, EIGHT.replace("first + k", "first + k * 128"))),
        ),
        wrong=(
            ((("#pragma unroll 1\n", "#pragma unroll\n"),), "would be next to each other"),
            (((EIGHT, EIGHT.replace("first + k", "first + 64 * k")),), "and the last one is"),
            (((FIRST, "threadIdx.x"), (EIGHT, EIGHT.replace("first + k", "first + 64 * k"))), "Not yet: "),
            (
                ((EIGHT, PACKS_OF_FOUR),),
                "would be next to each other",
            ),
        ),
    ),
    bug(
        "everybody-adds",
        right=(
            ((ADD_ONE, BALLOTS),),
            ((ADD_ONE, COUNTS_OF_BLOCKS),),
            ((ADD_ONE, SHUFFLED_COUNTS),),
        ),
        wrong=(
            (
                ((ADD_ONE, "  if (x[i] > 0) atomicAdd(&count[i % 2], 1);"),),
                "take turns",
            ),
            (((ADD_ONE, "  count[i % 2] += x[i] > 0;"),), "one stores over what"),
            (
                ((ADD_ONE, BALLOTS.replace("0xaaaaaaaa : 0x55555555", "0x55555555 : 0xaaaaaaaa")),),
                "have changed places",
            ),
            (((ADD_ONE, "  atomicAdd_block(&count[i % 2], x[i] > 0);"),), "Not yet: "),
        ),
    ),
)

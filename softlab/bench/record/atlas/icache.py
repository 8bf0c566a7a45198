"""A kernel that is larger than the instruction caches: chunks of independent FADD, of which a launch runs the first."""

from __future__ import annotations

#: Chunks of the kernel, and instructions of a chunk that are measured.
CHUNKS, STEPS = 128, 126
#: Bytes of a chunk with its comparison and branch.
CHUNK_BYTES = 128 * 16
#: Chunks that a loop runs over.
SIZES = (1, 2, 4, 6, 8, 12, 16, 20, 24, 32, 40, 48, 56, 64, 72, 80, 96, 112, 128)
_STREAMS = 7


def source(name: str, each: bool = False) -> str:
    """The kernel: ``rounds`` times the first p0 chunks. ``out[4 * block]`` gets the cycles of the first round and of
    the last one. In mode 1 the block runs only on SM p1. each: ``out[4 * warp]`` gets the SM of each warp, and its
    clocks of the beginning and of the end of all rounds."""
    chunks = []
    for k in range(CHUNKS):
        steps = "".join(
            f'asm volatile("add.f32 %0, %0, %1;" : "+f"(x{n % _STREAMS}) : "f"(a));\n' for n in range(STEPS)
        )
        chunks.append(f"{steps}if (p0 == {k + 1}) goto done;\n")
    xs = ", ".join(f"x{i} = a + {i}" for i in range(_STREAMS))
    total = " + ".join(f"x{i}" for i in range(_STREAMS))
    warps = """if ((threadIdx.x & 31) == 0) {
    asm volatile("mov.u32 %0, %%smid;" : "=r"(spent));
    u32* o = out + 4 * ((blockIdx.x * blockDim.x + threadIdx.x) >> 5); o[0] = spent; o[1] = all; o[2] = end; }"""
    block = "if (threadIdx.x == 0) { out[64 + 4 * blockIdx.x] = first; out[65 + 4 * blockIdx.x] = spent; }"
    return f"""typedef unsigned u32;
extern "C" __global__ void __launch_bounds__(1024) {name}(
    u32* out, const char* in, char* memory, u32 rounds, u32 mode, u32 p0, u32 p1) {{
  const float a = __uint_as_float(p1);
  float {xs};
  u32 begin, end, all = 0, first = 0, spent = 0;
#pragma unroll 1
  for (u32 r = 0; r < rounds; ++r) {{
    asm volatile("mov.u32 %0, %%clock;" : "=r"(begin) :: "memory");
{"".join(chunks)}
done:
    asm volatile("mov.u32 %0, %%clock;" : "=r"(end) :: "memory");
    spent = end - begin;
    if (r == 0) {{ first = spent; all = begin; }}
  }}
  {warps if each else block}
  if ({total} == 12345.0f) out[0] = 1;
}}
"""

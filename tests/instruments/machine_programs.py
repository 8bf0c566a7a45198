"""Programs whose machine code the control codes are checked on: shipped kernels, the gallery, and rare instructions."""

from __future__ import annotations

from functools import lru_cache

import softlab
from softlab.cuda.compile import Program, compile_program, kernel_folder
from softlab.errors import PlanError
from tests.hardware.cases import ARCH, all_cases
from tests.kernels.cases import program_of

#: Instructions that the shipped kernels hardly have: conversions, bit counts, atomics, votes, a loop in local memory.
RARE = r"""
extern "C" __global__ void rare(const double* x, int* out, unsigned long long* wide, int n) {
  __shared__ int bins[32];
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  bins[threadIdx.x % 32] = k;
  __syncthreads();
  int stack[40];
  for (int j = 0; j < n; ++j) stack[(j * 7) % 40] = j + k;
  const double value = x[k];
  int sum = __popc(k) + __clz(n) + __ffs(k) + __brev(n) + (int)rint(value) + (int)(float)value + stack[n % 40];
  sum += atomicAdd(&bins[sum & 31], k) + atomicCAS(&bins[n & 31], k, n);
  wide[k] = atomicMax(&wide[n], (unsigned long long)llrint(value)) + (unsigned long long)(k / n);
  if (__any_sync(0xffffffff, sum > n)) sum += __shfl_sync(0xffffffff, sum, k & 31) + k % n;
  atomicAdd(&out[n], (int)__ballot_sync(0xffffffff, sum & 1));
  out[k] = sum + bins[(k + 1) % 32] + (int)(value / (double)n) + (int)sqrtf((float)k) + (int)((long long)sum / (n + k));
}
"""
#: Lengths for which the policy "fast" takes each of its kernels.
FAST_COLS = (8, 300, 5000, 20000, 1 << 20)


def gallery(arch: str, most: int = 1000) -> list[Program]:
    """The kernels of the gallery and the softmax kernels that are measured on a GPU, of about ``most`` cases.

    For the GPU's own architecture they are the programs of the cases, which other tests compile, too: some have several
    kernels.
    """
    cases = sorted(all_cases(), key=lambda case: case.name)
    launches = [case.launch() for case in cases[:: max(1, len(cases) // most)]]
    if arch == ARCH:
        programs = (launch.compile() for launch in launches)
        return list({program.cubin: program for program in programs}.values())
    found = []
    for file, kernel, options in sorted({(one.file, one.kernel, one.options) for one in launches}):
        path = kernel_folder() / "gallery" / file
        source = (path if path.exists() else kernel_folder() / file).read_text()
        found.append(compile_program(source, kernel, arch=arch, options=options, file=file))
    return found


def fast(device: str = "H200") -> list[Program]:
    """The kernels of the policy "fast", forward and backward."""
    found: dict[str, Program] = {}
    for op in ("softmax", "log_softmax_backward"):
        for cols in FAST_COLS:
            try:
                plan = softlab.plan(64, cols, "float16", op=op, policy="fast", device=device)
            except PlanError:
                continue
            found.setdefault(plan.name, program_of(plan))
    return list(found.values())


@lru_cache(maxsize=16)
def few(arch: str) -> tuple[Program, ...]:
    """Small programs that compile in a moment."""
    names = (
        ("transpose.cu", "transpose<Tile::plain>"),
        ("histogram.cu", "histogram_shared_atomics"),
        ("scan.cu", "scan_blelloch"),
        ("branches.cu", "nested_conditions"),
        ("blocked_product.cu", "matrix_vector"),
    )
    folder = kernel_folder() / "gallery"
    programs = [compile_program((folder / file).read_text(), name, arch=arch, file=file) for file, name in names]
    return (*programs, compile_program(RARE, "rare", arch=arch, file="rare.cu"))

from __future__ import annotations

from tests.course.answers import Answers, kernel

DIFFERENCE, TURN, SUM = "13-mend-the-difference", "13-find-what-is-missing", "13-let-all-lanes-help"
HEAD = """__global__ void add_up(const float* x, float* total) {
  __shared__ float part[256];
  float sum = 0;
  for (int i = threadIdx.x; i < 4096; i += 256) sum += x[i];
  part[threadIdx.x] = sum;
"""
#: As the notebook has it.
ONE_LANE = """  __syncthreads();
  if (threadIdx.x == 0) {
    #pragma unroll 1
    for (int i = 1; i < 256; ++i) sum += part[i];
    *total = sum;
  }
}"""
TREE = """  for (int far = 128; far; far /= 2) {
    __syncthreads();
    if (threadIdx.x < far) part[threadIdx.x] += part[threadIdx.x + far];
  }
  if (threadIdx.x == 0) *total = part[0];
}"""

ANSWERS = (
    Answers(
        DIFFERENCE,
        right=(kernel(DIFFERENCE), kernel(DIFFERENCE, ("i < n - 1", "i + 1 < n"))),
        wrong=(
            (kernel(DIFFERENCE, ("i < n - 1", "i < n")), "global-out-of-bounds on line 3, with n = 1000"),
            (kernel(DIFFERENCE, ("i < n - 1", "i + 2 < n")), "d[998] is -1.0"),
            (kernel(DIFFERENCE, ("x[i + 1] - x[i]", "x[i] - x[i + 1]")), "d[0] is"),
            (kernel(DIFFERENCE, ("i < n - 1", "i < 999")), "with n = 1024, d[999] is -1.0"),
            (kernel(DIFFERENCE, ("int i =", "int j =")), 'Line 3: identifier "i" is undefined'),
        ),
    ),
    Answers(
        TURN,
        right=(kernel(TURN),),
        wrong=(
            (kernel(TURN, ("__syncthreads();", "")), "race on line 6"),
            # A barrier for a warp alone is not enough: other warps wrote what is read.
            (kernel(TURN, ("__syncthreads();", "__syncwarp();")), "before the other goes on"),
            (kernel(TURN, ("part[255 - threadIdx.x]", "part[threadIdx.x]")), "t[0] is"),
            (kernel(TURN, ("__syncthreads();", "if (threadIdx.x < 32) __syncthreads();")), "Not yet: "),
        ),
    ),
    Answers(
        SUM,
        right=(kernel(SUM),),
        wrong=(
            (HEAD + ONE_LANE, "instructions, 1000 possible, most on line 9"),
            (HEAD + TREE, "64 barriers, 8 possible"),
            (kernel(SUM, ("far = 4", "far = 2")), "total[0] is"),
            (kernel(SUM, ("__syncthreads();", "")), "race on line 9"),
            (HEAD + "}", "total[0] is nan (not written?)"),
        ),
    ),
)

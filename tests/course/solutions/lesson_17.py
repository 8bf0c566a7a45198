from __future__ import annotations

from tests.course.answers import Answers, kernel

TWICE = "17-neighbours-together"
#: As the notebook has it.
COLUMNS = ("row = i / cols, col = i % cols", "row = i % rows, col = i / rows")
PLAIN = """__global__ void twice(const float* x, float* y, int rows, int cols) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < rows * cols) y[i] = x[i] + x[i];
}"""

ANSWERS = (
    Answers(
        TWICE,
        right=(kernel(TWICE), PLAIN),
        wrong=(
            (kernel(TWICE, COLUMNS), "the neighbour of a lane"),
            (kernel(TWICE, ("y[row * cols + col]", "y[col * rows + row]")), "y[0, 1] is"),
            (kernel(TWICE, ("  if (i >= rows * cols) return;\n", "")), "There are more threads than elements"),
            (kernel(TWICE, ("2 * x", "x")), "y[0, 0] is"),
            (PLAIN.replace("i < rows", "i < 1000 && i < rows"), "y["),
        ),
    ),
)

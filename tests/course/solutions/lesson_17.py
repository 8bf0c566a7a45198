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
    Answers("17-two-columns-more", right=(2,), wrong=((1, "2 banks"), (32, "without"), (16, "banks the lanes use"))),
    Answers(
        "17-three-floats-apart",
        right=(12,),
        wrong=((4, "neighbouring"), (32, "more than one"), (96, "how many")),
    ),
    Answers(
        TWICE,
        right=(kernel(TWICE), PLAIN),
        wrong=(
            (kernel(TWICE, COLUMNS), "the neighbour of a lane"),
            (kernel(TWICE, ("y[row * cols + col]", "y[col * rows + row]")), "y[0, 1] is"),
            (kernel(TWICE, ("  if (i >= rows * cols) return;\n", "")), "a test has to keep it out"),
            (kernel(TWICE, ("2 * x", "x")), "y[0, 0] is"),
            (PLAIN.replace("i < rows", "i < 1000 && i < rows"), "y["),
        ),
    ),
)

from __future__ import annotations

from tests.course.answers import Answers, kernel

KERNEL = "07-give-registers-back"
#: As the notebook has it, all 48 numbers held.
HELD = """extern "C" __global__ void log_sum_exp(const float* x, float* y) {
  float held[48];
  for (int i = 0; i < 48; ++i) held[i] = x[i * 256 + threadIdx.x];
  float largest = held[0];
  for (int i = 1; i < 48; ++i) largest = fmaxf(largest, held[i]);
  float sum = 0;
  for (int i = 0; i < 48; ++i) sum += __expf(held[i] - largest);
  y[threadIdx.x] = largest + __logf(sum);
}
"""

ANSWERS = (
    Answers(
        "07-room-for-five",
        right=(45_568,),
        wrong=(
            (46_694, "1024 bytes of each block"),
            (45_670, "handed out together"),
            (45_569, "units of 128"),
            (49_152, "240 KiB"),
            (28_160, "eight"),
            (45_000, "A fifth"),
        ),
    ),
    Answers(
        "07-blocks-of-768",
        right=(80,),
        wrong=((85, "to a warp"), (84, "get?"), (64, "fewer"), (255, "65 536 registers"), (32, "24 warps")),
    ),
    Answers(
        KERNEL,
        right=(kernel(KERNEL),),
        wrong=(
            (HELD, "8 are asked for"),
            (HELD.replace("void log", "void __launch_bounds__(256, 8) log"), "are spilled"),
            (HELD.replace("void log", "void __launch_bounds__(256) log"), "registers run out first"),
            (kernel(KERNEL, ("int i = 0", "int i = 1")), "left out of a sum"),
            # The largest is left in: right around 0, infinite far from it.
            (kernel(KERNEL, (" - largest", ""), ("largest + ", "")), "numbers around 200, y[0] is inf"),
        ),
    ),
)

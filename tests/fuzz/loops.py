"""Random kernels with nested loops and branches over loads: the same with compiled loops and step by step."""

from __future__ import annotations

import random
from dataclasses import fields

import numpy as np

from softlab import KernelFault
from softlab.kernel import Kernel

_WORDS = 64


class _Source:
    """The body of a kernel, made of a number."""

    def __init__(self, number: int) -> None:
        self._random = random.Random(number)
        self._counters = 0

    def text(self) -> str:
        """CUDA C++."""
        body = "\n".join(self._statements(3))
        return f"""extern "C" __global__ void loops(const unsigned* t, const float* f, unsigned* y, int n) {{
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x, a = i * 2654435761u, b = i ^ n, c = n;
  float x = i * 0.25f, z = 1;
{body}
  y[i] = a ^ b * 3 ^ c * 5 ^ __float_as_uint(x) ^ __float_as_uint(z);
}}"""

    def _statements(self, depth: int) -> list[str]:
        return [line for _ in range(self._random.randint(1, 4)) for line in self._statement(depth)]

    def _statement(self, depth: int) -> list[str]:
        kind = self._random.choice(["set", "set", "load", "float"] + ["if", "loop", "loop", "while"] * (depth > 0))
        name = self._random.choice("abc")
        if kind == "set":
            return [f"  {name} = {self._value()};"]
        if kind == "load":
            return [f"  {name} {self._random.choice(['^=', '+=', '='])} t[{self._value()} & {_WORDS - 1}];"]
        if kind == "float":
            target = self._random.choice("xz")
            return [f"  {target} = {self._random.choice('xz')} * 0.75f + f[{self._value()} & {_WORDS - 1}];"]
        inner = self._statements(depth - 1)
        if kind == "if":
            other = ["  } else {", *self._statements(depth - 1)] if self._random.random() < 0.5 else []
            return [f"  if ({self._condition()}) {{", *inner, *other, "  }"]
        self._counters += 1
        counter, jump = f"k{self._counters}", []
        if self._random.random() < 0.4:
            jump = [f"  if ({self._condition()}) {self._random.choice(['break', 'continue'])};"]
        turns = self._random.choice(["n", f"({self._value()} & 7)", "5"])
        if kind == "loop":
            head = f"  for (unsigned {counter} = 0; {counter} < {turns}; ++{counter}) {{"
        else:
            head = f"  for (unsigned {counter} = {turns}; {counter} > 0 && ({self._condition()}); --{counter}) {{"
        return ["  #pragma unroll 1", head, *jump, *inner, f"  a += {counter};", "  }"]

    def _value(self) -> str:
        one, two = (self._random.choice("abc") for _ in range(2))
        number = self._random.randint(0, 40)
        forms = ["({0} + {1})", "({0} ^ {1} >> 3)", "({0} * 5 + {2})", "({0} - {2})", "({0} & {1} | {2})"]
        return self._random.choice(forms).format(one, two, number)

    def _condition(self) -> str:
        name, number = self._random.choice("abc"), self._random.randint(1, 9)
        forms = ["{0} & {1}", "{0} >> {1} & 1", "{0} > {1}u << 26", "x < {1}.5f", "z > x"]
        return self._random.choice(forms).format(name, number)


def kernel(number: int) -> Kernel:
    """The kernel of this number."""
    return Kernel(_Source(number).text(), "loops")


def launch(number: int) -> tuple[np.ndarray, np.ndarray, int, int, int]:
    """Its words, its floats, the turns of a loop, blocks, and threads per block."""
    draw = np.random.default_rng(number)
    words, floats = draw.integers(0, 2**32, _WORDS, "u4"), draw.random(_WORDS, "f4")
    if number % 5 == 0:
        words = words[: _WORDS // 2]  # some lanes leave the array
    blocks, threads = int(draw.integers(1, 4)), int(draw.integers(1, 100))
    return words, floats, int(draw.integers(0, 7)), blocks, threads


def differences(number: int) -> list[str]:
    """What differs between both ways, for the program of this number."""
    words, floats, turns, blocks, threads = launch(number)
    own, found = kernel(number), []
    for how in ("none", "all"):
        y = np.zeros(blocks * threads, "u4")
        check = ("collect", True, False)[number % 3]
        try:
            run = own.run(
                blocks, threads, (words, floats, y, turns), compiled=how, check=check, blocks=(0, blocks - 1),
                budget=60_000,
            )  # fmt: skip
        except KernelFault as fault:
            found.append({"fault": f"{fault} {fault.thread} {fault.block}"})
            continue
        records = {field.name: getattr(run.global_, field.name).tobytes() for field in fields(run.global_)}
        findings = [(f.kind, f.line, f.thread, f.count) for f in run.findings]
        assert run.instructions is not None
        counts = run.instructions.counts.tobytes()
        values = {"y": y.tobytes(), "counters": counts, "lanes": run.lane_instructions, "findings": findings}
        found.append({**values, **records})
    one, two = found
    return [f"{name} differs" for name in {**one, **two} if one.get(name) != two.get(name)]

"""What is fused to a random case: scale, bias, mask, causal mask, dropout, and the layout of the operands in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.random_cases import values

Generator = np.random.Generator

#: Lengths of the axis of fused cases: fewer than of plain ones, as every fusion is a kernel of its own.
COLS = (1, 2, 5, 33, 64, 130, 1000, 1025, 2048, 6137, 12275, 20_000)
_COLS_SHARES = (0.04, 0.12, 0.15, 0.15, 0.14, 0.12, 0.08, 0.08, 0.06, 0.02, 0.02, 0.02)
#: What is fused together, in the order of the loads.
TOGETHER = (
    ("scale",),
    ("bias",),
    ("mask",),
    ("causal",),
    ("dropout",),
    ("scale", "mask"),
    ("scale", "causal", "dropout"),
    ("scale", "bias", "mask", "dropout"),
    ("scale", "bias", "mask", "causal", "dropout"),
)
SCALES = (0.125, -1.7, 1e-3, 30.0, 1.0)
FILLS = (-np.inf, -np.inf, -10_000.0, 0.5)
PROBABILITIES = (0.1, 0.5, 0.9)


@dataclass(frozen=True)
class CaseFusion:
    """What is fused; None and False: not.

    ``bias`` and ``mask`` say which of the last dimensions the operand has elements of its own for, from the last
    backwards when there are fewer than the case has. ``layout`` and ``kind`` are those of the operands' memory and of
    the bias's values, ``mask_dtype`` "bool" or "uint8".
    """

    scale: float | None = None
    bias: tuple[bool, ...] | None = None
    mask: tuple[bool, ...] | None = None
    mask_dtype: str = "bool"
    fill: float = -np.inf
    causal: bool = False
    diagonal: int = 0
    dropout: float = 0.0
    seed: int = 0
    layout: str = "plain"
    kind: str = "normal"

    @property
    def name(self) -> str:
        """What is fused, in words."""
        parts = {"scale": self.scale is not None, "bias": self.bias is not None, "mask": self.mask is not None}
        parts |= {"causal": self.causal, "dropout": self.dropout > 0}
        return "+".join(part for part, there in parts.items() if there) or "nothing"


def operand_shape(varies: Sequence[bool], shape: Sequence[int]) -> tuple[int, ...]:
    """The shape of an operand that broadcasts to a shape."""
    own = list(varies)[-len(shape) :] if shape else []
    sizes = shape[len(shape) - len(own) :]
    return tuple(size if alone else 1 for size, alone in zip(sizes, own, strict=True))


def drawn_fusion(
    random: Generator, op: str, dimensions: int, last_axis: bool, layouts: Sequence[str]
) -> CaseFusion | None:
    """What is fused to an operator; None where nothing that it could take was drawn."""
    wanted = set(TOGETHER[int(random.integers(len(TOGETHER)))])
    if op.endswith("backward"):
        wanted.discard("bias")
    if op.startswith("log"):
        wanted.discard("dropout")
    if not last_axis or dimensions < 2:
        wanted.discard("causal")
    if not wanted:
        return None
    return CaseFusion(
        scale=float(random.choice(SCALES)) if "scale" in wanted else None,
        bias=_varies(random, dimensions) if "bias" in wanted else None,
        mask=_varies(random, dimensions) if "mask" in wanted else None,
        mask_dtype=str(random.choice(["bool", "uint8"])),
        fill=float(random.choice(FILLS)) if not op.endswith("backward") else -np.inf,
        causal="causal" in wanted,
        diagonal=int(random.integers(-2, 6)) if "causal" in wanted else 0,
        dropout=float(random.choice(PROBABILITIES)) if "dropout" in wanted else 0.0,
        seed=int(random.integers(2**63)) * 2 + 1 if "dropout" in wanted else 0,
        layout=str(random.choice(layouts)) if random.random() < 0.4 else "plain",
        kind=str(random.choice(list(values.KINDS))) if random.random() < 0.3 else "normal",
    )


def _varies(random: Generator, dimensions: int) -> tuple[bool, ...]:
    """Mostly all dimensions, the last alone, all except the last, all except one; else any."""
    own = [True] * dimensions
    choice = random.random()
    if choice < 0.2:
        own = own[-1:]
    elif choice < 0.4 and own:
        own[-1] = False
    elif choice < 0.6 and own:
        own[int(random.integers(dimensions))] = False
    elif choice < 0.7:
        own = [bool(random.random() < 0.5) for _ in range(int(random.integers(0, dimensions + 1)))]
    return tuple(own)


def drawn_cols(random: Generator) -> int:
    """The length of the axis of a fused case."""
    return COLS[int(random.choice(len(COLS), p=_COLS_SHARES))]


def simpler(fusion: CaseFusion) -> list[CaseFusion | None]:
    """With one thing less; None where nothing is left."""
    without: dict[str, Any] = {"scale": None, "bias": None, "mask": None, "causal": False, "dropout": 0.0}
    found: list[CaseFusion | None] = [None]
    for name, nothing in without.items():
        if getattr(fusion, name) != nothing:
            less = replace(fusion, **{name: nothing}, **({"diagonal": 0} if name == "causal" else {}))
            found.append(less if less.name != "nothing" else None)
    for name, plain in (("layout", "plain"), ("kind", "normal"), ("mask_dtype", "bool")):
        if getattr(fusion, name) != plain:
            found.append(replace(fusion, **{name: plain}))
    return found

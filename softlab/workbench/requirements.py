"""What a check demands of a run: comparisons of counters, such as "global_load_sectors <= 1.02 * ideal"."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from softlab.traces import COUNTERS, Run
from softlab.workbench.figures import access_figures, occupancy_of

_COMPARISONS: dict[type[ast.cmpop], Callable[[float, float], bool]] = {
    ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}  # fmt: skip
_ARITHMETIC: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv,
}  # fmt: skip
#: Counter -> the accesses whose least gives ``ideal``.
_IDEAL = {
    f"{space}_{kind}_{unit}": (space, kind == "store")
    for space, unit in (("global", "sectors"), ("shared", "wavefronts"))
    for kind in ("load", "store")
}
_FACTS = ("registers", "spill_bytes", "smem_bytes", "occupancy", "microseconds")
#: Names that a requirement may have, beside ``ideal``.
NAMES = (*COUNTERS, *_FACTS)


@dataclass(frozen=True)
class Requirement:
    """One comparison. ``text`` is as written; ``names``: the counters and facts in it.

    ``ideal`` is the least that the one counter of the comparison could be: the sectors or wavefronts that hold the
    same bytes.
    """

    text: str
    names: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Requirement:
        """The requirement in a text. Nothing of it is executed.

        Raises:
            ValueError: no comparison, an unknown name, or ``ideal`` beside no counter that has one.
        """
        found = tuple(dict.fromkeys(n.id for n in ast.walk(_comparison(text)) if isinstance(n, ast.Name)))
        for name in found:
            if name not in NAMES and name != "ideal":
                raise ValueError(f"{text!r}: {name} is no counter; there are {', '.join(NAMES)}, and ideal")
        if "ideal" in found and sum(name in _IDEAL for name in found) != 1:
            raise ValueError(f"{text!r}: ideal belongs to one of {', '.join(_IDEAL)}")
        requirement = cls(text, tuple(name for name in found if name != "ideal"))
        requirement._holds(dict.fromkeys(found, 1.0))  # refuses what is no arithmetic
        return requirement

    def unmet(self, run: Run, microseconds: float | None = None) -> str:
        """A sentence with the values, "" where the requirement holds.

        Raises:
            ValueError: the run does not have a value.
        """
        values = {name: _value(name, run, microseconds) for name in self.names}
        if "ideal" in self.text:
            (name,) = (name for name in self.names if name in _IDEAL)
            space, store = _IDEAL[name]
            values["ideal"] = sum(o.least for o in access_figures(run) if (o.space, o.store) == (space, store))
        if self._holds(values):
            return ""
        return f"{self.text} does not hold: {', '.join(f'{name} is {value:.6g}' for name, value in values.items())}"

    def _holds(self, values: Mapping[str, float]) -> bool:
        node = _comparison(self.text)
        sides = [_number(side, values, self.text) for side in (node.left, *node.comparators)]
        return all(
            _COMPARISONS[type(sign)](left, right) for sign, left, right in zip(node.ops, sides, sides[1:], strict=False)
        )


def _comparison(text: str) -> ast.Compare:
    try:
        node = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        node = None
    if not isinstance(node, ast.Compare) or not all(type(sign) in _COMPARISONS for sign in node.ops):
        raise ValueError(f"{text!r}: write a comparison, such as bank_conflicts == 0")
    return node


def _number(node: ast.expr, values: Mapping[str, float], text: str) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return float(node.value)
    if isinstance(node, ast.Name):
        return values[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return -_number(node.operand, values, text)
    if isinstance(node, ast.BinOp) and type(node.op) in _ARITHMETIC:
        left, right = _number(node.left, values, text), _number(node.right, values, text)
        if right or not isinstance(node.op, ast.Div):
            return _ARITHMETIC[type(node.op)](left, right)
        raise ValueError(f"{text!r}: a division by 0")
    raise ValueError(f"{text!r}: write numbers, counters, + - * / and a comparison")


def _value(name: str, run: Run, microseconds: float | None) -> float:
    if name in COUNTERS:
        return float(run.counters[name])
    if name == "microseconds":
        if microseconds is None:
            raise ValueError("this run has no estimate of its time")
        return microseconds
    if name == "spill_bytes":
        return float(run.spill_bytes)
    if name == "smem_bytes":
        return float(run.static_smem_bytes + run.smem_bytes)
    held = occupancy_of(run)
    if held is None or run.registers is None:
        raise ValueError("the registers of this kernel are not known")
    return float(run.registers) if name == "registers" else held.fraction

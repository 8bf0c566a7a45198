"""Which changes are made: a random sample of cosmic-ray's, without those that change nothing that runs."""

from __future__ import annotations

import ast
import hashlib
import json
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
#: What the command keeps between its calls; git ignores it.
RECORD = ROOT / ".mutation"
EQUIVALENT = Path(__file__).with_name("equivalent.json")

#: What is mutated: name -> modules.
AREAS: dict[str, tuple[str, ...]] = {
    "instruments": ("softlab/instruments/*.py",),
    "emulator": ("softlab/emulator/**/*.py",),
    "dispatch": ("softlab/plans/*.py", "softlab/hardware/occupancies.py"),
    "operators": ("softlab/operators/*.py",),
    "grading": ("softlab/course/*.py",),
}


@dataclass(frozen=True)
class Mutant:
    """One change: the n-th place in ``path`` where the operator applies; from ``start`` to ``end``: line, column."""

    area: str
    path: str
    operator: str
    occurrence: int
    start: tuple[int, int]
    end: tuple[int, int]


def behaviour(code: str) -> str:
    """The code without annotations and positions: two texts that share it do the same.

    Also without strict= of zip(), which only asserts that the lengths are equal. All negative sizes of reshape() are
    one: NumPy takes each of them as the size that follows from the others.
    """
    tree = ast.parse(code)
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            node.returns = None
        elif isinstance(node, ast.arg):
            node.annotation = None
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "zip":
            node.keywords = [given for given in node.keywords if given.arg != "strict"]
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "reshape":
            node.args = [ast.Constant(-1) if _is_negative(size) else size for size in node.args]
        elif isinstance(node, ast.AnnAssign):
            node.annotation = ast.Constant(None)
    return ast.dump(tree)


def _is_negative(size: ast.expr) -> bool:
    """Whether this is an integer below 0, as it stands in the code: such as -1 or ~1."""
    if not isinstance(size, ast.UnaryOp) or not isinstance(size.operand, ast.Constant):
        return False
    least = {ast.USub: 1, ast.Invert: 0}.get(type(size.op))
    return least is not None and isinstance(size.operand.value, int) and size.operand.value >= least


def modules(area: str) -> list[str]:
    """The modules of an area, relative to the checkout."""
    return sorted({path.relative_to(ROOT).as_posix() for pattern in AREAS[area] for path in ROOT.glob(pattern)})


def mutants(area: str) -> list[Mutant]:
    """All mutants of an area. To find them takes a minute, so those of a module are kept until it changes."""
    kept = RECORD / f"{area}.mutants.json"
    before = json.loads(kept.read_text()) if kept.exists() else {}
    found = {}
    for name in modules(area):
        path = ROOT / name
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        known = before.get(name)
        if known is None or known["digest"] != digest:
            known = {"digest": digest, "mutants": [
                (m.operator, m.occurrence, m.start, m.end) for m in _mutants(area, [path])
            ]}  # fmt: skip
        found[name] = known
    RECORD.mkdir(exist_ok=True)
    kept.write_text(json.dumps(found))
    return [
        Mutant(area, path, operator, number, tuple(start), tuple(end))
        for path, module in found.items()
        for operator, number, start, end in module["mutants"]
    ]


def _mutants(area: str, paths: Sequence[Path]) -> Iterator[Mutant]:
    from cosmic_ray.commands import init
    from cosmic_ray.work_db import WorkDB, use_db

    with tempfile.TemporaryDirectory() as folder, use_db(str(Path(folder) / "session"), WorkDB.Mode.create) as session:
        init(paths, session, {})
        for item in session.work_items:
            (change,) = item.mutations
            path = str(Path(change.module_path).relative_to(ROOT))
            yield Mutant(area, path, change.operator_name, change.occurrence, change.start_pos, change.end_pos)


def mutated(mutant: Mutant, code: str) -> str | None:
    """The module's code with the change; None where it changes nothing that runs."""
    from cosmic_ray.mutating import mutate_code
    from cosmic_ray.plugins import get_operator

    changed = mutate_code(code, get_operator(mutant.operator)(), mutant.occurrence)
    try:
        return changed if changed is not None and behaviour(changed) != behaviour(code) else None
    except SyntaxError:
        return None


def difference(before: str, after: str) -> tuple[str, str]:
    """(the line before, the line after) of a change of one place."""
    for old, new in zip(before.splitlines(), after.splitlines(), strict=False):
        if old != new:
            return old.strip(), new.strip()
    return "", ""


def sample(areas: Sequence[str], count: int, seed: int, only: Sequence[str]) -> list[tuple[Mutant, str]]:
    """(mutant, its module's code) of that many mutants, drawn evenly from the areas.

    Arguments:
        only: parts of ``path:line``; a mutant that contains none of them is not drawn.
    """
    draw = random.Random(seed)
    known = {(entry["path"], entry["before"], entry["after"]) for entry in json.loads(EQUIVALENT.read_text())}
    drawn: list[tuple[Mutant, str]] = []
    for number, area in enumerate(areas):
        found = [m for m in mutants(area) if any(part in f"{m.path}:{m.start[0]}" for part in only)]
        draw.shuffle(found)
        left = count // len(areas) + (number < count % len(areas))
        for mutant in found:
            if not left:
                break
            code = (ROOT / mutant.path).read_text()
            changed = mutated(mutant, code)
            if changed is not None and (mutant.path, *difference(code, changed)) not in known:
                drawn.append((mutant, changed))
                left -= 1
    return drawn

"""Parameters of functions that nobody can give by their names, but for those beside names that the caller chooses."""

from __future__ import annotations

import ast
import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
#: What may be the mark of such parameters; to look for it is quicker than to parse a file.
_MARK = re.compile(r"(^|[(,])\s*/\s*[,)]", re.MULTILINE)


def positional_only(*paths: str) -> list[str]:
    """ "file:line: function" of each function in these files and folders that has such parameters."""
    files = [
        file for path in paths for file in ([ROOT / path] if path.endswith(".py") else (ROOT / path).rglob("*.py"))
    ]
    assert files
    found = []
    for file in files:
        text = file.read_text()
        for node in ast.walk(ast.parse(text)) if _MARK.search(text) else ():
            if isinstance(node, ast.FunctionDef | ast.Lambda) and node.args.posonlyargs and not node.args.kwarg:
                found.append(f"{file.relative_to(ROOT)}:{node.lineno}: {getattr(node, 'name', 'lambda')}")
    return found

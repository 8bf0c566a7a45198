"""The pages of the site that are no lessons."""

from __future__ import annotations

import importlib
import inspect
from types import ModuleType
from typing import Any

import pytest

from softlab.site.documents import MODULES, _with_lessons


def public(module: str) -> dict[str, Any]:
    """The public names of a module: what it exports, else what it defines."""
    found = importlib.import_module(module)
    own = [name for name, value in vars(found).items() if getattr(value, "__module__", "") == module]
    names = getattr(found, "__all__", own)
    return {name: getattr(found, name) for name in names if not name.startswith("_")}


@pytest.mark.parametrize("module", MODULES)
def test_every_public_name_has_a_docstring_and_every_module_a_page(module):
    names = public(module)
    assert names
    assert importlib.import_module(module).__doc__
    assert [value.__name__ for value in names.values()
            if isinstance(value, ModuleType) and value.__name__ not in MODULES] == []  # fmt: skip
    written = {name for name, value in names.items() if inspect.isclass(value) or inspect.isroutine(value)}
    assert [name for name in sorted(written) if not inspect.getdoc(names[name])] == []


def test_the_glossary_leads_to_its_lessons():
    found = _with_lessons("- **L2**: The cache. (lesson 00, 06)")
    assert found.endswith(
        "(lesson [00](notebooks/00-start-here.ipynb), [06](notebooks/06-uncached-kernel-and-the-cache.ipynb))"
    )

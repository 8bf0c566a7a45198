"""Where functions of Python can be machine code."""

from __future__ import annotations

import sys
from string import Template
from types import SimpleNamespace

import pytest

from softlab.cuda import native_functions

_NOTHING = Template("define ptr @nothing(ptr %self, ptr %given, i64 %count) {\n  ret ptr $none\n}")


def test_a_function_is_called_with_its_self() -> None:
    pytest.importorskip("llvmlite")
    methods = native_functions.compiled(_NOTHING, ["nothing"])
    assert methods is not None
    function = methods["nothing"].bound(("given",))
    assert function.__self__ == ("given",)
    assert function.__name__ == "nothing"
    assert function(1, 2) is None


@pytest.mark.parametrize(
    ("module", "name", "value"),
    [
        (native_functions.sysconfig, "get_config_var", lambda name: name == "Py_GIL_DISABLED"),
        (sys, "implementation", SimpleNamespace(name="pypy", cache_tag="pypy")),
        (native_functions.struct, "calcsize", lambda form: 4),
        (native_functions.importlib.util, "find_spec", lambda name: None),
    ],
    ids=["free threads", "another Python", "32 bits", "no llvmlite"],
)
def test_where_it_is_not_compiled(module: object, name: str, value: object, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setattr(module, name, value)
        found = native_functions.compiled(_NOTHING, ["nothing"])
    assert found is None


def test_a_text_that_llvm_does_not_take_gives_nothing() -> None:
    assert native_functions.compiled(Template("no assembly"), ["nothing"]) is None

"""What comes with softlab, found in the checkout and in an installation."""

from __future__ import annotations

import pytest

from softlab import shipped
from softlab.errors import Error
from tests.tools.notebooks import NOTEBOOKS


@pytest.fixture
def installed(monkeypatch, tmp_path):
    """A package as a wheel has it: with a folder ``share``."""
    package = tmp_path / "site-packages" / "softlab"
    (package / "share" / "kernels").mkdir(parents=True)
    monkeypatch.setattr(shipped, "files", lambda name: tmp_path / "site-packages" / name)
    shipped.shipped.cache_clear()
    yield package
    shipped.shipped.cache_clear()


def test_a_checkout_has_it_beside_the_package():
    assert shipped.shipped("notebooks") == NOTEBOOKS
    assert shipped.shipped("softlab/shipped.py").samefile(shipped.__file__)


def test_an_installation_has_it_inside(installed):
    (installed / "errors.py").touch()
    assert shipped.shipped("kernels") == installed / "share" / "kernels"
    assert shipped.shipped("softlab/errors.py") == installed / "errors.py"


def test_what_is_missing_is_named(installed):
    with pytest.raises(Error, match=r"notebooks is missing: .*Reinstall softlab"):
        shipped.shipped("notebooks")

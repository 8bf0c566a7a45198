"""Products of matrices on the GPU that is present: tensor cores of compute capability 9.0, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

import softlab
from softlab.cuda.compile import kernel_folder
from tests.hardware.matrices import compare
from tests.hardware.matrix_cases import forms

pytestmark = pytest.mark.gpu


@pytest.fixture(autouse=True)
def on_hopper() -> None:
    present = softlab.Device.present()
    if present is None or present.arch != "sm_90":
        pytest.skip("the emulator has the tensor cores of sm_90")


@pytest.mark.parametrize("form", [form for form in forms() if "f64" not in form])
def test_a_product_has_the_bits_of_the_gpu(form: str) -> None:
    found = compare((forms().index(form), 1024))
    assert (found["fragments"], found["different"]) == (1024, 0)


def test_the_product_of_the_gallery() -> None:
    import cupy

    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((128, 128)).astype(np.float16) for _ in range(2))
    c, there = np.zeros((128, 128), np.float32), cupy.zeros((128, 128), np.float32)
    source = (kernel_folder() / "gallery" / "tensor_product.cu").read_text()
    kernel = softlab.Kernel(source, "tensor_product")
    kernel.run((2, 2), 128, (a, b, c, 128, 128), record=False)
    kernel.run((2, 2), 128, (cupy.asarray(a), cupy.asarray(b), there, 128, 128))
    np.testing.assert_array_equal(c.view(np.uint32), there.get().view(np.uint32))

"""Any CUDA C++ kernel, launched on either executor: the emulator for NumPy arrays, the GPU for CUDA arrays."""

from softlab.kernel.kernel import Kernel

__all__ = ["Kernel"]

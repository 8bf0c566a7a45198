"""The CUDA toolchain and the GPU: NVRTC, nvdisasm, struct arguments, launches through CuPy."""

"""The installed packages of CUDA: where their headers are, and their versions."""

from __future__ import annotations

import importlib.util
from functools import lru_cache
from pathlib import Path


@lru_cache(maxsize=1)
def include_options() -> tuple[str, ...]:
    """-I options for CUB and libcu++ (in CuPy's wheel) and the CUDA runtime's headers (cuda_fp16.h)."""
    spec = importlib.util.find_spec("cupy")
    folders: list[Path] = []
    if spec and spec.submodule_search_locations:
        cccl = Path(spec.submodule_search_locations[0]) / "_core/include/cupy/_cccl"
        folders += [cccl / part for part in ("cub", "thrust", "libcudacxx")]
        folders += [cccl / "libcudacxx" / "include"]
    try:
        from cupy._environment import get_cuda_path
    except ImportError:
        cuda_path = None
    else:
        cuda_path = get_cuda_path()
    nvidia = importlib.util.find_spec("nvidia")
    for root in nvidia.submodule_search_locations if nvidia and nvidia.submodule_search_locations else ():
        folders += [Path(root) / "cuda_runtime" / "include", *sorted(Path(root).glob("cu1[3-9]/include"))]
        # crt/mma.h, and curand_kernel.h, where these packages are installed.
        folders += [Path(root) / name / "include" for name in ("cuda_nvcc", "curand")]
    # CuTe and CUTLASS, where the package nvidia-cutlass is installed.
    library = importlib.util.find_spec("cutlass_library")
    for root in library.submodule_search_locations if library and library.submodule_search_locations else ():
        folders += [Path(root) / "source" / part for part in ("include", "tools/util/include")]
    if cuda_path:
        folders += [Path(cuda_path) / "include", *sorted(Path(cuda_path).glob("targets/*/include"))]
    return tuple(f"-I{folder}" for folder in folders if folder.is_dir())


@lru_cache(maxsize=1)
def toolkit_identity() -> list[str]:
    """What else decides the result: the exact versions of the packages that bring NVRTC and the headers."""
    from importlib.metadata import distributions

    wanted = (
        "nvidia-cuda-nvrtc",
        "nvidia-cuda-runtime",
        "nvidia-cuda-nvcc",
        "nvidia-cuda-crt",
        "nvidia-curand",
        "nvidia-cutlass",
        "cupy-cuda",
    )
    names = {(d.metadata["Name"] or "", d.version) for d in distributions()}
    return sorted(f"{name} {version}" for name, version in names if name.startswith(wanted))

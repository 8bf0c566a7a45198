"""What all tests share: the cache of compiled kernels, how hypothesis draws, when `gpu` and `browser` tests run."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

import pytest
from hypothesis import settings

from softlab import doctor

# The same examples in every run, on every machine: `make test` is either green or red. To look for new ones:
# pytest --hypothesis-profile=explore
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, derandomize=False, print_blob=True)
settings.load_profile("repeatable")

_CHROMIUM = pytest.StashKey[Path | None]()
_CACHE = pytest.StashKey[pytest.MonkeyPatch]()
_STATE = pytest.StashKey[tempfile.TemporaryDirectory]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("softlab")
    group.addoption("--require-browser", action="store_true", help="fail `browser` tests without Chromium, not skip")
    group.addoption("--require-gpu", action="store_true", help="fail `gpu` tests without a GPU, not skip")


def pytest_configure(config: pytest.Config) -> None:
    """Keep compiled kernels in the checkout: repeated runs are quick, and the user's own cache is left alone. Progress
    through the course goes to a new folder: what is tested is a learner who has answered nothing.

    The environment carries it, so that processes and notebook kernels that a test starts use it, too.
    """
    config.stash[_CHROMIUM] = doctor.chromium()  # before XDG_CACHE_HOME moves: Playwright keeps its download there
    cache = getattr(config, "cache", None)  # absent with -p no:cacheprovider
    folder = cache.mkdir("softlab") if cache else Path(tempfile.gettempdir()) / f"softlab-tests-{os.getuid()}"
    config.stash[_CACHE] = pytest.MonkeyPatch()
    config.stash[_CACHE].setenv("XDG_CACHE_HOME", str(folder))
    config.stash[_STATE] = tempfile.TemporaryDirectory(prefix="softlab-state-")
    config.stash[_CACHE].setenv("XDG_STATE_HOME", config.stash[_STATE].name)


def pytest_unconfigure(config: pytest.Config) -> None:
    if _CACHE in config.stash:
        config.stash[_CACHE].undo()
    if _STATE in config.stash:
        config.stash[_STATE].cleanup()


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what cannot run here, with the reason; with --require-... it runs, and fails with the reason."""
    if not config.getoption("--require-browser") and config.stash[_CHROMIUM] is None:
        skip = pytest.mark.skip(reason="no Chromium found (apt-get install chromium, or playwright install chromium)")
        for item in items:
            if item.get_closest_marker("browser"):
                item.add_marker(skip)
    gpu_items = [item for item in items if item.get_closest_marker("gpu")]
    if gpu_items and not config.getoption("--require-gpu") and (reason := _no_gpu()):
        for item in gpu_items:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") and (reason := _no_gpu()):
        pytest.fail(reason, pytrace=False)


def _no_gpu() -> str:
    """Why there is no GPU to test on; "" when there is one."""
    try:
        import cupy

        if cupy.cuda.is_available():
            return ""
        return "no NVIDIA GPU: CuPy finds no driver or no device"
    except ImportError as error:
        return f"no NVIDIA GPU: CuPy cannot be imported ({error})"


@pytest.fixture(scope="session")
def chromium(pytestconfig: pytest.Config) -> Path:
    """The Chromium that browser tests drive."""
    path = pytestconfig.stash[_CHROMIUM]
    if path is None:
        pytest.fail("no Chromium found (apt-get install chromium, or playwright install chromium)", pytrace=False)
    return path

"""Launches as machine code: what the driver gets, and when another function takes the launch."""

from __future__ import annotations

import ctypes
import gc
import sys
import threading
import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from string import Template
from typing import Any

import pytest

from softlab.cuda import native_launches
from softlab.cuda.native_launches import Starts
from tests.fake_cuda import LaunchConfig, native_addresses

SIZES = (7, 2, 3, 64, 4, 1, 4096)


class Driver:
    """Two functions of the driver, in Python. ``status`` is what ``cuLaunchKernelEx`` returns; ``capture`` what
    ``cuStreamIsCapturing`` returns and finds."""

    def __init__(self, arguments: int) -> None:
        self.launches: list[tuple[Any, ...]] = []
        self.attributes: list[list[tuple[int, int]]] = []
        self.asked: list[int | None] = []
        self.status, self.capture, self.count = 0, (0, 0), arguments
        self.addresses, self._functions = native_addresses(self._launch, self._capturing)

    def _launch(self, config: int, kernel: int, addresses: int, extra: int | None) -> int:
        how = LaunchConfig.from_address(config)
        where = (ctypes.c_void_p * self.count).from_address(addresses)
        values = tuple(ctypes.c_uint64.from_address(address).value for address in where)
        self.launches.append((kernel, tuple(how.sizes), how.stream, values, extra))
        self.attributes.append(how.given())
        return self.status

    def _capturing(self, stream: int | None, found: Any) -> int:
        self.asked.append(stream)
        found[0] = self.capture[1]
        return self.capture[0]


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> Iterator[Driver]:
    pytest.importorskip("llvmlite")
    driver = Driver(4)
    monkeypatch.setattr(native_launches, "driver_functions", lambda: driver.addresses)
    yield driver
    native_launches._method.cache_clear()


def unused(*given: Any) -> None:
    raise AssertionError(given)


def test_what_the_driver_gets(driver: Driver) -> None:
    launch = native_launches.launcher(0x1234_5678_9ABC, SIZES, 2, (-5, 2**40), unused)
    assert launch(0, 1 << 63, 0x7F00_0000_0010) is None
    assert launch(0x5EA_0000_0000, 0, 16) is None
    integers = (2**64 - 5, 2**40)
    assert driver.launches == [
        (0x1234_5678_9ABC, SIZES, None, (1 << 63, 0x7F00_0000_0010, *integers), None),
        (0x1234_5678_9ABC, SIZES, 0x5EA_0000_0000, (0, 16, *integers), None),
    ]


@pytest.mark.parametrize("cooperative", [False, True])
def test_a_kernel_that_waits_may_start_early(driver: Driver, cooperative: bool) -> None:
    always = [(2, 1)] * cooperative
    native_launches.launcher(1, SIZES, 2, (3, 4), unused, Starts(cooperative))(5, 6, 7)
    assert (driver.attributes, driver.asked) == ([always], []), "only of such kernels the driver is asked"
    launch = native_launches.launcher(1, SIZES, 2, (3, 4), unused, Starts(cooperative, early=True))
    launch(0, 6, 7)
    launch(5, 6, 7)
    assert (driver.attributes[1:], driver.asked) == ([[*always, (6, 1)]] * 2, [None, 5])
    assert [launched[3] for launched in driver.launches] == [(6, 7, 3, 4)] * 3


@pytest.mark.parametrize("capture", [(0, 1), (0, 2), (906, 0), (1, 1)])
def test_no_kernel_of_a_graph_starts_early(driver: Driver, capture: tuple[int, int]) -> None:
    """Nor where the driver does not say whether the stream is captured."""
    driver.capture = capture
    for cooperative in (False, True):
        native_launches.launcher(1, SIZES, 2, (3, 4), unused, Starts(cooperative, early=True))(5, 6, 7)
    assert driver.attributes == [[], [(2, 1)]]
    assert driver.asked == [5, 5]


@pytest.mark.parametrize("pointers", [1, 3, 4])
def test_any_number_of_arguments(driver: Driver, pointers: int) -> None:
    integers = tuple(range(100, 104 - pointers))
    native_launches.launcher(1, SIZES, pointers, integers, unused)(2, *range(16, 16 + pointers))
    assert driver.launches[0][3] == (*range(16, 16 + pointers), *integers)


def test_as_many_arguments_as_there_is_room_for(driver: Driver) -> None:
    driver.count = 16
    native_launches.launcher(1, SIZES, 3, range(13), unused)(2, 7, 8, 9)
    assert driver.launches[0][3] == (7, 8, 9, *range(13))
    for pointers, integers in ((4, 13), (16, 1), (17, 0), (0, 2)):
        assert native_launches.launcher(1, SIZES, pointers, range(integers), unused) is unused


def test_a_refusal_goes_to_the_other_function(driver: Driver) -> None:
    taken: list[tuple[int, ...]] = []
    launch = native_launches.launcher(1, SIZES, 2, (3, 4), lambda *given: taken.append(given))
    driver.status = 719
    assert launch(5, 6, 7) is None
    assert taken == [(5, 6, 7)]
    driver.status = 0
    launch(5, 6, 7)
    assert len(taken) == 1
    assert len(driver.launches) == 2
    driver.status = 1
    with pytest.raises(ZeroDivisionError):
        native_launches.launcher(1, SIZES, 2, (3, 4), lambda *given: 1 / 0)(5, 6, 7)


def test_another_number_of_pointers_goes_to_the_other_function(driver: Driver) -> None:
    taken: list[tuple[int, ...]] = []
    launch = native_launches.launcher(1, SIZES, 2, (3, 4), lambda *given: taken.append(given))
    for given in ((), (5,), (5, 6), (5, 6, 7, 8)):
        launch(*given)
    assert taken == [(), (5,), (5, 6), (5, 6, 7, 8)]
    assert not driver.launches


@pytest.mark.parametrize("place", range(3))
@pytest.mark.parametrize("wrong", ["16", None, 1.5])
def test_what_is_no_integer_is_not_launched(driver: Driver, wrong: Any, place: int) -> None:
    given = [5, 6, 7]
    given[place] = wrong
    with pytest.raises(TypeError):
        native_launches.launcher(1, SIZES, 2, (3, 4), unused)(*given)
    assert not driver.launches


def test_threads_do_not_share_arguments(driver: Driver) -> None:
    launch = native_launches.launcher(1, SIZES, 2, (3, 4), unused)
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda k: launch(k, 16 * k, 32 * k), range(1, 801)))
    assert sorted((stream, values) for _, _, stream, values, _ in driver.launches) == [
        (k, (16 * k, 32 * k, 3, 4)) for k in range(1, 801)
    ]


@pytest.mark.skipif(sys.platform == "win32", reason="the C library has no nanosleep")
def test_other_threads_run_during_the_launch(monkeypatch: pytest.MonkeyPatch) -> None:
    """The driver waits while its queue is full. Here nanosleep waits. Its seconds are the first two numbers of the
    grid, its nanoseconds the third one and the block's first."""
    pytest.importorskip("llvmlite")
    nanosleep = ctypes.cast(ctypes.CDLL(None).nanosleep, ctypes.c_void_p).value
    monkeypatch.setattr(native_launches, "driver_functions", lambda: (nanosleep, 0))
    launch = native_launches.launcher(0, (0, 0, 500_000_000, 0, 1, 1, 0), 2, (3, 4), unused)
    thread = threading.Thread(target=launch, args=(5, 6, 7))
    thread.start()
    turns = 0
    while thread.is_alive():
        turns += 1
    assert turns > 1000
    native_launches._method.cache_clear()


@pytest.mark.usefixtures("nothing_before_is_collected")
def test_nothing_is_kept_alive(driver: Driver) -> None:
    class Other:
        def __call__(self, *given: int) -> None:
            raise AssertionError

    other = Other()
    gone = weakref.ref(other)
    launch = native_launches.launcher(1, SIZES, 2, (3, 4), other)
    del other
    launch(5, 6, 7)
    assert gone() is not None
    del launch
    gc.collect()
    assert gone() is None


def test_no_reference_is_lost_or_left(driver: Driver) -> None:
    driver.count = 0
    launch = native_launches.launcher(1, SIZES, 2, (3, 4), unused)
    stream, first, second = (1 << 50) + 1, (1 << 50) + 2, (1 << 50) + 3
    watched = (stream, first, second, unused)
    before = [sys.getrefcount(x) for x in watched]
    for _ in range(1000):
        launch(stream, first, second)
    driver.launches.clear()
    assert [sys.getrefcount(x) for x in watched] == before


def test_where_it_cannot_be_compiled(driver: Driver, monkeypatch: pytest.MonkeyPatch) -> None:
    assert native_launches.launcher(1, SIZES, 2, (3, 4), unused) is not unused
    assert native_launches.available()
    native_launches._method.cache_clear()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, "llvmlite", None)
        assert not native_launches.available()
        assert native_launches.launcher(1, SIZES, 2, (3, 4), unused) is unused
    with monkeypatch.context() as patch:
        patch.setattr(native_launches, "_TEXT", Template("no assembly"))
        native_launches._method.cache_clear()
        assert not native_launches.available()
        assert native_launches.launcher(1, SIZES, 2, (3, 4), unused) is unused
    native_launches._method.cache_clear()
    assert native_launches.available()
    monkeypatch.setattr(native_launches, "driver_functions", lambda: (0, 0))
    assert not native_launches.available()
    assert native_launches.launcher(1, SIZES, 2, (3, 4), unused) is unused


def test_without_a_driver_the_addresses_are_0(monkeypatch: pytest.MonkeyPatch) -> None:
    def absent(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(native_launches.ctypes, "CDLL", absent)
    assert native_launches.driver_functions.__wrapped__() == (0, 0)


@pytest.mark.gpu
def test_on_a_gpu_launches_are_machine_code() -> None:
    pytest.importorskip("llvmlite")
    assert native_launches.available()

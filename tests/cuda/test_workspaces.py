"""Workspaces and cooperative launches: who gets which memory; what the driver is asked for; on a GPU, all of it."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import softlab
from softlab.cuda import gpu, workspaces
from softlab.cuda.workspaces import Workspaces, with_workspace, workspaces_of
from softlab.errors import Error
from softlab.kernel import Kernel
from softlab.operators import executors, prepared, rows
from tests.fake_cuda import FakeCuda, RefusedError, instead_of_cuda

#: y = x + the sum of all x: each block adds up its share, and all wait for each other. What is left in the workspace:
#: a counter, which goes on from launch to launch, and the parts.
MEETING = """
struct Meeting { unsigned arrived; int parts[511]; };
template<typename T, int delay>
__global__ void meeting(const T* x, T* y, Meeting* at, long long rows, long long cols) {
  __shared__ int sum;
  const long long all = rows * cols;
  const long long first = blockIdx.x * all / gridDim.x, end = (blockIdx.x + 1) * all / gridDim.x;
  if (threadIdx.x == 0) sum = 0;
  __syncthreads();
  for (long long i = first + threadIdx.x; i < end; i += blockDim.x) atomicAdd(&sum, static_cast<int>(x[i]));
  __syncthreads();
  if (threadIdx.x == 0) {
    if (delay) { for (long long start = clock64(); clock64() - start < delay;) {} }
    *reinterpret_cast<volatile int*>(&at->parts[blockIdx.x]) = sum;
    __threadfence();
    const unsigned ticket = atomicAdd(&at->arrived, 1);
    const unsigned last = (ticket / gridDim.x + 1) * gridDim.x;
    unsigned seen;
    do { asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(seen) : "l"(&at->arrived) : "memory"); }
    while (static_cast<int>(seen - last) < 0);
    sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += *reinterpret_cast<volatile int*>(&at->parts[b]);
  }
  __syncthreads();
  for (long long i = first + threadIdx.x; i < end; i += blockDim.x) y[i] = x[i] + sum;
}
"""
BYTES = 4 * 512
KERNEL = "meeting<float, 0>"


def meeting(delay: int = 0, arch: str = "sm_90") -> Kernel:
    return Kernel(MEETING, f"meeting<float, {delay}>", file="meeting.cu", arch=arch)


def whole(*shape: int, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).integers(-9, 9, shape).astype(np.float32)


@pytest.fixture(params=[False, True], ids=["CuPy", "machine code"])
def cuda(request: pytest.FixtureRequest) -> Iterator[FakeCuda]:
    with instead_of_cuda(native=request.param) as fake:
        yield fake


@pytest.fixture
def planned(monkeypatch: pytest.MonkeyPatch) -> softlab.plans.Plan:
    """A plan for 6 x 64 whose kernel is `meeting`; the operators and executors take it."""
    program = meeting().program
    plan = replace(
        softlab.plan(6, 64, device="H200"), grid=24, block=(32, 1), smem_bytes=0, cooperative=True,
        workspace_bytes=BYTES, file="meeting.cu", name=program.name,
    )  # fmt: skip
    monkeypatch.setattr(rows, "planned", lambda problem, aligned: plan)
    monkeypatch.setattr(executors, "_program", lambda *_: program)
    return plan


class TestWorkspaces:
    """On the fake CUDA."""

    def test_one_for_each_stream_and_size(self, cuda: FakeCuda) -> None:
        ours = Workspaces(0)
        streams = (0, 1, 0x5EA, 0x7F00_1234_5678)
        first = {(stream, nbytes): ours.of(stream, nbytes, KERNEL) for stream in streams for nbytes in (1000, 4096)}
        assert {key: ours.of(*key, KERNEL) for key in first} == first
        taken = sorted((address, nbytes) for (_, nbytes), address in first.items())
        for (address, nbytes), (following, _) in pairwise(taken):
            assert address + nbytes <= following

    def test_they_begin_as_zero_and_are_then_left_alone(self, cuda: FakeCuda) -> None:
        ours = Workspaces(0)
        for stream in range(10, 30):
            address = ours.of(stream, 1000, KERNEL)
            assert address % 256 == 0
            own = cuda.allocated(address)[:1000]
            assert not own.any()
            own[:] = 7
        assert (cuda.allocated(ours.of(10, 1000, KERNEL))[:1000] == 7).all()

    def test_zeroing_is_over_before_one_is_handed_out(self, cuda: FakeCuda) -> None:
        Workspaces(0).of(7, 64, KERNEL)
        assert cuda.calls == ["is_capturing", "malloc", "memset", "streamSynchronize", "streamDestroy"]

    def test_a_captured_launch_gets_its_own(self, cuda: FakeCuda) -> None:
        """Also many of them, made while a stream is captured in the mode in which a thread must not allocate."""
        ours = Workspaces(0)
        usual = ours.of(7, 1000, KERNEL)
        cuda.capturing = {7, 8}
        captured = [ours.of(stream, 1000, KERNEL) for stream in (7, 8) * 20]
        assert len({usual, *captured}) == 41
        beside = ours.of(9, 1000, KERNEL)
        cuda.capturing = set()
        assert ours.of(7, 1000, KERNEL) == usual
        assert ours.of(8, 1000, KERNEL) not in {usual, beside, *captured}
        assert cuda.mode == 0

    def test_what_is_reserved_needs_no_memory_later(self, cuda: FakeCuda) -> None:
        ours = Workspaces(0)
        ours.reserve(1000)
        ours.reserve(1000)
        assert cuda.calls.count("malloc") == 1
        cuda.capturing = {7}
        for _ in range(workspaces._AT_ONCE):
            ours.of(7, 1000, KERNEL)
        assert cuda.calls.count("malloc") == 1

    def test_large_ones_are_made_one_by_one(self, cuda: FakeCuda) -> None:
        Workspaces(0).reserve(20 << 20)
        assert [memory.nbytes for memory in cuda.memory.values()] == [20 << 20]

    def test_no_memory(self, cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
        ours = Workspaces(3)
        cuda.refuses = 2
        with pytest.raises(Error, match=r"GPU 3 gives no memory for 8 workspaces of 1000 bytes.*: error 2\. Free"):
            ours.reserve(1000)
        assert cuda.mode == 0
        cuda.refuses = 0
        monkeypatch.setattr(workspaces, "_driver", lambda: None)
        cuda.capturing = {7}
        with pytest.raises(Error, match=r"error 900.*launch once before the capture begins"):
            ours.of(7, 1000, KERNEL)

    def test_threads_that_ask_at_once(self, cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
        original = Workspaces._made

        def slow(self: Workspaces, nbytes: int) -> Any:
            made = original(self, nbytes)
            time.sleep(0.01)
            return made

        monkeypatch.setattr(Workspaces, "_made", slow)
        ours = Workspaces(0)
        cuda.capturing = {99}
        start = threading.Barrier(12)

        def work(k: int) -> list[int]:
            start.wait()
            return [ours.of(stream, 1000, KERNEL) for stream in (100 + k // 2, 99, 99)]  # two threads a stream

        with ThreadPoolExecutor(12) as pool:
            found = list(pool.map(work, range(12)))
        assert all(found[k][0] == found[k + 1][0] for k in range(0, 12, 2))
        assert len({address for addresses in found for address in addresses}) == 6 + 24

    def test_each_thread_has_a_default_stream_of_its_own(self, cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
        """cudaStreamPerThread is one handle. A thread may get the number of one that has ended."""
        ours, number = Workspaces(0), threading.local()
        monkeypatch.setattr(workspaces, "get_ident", lambda: number.own)

        def work(own: int) -> tuple[int, int]:
            number.own = own
            return ours.of(2, 1000, KERNEL), ours.of(2, 1000, KERNEL)

        def in_a_thread(own: int) -> tuple[int, int]:
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(work, own).result()

        one, two = in_a_thread(11), in_a_thread(12)
        assert len({*one, *two}) == 2
        assert "deviceSynchronize" not in cuda.calls
        assert in_a_thread(11) == one
        assert cuda.calls.count("deviceSynchronize") == 1

    def test_each_gpu_has_its_own(self, cuda: FakeCuda) -> None:
        assert workspaces_of(0) is workspaces_of(0)
        assert workspaces_of(0).of(7, 64, KERNEL) != workspaces_of(1).of(7, 64, KERNEL)


def test_the_workspace_stands_behind_the_output() -> None:
    dy, y, dx = np.zeros((3, 2, 2), np.float32)
    got = with_workspace((dy, y, dx, np.int64(2), np.int64(2)), np.uint64(99))
    assert [id(a) for a in got[:3]] == [id(dy), id(y), id(dx)]
    assert got[3:] == (99, 2, 2)


class TestLaunches:
    """What the fake driver is given; the emulator runs it."""

    def test_a_launch_kept_ready(self, cuda: FakeCuda, planned: softlab.plans.Plan) -> None:
        x, out = whole(6, 64), np.zeros((6, 64), np.float32)
        given, target = cuda.array(x), cuda.array(out)
        for stream in (7, 7, 8, 7):
            cuda.stream = stream
            out[...] = 0
            assert prepared.try_launch("softmax", (given,), -1, None, target, "oneflow", "H200") is target
            assert (out == x + x.sum()).all()
        first, second, third, fourth = cuda.launches
        assert first.cooperative
        assert (first.grid, first.block, first.stream) == ((24, 1, 1), (32, 1, 1), 7)
        assert first.arguments[:2] == (given.data.ptr, target.data.ptr)
        assert first.arguments[3:] == (6, 64)
        assert first.arguments == second.arguments == fourth.arguments
        assert third.arguments[2] != first.arguments[2]
        assert cuda.allocated(first.arguments[2])[:4].view("u4") == 3 * 24

    def test_it_does_not_start_early(
        self, cuda: FakeCuda, planned: softlab.plans.Plan, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Also where its kernel waits: that gains nothing."""
        monkeypatch.setattr(gpu, "_WAITS", "ld.param")
        assert gpu._WAITS in meeting().program.ptx
        prepared.try_launch("softmax", (cuda.array(whole(6, 64)),), -1, None, None, "oneflow", "H200")
        assert (cuda.launches[0].cooperative, cuda.launches[0].early) == (True, False)

    def test_captured(self, cuda: FakeCuda, planned: softlab.plans.Plan) -> None:
        x = cuda.array(whole(6, 64))
        out = cuda.array(np.zeros((6, 64), np.float32))
        prepared.try_launch("softmax", (x,), -1, None, out, "oneflow", "H200")
        cuda.capturing = {cuda.stream}
        for _ in range(3):
            prepared.try_launch("softmax", (x,), -1, None, out, "oneflow", "H200")
        assert len({launch.arguments[2] for launch in cuda.launches}) == 4

    def test_kernels_do_not_share(self, cuda: FakeCuda) -> None:
        """Of the same size, but who knows what each leaves in it."""
        ours = Workspaces(0)
        assert ours.of(7, 1000, "one") != ours.of(7, 1000, "another")
        assert ours.of(7, 1000, "one") == ours.of(7, 1000, "one")

    def test_the_general_path(self, cuda: FakeCuda, monkeypatch: pytest.MonkeyPatch) -> None:
        """Through CuPy's function, which packs the arguments itself."""
        import cupy

        calls: list[tuple[tuple[Any, ...], dict[str, bool]]] = []
        monkeypatch.setattr(gpu, "_function", lambda *_: lambda *args, **how: calls.append((args, how)))
        monkeypatch.setattr(gpu, "_resident", lambda *_: 4)
        monkeypatch.setattr(cupy.cuda, "get_current_stream", lambda: SimpleNamespace(ptr=7))
        x, y = (cuda.array(np.zeros(8, np.float32)) for _ in range(2))
        sizes = (np.int64(1), np.int64(8))
        gpu.launch(meeting().program, (4,), (32,), (x, y, *sizes), 16, cooperative=True, workspace_bytes=BYTES)
        gpu.launch(meeting().program, (4,), (32,), (x, y, *sizes), 16)
        (first, how), (second, plainly) = calls
        assert first[:2] == ((4, 1, 1), (32, 1, 1))
        assert first[2][0] is x
        assert first[2][1] is y
        assert first[2][2:] == (workspaces_of(0).of(7, BYTES, KERNEL), *sizes)
        assert isinstance(first[2][2], np.uint64)  # eight bytes, as a pointer has
        assert first[3] == 16
        assert how == {"enable_cooperative_groups": True}
        with pytest.raises(Error, match=r"refuses to launch .*: it holds 4 such blocks at once.*grid \(5,\)"):
            gpu.launch(meeting().program, (5,), (32,), (x, y, *sizes), 16, cooperative=True, workspace_bytes=BYTES)
        assert second[2][2:] == sizes
        assert plainly == {"enable_cooperative_groups": False}

    def test_an_ordinary_launch_asks_nothing(self, cuda: FakeCuda) -> None:
        x = cuda.array(whole(6, 64))
        prepared.try_launch("softmax", (x,), -1, None, x, "oneflow", "H200")
        assert not cuda.calls
        assert not cuda.launches[0].cooperative
        assert len(cuda.launches[0].arguments) == 4

    def test_refused(self, cuda: FakeCuda) -> None:
        """The sizes are told, whoever refuses: the launch, or the question for the stream's capture."""
        program = meeting().program
        launch = gpu.launcher(
            program, (5, 1, 1), (32, 1, 1), 0, 2, (1, 1), 0, cooperative=True, workspace_bytes=BYTES
        )  # fmt: skip
        cuda.refuses = 720
        with pytest.raises(Error, match=r"error 720.*grid \(5, 1, 1\).*the GPU must hold all blocks at once"):
            launch(7, 0, 0)
        cuda.refuses = 0
        x, y = whole(1), np.zeros(1, np.float32)
        assert launch(7, x.ctypes.data, y.ctypes.data) is None
        assert y[0] == 2 * x[0]
        plain = gpu.launcher(program, (5, 1, 1), (32, 1, 1), 0, 3, (1, 1), 0)
        cuda.refuses = 1
        with pytest.raises(Error, match="error 1") as caught:
            plain(7, 0, 0, 0)
        assert "at once" not in str(caught.value)
        assert isinstance(caught.value.__cause__, RefusedError)


class TestInTheEmulator:
    """Plans with a workspace."""

    def test_each_run_gets_a_new_one(self, planned: softlab.plans.Plan) -> None:
        x = whole(6, 64)
        for _ in range(2):
            out = np.zeros_like(x)
            run = executors.emulate(planned, executors.arguments(planned, (x,), out), record=True)
            assert (out == x + x.sum()).all()
            assert [(b.index, b.nbytes) for b in run.buffers] == [(0, x.nbytes), (1, x.nbytes), (2, BYTES)]
        out[...] = 0
        executors.emulate(planned, executors.arguments(planned, (x,), out))
        assert (out == x + x.sum()).all()

    def test_the_plan_shows_it(self, planned: softlab.plans.Plan) -> None:
        from softlab.views.plans import plan_summary

        assert planned.record()["cooperative"] is True
        assert planned.record()["workspace_bytes"] == BYTES
        assert "all of them on the GPU at once" in plan_summary(planned)
        assert "workspace in global memory, bytes" in plan_summary(planned)
        plain = softlab.plan(6, 64, device="H200")
        assert (plain.cooperative, plain.workspace_bytes) == (False, 0)
        assert "workspace" not in plan_summary(plain)


@pytest.mark.gpu
class TestOnTheGpu:
    """Grids that fill the GPU, on streams and in graphs."""

    SIZE = 1 << 18

    @pytest.fixture
    def here(self) -> softlab.Device:
        found = softlab.Device.present()
        assert found is not None
        return found

    def launch(self, kernel: Kernel, grid: int, x: Any, y: Any) -> None:
        sizes = (np.int64(1), np.int64(x.size))
        gpu.launch(kernel.program, (grid,), (256,), (x, y, *sizes), cooperative=True, workspace_bytes=BYTES)

    def test_a_kernel_run_cooperatively(self, here: softlab.Device) -> None:
        import cupy

        x = whole(self.SIZE)
        y, at = cupy.zeros_like(x), cupy.zeros(BYTES // 4, np.uint32)
        for _ in range(3):
            y[...] = 0
            meeting(1000, here.arch).run(2 * here.sm_count, 256, (cupy.asarray(x), y, at, 1, x.size), cooperative=True)
            assert (y.get() == x + x.sum()).all()
        assert at[0] == 3 * 2 * here.sm_count

    def test_more_blocks_than_the_gpu_holds(self, here: softlab.Device) -> None:
        import cupy

        x = cupy.zeros(16, np.float32)
        at = cupy.zeros(BYTES // 4, np.uint32)
        with pytest.raises(Error, match=r"refuses to launch.*must hold all blocks at once"):
            meeting(0, here.arch).run(64 * here.sm_count, 1024, (x, x, at, 1, 16), cooperative=True)

    @pytest.mark.parametrize("method", ["launch", "launcher"])
    def test_two_streams_at_a_time(self, here: softlab.Device, method: str) -> None:
        """Launches that run together and shared a counter would read each other's parts, or wait for ever."""
        import cupy

        kernel, grid = meeting(20_000, here.arch), here.sm_count // 2
        streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(2)]
        hosts = [whole(self.SIZE, seed=k) for k in range(2)]
        xs = [cupy.asarray(host) for host in hosts]
        ys = [[cupy.zeros_like(x) for _ in range(20)] for x in xs]
        ready = gpu.launcher(
            kernel.program, (grid, 1, 1), (256, 1, 1), 0, 2, (1, self.SIZE), 0, cooperative=True, workspace_bytes=BYTES
        )  # fmt: skip
        cupy.cuda.Device().synchronize()
        for turn in range(20):
            for k, stream in enumerate(streams):
                if method == "launcher":
                    ready(stream.ptr, xs[k].data.ptr, ys[k][turn].data.ptr)
                    continue
                with stream:
                    self.launch(kernel, grid, xs[k], ys[k][turn])
        for k, stream in enumerate(streams):
            stream.synchronize()
            for y in ys[k]:
                assert (y.get() == hosts[k] + hosts[k].sum()).all()
        first, second = (workspaces_of(0).of(stream.ptr, BYTES, KERNEL) for stream in streams)
        assert first != second

    @pytest.mark.parametrize("warm", [True, False])
    @pytest.mark.parametrize("mode", ["streamCaptureModeRelaxed", "streamCaptureModeGlobal"])
    def test_captured_into_graphs(self, here: softlab.Device, mode: str, warm: bool) -> None:
        """More launches than are reserved; both graphs then run at the same time, beside ordinary launches."""
        import cupy
        from cupy.cuda import runtime

        kernel, grid, count = meeting(5_000, here.arch), here.sm_count // 4, 3 * workspaces._AT_ONCE
        x = whole(self.SIZE)
        given = cupy.asarray(x)
        ys = [[cupy.zeros_like(given) for _ in range(count)] for _ in range(3)]
        self.launch(kernel, grid, given, ys[0][0])  # loads the kernel
        cupy.cuda.Device().synchronize()
        if not warm:
            workspaces_of.cache_clear()
        streams = [cupy.cuda.Stream(non_blocking=True) for _ in range(3)]
        graphs = []
        for k in range(2):
            with streams[k]:
                streams[k].begin_capture(getattr(runtime, mode))
                for y in ys[k]:
                    self.launch(kernel, grid, given, y)
                graphs.append(streams[k].end_capture())
        for turn in range(3):
            for y in (y for group in ys for y in group):
                y.fill(0)
            cupy.cuda.Device().synchronize()
            for k, graph in enumerate(graphs):
                graph.launch(streams[(k + turn) % 3])
            with streams[(2 + turn) % 3]:
                for y in ys[2]:
                    self.launch(kernel, grid, given, y)
            cupy.cuda.Device().synchronize()
            for y in (y for group in ys for y in group):
                assert (y.get() == x + x.sum()).all()

    def test_captured_by_torch(self, here: softlab.Device) -> None:
        """`torch.cuda.graph` captures in the global mode."""
        torch = pytest.importorskip("torch")
        kernel, grid = meeting(0, here.arch), here.sm_count
        x = torch.randint(-9, 9, (self.SIZE,), device="cuda").float()
        y = torch.zeros_like(x)
        ready = gpu.launcher(
            kernel.program, (grid, 1, 1), (256, 1, 1), 0, 2, (1, self.SIZE), 0, cooperative=True, workspace_bytes=BYTES
        )  # fmt: skip
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            for _ in range(3 * workspaces._AT_ONCE):
                ready(torch.cuda.current_stream().cuda_stream, x.data_ptr(), y.data_ptr())
        for _ in range(3):
            y.zero_()
            graph.replay()
            assert torch.equal(y, x + x.sum())

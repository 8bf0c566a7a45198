"""What all tests share: the cache of compiled kernels, how hypothesis draws, when `gpu` and `browser` tests run."""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from hypothesis import settings

from softlab.cli import doctor
from softlab.cuda.compile import Program
from softlab.cuda.disassembly import DisassemblyError
from softlab.cuda.machine_instructions import Disassembly
from softlab.emulator.machine.native import compiling

# The same examples in every run, on every machine: `make test` is either green or red. To look for new ones:
# pytest --hypothesis-profile=explore
settings.register_profile("repeatable", deadline=None, derandomize=True)
settings.register_profile("explore", deadline=None, derandomize=False, print_blob=True)
settings.load_profile("repeatable")

#: What `make check` leaves out: tests that run the emulator over many shapes, compile many kernels or start servers.
#: Beginnings of test ids. A single slow test elsewhere gets the mark `slow` itself.
SLOW = (
    "tests/bench/record/test_atlas.py::test_a_fault_of_the_gpu",
    "tests/bench/record/test_atlas.py::test_a_kernel_that_does_not_end",
    "tests/bench/record/test_atlas.py::test_each_method_measures",
    "tests/bench/record/test_atlas.py::test_rows_without_time",
    "tests/bench/record/test_atlas.py::test_the_machine_code",
    "tests/bench/record/test_claims.py::test_the_cases_cover_the_dispatch",
    "tests/bench/record/test_measuring.py::test_every_stopwatch_gives_the_time_of_one_launch",
    "tests/bench/test_emulator_speed.py",
    "tests/bench/test_fusing.py::test_a_recording",
    "tests/bench/test_fusing.py::test_fused_and_separate_agree",
    "tests/bench/test_ladder.py::test_blocks_all_over_the_gpu",
    "tests/bench/test_ladder.py::test_counted_is_of_one_row",
    "tests/bench/test_ladder.py::test_the_first_rows_are_those",
    "tests/cli/test_bench.py::test_predictions",
    "tests/course/test_exercises.py::test_a_kernel",
    "tests/course/test_grading.py",
    "tests/course/test_notebooks.py",
    "tests/course/test_solutions.py",
    "tests/cuda/test_disassembly.py::test_a_changed_entry_is_printed_anew",
    "tests/cuda/test_precompiled.py::test_a_source",
    "tests/cuda/test_precompiled.py::test_later",
    "tests/emulator/opcodes/test_compiled.py::test_the_bits_are_those",
    "tests/emulator/test_asynchronous.py",
    "tests/emulator/test_calls.py::test_recursion",
    "tests/emulator/test_clusters.py",
    "tests/emulator/test_compiled_blocks.py::test_a_run_is_the_same",
    "tests/emulator/test_contraction.py",
    "tests/emulator/test_cooperative.py",
    "tests/emulator/test_faults.py",
    "tests/emulator/test_grid_groups.py",
    "tests/emulator/test_machine.py::test_vector_accesses",
    "tests/emulator/test_matrices.py",
    "tests/emulator/test_other_masks.py",
    "tests/emulator/test_own_mbarriers.py",
    "tests/emulator/test_regions.py",
    "tests/emulator/test_waiting_loops.py",
    "tests/emulator/test_warp_groups.py",
    "tests/emulator/test_warp_order.py::test_softmax_does_not_depend",
    "tests/emulator/test_warpwide.py",
    "tests/emulator/test_wmma.py",
    "tests/explorers/test_block_size.py::test_no_threshold_is_missed",
    "tests/explorers/test_explorers.py::test_traits_move_the_controls",
    "tests/explorers/test_fusing.py",
    "tests/explorers/test_gallery.py",
    "tests/explorers/test_packs.py::test_every_load",
    "tests/explorers/test_packs.py::test_kernels_read",
    "tests/explorers/test_real_kernel.py",
    "tests/explorers/test_shuffles.py::test_every_lane_ends",
    "tests/explorers/test_timeline.py::test_every_kernel_is_right",
    "tests/faults/",
    "tests/fuzz/",
    "tests/hardware/test_cluster_counters.py",
    "tests/hardware/test_counters.py",
    "tests/hardware/test_eighteenth_kernels.py",
    "tests/hardware/test_eighth_kernels.py",
    "tests/hardware/test_eleventh_kernels.py",
    "tests/hardware/test_fifteenth_kernels.py",
    "tests/hardware/test_fourteenth_kernels.py",
    "tests/hardware/test_machine_counters.py",
    "tests/hardware/test_nineteenth_kernels.py",
    "tests/hardware/test_ninth_kernels.py",
    "tests/hardware/test_sanitize.py",
    "tests/hardware/test_seventeenth_kernels.py",
    "tests/hardware/test_sixteenth_kernels.py",
    "tests/hardware/test_tenth_kernels.py",
    "tests/hardware/test_thirteenth_kernels.py",
    "tests/hardware/test_twelfth_kernels.py",
    "tests/hardware/test_twentieth_kernels.py",
    "tests/hardware/test_twenty_fifth_kernels.py",
    "tests/hardware/test_twenty_first_kernels.py",
    "tests/hardware/test_twenty_fourth_kernels.py",
    "tests/hardware/test_twenty_second_kernels.py",
    "tests/hardware/test_twenty_sixth_kernels.py",
    "tests/hardware/test_twenty_third_kernels.py",
    "tests/instruments/test_global_hazards.py",
    "tests/instruments/test_hazards.py::test_an_atomic_of_another_thread",
    "tests/instruments/test_native_shadow.py",
    "tests/instruments/test_random_cluster_races.py",
    "tests/instruments/test_random_races.py",
    "tests/instruments/test_random_strong_races.py",
    "tests/instruments/test_random_undefined.py",
    "tests/kernels/",
    "tests/mutation/test_mutation.py::test_a_test_that_bites_kills",
    "tests/operators/test_any_array.py",
    "tests/operators/test_edges.py",
    "tests/operators/test_gradients.py",
    "tests/operators/test_operators.py::TestTheDefaultPolicy::test_a_trace_shows",
    "tests/operators/test_operators.py::test_every_dtype",
    "tests/operators/test_prepared.py",
    "tests/plans/test_fast_capacity.py::test_a_block_has",
    "tests/plans/test_first_rungs.py::test_the_result_in_the_emulator",
    "tests/plans/test_plans.py::test_a_hundred_thousand_plans_equal_the_reference",
    "tests/plans/test_recorded_plans.py",
    "tests/plans/test_resources.py::test_a_sample_of_the_table_equals_the_compiler",
    "tests/plans/test_short_rows.py::test_issue_is_what_the_emulator_counts",
    "tests/plans/test_sweeps.py::test_on_a_dask_cluster",
    "tests/plans/test_sweeps.py::test_the_thresholds_of_the_reference",
    "tests/random_cases/",
    "tests/sass/test_interpret.py::test_results_are_those",
    "tests/sass/test_waiting.py",
    "tests/test_findings.py::test_a_planted_race_is_collected",
    "tests/test_fused.py",
    "tests/test_imports.py::test_heavy",
    "tests/test_kernel.py::test_architectures_give_the_same",
    "tests/test_kernel_arguments.py::test_arrays_that_fit_are_taken",
    "tests/test_kernel_files.py::test_the_whole_of_cub",
    "tests/test_magics.py::test_a_long_launch_is_not_estimated",
    "tests/test_project.py::test_the_readmes_example_runs",
    "tests/tools/",
    "tests/workbench/test_advised.py",
)

#: Tests of results, faults and PTX: no counter of the machine code is asked for there. Beginnings of test ids.
PTX_ALONE = (
    "tests/course/test_behaviour.py",
    "tests/course/test_hints.py",
    "tests/course/test_places.py",
    "tests/emulator/",
    "tests/explorers/test_order.py",
    "tests/explorers/test_shuffles.py::test_every_lane_ends",
    "tests/faults/",
    "tests/fuzz/",
    "tests/instruments/test_arenas.py",
    "tests/instruments/test_cluster_ends.py",
    "tests/instruments/test_cluster_names.py",
    "tests/instruments/test_guesses.py",
    "tests/instruments/test_hazards.py",
    "tests/instruments/test_null_pointers.py",
    "tests/instruments/test_object_bounds.py",
    "tests/instruments/test_other_accesses.py",
    "tests/instruments/test_pointers.py",
    "tests/instruments/test_random_races.py",
    "tests/instruments/test_repeated_atomics.py",
    "tests/instruments/test_shared_races.py",
    "tests/instruments/test_undefined.py",
    "tests/kernels/test_fast_strided.py",
    "tests/kernels/test_fast_strip_grid.py",
    "tests/kernels/test_gradients.py",
    "tests/kernels/test_invariant.py",
    "tests/kernels/test_results.py",
    "tests/operators/test_gradients.py::TestTrace::test_output_and_plan",
    "tests/operators/test_operators.py::TestTheDefaultPolicy",
    "tests/operators/test_operators.py::TestTrace::test_output_is",
    "tests/operators/test_operators.py::test_longer_rows",
    "tests/operators/test_operators.py::test_the_device_changes",
    "tests/plans/test_first_rungs.py",
    "tests/plans/test_short_rows.py::test_issue_is",
    "tests/test_aliases.py",
    "tests/test_device_launches.py",
    "tests/test_findings.py",
    "tests/test_foreign_files.py",
    "tests/test_host_members.py",
    "tests/test_kernel_arguments.py",
    "tests/test_kernel_files.py",
    "tests/test_kernel_texts.py",
    "tests/test_kernel_variables.py",
    "tests/test_old_files.py",
    "tests/test_places.py",
    "tests/test_program_files.py",
)
#: The few of them that do ask for counters, or for the lines that are counted.
COUNTED = (
    "tests/test_findings.py::test_a_run_without_faults",
    "tests/test_kernel_files.py::test_the_instantiation_of_the_host",
    "tests/test_kernel_files.py::test_another_kernel_of_the_file",
    "tests/test_kernel_files.py::test_a_part_of_a_program",
    "tests/test_kernel_texts.py::test_a_whole_program",
)

_SLOW_PATHS = {start.rstrip("/") for start in SLOW if "::" not in start}

#: Tests that drive a Firefox, too, with ``--firefox``.
IN_FIREFOX = "tests/browser/test_site.py"
NO_BROWSER = "no Chromium found (apt-get install chromium, or playwright install chromium)"
NO_FIREFOX = "no Firefox found (apt-get install firefox-esr, or from mozilla.org, on the PATH)"

_BROWSER = pytest.StashKey[Path | None]()
_COMPILING = pytest.StashKey[AbstractContextManager[None]]()
_CACHE = pytest.StashKey[pytest.MonkeyPatch]()
_STATE = pytest.StashKey[tempfile.TemporaryDirectory]()


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("softlab")
    group.addoption("--require-browser", action="store_true", help="fail `browser` tests without Chromium, not skip")
    group.addoption("--firefox", action="store_true", help=f"drive Firefox instead of Chromium ({IN_FIREFOX} alone)")
    group.addoption(
        "--compiled-blocks",
        choices=("none", "hot", "all", "auto"),
        default="auto",
        help="which blocks of code the emulator compiles: run all tests of the emulator with none and with all",
    )
    group.addoption("--site", type=Path, help="a folder with the whole site, for tests/browser/test_site.py")
    group.addoption("--axe", type=Path, help="axe.min.js of axe-core, for tests/browser/test_site.py")
    group.addoption("--require-gpu", action="store_true", help="fail `gpu` tests without a GPU, not skip")


def pytest_configure(config: pytest.Config) -> None:
    """Keep compiled kernels in the checkout: repeated runs are quick, and the user's own cache is left alone. Progress
    through the course goes to a new folder: what is tested is a learner who has answered nothing.

    The environment carries it, so that processes and notebook kernels that a test starts use it, too.
    """
    # What is collected stays to the end: Python's garbage collector would look at all of it again and again.
    gc.disable()
    config.stash[_COMPILING] = compiling(config.getoption("--compiled-blocks"))
    config.stash[_COMPILING].__enter__()
    # Before XDG_CACHE_HOME moves: Playwright keeps its download there.
    config.stash[_BROWSER] = _firefox() if config.getoption("--firefox") else doctor.chromium()
    cache = getattr(config, "cache", None)  # absent with -p no:cacheprovider
    folder = cache.mkdir("softlab") if cache else Path(tempfile.gettempdir()) / f"softlab-tests-{os.getuid()}"
    config.stash[_CACHE] = pytest.MonkeyPatch()
    config.stash[_CACHE].setenv("XDG_CACHE_HOME", str(folder))
    config.stash[_STATE] = tempfile.TemporaryDirectory(prefix="softlab-state-")
    config.stash[_CACHE].setenv("XDG_STATE_HOME", config.stash[_STATE].name)
    # nvdisasm beside each new kernel: quicker for a user who waits, not where tests keep all cores busy.
    config.stash[_CACHE].setattr("softlab.kernel.kernel.begin_disassembly", lambda program: None)
    # A kernel that has changed: commands and notebooks that a test starts print what they would print otherwise.
    config.stash[_CACHE].setenv("PYTHONWARNINGS", "ignore:The table of registers is stale:UserWarning")


def pytest_unconfigure(config: pytest.Config) -> None:
    if _COMPILING in config.stash:
        config.stash[_COMPILING].__exit__(None, None, None)
    if _CACHE in config.stash:
        config.stash[_CACHE].undo()
    if _STATE in config.stash:
        config.stash[_STATE].cleanup()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Without the slow tests or the browser tests, whole files and folders of them are not even imported."""
    if not collection_path.is_relative_to(config.rootpath):
        return None
    name, marks = collection_path.relative_to(config.rootpath).as_posix(), config.option.markexpr
    left_out = ("not slow" in marks and name in _SLOW_PATHS) or ("not browser" in marks and name == "tests/browser")
    return True if left_out else None


# Before pytest's own hook, which selects by marks.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is slow. Skip what cannot run here, with the reason; with --require-... it runs and fails with it."""
    for item in items:
        if item.nodeid.startswith(SLOW):
            item.add_marker(pytest.mark.slow)
    for item in items:
        if item.get_closest_marker("browser") and (reason := _no_browser(config, item)):
            item.add_marker(pytest.mark.skip(reason=reason))
    gpu_items = [item for item in items if item.get_closest_marker("gpu")]
    if gpu_items and not config.getoption("--require-gpu") and (reason := _no_gpu()):
        for item in gpu_items:
            item.add_marker(pytest.mark.skip(reason=reason))


def pytest_collection_finish() -> None:
    """From here on the garbage collector looks only at what tests make, and not after every 700 objects."""
    gc.freeze()
    gc.set_threshold(20_000)
    gc.enable()


@pytest.fixture
def nothing_before_is_collected() -> None:
    """For a test that calls ``gc.collect``: it looks only at what the test makes. After many tests it takes seconds."""
    gc.freeze()


@pytest.fixture(autouse=True)
def machine_code_where_it_is_asked_for(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """In `.ci/run` and `make check` the tests of ``PTX_ALONE`` count the PTX: nvdisasm takes 0.25 s per kernel.

    `make test` runs it for all tests.
    """
    name = request.node.nodeid
    if "not further" in request.config.option.markexpr and name.startswith(PTX_ALONE) and not name.startswith(COUNTED):
        monkeypatch.setattr("softlab.kernel.emulation.disassemble", _no_machine_code)


def _no_machine_code(program: Program, *, cache: bool = True, alone: bool = False) -> Disassembly:
    raise DisassemblyError("this test takes the counters of the PTX")


def pytest_runtest_setup(item: pytest.Item) -> None:
    if item.get_closest_marker("gpu") and (reason := _no_gpu()):
        pytest.fail(reason, pytrace=False)


def _firefox() -> Path | None:
    """A Firefox on the PATH, or in its usual macOS folder."""
    found = shutil.which("firefox") or shutil.which("firefox-esr")
    path = Path(found or "/Applications/Firefox.app/Contents/MacOS/firefox")
    return path if path.exists() else None


def _no_browser(config: pytest.Config, item: pytest.Item) -> str:
    """Why a browser test is skipped; "" where it runs, or fails because it must run."""
    if config.getoption("--firefox"):
        if not item.nodeid.startswith(IN_FIREFOX):
            return "drives Chromium alone"
        return "" if config.stash[_BROWSER] else NO_FIREFOX
    return "" if config.stash[_BROWSER] or config.getoption("--require-browser") else NO_BROWSER


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
    """The program that browser tests drive: Chromium, or Firefox with ``--firefox``."""
    path = pytestconfig.stash[_BROWSER]
    if path is None:
        pytest.fail(NO_BROWSER, pytrace=False)
    return path

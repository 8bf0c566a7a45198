"""Makes the units of a batch: memories, barriers and copies, each with its listeners."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from softlab.emulator.host import Host
from softlab.emulator.lanes import Lanes, Value
from softlab.emulator.machine.children import start
from softlab.emulator.machine.launch import Launch
from softlab.emulator.machine.native_turns import compiled_turns
from softlab.emulator.machine.observers import listeners
from softlab.emulator.memory.atomics import Atomics
from softlab.emulator.memory.block_memory import GenericMemory, LocalMemory, SharedMemory
from softlab.emulator.memory.bulk_copies import BulkCopies
from softlab.emulator.memory.child_grids import ChildGrids
from softlab.emulator.memory.clusters import ClusterBarrier, ClusterMemory
from softlab.emulator.memory.copies import Copies
from softlab.emulator.memory.elements import Memory
from softlab.emulator.memory.global_memory import GlobalMemory
from softlab.emulator.memory.heap import Heap
from softlab.emulator.memory.mbarriers import Mbarriers
from softlab.emulator.memory.tensor_copies import TensorCopies
from softlab.emulator.memory.textures import Textures
from softlab.emulator.opcodes.block_votes import BlockVotes
from softlab.emulator.opcodes.group_unit import GroupMatrices
from softlab.emulator.opcodes.matrix_unit import Matrices
from softlab.emulator.opcodes.units import Units
from softlab.emulator.opcodes.warp_wide import WarpWide

#: Reads a special register of some lanes by its name.
SpecialReader = Callable[[Lanes, str], Value]


def make_units(launch: Launch, host: Host, blocks: int, special: SpecialReader, run: Callable[[Launch], int]) -> Units:
    """The units of a batch of ``blocks`` blocks; ``run`` runs what device code launches."""
    faults, threads, size = host.faults, launch.lanes, launch.blocks_per_cluster
    heard = partial(listeners, launch.observers)
    shared = SharedMemory(blocks, launch.shared_bytes, faults, heard("shared_access"))
    global_ = GlobalMemory(launch.memory, faults, heard("global_access"), shared.known)
    local = LocalMemory(blocks, threads, launch.program.image.local_bytes, faults, heard("local_access"))
    cluster = ClusterMemory(host, shared, size, heard("cluster_access"))
    mbarriers = Mbarriers(faults, cluster, blocks, heard("mbarrier"))
    told = {"on_begin": heard("copy_begins"), "on_end": heard("copy_ends"), "on_written": heard("copy_written")}
    copies = Copies(faults, global_, shared, mbarriers, blocks * threads, **told)
    bulk = BulkCopies(faults, global_, shared, cluster, mbarriers, copies, blocks * threads)
    turns = partial(compiled_turns, launch.compiled) if launch.compiled != "none" else None
    spaces: dict[str, Memory] = {"global": global_, "shared": shared, "cluster": cluster, "local": local}
    spaces["generic"] = generic = GenericMemory(global_, cluster if size > 1 else shared, local)
    return Units(
        global_=global_,
        shared=shared,
        local=local,
        generic=generic,
        cluster=cluster,
        cluster_barrier=_cluster_barrier(launch, host, blocks),
        mbarriers=mbarriers,
        copies=copies,
        bulk=bulk,
        tensors=TensorCopies(faults, global_, bulk),
        atomics=Atomics(spaces, turns),
        warps=WarpWide(on_shuffle=heard("shuffle"), on_sync=heard("warp_sync")),
        block_votes=BlockVotes(blocks, threads),
        heap=Heap(launch.memory, local, faults),
        children=ChildGrids(launch.memory, local, faults, partial(start, launch, run)),
        textures=Textures(launch.memory.handles, faults),
        matrices=(matrices := Matrices(faults, spaces)),
        group_matrices=_group_matrices(launch, host, matrices, shared, copies, blocks),
        parameters=launch.parameters,
        special=special,
        output=launch.output,
        on_fence=heard("fence"),
        on_choice=heard("choice"),
    )


def _cluster_barrier(launch: Launch, host: Host, blocks: int) -> ClusterBarrier:
    on_complete, on_wait = (listeners(launch.observers, event) for event in ("cluster_complete", "cluster_wait"))
    size = launch.blocks_per_cluster
    return ClusterBarrier(host, blocks, launch.lanes, size, on_complete=on_complete, on_wait=on_wait)


def _group_matrices(
    launch: Launch, host: Host, matrices: Matrices, shared: SharedMemory, copies: Copies, blocks: int
) -> GroupMatrices:
    shape = blocks, launch.threads, launch.lanes
    instructions, facts = launch.program.image.instructions, launch.program.of_groups
    return GroupMatrices(
        host.faults, matrices, shared, copies, shape, check=launch.check, instructions=instructions, facts=facts
    )

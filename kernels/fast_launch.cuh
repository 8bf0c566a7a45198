// Programmatic dependent launch: the blocks of a kernel start before the kernel before it in the stream has ended.
//
// Idea     Between two kernels of a stream an SM is idle for one to two microseconds. The GPU waits until the last block
//          has ended, and only then starts the next kernel's blocks. Here a kernel says that the next one may start when
//          all its own blocks have begun. The next one's blocks take the room that is left, and wait where they need
//          what was written before.
// Steps    wait     until all kernels before have ended and their writes are visible
//          allow    the next kernel's blocks to start. After the wait: what the next one may read early is ready, too.
// Idea     Only the last blocks allow it. A block that ends allows it, too, so all earlier ones need not say so. An SM
//          takes 0.16 us for each block that does: f32 x 396, with 169 466 blocks of 64 threads, ran at 0.63 of its
//          speed when all did.
// Limits   Every thread calls follow_previous_kernel() before its first access to global memory. It does nothing before
//          sm_90, and where the launch does not ask for it. softlab/cuda/gpu.py decides that.
// Measured H200: kernels/FAST.md, "Blocks that start early".
// Source   PTX ISA, "griddepcontrol"; CUDA C++ Programming Guide, "Programmatic Dependent Launch and Synchronization".
#pragma once

// The most blocks that run at once: 132 SMs of an H100 or H200, 32 blocks on each.
constexpr int last_blocks = 132 * 32;

__device__ inline void follow_previous_kernel() {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
  if (blockIdx.x + last_blocks >= gridDim.x) { asm volatile("griddepcontrol.launch_dependents;" ::: "memory"); }
#endif
}

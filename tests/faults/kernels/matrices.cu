// Matrix instructions: fragments by ldmatrix, products by mma and wmma, and numbers of eight bits.
#include <cuda_fp16.h>
#include <cuda_fp8.h>

// C = A B for one warp: A is 16 x 16, B is 16 x 8, both f16 and row by row; C is f32.
extern "C" __global__ void product_of_fragments(const __half* a, const __half* b, float* c) {
  __shared__ __align__(16) __half tile_a[16 * 16], tile_b[16 * 8];
  const int lane = threadIdx.x;
  for (int i = lane; i < 256; i += 32) tile_a[i] = a[i];
  for (int i = lane; i < 128; i += 32) tile_b[i] = b[i];
  __syncwarp();
  unsigned left[4], right[2];
  const unsigned from_a = static_cast<unsigned>(__cvta_generic_to_shared(tile_a + lane % 16 * 16 + lane / 16 * 8));
  const unsigned from_b = static_cast<unsigned>(__cvta_generic_to_shared(tile_b + lane % 16 * 8));
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(left[0]), "=r"(left[1]), "=r"(left[2]), "=r"(left[3])
               : "r"(from_a)
               : "memory");
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(right[0]), "=r"(right[1])
               : "r"(from_b)
               : "memory");
  float d[4] = {};
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "
               "{%0, %1, %2, %3};"
               : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
               : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
  for (int i = 0; i < 4; ++i) c[(lane / 4 + i / 2 * 8) * 8 + lane % 4 * 2 + i % 2] = d[i];
}

#define EIGHT(c, x) c(x[0]), c(x[1]), c(x[2]), c(x[3]), c(x[4]), c(x[5]), c(x[6]), c(x[7])

// C = A B + C for one warp, all 16 x 16, A and B f16, C f32; B is column by column.
extern "C" __global__ void product_by_wmma(const __half* a, const __half* b, float* c) {
  unsigned left[8], right[8];
  float sum[8];
  asm volatile("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], 16;"
               : EIGHT("=r", left)
               : "l"(__cvta_generic_to_global(a)));
  asm volatile("wmma.load.b.sync.aligned.col.m16n16k16.global.f16 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], 16;"
               : EIGHT("=r", right)
               : "l"(__cvta_generic_to_global(b)));
  asm volatile("wmma.load.c.sync.aligned.row.m16n16k16.global.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], 16;"
               : EIGHT("=f", sum)
               : "l"(__cvta_generic_to_global(c)));
  asm volatile("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, "
               "{%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, "
               "{%0, %1, %2, %3, %4, %5, %6, %7};"
               : EIGHT("+f", sum)
               : EIGHT("r", left), EIGHT("r", right));
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%0], {%1, %2, %3, %4, %5, %6, %7, %8}, 16;" ::"l"(
                   __cvta_generic_to_global(c)),
               EIGHT("f", sum)
               : "memory");
}

// Rounds to eight bits and back, two numbers per thread.
extern "C" __global__ void through_eight_bits(const float2* x, float2* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const __nv_fp8x2_e4m3 both(x[i]);
  y[i] = static_cast<float2>(both);
}

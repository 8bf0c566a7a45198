// What kernels of this folder write as PTX. A file that names it gets it in place of the line with its name. The files
// of the fourth to sixth set keep copies: compute-sanitizer's recorded answers name their lines.
#define FULL 0xffffffffu
#define SMEM(p) static_cast<unsigned>(__cvta_generic_to_shared(p))
#define MBAR_INIT(bar, count) asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(SMEM(bar)), "r"(count) : "memory")
#define MBAR_ARRIVE(bar) \
  asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(SMEM(bar)) : "memory")
#define MBAR_EXPECT(bar, bytes) \
  asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(SMEM(bar)), "r"(bytes) : "memory")
#define MBAR_WAIT(bar, parity) \
  asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra w; }" \
               ::"r"(SMEM(bar)), "r"(parity) : "memory")
#define MBAR_WAIT_CLUSTER(bar, parity) \
  asm volatile("{ .reg .pred p; w: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1; @!p bra w; }" \
               ::"r"(SMEM(bar)), "r"(parity) : "memory")
#define MBAR_ARRIVE_AT(bar, rank) \
  asm volatile("{ .reg .b32 a; mapa.shared::cluster.u32 a, %0, %1; " \
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [a]; }" ::"r"(SMEM(bar)), "r"(rank) : "memory")
#define BULK_LOAD(to, from, bytes, bar) \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" \
               ::"r"(SMEM(to)), "l"(from), "r"(bytes), "r"(SMEM(bar)) : "memory")
#define MULTICAST(to, from, bytes, bar, mask) \
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster " \
               "[%0], [%1], %2, [%3], %4;" \
               ::"r"(SMEM(to)), "l"(from), "r"(bytes), "r"(SMEM(bar)), "h"((short)(mask)) : "memory")
#define BULK_STORE(to, from, bytes) \
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" \
               ::"l"(to), "r"(SMEM(from)), "r"(bytes) : "memory")
#define BULK_COMMIT asm volatile("cp.async.bulk.commit_group;" ::: "memory")
#define BULK_WAIT_READ asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory")
#define TILE_LOAD(to, map, x, y, bar) \
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes " \
               "[%0], [%1, {%2, %3}], [%4];" \
               ::"r"(SMEM(to)), "l"(&(map)), "r"(x), "r"(y), "r"(SMEM(bar)) : "memory")
#define TILE_STORE(map, x, y, from) \
  asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" \
               ::"l"(&(map)), "r"(x), "r"(y), "r"(SMEM(from)) : "memory")
#define OUT_WORDS(r) \
  "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3]), "=r"(r[4]), "=r"(r[5]), "=r"(r[6]), "=r"(r[7])
#define IN_WORDS(r) "r"(r[0]), "r"(r[1]), "r"(r[2]), "r"(r[3]), "r"(r[4]), "r"(r[5]), "r"(r[6]), "r"(r[7])
#define IN_FLOATS(r) "f"(r[0]), "f"(r[1]), "f"(r[2]), "f"(r[3]), "f"(r[4]), "f"(r[5]), "f"(r[6]), "f"(r[7])
#define BOTH_FLOATS(r) \
  "+f"(r[0]), "+f"(r[1]), "+f"(r[2]), "+f"(r[3]), "+f"(r[4]), "+f"(r[5]), "+f"(r[6]), "+f"(r[7])
#define FRAGMENT_LOAD(matrix, layout, r, p, pitch) \
  asm volatile("wmma.load." matrix ".sync.aligned." layout ".m16n16k16.f16 " \
               "{%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;" \
               : OUT_WORDS(r) : "l"(p), "r"(pitch) : "memory")
#define FRAGMENT_PRODUCT(d, a, b) \
  asm volatile("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {%0, %1, %2, %3, %4, %5, %6, %7}, " \
               "{%8, %9, %10, %11, %12, %13, %14, %15}, {%16, %17, %18, %19, %20, %21, %22, %23}, " \
               "{%0, %1, %2, %3, %4, %5, %6, %7};" : BOTH_FLOATS(d) : IN_WORDS(a), IN_WORDS(b))
#define FRAGMENT_STORE(p, d, pitch) \
  asm volatile("wmma.store.d.sync.aligned.row.m16n16k16.f32 [%0], {%2, %3, %4, %5, %6, %7, %8, %9}, %1;" \
               ::"l"(p), "r"(pitch), IN_FLOATS(d) : "memory")
#define PROXY_FENCE asm volatile("fence.proxy.async.shared::cta;" ::: "memory")
#define BAR_SYNC(name, threads) asm volatile("bar.sync %0, %1;" ::"r"(name), "r"(threads) : "memory")
#define BAR_ARRIVE(name, threads) asm volatile("bar.arrive %0, %1;" ::"r"(name), "r"(threads) : "memory")

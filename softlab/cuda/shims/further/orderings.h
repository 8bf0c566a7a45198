// What C++20's three-way comparison gives: std::strong_ordering, weak_ordering and partial_ordering of <compare>.
#ifndef SOFTLAB_ORDERINGS_H
#define SOFTLAB_ORDERINGS_H

namespace std {

// What stands beside an ordering in a comparison: the number 0 alone.
struct softlab_zero {
  __host__ __device__ consteval softlab_zero(int softlab_zero::*) {}
};

#define SOFTLAB_COMPARISON(name, op)                                                                           \
  friend __host__ __device__ constexpr bool operator op(name a, softlab_zero) {                                \
    return a.softlab_order != 2 && a.softlab_order op 0;                                                       \
  }                                                                                                            \
  friend __host__ __device__ constexpr bool operator op(softlab_zero, name a) {                                \
    return a.softlab_order != 2 && 0 op a.softlab_order;                                                       \
  }
// -1, 0 or 1; 2 where the two cannot be compared. The compiler allows one member.
#define SOFTLAB_ORDERING(name)                                                                                 \
  signed char softlab_order;                                                                                   \
  static const name less, equivalent, greater;                                                                 \
  friend __host__ __device__ constexpr bool operator==(name, name) = default;                                  \
  friend __host__ __device__ constexpr bool operator==(name a, softlab_zero) { return a.softlab_order == 0; }  \
  SOFTLAB_COMPARISON(name, <)                                                                                  \
  SOFTLAB_COMPARISON(name, >)                                                                                  \
  SOFTLAB_COMPARISON(name, <=)                                                                                 \
  SOFTLAB_COMPARISON(name, >=)
#define SOFTLAB_ORDERS(name)                                                                                   \
  inline constexpr name name::less{-1};                                                                        \
  inline constexpr name name::equivalent{0};                                                                   \
  inline constexpr name name::greater{1};

struct partial_ordering {
  static const partial_ordering unordered;
  SOFTLAB_ORDERING(partial_ordering)
};
SOFTLAB_ORDERS(partial_ordering)
inline constexpr partial_ordering partial_ordering::unordered{2};

struct weak_ordering {
  SOFTLAB_ORDERING(weak_ordering)
  __host__ __device__ constexpr operator partial_ordering() const { return {softlab_order}; }
};
SOFTLAB_ORDERS(weak_ordering)

struct strong_ordering {
  static const strong_ordering equal;
  SOFTLAB_ORDERING(strong_ordering)
  __host__ __device__ constexpr operator partial_ordering() const { return {softlab_order}; }
  __host__ __device__ constexpr operator weak_ordering() const { return {softlab_order}; }
};
SOFTLAB_ORDERS(strong_ordering)
inline constexpr strong_ordering strong_ordering::equal{0};

#undef SOFTLAB_ORDERS
#undef SOFTLAB_ORDERING
#undef SOFTLAB_COMPARISON

__host__ __device__ constexpr bool is_eq(partial_ordering a) { return a == 0; }
__host__ __device__ constexpr bool is_neq(partial_ordering a) { return a != 0; }
__host__ __device__ constexpr bool is_lt(partial_ordering a) { return a < 0; }
__host__ __device__ constexpr bool is_gt(partial_ordering a) { return a > 0; }
__host__ __device__ constexpr bool is_lteq(partial_ordering a) { return a <= 0; }
__host__ __device__ constexpr bool is_gteq(partial_ordering a) { return a >= 0; }

}  // namespace std
#endif

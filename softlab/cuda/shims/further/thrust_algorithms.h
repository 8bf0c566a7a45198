// Thrust's algorithms as one thread of a kernel calls them. There every policy is sequential, so these are plain loops:
// reductions and scans go from the first element to the last, and equal keys keep their order.
#ifndef SOFTLAB_THRUST_ALGORITHMS_H
#define SOFTLAB_THRUST_ALGORITHMS_H
#include <cuda/std/iterator>
#include <cuda/std/utility>

namespace thrust {

struct softlab_policy {
  template <typename T> __host__ __device__ constexpr softlab_policy on(T) const { return {}; }
  template <typename T> __host__ __device__ constexpr softlab_policy operator()(const T&) const { return {}; }
};
constexpr softlab_policy seq{}, device{}, host{};

// Each algorithm also takes a policy first.
#define SOFTLAB_WITH_POLICY(name)                                                                                 \
  template <typename... T> __device__ decltype(auto) name(softlab_policy, T... arguments) {                       \
    return name(arguments...);                                                                                    \
  }
#define SOFTLAB_ALGORITHM(...) template <__VA_ARGS__> __device__

struct softlab_less {
  template <typename T, typename U> __device__ bool operator()(const T& a, const U& b) const { return a < b; }
};
struct softlab_plus {
  template <typename T, typename U> __device__ auto operator()(const T& a, const U& b) const { return a + b; }
};
template <typename It> using softlab_value = typename ::cuda::std::iterator_traits<It>::value_type;
template <typename It> using softlab_count = typename ::cuda::std::iterator_traits<It>::difference_type;

SOFTLAB_ALGORITHM(typename T) void swap(T& a, T& b) {
  T kept = ::cuda::std::move(a);
  a = ::cuda::std::move(b);
  b = ::cuda::std::move(kept);
}
SOFTLAB_ALGORITHM(typename It) auto distance(It first, It last) { return last - first; }
SOFTLAB_ALGORITHM(typename It, typename F) It for_each(It first, It last, F f) {
  for (; first != last; ++first) f(*first);
  return last;
}
SOFTLAB_WITH_POLICY(for_each)
SOFTLAB_ALGORITHM(typename It, typename N, typename F) It for_each_n(It first, N count, F f) {
  for (N i = 0; i < count; ++i, ++first) f(*first);
  return first;
}
SOFTLAB_WITH_POLICY(for_each_n)
SOFTLAB_ALGORITHM(typename It, typename Out) Out copy(It first, It last, Out out) {
  for (; first != last; ++first, ++out) *out = *first;
  return out;
}
SOFTLAB_WITH_POLICY(copy)
SOFTLAB_ALGORITHM(typename It, typename N, typename Out) Out copy_n(It first, N count, Out out) {
  for (N i = 0; i < count; ++i, ++first, ++out) *out = *first;
  return out;
}
SOFTLAB_WITH_POLICY(copy_n)
SOFTLAB_ALGORITHM(typename It, typename Out, typename P) Out copy_if(It first, It last, Out out, P wanted) {
  for (; first != last; ++first)
    if (wanted(*first)) *out++ = *first;
  return out;
}
SOFTLAB_WITH_POLICY(copy_if)
SOFTLAB_ALGORITHM(typename It, typename T) void fill(It first, It last, const T& value) {
  for (; first != last; ++first) *first = value;
}
SOFTLAB_WITH_POLICY(fill)
SOFTLAB_ALGORITHM(typename It, typename N, typename T) It fill_n(It first, N count, const T& value) {
  for (N i = 0; i < count; ++i, ++first) *first = value;
  return first;
}
SOFTLAB_WITH_POLICY(fill_n)
SOFTLAB_ALGORITHM(typename It, typename T = softlab_value<It>) void sequence(It first, It last, T value = 0, T step = 1) {
  for (softlab_count<It> i = 0; first != last; ++first, ++i) *first = value + step * static_cast<T>(i);
}
SOFTLAB_WITH_POLICY(sequence)
SOFTLAB_ALGORITHM(typename It, typename Out, typename F) Out transform(It first, It last, Out out, F f) {
  for (; first != last; ++first, ++out) *out = f(*first);
  return out;
}
SOFTLAB_ALGORITHM(typename It, typename Other, typename Out, typename F)
Out transform(It first, It last, Other other, Out out, F f) {
  for (; first != last; ++first, ++other, ++out) *out = f(*first, *other);
  return out;
}
SOFTLAB_WITH_POLICY(transform)
SOFTLAB_ALGORITHM(typename It) void reverse(It first, It last) {
  while (first != last && first != --last) swap(*first++, *last);
}
SOFTLAB_WITH_POLICY(reverse)

SOFTLAB_ALGORITHM(typename It, typename T = softlab_value<It>, typename F = softlab_plus)
T reduce(It first, It last, T value = {}, F f = {}) {
  for (; first != last; ++first) value = f(value, *first);
  return value;
}
SOFTLAB_WITH_POLICY(reduce)
SOFTLAB_ALGORITHM(typename It, typename G, typename T, typename F)
T transform_reduce(It first, It last, G g, T value, F f) {
  for (; first != last; ++first) value = f(value, g(*first));
  return value;
}
SOFTLAB_WITH_POLICY(transform_reduce)
SOFTLAB_ALGORITHM(typename It, typename Other, typename T) T inner_product(It first, It last, Other other, T value) {
  for (; first != last; ++first, ++other) value = value + *first * *other;
  return value;
}
SOFTLAB_WITH_POLICY(inner_product)
SOFTLAB_ALGORITHM(typename It, typename Out, typename F = softlab_plus)
Out inclusive_scan(It first, It last, Out out, F f = {}) {
  if (first == last) return out;
  softlab_value<It> value = *first;
  for (*out++ = value; ++first != last;) *out++ = value = f(value, *first);
  return out;
}
SOFTLAB_WITH_POLICY(inclusive_scan)
SOFTLAB_ALGORITHM(typename It, typename Out, typename T = softlab_value<It>, typename F = softlab_plus)
Out exclusive_scan(It first, It last, Out out, T value = {}, F f = {}) {
  for (; first != last; ++first) {
    T next = f(value, *first);
    *out++ = value;
    value = next;
  }
  return out;
}
SOFTLAB_WITH_POLICY(exclusive_scan)

SOFTLAB_ALGORITHM(typename It, typename P) It find_if(It first, It last, P wanted) {
  while (first != last && !wanted(*first)) ++first;
  return first;
}
SOFTLAB_WITH_POLICY(find_if)
SOFTLAB_ALGORITHM(typename It, typename T) It find(It first, It last, const T& value) {
  while (first != last && !(*first == value)) ++first;
  return first;
}
SOFTLAB_WITH_POLICY(find)
SOFTLAB_ALGORITHM(typename It, typename P) softlab_count<It> count_if(It first, It last, P wanted) {
  softlab_count<It> found = 0;
  for (; first != last; ++first) found += wanted(*first) ? 1 : 0;
  return found;
}
SOFTLAB_WITH_POLICY(count_if)
SOFTLAB_ALGORITHM(typename It, typename T) softlab_count<It> count(It first, It last, const T& value) {
  softlab_count<It> found = 0;
  for (; first != last; ++first) found += *first == value ? 1 : 0;
  return found;
}
SOFTLAB_WITH_POLICY(count)
SOFTLAB_ALGORITHM(typename It, typename P) bool any_of(It first, It last, P wanted) {
  return find_if(first, last, wanted) != last;
}
SOFTLAB_WITH_POLICY(any_of)
SOFTLAB_ALGORITHM(typename It, typename P) bool all_of(It first, It last, P wanted) {
  return count_if(first, last, wanted) == last - first;
}
SOFTLAB_WITH_POLICY(all_of)
SOFTLAB_ALGORITHM(typename It, typename P) bool none_of(It first, It last, P wanted) {
  return find_if(first, last, wanted) == last;
}
SOFTLAB_WITH_POLICY(none_of)
SOFTLAB_ALGORITHM(typename It, typename Less = softlab_less) It min_element(It first, It last, Less less = {}) {
  It found = first;
  for (; first != last; ++first)
    if (less(*first, *found)) found = first;
  return found;
}
SOFTLAB_WITH_POLICY(min_element)
SOFTLAB_ALGORITHM(typename It, typename Less = softlab_less) It max_element(It first, It last, Less less = {}) {
  It found = first;
  for (; first != last; ++first)
    if (less(*found, *first)) found = first;
  return found;
}
SOFTLAB_WITH_POLICY(max_element)
SOFTLAB_ALGORITHM(typename It, typename Other) bool equal(It first, It last, Other other) {
  while (first != last && *first == *other) ++first, ++other;
  return first == last;
}
SOFTLAB_WITH_POLICY(equal)
SOFTLAB_ALGORITHM(typename It, typename T, typename Less = softlab_less)
It lower_bound(It first, It last, const T& value, Less less = {}) {
  while (first != last) {
    It middle = first + (last - first) / 2;
    if (less(*middle, value)) first = middle + 1;
    else last = middle;
  }
  return first;
}
SOFTLAB_WITH_POLICY(lower_bound)
SOFTLAB_ALGORITHM(typename It, typename T, typename Less = softlab_less)
It upper_bound(It first, It last, const T& value, Less less = {}) {
  while (first != last) {
    It middle = first + (last - first) / 2;
    if (less(value, *middle)) last = middle;
    else first = middle + 1;
  }
  return first;
}
SOFTLAB_WITH_POLICY(upper_bound)
SOFTLAB_ALGORITHM(typename It, typename T, typename Less = softlab_less)
bool binary_search(It first, It last, const T& value, Less less = {}) {
  It found = lower_bound(first, last, value, less);
  return found != last && !less(value, *found);
}
SOFTLAB_WITH_POLICY(binary_search)
SOFTLAB_ALGORITHM(typename It, typename P) It remove_if(It first, It last, P unwanted) {
  It out = first;
  for (; first != last; ++first)
    if (!unwanted(*first)) *out++ = *first;
  return out;
}
SOFTLAB_WITH_POLICY(remove_if)
SOFTLAB_ALGORITHM(typename It) It unique(It first, It last) {
  It out = first;
  for (It at = first; at != last; ++at)
    if (at == first || !(*(out - 1) == *at)) *out++ = *at;
  return out;
}
SOFTLAB_WITH_POLICY(unique)

// By insertion: about n * n / 4 moves.
SOFTLAB_ALGORITHM(typename It, typename Less = softlab_less) void stable_sort(It first, It last, Less less = {}) {
  for (It at = first; at < last; ++at) {
    softlab_value<It> value = *at;
    It to = at;
    for (; to > first && less(value, *(to - 1)); --to) *to = *(to - 1);
    *to = value;
  }
}
SOFTLAB_WITH_POLICY(stable_sort)
SOFTLAB_ALGORITHM(typename... T) void sort(T... arguments) { stable_sort(arguments...); }
SOFTLAB_ALGORITHM(typename It, typename Values, typename Less = softlab_less)
void stable_sort_by_key(It first, It last, Values values, Less less = {}) {
  for (It at = first; at < last; ++at) {
    softlab_value<It> key = *at;
    softlab_value<Values> value = values[at - first];
    It to = at;
    for (; to > first && less(key, *(to - 1)); --to) {
      *to = *(to - 1);
      values[to - first] = values[to - first - 1];
    }
    *to = key;
    values[to - first] = value;
  }
}
SOFTLAB_WITH_POLICY(stable_sort_by_key)
SOFTLAB_ALGORITHM(typename... T) void sort_by_key(T... arguments) { stable_sort_by_key(arguments...); }

#undef SOFTLAB_WITH_POLICY
#undef SOFTLAB_ALGORITHM
}  // namespace thrust
#endif

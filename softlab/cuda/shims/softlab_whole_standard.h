// Namespace std by libcu++, for sources that use more of it than softlab_standard.h has. It takes NVRTC longer to read.
#if defined(SOFTLAB_WHOLE_STANDARD) && !defined(SOFTLAB_WHOLE_STANDARD_H)
#define SOFTLAB_WHOLE_STANDARD_H

#include <cuda/std/array>
#include <cuda/std/bit>
#include <cuda/std/bitset>
#include <cuda/std/cfloat>
#include <cuda/std/chrono>
#include <cuda/std/climits>
#include <cuda/std/cmath>
#include <cuda/std/complex>
#include <cuda/std/cstring>
#include <cuda/std/functional>
#include <cuda/std/initializer_list>
#include <cuda/std/iterator>
#include <cuda/std/limits>
#include <cuda/std/numeric>
#include <cuda/std/optional>
#include <cuda/std/span>
#include <cuda/std/tuple>
#include <cuda/std/type_traits>
#include <cuda/std/utility>
#include <cuda/std/variant>
#if defined(__has_include)
#if __has_include(<cuda/std/memory>)
#include <cuda/std/memory>
#endif
// <algorithm>: libcu++ has it in parts alone.
#if __has_include(<cuda/std/__algorithm/clamp.h>)
#include <cuda/std/__algorithm/all_of.h>
#include <cuda/std/__algorithm/any_of.h>
#include <cuda/std/__algorithm/binary_search.h>
#include <cuda/std/__algorithm/clamp.h>
#include <cuda/std/__algorithm/copy.h>
#include <cuda/std/__algorithm/copy_n.h>
#include <cuda/std/__algorithm/count.h>
#include <cuda/std/__algorithm/count_if.h>
#include <cuda/std/__algorithm/equal.h>
#include <cuda/std/__algorithm/equal_range.h>
#include <cuda/std/__algorithm/fill.h>
#include <cuda/std/__algorithm/fill_n.h>
#include <cuda/std/__algorithm/find.h>
#include <cuda/std/__algorithm/find_if.h>
#include <cuda/std/__algorithm/for_each.h>
#include <cuda/std/__algorithm/lexicographical_compare.h>
#include <cuda/std/__algorithm/lower_bound.h>
#include <cuda/std/__algorithm/max.h>
#include <cuda/std/__algorithm/max_element.h>
#include <cuda/std/__algorithm/min.h>
#include <cuda/std/__algorithm/min_element.h>
#include <cuda/std/__algorithm/minmax.h>
#include <cuda/std/__algorithm/mismatch.h>
#include <cuda/std/__algorithm/none_of.h>
#include <cuda/std/__algorithm/replace.h>
#include <cuda/std/__algorithm/reverse.h>
#include <cuda/std/__algorithm/rotate.h>
#include <cuda/std/__algorithm/swap_ranges.h>
#include <cuda/std/__algorithm/transform.h>
#include <cuda/std/__algorithm/unique.h>
#include <cuda/std/__algorithm/upper_bound.h>
#endif
#endif

// The clock that libcu++ lacks: variables and members of the host have its points in time.
#ifdef _CCCL_BEGIN_NAMESPACE_CUDA_STD
_CCCL_BEGIN_NAMESPACE_CUDA_STD
#else
_LIBCUDACXX_BEGIN_NAMESPACE_STD
#endif
namespace chrono {
struct steady_clock {
  using duration = nanoseconds;
  using rep = duration::rep;
  using period = duration::period;
  using time_point = chrono::time_point<steady_clock>;
  static constexpr bool is_steady = true;
  __host__ __device__ static time_point now() noexcept {
    return time_point(duration_cast<duration>(system_clock::now().time_since_epoch()));
  }
};
}  // namespace chrono
#ifdef _CCCL_END_NAMESPACE_CUDA_STD
_CCCL_END_NAMESPACE_CUDA_STD
#else
_LIBCUDACXX_END_NAMESPACE_STD
#endif

namespace std {

using namespace ::cuda::std;
using ::printf;
// What libcu++ lacks of <cmath>.
using ::erf;
using ::erfc;
using ::erfcf;
using ::erff;
using ::fdim;
using ::fdimf;
#ifndef __clang__
using ::nan;
using ::nanf;
#endif
typedef decltype(nullptr) nullptr_t;

// Classes of the host. Device code can declare them as members and pass them on; each has the size that it has in
// libstdc++, so that what stands behind it in a struct is where the host puts it.
#define SOFTLAB_HOST_PARTS(name, words)                                           \
  name() = default;                                                               \
  __host__ __device__ name(nullptr_t) {}                                          \
  template <typename U> __host__ __device__ name(::std::initializer_list<U>) {}   \
  void* softlab_words[words];
#define SOFTLAB_HOST_TEMPLATE(name, words) \
  template <typename...> struct name {     \
    SOFTLAB_HOST_PARTS(name, words)        \
  };
#define SOFTLAB_HOST_CLASS(name, words) \
  struct name {                         \
    SOFTLAB_HOST_PARTS(name, words)     \
  };
SOFTLAB_HOST_TEMPLATE(vector, 3)
SOFTLAB_HOST_TEMPLATE(list, 3)
SOFTLAB_HOST_TEMPLATE(forward_list, 1)
SOFTLAB_HOST_TEMPLATE(deque, 10)
SOFTLAB_HOST_TEMPLATE(queue, 10)
SOFTLAB_HOST_TEMPLATE(stack, 10)
SOFTLAB_HOST_TEMPLATE(priority_queue, 4)
SOFTLAB_HOST_TEMPLATE(map, 6)
SOFTLAB_HOST_TEMPLATE(multimap, 6)
SOFTLAB_HOST_TEMPLATE(set, 6)
SOFTLAB_HOST_TEMPLATE(multiset, 6)
SOFTLAB_HOST_TEMPLATE(unordered_map, 7)
SOFTLAB_HOST_TEMPLATE(unordered_multimap, 7)
SOFTLAB_HOST_TEMPLATE(unordered_set, 7)
SOFTLAB_HOST_TEMPLATE(function, 4)
SOFTLAB_HOST_TEMPLATE(shared_ptr, 2)
SOFTLAB_HOST_TEMPLATE(weak_ptr, 2)
SOFTLAB_HOST_TEMPLATE(enable_shared_from_this, 2)
SOFTLAB_HOST_TEMPLATE(unique_lock, 2)
SOFTLAB_HOST_TEMPLATE(lock_guard, 1)
SOFTLAB_HOST_TEMPLATE(future, 2)
SOFTLAB_HOST_TEMPLATE(promise, 3)
SOFTLAB_HOST_CLASS(any, 2)
SOFTLAB_HOST_CLASS(type_index, 1)
SOFTLAB_HOST_CLASS(mutex, 5)
SOFTLAB_HOST_CLASS(recursive_mutex, 5)
SOFTLAB_HOST_CLASS(shared_mutex, 7)
SOFTLAB_HOST_CLASS(condition_variable, 6)
SOFTLAB_HOST_CLASS(thread, 1)
SOFTLAB_HOST_CLASS(mt19937, 625)
SOFTLAB_HOST_CLASS(mt19937_64, 313)
SOFTLAB_HOST_CLASS(default_random_engine, 1)
namespace filesystem {
SOFTLAB_HOST_CLASS(path, 5)
SOFTLAB_HOST_CLASS(directory_entry, 6)
}  // namespace filesystem
#undef SOFTLAB_HOST_CLASS
#undef SOFTLAB_HOST_TEMPLATE
template <typename T, typename = void> struct unique_ptr {
  SOFTLAB_HOST_PARTS(unique_ptr, 1)
};
template <typename T, typename...> struct basic_string {
  __host__ __device__ basic_string(const T*) {}
  SOFTLAB_HOST_PARTS(basic_string, 4)
};
#undef SOFTLAB_HOST_PARTS
using string = basic_string<char>;
template <typename T> struct atomic {
  atomic() = default;
  __host__ __device__ constexpr atomic(T value) : softlab_value(value) {}
  alignas(sizeof(T)) T softlab_value;
};

// Host code throws these. Device code names them in functions that both sides have.
#define SOFTLAB_EXCEPTION(name, base)                                    \
  struct name : base {                                                   \
    template <typename... T> __host__ __device__ name(const T&...) {}    \
  };
struct softlab_exception {
  void* softlab_words[1];
};
SOFTLAB_EXCEPTION(exception, softlab_exception)
SOFTLAB_EXCEPTION(bad_alloc, exception)
SOFTLAB_EXCEPTION(logic_error, exception)
SOFTLAB_EXCEPTION(runtime_error, exception)
SOFTLAB_EXCEPTION(domain_error, logic_error)
SOFTLAB_EXCEPTION(invalid_argument, logic_error)
SOFTLAB_EXCEPTION(length_error, logic_error)
SOFTLAB_EXCEPTION(out_of_range, logic_error)
SOFTLAB_EXCEPTION(overflow_error, runtime_error)
SOFTLAB_EXCEPTION(range_error, runtime_error)
SOFTLAB_EXCEPTION(underflow_error, runtime_error)
#undef SOFTLAB_EXCEPTION

// Streams of the host. A function that both sides have may write to one where the host calls it.
#define SOFTLAB_STREAM(name, base, words)                                                 \
  struct name : base {                                                                    \
    template <typename T> __host__ __device__ name& operator<<(const T&) { return *this; } \
    template <typename T> __host__ __device__ name& operator>>(T&) { return *this; }       \
    void* softlab_words[words];                                                           \
  };
struct softlab_stream {};
SOFTLAB_STREAM(ostream, softlab_stream, 34)
SOFTLAB_STREAM(istream, softlab_stream, 35)
SOFTLAB_STREAM(iostream, softlab_stream, 36)
SOFTLAB_STREAM(ofstream, ostream, 30)
SOFTLAB_STREAM(ifstream, istream, 30)
SOFTLAB_STREAM(fstream, iostream, 30)
SOFTLAB_STREAM(ostringstream, ostream, 13)
SOFTLAB_STREAM(istringstream, istream, 13)
SOFTLAB_STREAM(stringstream, iostream, 13)
#undef SOFTLAB_STREAM
extern __device__ ostream cout, cerr, clog;
struct softlab_manipulator {};
constexpr softlab_manipulator endl, flush, fixed, scientific;

}  // namespace std
#endif

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
#if defined(__has_include) && __has_include(<cuda/std/memory>)
#include <cuda/std/memory>
#endif

namespace std {

using namespace ::cuda::std;
using ::printf;
typedef decltype(nullptr) nullptr_t;

// Containers of the host. Device code can declare them as members and pass them on; each has the size that it has in
// libstdc++, so that what stands behind it in a struct is where the host puts it.
#define SOFTLAB_HOST_CLASS(name, words) \
  template <typename...> struct name {  \
    void* softlab_words[words];         \
  };
SOFTLAB_HOST_CLASS(vector, 3)
SOFTLAB_HOST_CLASS(list, 3)
SOFTLAB_HOST_CLASS(deque, 10)
SOFTLAB_HOST_CLASS(queue, 10)
SOFTLAB_HOST_CLASS(stack, 10)
SOFTLAB_HOST_CLASS(map, 6)
SOFTLAB_HOST_CLASS(multimap, 6)
SOFTLAB_HOST_CLASS(set, 6)
SOFTLAB_HOST_CLASS(unordered_map, 7)
SOFTLAB_HOST_CLASS(unordered_set, 7)
SOFTLAB_HOST_CLASS(function, 4)
SOFTLAB_HOST_CLASS(shared_ptr, 2)
SOFTLAB_HOST_CLASS(weak_ptr, 2)
SOFTLAB_HOST_CLASS(basic_string, 4)
#undef SOFTLAB_HOST_CLASS
template <typename T, typename = void> struct unique_ptr {
  void* softlab_words[1];
};
using string = basic_string<char>;
struct mutex {
  void* softlab_words[5];
};
struct thread {
  void* softlab_words[1];
};
class ostream;
class istream;
class iostream;
class ifstream;
class ofstream;
class stringstream;

}  // namespace std
#endif

// The type of an expression, by the names that GNU C++ has for that.
#ifndef SOFTLAB_GNU_FORMS_H
#define SOFTLAB_GNU_FORMS_H
#include <cuda/std/type_traits>
#define typeof(...) cuda::std::remove_reference_t<decltype(__VA_ARGS__)>
#define __typeof(...) typeof(__VA_ARGS__)
#define __typeof__(...) typeof(__VA_ARGS__)
#endif

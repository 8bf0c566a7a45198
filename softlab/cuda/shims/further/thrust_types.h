// What device code names of Thrust's containers. They are the host's: nobody knows their size here, so an object of one
// is an error, and a pointer or a reference to one is none.
#ifndef SOFTLAB_THRUST_TYPES_H
#define SOFTLAB_THRUST_TYPES_H

namespace thrust {

template <typename T, typename... More> class host_vector;
template <typename T, typename... More> class device_vector;
template <typename T, typename... More> class universal_vector;

template <typename T> struct device_ptr {
  T* softlab_pointer;
  device_ptr() = default;
  __host__ __device__ explicit device_ptr(T* pointer) : softlab_pointer(pointer) {}
  __host__ __device__ T* get() const { return softlab_pointer; }
  __host__ __device__ T& operator*() const { return *softlab_pointer; }
  __host__ __device__ T& operator[](ptrdiff_t i) const { return softlab_pointer[i]; }
  __host__ __device__ device_ptr operator+(ptrdiff_t i) const { return device_ptr(softlab_pointer + i); }
};
template <typename T> __host__ __device__ T* raw_pointer_cast(T* pointer) { return pointer; }
template <typename T> __host__ __device__ T* raw_pointer_cast(device_ptr<T> pointer) { return pointer.get(); }
template <typename T> __host__ __device__ device_ptr<T> device_pointer_cast(T* pointer) {
  return device_ptr<T>(pointer);
}

}  // namespace thrust
#endif

// What device code names of Thrust's containers. They lie in memory as Thrust's own do on Linux with 64 bits (32 bytes:
// an allocator of one byte, the address, the capacity, the size), so that what stands behind one in a struct is where
// the host puts it. Device code reads their elements; what allocates is the host's.
#ifndef SOFTLAB_THRUST_TYPES_H
#define SOFTLAB_THRUST_TYPES_H

namespace thrust {

template <typename T, int place> struct softlab_container {
  using value_type = T;
  using size_type = size_t;
  using iterator = T*;
  using const_iterator = const T*;
  __host__ __device__ size_t size() const { return softlab_size; }
  __host__ __device__ bool empty() const { return softlab_size == 0; }
  __host__ __device__ T* data() { return softlab_data; }
  __host__ __device__ const T* data() const { return softlab_data; }
  __host__ __device__ T* begin() { return softlab_data; }
  __host__ __device__ const T* begin() const { return softlab_data; }
  __host__ __device__ T* end() { return softlab_data + softlab_size; }
  __host__ __device__ const T* end() const { return softlab_data + softlab_size; }
  __host__ __device__ T& operator[](size_t i) { return softlab_data[i]; }
  __host__ __device__ const T& operator[](size_t i) const { return softlab_data[i]; }
  __host__ __device__ T& front() { return softlab_data[0]; }
  __host__ __device__ const T& front() const { return softlab_data[0]; }
  __host__ __device__ T& back() { return softlab_data[softlab_size - 1]; }
  __host__ __device__ const T& back() const { return softlab_data[softlab_size - 1]; }
  char softlab_allocator;
  T* softlab_data;
  size_t softlab_capacity, softlab_size;
};
template <typename T, typename... More> using host_vector = softlab_container<T, 0>;
template <typename T, typename... More> using device_vector = softlab_container<T, 1>;
template <typename T, typename... More> using universal_vector = softlab_container<T, 2>;

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

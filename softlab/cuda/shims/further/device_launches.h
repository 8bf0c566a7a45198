// What device code calls beside launches of kernels. The emulator runs each grid at its launch, so that a stream orders
// nothing and an event waits for nothing. The compiler has functions of these names, which call what is linked later.
#ifndef SOFTLAB_DEVICE_LAUNCHES_H
#define SOFTLAB_DEVICE_LAUNCHES_H

#define SOFTLAB_SUCCEEDS(name, ...) \
  __device__ inline cudaError_t softlab_##name(__VA_ARGS__) { return cudaSuccess; }
SOFTLAB_SUCCEEDS(StreamDestroy, cudaStream_t)
SOFTLAB_SUCCEEDS(StreamWaitEvent, cudaStream_t, cudaEvent_t, unsigned int = 0)
SOFTLAB_SUCCEEDS(EventRecord, cudaEvent_t, cudaStream_t = 0)
SOFTLAB_SUCCEEDS(EventDestroy, cudaEvent_t)
SOFTLAB_SUCCEEDS(GetLastError)
SOFTLAB_SUCCEEDS(PeekAtLastError)
SOFTLAB_SUCCEEDS(DeviceSynchronize)  // gone from device code since CUDA 12
#undef SOFTLAB_SUCCEEDS
__device__ inline cudaError_t softlab_StreamCreateWithFlags(cudaStream_t* stream, unsigned int) {
  *stream = (cudaStream_t)8;
  return cudaSuccess;
}
__device__ inline cudaError_t softlab_EventCreateWithFlags(cudaEvent_t* event, unsigned int) {
  *event = (cudaEvent_t)8;
  return cudaSuccess;
}
__device__ inline const char* softlab_GetErrorString(cudaError_t error) { return error ? "an error" : "no error"; }
template <typename T> __device__ inline cudaError_t softlab_Malloc(T** pointer, size_t bytes) {
  *pointer = (T*)malloc(bytes);
  return *pointer ? cudaSuccess : cudaErrorMemoryAllocation;
}
__device__ inline cudaError_t softlab_Free(void* pointer) {
  free(pointer);
  return cudaSuccess;
}
__device__ inline cudaError_t softlab_MemcpyAsync(
    void* to, const void* from, size_t bytes, int kind = 0, cudaStream_t stream = 0) {
  for (size_t i = 0; i < bytes; ++i) ((char*)to)[i] = ((const char*)from)[i];
  return cudaSuccess;
}
__device__ inline cudaError_t softlab_MemsetAsync(void* to, int value, size_t bytes, cudaStream_t stream = 0) {
  for (size_t i = 0; i < bytes; ++i) ((char*)to)[i] = (char)value;
  return cudaSuccess;
}
#define cudaStreamDestroy softlab_StreamDestroy
#define cudaStreamWaitEvent softlab_StreamWaitEvent
#define cudaEventRecord softlab_EventRecord
#define cudaEventDestroy softlab_EventDestroy
#define cudaGetLastError softlab_GetLastError
#define cudaPeekAtLastError softlab_PeekAtLastError
#define cudaDeviceSynchronize softlab_DeviceSynchronize
#define cudaStreamCreateWithFlags softlab_StreamCreateWithFlags
#define cudaEventCreateWithFlags softlab_EventCreateWithFlags
#define cudaGetErrorString softlab_GetErrorString
#define cudaMalloc softlab_Malloc
#define cudaFree softlab_Free
#define cudaMemcpyAsync softlab_MemcpyAsync
#define cudaMemsetAsync softlab_MemsetAsync
#endif

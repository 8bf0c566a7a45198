// Idea: one warp's load is as many 32-byte sectors as its lanes touch. Neighbouring lanes on neighbouring words touch
//       the fewest; a stride, an offset, a structure of several fields or random indices touch more.
// Memory traffic: what each access pattern makes of n elements read and n written. Launch: block 128, n / 128 blocks.

__global__ void copy_strided(const float* in, float* out, int stride) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  out[k] = in[k * stride];
}

__global__ void copy_offset(const float* in, float* out, int offset) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  out[k + offset] = in[k + offset];
}

template <typename Vector>
__global__ void copy_vector(const Vector* in, Vector* out) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  out[k] = in[k];
}

__global__ void gather(const int* index, const float* in, float* out) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  out[k] = in[index[k]];
}

struct Particle {
  float x, y, z, mass;
};

__global__ void center_of_structures(const Particle* particles, float* out) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  out[k] = particles[k].x * particles[k].mass;
}

__global__ void copy_half_warps(const float* in, float* out) {
  const int k = blockIdx.x * blockDim.x + threadIdx.x;
  if (threadIdx.x % 32 < 16) out[k] = in[k];
}

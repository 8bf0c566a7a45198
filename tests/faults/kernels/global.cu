// Global memory: bounds of loops, of two dimensions, of vectors with a tail; accesses in device functions and templates.

extern "C" __global__ void scale_and_add(const float* x, float* y, float a, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    y[i] += a * x[i];
  }
}

extern "C" __global__ void add_matrices(const double* a, const double* b, double* sum, int rows, int columns) {
  const int column = blockIdx.x * blockDim.x + threadIdx.x;
  const int row = blockIdx.y * blockDim.y + threadIdx.y;
  if (row < rows && column < columns) {
    const int k = row * columns + column;
    sum[k] = a[k] + b[k];
  }
}

// Neighbours' mean, the ends repeated: the index is computed in a function of its own.
__device__ __noinline__ float neighbour(const float* x, int i, int n) {
  const int k = i < 0 ? 0 : i >= n ? n - 1 : i;
  return x[k];
}

extern "C" __global__ void smooth(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const float left = neighbour(x, i - 1, n);
  const float right = neighbour(x, i + 1, n);
  y[i] = (left + x[i] + right) / 3;
}

// Four elements per thread as one vector, the rest one by one.
extern "C" __global__ void copy_by_four(const float* x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) {
    reinterpret_cast<float4*>(y)[i] = reinterpret_cast<const float4*>(x)[i];
  }
  if (i < n % 4) {
    y[n / 4 * 4 + i] = x[n / 4 * 4 + i];
  }
}

// Records of 8 bytes: a 4-byte key and a 4-byte value; only some threads read the value.
extern "C" __global__ void values_of_even_keys(const unsigned char* records, int* values) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int key = *reinterpret_cast<const int*>(records + 8 * i);
  values[i] = -1;
  if (key % 2 == 0) {
    values[i] = *reinterpret_cast<const int*>(records + 8 * i + 4);
  }
}

template <typename T, int count>
struct Tuple {
  T element[count];
};

template <typename T, int count>
__global__ void reverse_tuples(const Tuple<T, count>* in, Tuple<T, count>* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    Tuple<T, count> tuple = in[n - 1 - i];
    for (int k = 0; k < count; ++k) {
      out[i].element[k] = tuple.element[count - 1 - k];
    }
  }
}

// Where is each key in a sorted table?
extern "C" __global__ void search(const int* table, int n, const int* keys, int* found) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int low = 0;
  int high = n;
  while (low < high) {
    const int middle = (low + high) / 2;
    if (table[middle] < keys[i]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  found[i] = low;
}

"""Classes that kernels use and that have members for the host: their layout stays, and what only the host has goes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import softlab

TYPES = """\
#include <iostream>
#include <fstream>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>
#include <cublas_v2.h>
#include <mpi.h>
#define HD __host__ __device__
class Error : public std::runtime_error {
 public:
  Error(const std::string& text) : std::runtime_error(text) {}
};
struct Point {
  float x, y;
  HD float square() const { return x * x + y * y; }
  friend std::ostream& operator<<(std::ostream& out, const Point& p) { return out << p.x << p.y; }
  HD void print() const { std::cout << x << " " << y << std::endl; }
  void save(FILE* file) { fprintf(file, "%f", x); }
};
struct Solver {
  std::string name = "solver";
  std::vector<int> sizes = {1, 2};
  cublasHandle_t handle;
  cudaStream_t stream;
  curandGenerator_t random;
  MPI_Comm others;
  FILE* log = nullptr;
  std::map<std::string, int> table;
  std::mutex mutex;
  std::thread worker;
  std::ofstream out;
  std::unique_ptr<int> owned;
  std::function<void(int)> call;
  std::shared_ptr<Point> shared = nullptr;
  std::atomic<int> count{0};
  Point scale;
  int n;
  static const std::string version;
  typedef std::ostream stream_type;
  struct Part {
    int of;
    void hostly() { throw Error("no"); }
    HD int twice() const { return 2 * of; }
  } part;
  Solver(int n) : n(n) { if (n < 0) throw Error("negative"); cublasCreate(&handle); }
  virtual ~Solver() { cublasDestroy(handle); }
  HD float get(int i) const { return i < n ? scale.square() * part.twice() : 0.0f; }
  void run();
};
const std::string Solver::version = "1";
"""
KERNELS = """\
__global__ void get(const Solver* s, float* y) { y[threadIdx.x] = s->get(threadIdx.x); }
__global__ void sizes(unsigned long* y) {
  const Solver* none = nullptr;
  y[0] = sizeof(Solver);
  y[1] = (unsigned long)&none->n;
  y[2] = sizeof(std::string);
  y[3] = sizeof(std::ofstream);
  y[4] = sizeof(std::stringstream);
  y[5] = sizeof(Point);
}
void Solver::run() { get<<<1, 2>>>(this, nullptr); }
"""


@pytest.mark.further
def test_members_of_the_hosts_types_have_the_hosts_sizes(tmp_path: Path) -> None:
    """The sizes are those that g++ 12 gives the same struct, with ``FILE`` and the handles as pointers."""
    path = tmp_path / "k.cu"
    path.write_text(TYPES + KERNELS)
    found = np.zeros(6, np.uint64)
    softlab.Kernel.from_file(path, "sizes").run(1, 1, (found,), record=False)
    assert found.tolist() == [792, 780, 32, 512, 392, 8]
    memory = np.zeros(792, np.uint8)
    memory[772:780].view(np.float32)[:] = 3, 4
    memory[780:788].view(np.int32)[:] = 1, 5
    y = np.ones(2, np.float32)
    softlab.Kernel.from_file(path, "get").run(1, 2, (memory, y), record=False)
    assert y.tolist() == [250, 0]


def test_a_class_keeps_the_pointer_to_its_virtual_functions(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "struct Plain { int x; void f(); };\nstruct Host { int x; virtual void f() { exit(1); } virtual ~Host(); };\n"
        "struct Both { int x; virtual void f(); __device__ virtual int g() { return x; } };\n"
        "__global__ void k(int* y) { y[0] = sizeof(Plain); y[1] = sizeof(Host); y[2] = sizeof(Both); }\n"
    )
    y = np.zeros(3, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (y,))
    assert y.tolist() == [4, 16, 16]


def test_what_the_compiler_refuses_of_the_hosts_types_goes(tmp_path: Path) -> None:
    (tmp_path / "types.h").write_text(
        "#pragma once\nstruct Log : public Unknown { int level; };\ntypedef unknown::Thing Thing;\n"
        "struct Data {\n  using Base = unknown::Base;\n  static Unknown shared;\n  friend class unknown::Friend;\n"
        "  float x;\n  __device__ float get() const { return x; }\n  void host(Log log, Thing thing);\n};\n"
    )
    path = tmp_path / "k.cu"
    path.write_text('#include "types.h"\n__global__ void k(Data* data, float* y) { *y = data->get(); }\n')
    y = np.zeros(1, np.float32)
    run = softlab.Kernel.from_file(path).run(1, 1, (np.full(1, 3, np.float32), y))
    assert y[0] == 3
    assert run.remarks == ()


def test_a_member_of_unknown_size_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "struct Data {\n  unknown::Matrix m;\n  float x;\n  __device__ float get() const { return x; }\n};\n"
        "__global__ void k(Data* data, float* y) { *y = data->get(); }\n"
    )
    with pytest.raises(softlab.CompileError, match=r"k\.cu\(2\)"):
        softlab.Kernel.from_file(path)


def test_a_specialisation_for_the_device_stays(tmp_path: Path) -> None:
    """Without it the kernel would take the general template, and another number."""
    path = tmp_path / "k.cu"
    path.write_text(
        "template <typename T> struct Traits { static const int n = 1; };\n"
        "template <> struct Traits<float> { static const int n = 2; unknown::Thing thing; };\n"
        "__global__ void k(int* y) { *y = Traits<float>::n; }\n"
    )
    with pytest.raises(softlab.CompileError, match=r"k\.cu\(2\)"):
        softlab.Kernel.from_file(path)


def test_using_of_a_name_of_the_host(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        "namespace gpu { int parts(int n) { return n / 2; } }\nnamespace device { using gpu::parts; }\n"
        "namespace own { struct V {}; __device__ V max(V a, V) { return a; } using std::max;\n"
        "__device__ int larger(int x) { return max(x, 3); } }\n"
        "__global__ void k(int* x) { *x = own::larger(*x); }\nint host(int n) { return device::parts(n); }\n"
    )
    x = np.ones(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (x,))
    assert x[0] == 3


def test_macros_in_classes(tmp_path: Path) -> None:
    """A macro that makes members hides none of the members after it, and macros may stand before a class's name."""
    path = tmp_path / "k.cu"
    path.write_text(
        "#ifdef __CUDACC__\n#define ALIGNED(n) __align__(n)\n#else\n#define ALIGNED(n) __declspec(align(n))\n#endif\n"
        "#define PROPERTY(T, name) T name; __device__ T get_##name() const { return name; }\n"
        "struct ALIGNED(16) A {\n  PROPERTY(int, count)\n  A() : count(make<int>(1)) {}\n"
        "  __device__ int f() const { return get_count(); }\n};\n"
        "__global__ void k(A* a, int* y) { *y = a->f() + sizeof(A); }\n"
    )
    y = np.zeros(1, np.int32)
    softlab.Kernel.from_file(path).run(1, 1, (np.full(4, 5, np.int32), y))
    assert y[0] == 21


THROWING = """\
#include <vector>
struct Error { int x; };
constexpr int checked(int x) {
  if (x < 0) throw "negative";
  if (x > 1000)
    throw Error{
        x};
  return x;
}
template <int... N> struct Shape {
  static constexpr int size = [] { int s = 1; for (int n : {N...}) { if (n < 0) throw "bad"; s *= n; } return s; }();
};
__host__ __device__ int total(int x) {
  std::vector<int> v(3, x);
  v.push_back(x);
  return v.size();
}
__global__ void k(int* x) {
  if (x[0] > 2000) x[0] = total(x[0]);
  x[0] = checked(x[0]) + Shape<2, 3>::size;
}
"""


@pytest.mark.further
def test_what_only_the_host_can_run_stops_the_device(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(THROWING)
    kernel, x = softlab.Kernel.from_file(path), np.array([3], np.int32)
    assert any("total works with classes of the host" in remark for remark in kernel.program.remarks)
    kernel.run(1, 1, (x,), record=False)
    assert x.tolist() == [9]
    for value, line in ((-1, 4), (1500, 6), (5000, 13)):
        with pytest.raises(softlab.KernelFault, match=rf"trap(.|\n)*line {line} of k\.cu"):
            kernel.run(1, 1, (np.array([value], np.int32),), record=False)


def test_functions_for_the_device_do_not_throw(tmp_path: Path) -> None:
    path = tmp_path / "k.cu"
    path.write_text(
        '__device__ int f(int x) { if (x < 0) throw "no"; return x; }\n__global__ void k(int* x) { *x = f(*x); }\n'
    )
    with pytest.raises(softlab.CompileError, match="exception handling"):
        softlab.Kernel.from_file(path)


OUTSIDE = """\
#include <vector>
#define BOTH __host__ __device__
class Line {
  int slope = 2;
 public:
  Line(int offset);
  void move(int by);
  int at(int x) const;
  void save(const std::vector<int>& places);
  Line operator+(int by);
  template <typename T> T scaled(T x);
  int offset;
};
#include "line.inl"
"""
INLINE = """\
BOTH Line::Line(int offset) : offset(offset) {}
BOTH
void Line::move(int by) { offset += by; }
__device__ int Line::at(int x) const { return slope * x + offset; }
__device__ Line Line::operator+(int by) { Line other = *this; other.offset += by; return other; }
template <typename T> __device__ T Line::scaled(T x) { return x * slope; }
void Line::save(const std::vector<int>& places) { throw places; }
"""


def test_methods_whose_definitions_alone_have_attributes(tmp_path: Path) -> None:
    """nvcc takes them for both sides, with a warning."""
    (tmp_path / "line.h").write_text(OUTSIDE)
    (tmp_path / "line.inl").write_text(INLINE)
    path, y = tmp_path / "k.cu", np.zeros(3, np.int32)
    path.write_text(
        '#include "line.h"\n__global__ void k(int* y) {\n  Line line(5);\n  line.move(1);\n'
        "  y[0] = line.at(10), y[1] = (line + 100).at(0), y[2] = line.scaled(4);\n}\n"
    )
    softlab.Kernel.from_file(path).run(1, 1, (y,), record=False)
    assert y.tolist() == [26, 106, 8]


WINDOW = """\
#include <vector>
#include <graphics/Window.hpp>
class Handler {};
class Display final : public Handler {
 public:
  static constexpr size_t WIDTH = 1920,
                          HEIGHT = 1080;
  enum Mode { off, on = 5 };
  static const int depth{3};
 private:
  graphics::Window window;
  graphics::View view(const graphics::Event& event);
  static std::vector<int> all;
  static int count;
  bool redraw_ = false;
 public:
  Display();
  bool redraw() const { return redraw_; }
  static constexpr float scale = 0.5f;
  static const graphics::Color color = graphics::red();
};
__global__ void k(float* y) {
  y[0] = Display::WIDTH + Display::HEIGHT;
  y[1] = Display::on + Display::depth * Display::scale;
}
__global__ void of_object(float* y, Display* display) { *y = sizeof(*display); }
"""


def test_constants_of_a_class_whose_members_are_unknown(tmp_path: Path) -> None:
    """Its objects cannot be used: nobody knows their size."""
    path, y = tmp_path / "k.cu", np.zeros(2, np.float32)
    path.write_text(WINDOW)
    softlab.Kernel.from_file(path, "k").run(1, 1, (y,), record=False)
    assert y.tolist() == [3000, 6.5]
    with pytest.raises(softlab.CompileError, match=r"graphics/Window\.hpp"):
        softlab.Kernel.from_file(path, "of_object")


VARIABLES = """\
#include <chrono>
#include <library/thing.h>
__device__ library::Thing thing;
__device__ library::Other other;
__device__ int used = 3;
__device__ int further(int x);
__global__ void k(int* y) { *y = further(used); }
__global__ void of_other(int* y) { *y = sizeof(other); }
"""


def test_variables_of_types_of_the_host_that_no_kernel_names(tmp_path: Path) -> None:
    """What another file defines is found, too, once they are gone."""
    path, y = tmp_path / "k.cu", np.zeros(1, np.int32)
    path.write_text(VARIABLES)
    (tmp_path / "further.cu").write_text("__device__ int further(int x) { return 10 * x; }\n")
    softlab.Kernel.from_file(path, "k").run(1, 1, (y,), record=False)
    assert y[0] == 30
    with pytest.raises(softlab.CompileError, match="library"):
        softlab.Kernel.from_file(path, "of_other")


STATIC = """\
#include <map>
struct Registry {
  static int count, * others;
  static std::map<int, Registry*> all;
  static const int depth = 3;
  static constexpr float scale = 0.5f;
  float x;
};
int Registry::count = 0;
std::map<int, Registry*> Registry::all;
__global__ void k(float* y, Registry* of) { *y = of->x * Registry::scale + Registry::depth + sizeof(Registry); }
__global__ void of_count(int* y) { *y = Registry::count; }
"""


def test_static_variables_of_a_class_are_the_hosts(tmp_path: Path) -> None:
    path, y, of = tmp_path / "k.cu", np.zeros(1, np.float32), np.full(1, 4, np.float32)
    path.write_text(STATIC)
    softlab.Kernel.from_file(path, "k").run(1, 1, (y, of), record=False)
    assert y[0] == 9
    with pytest.raises(softlab.CompileError, match='no member "count"'):
        softlab.Kernel.from_file(path, "of_count")


METHODS = """\
#include <iostream>
#include <string>
#define HD __host__ __device__
class Frame {
  int wide, high;
 public:
  Frame(int w, int h);
  HD int width() const;
  HD int cut(const int& by, int least = 1) const;
  int cut(const std::string& by) const;
  static HD int twice(int x);
  void print() const;
};
template <typename T>
struct Vector {
  T x, y;
  __device__ T dot(const Vector& other) const;
  __device__ Vector& operator+=(T by);
  T of_host() const;
};
"""
#: Their definitions have no attribute.
BODIES = """\
Frame::Frame(int w, int h) : wide(w), high(h) {}
int Frame::width() const { return wide; }
int Frame::cut(const int &by, int least) const { return high - by < least ? least : high - by; }
int Frame::cut(const std::string& by) const { return high - std::stoi(by); }
int Frame::twice(int x) { return 2 * x; }
void Frame::print() const { std::cout << wide << high; }
"""
OF_TEMPLATE = """\
template <typename T> T Vector<T>::dot(const Vector& other) const { return x * other.x + y * other.y; }
template <typename T> Vector<T>& Vector<T>::operator += (T by) { x += by; return *this; }
template <typename T> T Vector<T>::of_host() const { std::cout << x; return y; }
__global__ void k(const Frame* f, int* y) {
  Vector<int> v{3, 4};
  v += 1;
  y[0] = f->width() + Frame::twice(100);
  y[1] = f->cut(3);
  y[2] = v.dot(v);
}
"""


@pytest.mark.parametrize("apart", [False, True])
def test_methods_whose_class_alone_has_their_attribute(apart: bool, tmp_path: Path) -> None:
    (tmp_path / "frame.h").write_text(f"#pragma once\n{METHODS}")
    include = '#include "frame.h"\n'
    path = tmp_path / "frame.cu"
    path.write_text(include + ("" if apart else BODIES) + OF_TEMPLATE)
    (tmp_path / "bodies.cu").write_text(include + BODIES if apart else "")
    y = np.zeros(3, np.int32)
    kernel = softlab.Kernel.from_file(path)
    kernel.run(1, 1, (np.array([5, 2], np.int32), y), record=False)
    assert y.tolist() == [205, 1, 32]
    assert ["bodies.cu" in said for said in kernel.program.remarks] == [True] * (len(kernel.program.remarks))
    assert bool(kernel.program.remarks) == apart

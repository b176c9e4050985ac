// What nvcc provides to device code, for .cu files that are compiled as C++: emulated_cuda.bzl
// makes each of them begin with it. Part of the emulation of CUDA (README.md).
//
// Contains only what the project's kernels use; a new intrinsic is added when a kernel first
// needs it. Types, vectors, and conversions of halves come from the toolkit's own headers.
#ifndef GRAPEVINE_TESTS_EMULATED_CUDA_DEVICE_CODE_H_
#define GRAPEVINE_TESTS_EMULATED_CUDA_DEVICE_CODE_H_

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <math.h>  // all names, outside of std too

#include <bit>
#include <cstdint>
#include <cstring>
#include <source_location>
#include <type_traits>

#include "tests/emulated_cuda/block.h"
#include "tests/emulated_cuda/launch.h"

// For our own headers; the toolkit's, above, were included as plain C++.
#define __CUDACC__

#undef __launch_bounds__
#define __launch_bounds__(...)
#undef __forceinline__
#define __forceinline__ inline

#define threadIdx (::emulated_cuda::place.thread)
#define blockIdx (::emulated_cuda::place.block)
#define blockDim (::emulated_cuda::place.block_size)
#define gridDim (::emulated_cuda::place.grid_size)

#define EMULATED_HERE const std::source_location& where = std::source_location::current()

inline void __syncthreads(EMULATED_HERE) { emulated_cuda::MeetBlock(where); }
inline void __syncwarp(unsigned mask = 0xffffffff, EMULATED_HERE) {
  emulated_cuda::Vote(mask, false, where);
}
inline unsigned __ballot_sync(unsigned mask, int mine, EMULATED_HERE) {
  return emulated_cuda::Vote(mask, mine != 0, where);
}
inline int __any_sync(unsigned mask, int mine, EMULATED_HERE) {
  return emulated_cuda::Vote(mask, mine != 0, where) != 0;
}
inline int __all_sync(unsigned mask, int mine, EMULATED_HERE) {
  return emulated_cuda::Vote(mask, mine != 0, where) == mask;
}

namespace emulated_cuda {

// The value of lane `source` or, if that is outside this lane's group of `width`, this lane's
// own.
template <typename T>
T Shuffle(unsigned mask, T value, unsigned source, int width, const std::source_location& where) {
  static_assert(sizeof(T) <= sizeof(uint64_t) && std::is_trivially_copyable_v<T>);
  const auto of_group = ~static_cast<unsigned>(width - 1);
  if ((source & of_group) != (Lane() & of_group)) source = Lane();
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof(T));
  bits = Exchange(mask, bits, source, where);
  std::memcpy(&value, &bits, sizeof(T));
  return value;
}

}  // namespace emulated_cuda

template <typename T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32, EMULATED_HERE) {
  const unsigned group = emulated_cuda::Lane() & ~static_cast<unsigned>(width - 1);
  const unsigned within = static_cast<unsigned>(source) & static_cast<unsigned>(width - 1);
  return emulated_cuda::Shuffle(mask, value, group + within, width, where);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32, EMULATED_HERE) {
  return emulated_cuda::Shuffle(mask, value, emulated_cuda::Lane() + by, width, where);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32, EMULATED_HERE) {
  return emulated_cuda::Shuffle(mask, value, emulated_cuda::Lane() - by, width, where);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int with, int width = 32, EMULATED_HERE) {
  return emulated_cuda::Shuffle(mask, value, emulated_cuda::Lane() ^ static_cast<unsigned>(with),
                                width, where);
}

#undef EMULATED_HERE

// Threads switch only in the functions above.
template <typename T>
T atomicAdd(T* sum, T value) {
  const T before = *sum;
  *sum += value;
  return before;
}

template <typename T>
T __ldcs(const T* from) {
  return *from;
}
template <typename T>
T __ldg(const T* from) {
  return *from;
}
template <typename T>
void __stcs(T* to, T value) {
  *to = value;
}

inline int __popc(unsigned bits) { return std::popcount(bits); }

template <typename A, typename B>
constexpr std::common_type_t<A, B> min(A a, B b) {
  return b < a ? b : a;
}
template <typename A, typename B>
constexpr std::common_type_t<A, B> max(A a, B b) {
  return a < b ? b : a;
}

#endif  // GRAPEVINE_TESTS_EMULATED_CUDA_DEVICE_CODE_H_

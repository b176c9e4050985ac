// The mark of a function that is the arithmetic of one element, on every backend.
//
// What a loop on the CPU and a kernel on a GPU both call has one definition: tests
// on the CPU then cover the formula, and those on a GPU the launch alone.
#ifndef GRAPEVINE_KERNELS_PASSES_ELEMENTWISE_FUNCTION_H_
#define GRAPEVINE_KERNELS_PASSES_ELEMENTWISE_FUNCTION_H_

// Part of its caller, whatever that is compiled for.
#ifdef __CUDACC__
#define GRAPEVINE_ELEMENTWISE __host__ __device__ __forceinline__
#else
#define GRAPEVINE_ELEMENTWISE inline __attribute__((always_inline))
#endif

#endif  // GRAPEVINE_KERNELS_PASSES_ELEMENTWISE_FUNCTION_H_

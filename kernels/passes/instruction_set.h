// How the functions of a kernel are compiled: for several instruction sets, one of which is
// chosen at run time. Functions of one element are also compiled for GPUs.
//
// A kernel is a class with a static, always-inlined Run, written as plain loops that the
// compiler vectorizes for each set. Every set gives the same bits: contraction is off, and no
// kernel lets the vector width decide an order of summation. RunKernel calls each version
// explicitly; target_clones would need ifunc resolvers, which run before a sanitizer's runtime is
// ready.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_KERNELS_PASSES_INSTRUCTION_SET_H_
#define GRAPEVINE_KERNELS_PASSES_INSTRUCTION_SET_H_

#include <vector>

// Marks a function with the arithmetic of one element, for every backend. A loop on the CPU and
// a kernel on a GPU call the same definition: tests on the CPU cover the formula, and those on
// a GPU only the launch. The function is inlined, and thus compiled for whatever its caller is.
#ifdef __CUDACC__
#define GRAPEVINE_ELEMENTWISE __host__ __device__ __forceinline__
#else
#define GRAPEVINE_ELEMENTWISE inline __attribute__((always_inline))
#endif

#define GRAPEVINE_INLINE [[gnu::always_inline]] inline

#if defined(__x86_64__)
#define GRAPEVINE_TARGET(features) __attribute__((target(features)))
#else
#define GRAPEVINE_TARGET(features)
#endif

namespace grapevine {

enum class InstructionSet { kBaseline, kAvx2, kAvx512 };

// Returns the best set of this machine.
InstructionSet BestInstructionSet();
// Returns all sets of this machine, for tests that compare them.
std::vector<InstructionSet> AvailableInstructionSets();

template <typename Kernel, typename... Args>
GRAPEVINE_TARGET("avx512f,avx512vl,avx512bw,avx512dq")
void RunAvx512(const Args&... args) {
  Kernel::Run(args...);
}

template <typename Kernel, typename... Args>
GRAPEVINE_TARGET("avx2")
void RunAvx2(const Args&... args) {
  Kernel::Run(args...);
}

// Runs the version of Kernel::Run(args...) that is compiled for `set`.
template <typename Kernel, typename... Args>
void RunKernel(InstructionSet set, const Args&... args) {
  switch (set) {
    case InstructionSet::kAvx512:
      return RunAvx512<Kernel>(args...);
    case InstructionSet::kAvx2:
      return RunAvx2<Kernel>(args...);
    case InstructionSet::kBaseline:
      return Kernel::Run(args...);
  }
}

}  // namespace grapevine

#endif  // GRAPEVINE_KERNELS_PASSES_INSTRUCTION_SET_H_

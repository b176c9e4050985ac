#include "kernels/passes/instruction_set.h"

namespace grapevine {
namespace {

InstructionSet Detect() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")) {
    return InstructionSet::kAvx512;
  }
  if (__builtin_cpu_supports("avx2")) return InstructionSet::kAvx2;
#endif
  return InstructionSet::kBaseline;
}

}  // namespace

InstructionSet BestInstructionSet() {
  static const InstructionSet best = Detect();
  return best;
}

std::vector<InstructionSet> AvailableInstructionSets() {
  std::vector<InstructionSet> sets;
  for (InstructionSet set :
       {InstructionSet::kBaseline, InstructionSet::kAvx2, InstructionSet::kAvx512}) {
    if (set <= BestInstructionSet()) sets.push_back(set);
  }
  return sets;
}

}  // namespace grapevine

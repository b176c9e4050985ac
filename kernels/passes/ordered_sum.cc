#include "kernels/passes/ordered_sum.h"

namespace grapevine {

namespace {

struct SquaredDistanceKernel {
  struct Term {
    const float* a;
    const float* b;
    GRAPEVINE_ELEMENTWISE double operator()(int64_t i) const {
      return SquaredDifference(a[i], b[i]);
    }
  };

  GRAPEVINE_INLINE static void Run(const float* a, const float* b, int64_t size, double* result) {
    *result = OrderedSum(0, size, Term{a, b});
  }
};

}  // namespace

double SquaredDistance(const float* a, const float* b, int64_t size, InstructionSet set) {
  double result = 0;
  RunKernel<SquaredDistanceKernel>(set, a, b, size, &result);
  return result;
}

}  // namespace grapevine

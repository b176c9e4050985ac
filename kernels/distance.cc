#include "kernels/distance.h"

#include <array>

namespace grapevine {
namespace {

constexpr int64_t kLanes = 16;

struct SquaredDistanceKernel {
  GRAPEVINE_INLINE static void Run(const float* a, const float* b, int64_t size, double* result) {
    std::array<double, kLanes> sums = {};
    const int64_t whole = size / kLanes * kLanes;
    for (int64_t i = 0; i < whole; i += kLanes) {
      for (int64_t lane = 0; lane < kLanes; ++lane) Add(a, b, i + lane, &sums[lane]);
    }
    for (int64_t i = whole; i < size; ++i) Add(a, b, i, &sums[i - whole]);
    for (int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (int64_t lane = 0; lane < half; ++lane) sums[lane] += sums[lane + half];
    }
    *result = sums[0];
  }

  GRAPEVINE_INLINE static void Add(const float* a, const float* b, int64_t i, double* sum) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    *sum += difference * difference;
  }
};

}  // namespace

double SquaredDistance(const float* a, const float* b, int64_t size, InstructionSet set) {
  double result = 0;
  RunKernel<SquaredDistanceKernel>(set, a, b, size, &result);
  return result;
}

}  // namespace grapevine

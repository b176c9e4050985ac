// Clipping on a GPU has the CPU's bits. Skips where there is no GPU.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/cuda/cuda_passes.h"
#include "kernels/vector/norms.h"
#include "tests/kernels/cuda/on_device.h"

namespace grapevine {
namespace {

using CudaClipNormTest = CudaTest;

TEST_F(CudaClipNormTest, HasTheBitsOfTheCpu) {
  for (const size_t size : {size_t{0}, size_t{1}, size_t{255}, size_t{4096}, size_t{1'100'003}}) {
    for (const double limit : {0.5, 1e6}) {
      for (const size_t shift : {0, 1}) {
        SCOPED_TRACE(::testing::Message() << size << " from " << shift << ", limit " << limit);
        std::vector<float> vector = Noise(1, size);
        const auto elements = static_cast<int64_t>(size);
        const OnDevice<float> gpu_vector(vector, shift);
        const OnDevice<double> scratch(
            std::vector<double>(static_cast<size_t>(ClipScratch(elements))));
        ExpectCuda(CudaClipNorm(gpu_vector.get(), elements, limit, scratch.get(), nullptr), "clip");
        ClipNorm(vector.data(), elements, limit);
        EXPECT_EQ(gpu_vector.Read(), vector);
      }
    }
  }
}

}  // namespace
}  // namespace grapevine

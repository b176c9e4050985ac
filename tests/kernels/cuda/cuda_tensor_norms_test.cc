// The GPU's squared norms have the CPU's bits. Skips where there is no GPU.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/cuda/cuda_passes.h"
#include "kernels/vector/norms.h"
#include "tests/kernels/cuda/on_device.h"

namespace grapevine {
namespace {

using CudaTensorNormsTest = CudaTest;

TEST_F(CudaTensorNormsTest, NormsHaveTheBitsOfTheCpu) {
  for (const std::vector<int64_t>& sizes : std::vector<std::vector<int64_t>>{
           {},
           {0},
           {1},
           {1, 3, 0, 255, 256, 257, 1, 4095, 4096, 4097, 8192, 1'000'003, 0, 10, 64, 0},
           {5'000'000, 17},
           std::vector<int64_t>(1000, 100)}) {
    for (const size_t shift : {0, 1}) {
      SCOPED_TRACE(::testing::Message() << sizes.size() << " tensors from " << shift);
      ReplicaLayout layout;
      for (const int64_t size : sizes) layout.AddParameter("tensor", {size});
      const std::vector<TensorSpan> spans = TensorSpans(layout.parameters);
      const std::vector<float> vector = Noise(1, static_cast<size_t>(layout.size));
      std::vector<double> norms(sizes.size(), -1);
      const OnDevice<float> gpu_vector(vector, shift);
      const OnDevice<double> gpu_norms(norms);
      const OnDevice<char> workspace(
          std::vector<char>(CudaTensorNormsWorkspace(TotalChunks(spans))));
      ExpectCuda(CudaTensorSquaredNorms(gpu_vector.get(), spans, gpu_norms.get(), workspace.get(),
                                        nullptr),
                 "norms");
      for (size_t t = 0; t < spans.size(); ++t) {
        norms[t] = SquaredNorm(vector.data() + spans[t].offset, spans[t].size);
      }
      EXPECT_EQ(gpu_norms.Read(), norms);
    }
  }
}

}  // namespace
}  // namespace grapevine

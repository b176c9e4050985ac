// The GPU's sketches have the CPU's bits. Skips where there is no GPU.
#include <gtest/gtest.h>

#include <vector>

#include "kernels/cuda/cuda_passes.h"
#include "kernels/passes/sketch.h"
#include "tests/kernels/cuda/on_device.h"

namespace grapevine {
namespace {

using CudaSketchTest = CudaTest;

TEST_F(CudaSketchTest, HasTheBitsOfTheCpu) {
  for (const size_t at_most :
       {0, 1, 3, 63, 64, 65, 16'383, 16'384, 16'385, 1'000'003, 40'000'000}) {
    const size_t size = SizeHere(at_most);
    SCOPED_TRACE(size);
    const std::vector<float> vector = Noise(1, size);
    const auto elements = static_cast<int64_t>(size);
    const OnDevice<float> gpu_vector(vector, size % 4);
    const OnDevice<double> sketch(std::vector<double>(kSketchSize, -1));
    const OnDevice<char> workspace(std::vector<char>(CudaSketchWorkspace(elements)));
    ExpectCuda(
        CudaSketch(gpu_vector.get(), elements, /*seed=*/7, sketch.get(), workspace.get(), nullptr),
        "sketch");
    const Sketch expected = SketchOf(vector.data(), elements, /*seed=*/7);
    EXPECT_EQ(sketch.Read(), std::vector<double>(expected.begin(), expected.end()));
  }
}

}  // namespace
}  // namespace grapevine

// cuDNN and cuBLASLt are found where they are installed, and are those of our headers.
#include "kernels/tensor/cuda/library/gpu_libraries.h"

#include <gtest/gtest.h>

namespace grapevine {
namespace {

TEST(GpuLibrariesTest, LoadsCudnn) {
  const absl::Status loaded = LoadCudnn();
  ASSERT_TRUE(loaded.ok()) << loaded;
  EXPECT_EQ(Cudnn().get_version() / 10000, CUDNN_MAJOR);
  EXPECT_STREQ(Cudnn().get_error_string(CUDNN_STATUS_SUCCESS), "CUDNN_STATUS_SUCCESS");
}

TEST(GpuLibrariesTest, LoadsBlas) {
  const absl::Status loaded = LoadBlas();
  ASSERT_TRUE(loaded.ok()) << loaded;
  EXPECT_EQ(Blas().get_version() / 10000, CUBLAS_VER_MAJOR);
  EXPECT_STREQ(Blas().get_status_name(CUBLAS_STATUS_SUCCESS), "CUBLAS_STATUS_SUCCESS");
}

}  // namespace
}  // namespace grapevine

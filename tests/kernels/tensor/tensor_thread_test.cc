#include "kernels/tensor/tensor_thread.h"

#include <gtest/gtest.h>

#include <limits>

extern "C" int omp_get_max_threads(void);
extern "C" void omp_set_num_threads(int);

namespace grapevine {
namespace {

// Half of the smallest normal number: a denormal. Not folded by the compiler.
float HalfOfSmallest() {
  volatile float smallest = std::numeric_limits<float>::min();
  return smallest * 0.5f;
}

TEST(TensorThreadTest, FlushesDenormalsWhileInScope) {
  EXPECT_NE(HalfOfSmallest(), 0);
  {
    const TensorThread thread;
    EXPECT_EQ(HalfOfSmallest(), 0);
  }
  EXPECT_NE(HalfOfSmallest(), 0);
}

TEST(TensorThreadTest, UsesOneThreadAndRestoresTheSetting) {
  omp_set_num_threads(3);
  {
    const TensorThread thread;
    EXPECT_EQ(omp_get_max_threads(), 1);
  }
  EXPECT_EQ(omp_get_max_threads(), 3);
}

}  // namespace
}  // namespace grapevine

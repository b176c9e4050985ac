#include <gtest/gtest.h>

TEST(Cuda, IsTested) { GTEST_SKIP() << "built without the CUDA Toolkit"; }

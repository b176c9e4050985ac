// Which parameters are copied, and which are used where they lie. No GPU is needed to ask.
#include <gtest/gtest.h>

#include "kernels/tensor/cuda/cuda_tensor_context.h"

namespace grapevine {
namespace {

constexpr TensorShape kOneByOne = {8, 4, 1, 1};
constexpr TensorShape kOneChannel = {8, 1, 3, 3};
constexpr TensorShape kThreeByThree = {8, 4, 3, 3};

class ProductParametersTest : public ::testing::Test {
 protected:
  // Whether products read the replica, and whether they write its gradient.
  struct InPlace {
    bool weights;
    bool gradient;
    bool operator==(const InPlace&) const = default;
  };
  InPlace Of(const TensorShape& shape, ElementType type, int64_t offset,
             const LossScaled& scaled = {}) {
    const ProductParameters parameters{
        .name = "", .shape = shape, .offset = offset, .type = type, .gradient_type = type};
    const void* const read = parameters.Memory(replica_, packed_);
    void* const written = parameters.GradientMemory(scaled, gradient_, packed_);
    EXPECT_TRUE(read == packed_ || read == replica_ + offset);
    EXPECT_TRUE(written == packed_ || written == gradient_ + offset);
    return {read != packed_, written != packed_};
  }

  alignas(256) float replica_[64];
  alignas(256) float gradient_[64];
  alignas(256) float packed_[64];
};

TEST_F(ProductParametersTest, LieWhereTypeAndOrderAgree) {
  constexpr InPlace kBoth = {true, true};
  constexpr InPlace kNone = {false, false};
  EXPECT_EQ(Of(kOneByOne, ElementType::kFloat32, 0), kBoth);
  EXPECT_EQ(Of(kOneByOne, ElementType::kFloat32, 4), kBoth);
  EXPECT_EQ(Of(kOneChannel, ElementType::kFloat32, 0), kBoth);
  EXPECT_EQ(Of(kThreeByThree, ElementType::kFloat32, 0), kNone);
  EXPECT_EQ(Of(kOneByOne, ElementType::kBFloat16, 0), kNone);
  EXPECT_EQ(Of(kOneByOne, ElementType::kFloat16, 0), kNone);
}

TEST_F(ProductParametersTest, AreCopiedWhereTheyAreNotAligned) {
  constexpr InPlace kNone = {false, false};
  for (const int64_t offset : {1, 2, 3, 5}) {
    EXPECT_EQ(Of(kOneByOne, ElementType::kFloat32, offset), kNone) << offset;
  }
}

TEST_F(ProductParametersTest, TheGradientOfAScaledLossIsCopied) {
  constexpr InPlace kWeights = {true, false};
  int overflow = 0;
  EXPECT_EQ(Of(kOneByOne, ElementType::kFloat32, 0, {.inverse = 0.5f}), kWeights);
  EXPECT_EQ(Of(kOneByOne, ElementType::kFloat32, 0, {.overflow = &overflow}), kWeights);
}

}  // namespace
}  // namespace grapevine

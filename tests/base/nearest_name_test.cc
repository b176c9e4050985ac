#include <gtest/gtest.h>

#include "base/registry.h"

namespace grapevine {
namespace {

TEST(NearestName, FindsTypingErrors) {
  const std::vector<std::string> names = {"--batch", "--bind", "--epochs", "--lr"};
  EXPECT_EQ(NearestName("--bathc", names), "--batch");
  EXPECT_EQ(NearestName("--epoch", names), "--epochs");
  EXPECT_EQ(NearestName("--bnid", names), "--bind");
  EXPECT_EQ(NearestName("--LR", names), "--lr");
}

TEST(NearestName, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(NearestName("--wobble", {"--batch", "--epochs"}), "");
  EXPECT_EQ(NearestName("--batch", {}), "");
  EXPECT_EQ(NearestName(std::string(100000, 'x'), {"--batch"}), "");
}

}  // namespace
}  // namespace grapevine

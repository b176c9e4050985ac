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

TEST(NearestName, FindsWhatIsAbbreviated) {
  const std::vector<std::string> names = {"--network", "--network-model", "--model",
                                          "--data",    "--batch",         "--momentum"};
  EXPECT_EQ(NearestName("--net-model", names), "--network-model");
  EXPECT_EQ(NearestName("--net", names), "--network");
  EXPECT_EQ(NearestName("--bat", names), "--batch");
  EXPECT_EQ(NearestName("--m", names), "");  // of two
}

TEST(NearestName, IsSilentWhenNothingIsNear) {
  EXPECT_EQ(NearestName("--wobble", {"--batch", "--epochs"}), "");
  EXPECT_EQ(NearestName("--batch", {}), "");
  EXPECT_EQ(NearestName(std::string(100000, 'x'), {"--batch"}), "");
}

}  // namespace
}  // namespace grapevine

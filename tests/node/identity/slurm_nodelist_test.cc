#include "base/failure.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/identity/host_list.h"

namespace grapevine {
namespace {

using testing::ElementsAre;

std::vector<std::string> Expand(const std::string& list) {
  const auto hosts = ExpandSlurmNodelist(list);
  EXPECT_TRUE(hosts.ok()) << hosts.status();
  return hosts.ok() ? *hosts : std::vector<std::string>();
}

TEST(SlurmNodelist, ExpandsAsScontrolDoes) {
  EXPECT_THAT(Expand("alone"), ElementsAre("alone"));
  EXPECT_THAT(Expand("a,b"), ElementsAre("a", "b"));
  EXPECT_THAT(Expand("n[1-3]"), ElementsAre("n1", "n2", "n3"));
  EXPECT_THAT(Expand("n[008-011]"), ElementsAre("n008", "n009", "n010", "n011"));
  EXPECT_THAT(Expand("n[1,5,7-8].x,m2"), ElementsAre("n1.x", "n5.x", "n7.x", "n8.x", "m2"));
  EXPECT_THAT(Expand("r[1-2]n[1-2]"), ElementsAre("r1n1", "r1n2", "r2n1", "r2n2"));
  EXPECT_EQ(Expand("n[0-65535]").size(), kMaxSlurmHosts);
}

TEST(SlurmNodelist, RefusesTheMalformedAndTheEndless) {
  for (const char* list :
       {"", ",", "a,,b", "n[1-3", "n]1[", "n[]", "n[a]", "n[3-1]", "n[1-]", "n[-1]", "n[1-2-3]",
        "n[0-65536]", "n[0-999]x[0-999]", "n[0-99999999999]", "n[0-40000],m[0-40000]"}) {
    const auto hosts = ExpandSlurmNodelist(list);
    EXPECT_EQ(FailureOf(hosts.status()), Failure::kUsage) << list;
    EXPECT_THAT(std::string(hosts.status().message()), testing::HasSubstr("Slurm host list"));
  }
}

}  // namespace
}  // namespace grapevine

// What every registered family of networks promises, whatever its shape.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/status.h"
#include "sim/platform/platform.h"
#include "sim/platform/platform_kind.h"
#include "sim/platform/platform_request.h"
#include "tests/testing/registered_specs.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

constexpr Rank kHosts = 12;

class PlatformContractTest : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { ASSERT_NE((platform_ = Make(GetParam())), nullptr); }

  static std::shared_ptr<const Platform> Make(const std::string& spec, Rank hosts = kHosts) {
    const auto platform = MakePlatform({.network = spec, .hosts = hosts});
    EXPECT_TRUE(platform.ok()) << platform.status();
    return platform.ok() ? *platform : nullptr;
  }

  // Where one is after a link, "a->b" or, where both directions are one, "a--b".
  std::string After(LinkId link, const std::string& here) const {
    const std::string name = platform_->LinkName(link);
    const size_t between = name.find("--") != std::string::npos ? name.find("--") : name.find("->");
    EXPECT_NE(between, std::string::npos) << name;
    const std::string left = name.substr(0, between), right = name.substr(between + 2);
    if (name[between + 1] == '-' && right == here) return left;
    EXPECT_EQ(left, here) << name;
    return right;
  }

  std::shared_ptr<const Platform> platform_;
};

TEST_P(PlatformContractTest, HasTheHostsThatAreAskedForAndNamesThem) {
  ASSERT_GE(platform_->hosts(), kHosts);
  std::set<std::string> names;
  for (HostId host = 0; host < platform_->hosts(); ++host) {
    const std::string name = platform_->HostName(host);
    EXPECT_TRUE(names.insert(name).second) << name;
    EXPECT_EQ(platform_->FindHost(name), host);
  }
  EXPECT_EQ(platform_->FindHost("nobody"), std::nullopt);
  EXPECT_EQ(platform_->FindHost(""), std::nullopt);
}

TEST_P(PlatformContractTest, LinksHaveANameACapacityAndALatency) {
  std::set<std::string> names;
  for (LinkId link = 0; link < platform_->links().size(); ++link) {
    EXPECT_TRUE(names.insert(platform_->LinkName(link)).second) << platform_->LinkName(link);
    EXPECT_GT(platform_->links()[link].capacity, 0);
    EXPECT_GE(platform_->links()[link].latency, 0);
  }
  EXPECT_GT(platform_->loopback(), 0);
}

TEST_P(PlatformContractTest, RoutesLeadFromHostToHostOverDifferentLinks) {
  const auto router = platform_->MakeRouter();
  for (HostId from = 0; from < platform_->hosts(); ++from) {
    for (HostId to = 0; to < platform_->hosts(); ++to) {
      const Route route = router->Find(from, to);
      EXPECT_EQ(std::set<LinkId>(route.links.begin(), route.links.end()).size(),
                route.links.size());
      EXPECT_EQ(route.links.empty(), from == to);
      EXPECT_GE(route.latency, 0);
      std::string here = platform_->HostName(from);
      for (const LinkId link : route.links) {
        ASSERT_LT(link, platform_->links().size());
        here = After(link, here);
      }
      EXPECT_EQ(here, platform_->HostName(to));
    }
  }
}

TEST_P(PlatformContractTest, ARouteIsTheSameWheneverItIsAskedFor) {
  const auto router = platform_->MakeRouter(), other = platform_->MakeRouter();
  other->Find(kHosts - 1, 0);
  for (HostId to = 0; to < platform_->hosts(); ++to) {
    const Route first = router->Find(0, to);
    const std::vector<LinkId> links(first.links.begin(), first.links.end());
    const Nanoseconds latency = first.latency;
    for (Router* again : {router.get(), other.get()}) {
      const Route route = again->Find(0, to);
      EXPECT_EQ(std::vector<LinkId>(route.links.begin(), route.links.end()), links);
      EXPECT_EQ(route.latency, latency);
    }
  }
}

TEST_P(PlatformContractTest, ConnectsAllHosts) {
  std::vector<HostId> hosts(static_cast<size_t>(platform_->hosts()));
  for (HostId host = 0; host < platform_->hosts(); ++host) hosts[host] = host;
  EXPECT_EQ(platform_->CheckConnected(hosts), absl::OkStatus());
}

TEST_P(PlatformContractTest, TheNameSaysEverythingAndReadsBack) {
  const auto again = Make(platform_->name(), platform_->hosts());
  ASSERT_NE(again, nullptr);
  EXPECT_EQ(again->name(), platform_->name());
  EXPECT_EQ(again->hosts(), platform_->hosts());
  ASSERT_EQ(again->links().size(), platform_->links().size());
  for (LinkId link = 0; link < platform_->links().size(); ++link) {
    EXPECT_EQ(again->links()[link].capacity, platform_->links()[link].capacity);
    EXPECT_EQ(again->links()[link].latency, platform_->links()[link].latency);
  }
}

TEST_P(PlatformContractTest, RefusesWhatItDoesNotKnow) {
  const auto platform = MakePlatform({.network = GetParam() + ":colour=blue", .hosts = kHosts});
  EXPECT_EQ(FailureOf(platform.status()), Failure::kUsage) << platform.status();
  EXPECT_THAT(std::string(platform.status().message()), HasSubstr("colour"));
}

TEST(Platforms, EveryFamilyHasExamplesOfItself) { testing::ExpectOwnExamples(Platforms()); }

INSTANTIATE_TEST_SUITE_P(Registered, PlatformContractTest,
                         ::testing::ValuesIn(testing::ExamplesOf(Platforms())),
                         testing::SpecTestName);

}  // namespace
}  // namespace grapevine

// Candidates timed on several threads have the times of one. Apart from advice_run_test.cc,
// which takes a sanitizer of threads too long.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "experiment/advice/advice.h"
#include "run/config/config_resolve.h"

namespace grapevine {
namespace {

using ::testing::StartsWith;

// First the candidates, one by one, then all of them on cluster after cluster.
void ExpectToComeToAnEnd(const std::vector<AdviceProgress>& told, size_t candidates) {
  ASSERT_GE(told.size(), candidates + 2 * kScanPoints);
  const double all = static_cast<double>(candidates);
  EXPECT_EQ(told.front().timed, 1);
  EXPECT_EQ(told.front().left, all * (1 + 2 * kScanPoints) - 1);
  EXPECT_EQ(told[candidates - 1].timed, all);
  EXPECT_THAT(told[candidates - 1].text, StartsWith(absl::StrCat(candidates, "/", candidates)));
  for (size_t i = 1; i < told.size(); ++i) {
    EXPECT_GT(told[i].timed, told[i - 1].timed);
    EXPECT_LE(told[i].left, told[i - 1].left) << "what comes in addition is not part of it";
  }
  EXPECT_EQ(told.back().left, 0);
}

TEST(AdviseCluster, ThreadsChangeNothing) {
  const auto resolved = ResolveConfig({.flags = {{"nodes", "4"},
                                                 {"network", "switch"},
                                                 {"model", "phantom:1MB"},
                                                 {"compute", "10ms"},
                                                 {"rounds", "100"}}});
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  std::vector<std::string> names[2];
  std::vector<double> seconds[2];
  std::vector<AdviceProgress> lines[2];
  for (const int several : {0, 1}) {
    const auto advice = AdviseCluster(
        resolved->config,
        {.threads = several ? 4 : 1, .on_progress = [&](const AdviceProgress& progress) {
           lines[several].push_back(progress);
         }});
    ASSERT_TRUE(advice.ok()) << advice.status();
    for (const CandidateResult& result : advice->advice.ranking) {
      names[several].push_back(result.candidate.name());
      seconds[several].push_back(result.seconds);
    }
  }
  EXPECT_EQ(names[0], names[1]);
  EXPECT_EQ(seconds[0], seconds[1]);
  EXPECT_EQ(lines[0].size(), lines[1].size());
  for (const std::vector<AdviceProgress>& told : lines) ExpectToComeToAnEnd(told, names[0].size());
}

}  // namespace
}  // namespace grapevine

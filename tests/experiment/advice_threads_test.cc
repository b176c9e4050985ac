// Candidates timed on several threads have the times of one. Apart from advice_run_test.cc,
// which takes a sanitizer of threads too long.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "experiment/advice/advice.h"
#include "run/config/config_resolve.h"

namespace grapevine {
namespace {

TEST(AdviseCluster, ThreadsChangeNothing) {
  const auto resolved = ResolveConfig({.flags = {{"nodes", "4"},
                                                 {"network", "switch"},
                                                 {"model", "phantom:1MB"},
                                                 {"compute", "10ms"},
                                                 {"rounds", "100"}}});
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  std::vector<std::string> names[2];
  std::vector<double> seconds[2];
  std::vector<std::string> lines[2];
  for (const int several : {0, 1}) {
    const auto advice = AdviseCluster(
        resolved->config, {.threads = several ? 4 : 1, .on_progress = [&](const std::string& line) {
                             lines[several].push_back(line);
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
}

}  // namespace
}  // namespace grapevine

// What the nodes of a run that share a budget of gradients say that they did.
#ifndef GRAPEVINE_TESTS_PROCESS_RUN_GRADIENTS_H_
#define GRAPEVINE_TESTS_PROCESS_RUN_GRADIENTS_H_

#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string>
#include <vector>

#include "tests/testing/json_text.h"

namespace grapevine::testing {

inline std::vector<nlohmann::json> NodeLines(const std::string& run, int rank) {
  auto lines = JsonLines(run + "/node-" + std::to_string(rank) + "/metrics.jsonl");
  EXPECT_FALSE(lines.empty()) << "rank " << rank;
  if (lines.empty()) lines.emplace_back(nlohmann::json::object());
  return lines;
}

// How many each node has computed.
inline std::vector<int64_t> GradientsOf(const std::string& run, int nodes) {
  std::vector<int64_t> gradients;
  for (int rank = 0; rank < nodes; ++rank) {
    gradients.push_back(NodeLines(run, rank).back().value("gradients_total", int64_t{0}));
  }
  return gradients;
}

inline int64_t SumOf(const std::vector<int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), int64_t{0});
}

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_PROCESS_RUN_GRADIENTS_H_

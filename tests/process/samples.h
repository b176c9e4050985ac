// What a node says at /metrics, taken apart.
#ifndef GRAPEVINE_TESTS_PROCESS_SAMPLES_H_
#define GRAPEVINE_TESTS_PROCESS_SAMPLES_H_

#include <cstddef>
#include <map>
#include <sstream>
#include <string>

#include "tests/testing/http_client.h"

namespace grapevine::testing {

// By name and labels, as they stand: `grapevine_round{rank="0"}`.
using Samples = std::map<std::string, double>;

inline Samples SamplesIn(const std::string& text) {
  Samples samples;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.rfind(' ');
    if (line.starts_with('#') || space == std::string::npos) continue;
    samples[line.substr(0, space)] = std::stod(line.substr(space + 1));
  }
  return samples;
}

// Of the node that serves at this port; none if nobody does.
inline Samples Scrape(int port) { return SamplesIn(HttpGet(port, "/metrics").body); }

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_PROCESS_SAMPLES_H_

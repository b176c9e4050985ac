// What is known of the hosts of a run before it begins: what they say of themselves and of each
// other, as far as they answered.
//
// Plain data, and pure functions of it.
#ifndef GRAPEVINE_NODE_PROBE_SURVEY_H_
#define GRAPEVINE_NODE_PROBE_SURVEY_H_

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "node/probe/clock_offset.h"
#include "node/probe/disjoint_rounds.h"
#include "node/probe/probe.pb.h"

namespace grapevine {

struct SurveyedHost {
  std::string name;         // as the user calls it
  std::vector<Rank> ranks;  // that will run there
  absl::Status problem;     // why nothing can be asked there
  std::optional<probe::Facts> facts;
  std::optional<probe::Opened> opened;  // one port for each rank
  std::optional<ClockOffset> clock;     // beside that of the machine that asks
};

// One port of one host, tried from another.
struct SurveyedPort {
  HostEdge hosts;
  int port = 0;
  std::optional<probe::Reached> reached;
};

// A direction in which replicas will travel.
struct SurveyedEdge {
  HostEdge hosts;
  std::optional<probe::Streamed> echoes;    // small messages, while neither host does more
  std::optional<probe::Streamed> alone;     // while neither sends or receives but back
  std::optional<probe::Streamed> together;  // while all edges are in use
};

// Bits a second; none where nothing was measured, or what a host says makes no sense.
std::optional<double> RateOf(const std::optional<probe::Streamed>& streamed);
// One way: half of a round trip; none likewise.
std::optional<std::chrono::nanoseconds> LatencyOf(const std::optional<probe::Streamed>& streamed);

struct Survey {
  std::vector<SurveyedHost> hosts;
  std::vector<SurveyedPort> ports;
  bool all_pairs = true;  // `ports` has those of every pair of hosts
  std::vector<SurveyedEdge> edges;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_SURVEY_H_

// A Survey is what is known of the hosts of a run before it begins: what the hosts say of
// themselves and of each other, as far as they answered.
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
  std::string name;         // the name that the user gives it
  std::vector<Rank> ranks;  // the ranks that will run there
  absl::Status problem;     // why the host cannot be asked; OK if it can
  std::optional<probe::Facts> facts;
  std::optional<probe::Opened> opened;  // one port for each rank
  std::optional<ClockOffset> clock;     // against the clock of the machine that asks
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
  std::optional<probe::Streamed> echoes;    // small messages, while both hosts are otherwise idle
  std::optional<probe::Streamed> alone;     // while only the opposite direction is in use as well
  std::optional<probe::Streamed> together;  // while all edges are in use
};

// Returns bits a second; none if nothing was measured, or the host's answer makes no sense.
std::optional<double> RateOf(const std::optional<probe::Streamed>& streamed);
// Returns the latency of one way, half of a round trip; none if nothing was measured, or the host's
// answer makes no sense.
std::optional<std::chrono::nanoseconds> LatencyOf(const std::optional<probe::Streamed>& streamed);

struct Survey {
  std::vector<SurveyedHost> hosts;
  std::vector<SurveyedPort> ports;
  bool all_pairs = true;  // whether `ports` has the ports of every pair of hosts
  std::vector<SurveyedEdge> edges;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_SURVEY_H_

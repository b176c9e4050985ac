// Asks the hosts of a run what it needs to know before it begins: starts an agent on each of them,
// lets them try each other's ports, and measures the edges of a graph.
#ifndef GRAPEVINE_NODE_LAUNCH_HOST_SURVEY_H_
#define GRAPEVINE_NODE_LAUNCH_HOST_SURVEY_H_

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "node/launch/remote_hosts.h"
#include "node/probe/survey.h"

namespace grapevine {

struct HostSurveyOptions {
  RemoteHostsOptions hosts;          // its folder is where relative paths begin, on all of them
  std::string token;                 // of this survey: 16 bytes or more that nobody else knows
  std::vector<probe::TlsFiles> tls;  // by rank; empty: plain text
  std::vector<HostEdge> edges;       // to measure, of positions in GroupByHost(hosts.slots)
  std::chrono::milliseconds patience{3000};  // with each connection and name server
  std::chrono::milliseconds duration{1000};  // of each measurement; 0: none
};

// Ports are tried between all pairs of so many hosts; of more, from each to its neighbours along
// the edges, to the first host, where rank 0 is, and from there.
inline constexpr size_t kMostHostsInPairs = 32;

// `told` hears what is done next, for people. Hosts that do not answer leave gaps in the result.
// kInterrupted or kTerminated at a signal. To be called as Launch is.
absl::StatusOr<Survey> SurveyHosts(const HostSurveyOptions& options,
                                   const std::function<void(std::string_view)>& told);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_HOST_SURVEY_H_

// SurveyHosts asks the hosts of a run what there is to know before the run begins: it starts an
// agent on each host, lets the hosts try each other's ports, and measures the edges of a graph.
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
  RemoteHostsOptions hosts;          // relative paths begin in its folder, on all hosts
  std::string token;                 // 16 bytes or more that only this survey knows
  std::vector<probe::TlsFiles> tls;  // by rank; empty: plain text
  // The edges to measure, between positions in GroupByHost(hosts.slots).
  std::vector<HostEdge> edges;
  // The time that each connection and each name server is given.
  std::chrono::milliseconds patience{3000};
  // The time of each measurement; 0: nothing is measured.
  std::chrono::milliseconds duration{1000};
};

// The most hosts with which ports are tried between all pairs. With more hosts, ports are tried
// along the edges, and to and from the first host, where rank 0 is.
inline constexpr size_t kMostHostsInPairs = 32;

// Surveys the hosts, and tells `told` what is done next, for people. Hosts that do not answer leave
// gaps in the result. kInterrupted or kTerminated at a signal. To be called on the main thread,
// before other threads exist, as Launch is.
absl::StatusOr<Survey> SurveyHosts(const HostSurveyOptions& options,
                                   const std::function<void(std::string_view)>& told);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_HOST_SURVEY_H_

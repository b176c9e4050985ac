// What rank 0 says of itself in a store. Whoever can write there can forge it, but for its proof of
// the run's token.
//
// Pure functions.
#ifndef GRAPEVINE_NODE_DISCOVERY_ANNOUNCEMENT_H_
#define GRAPEVINE_NODE_DISCOVERY_ANNOUNCEMENT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "node/identity/host_address.h"
#include "node/identity/run_token.h"

namespace grapevine {

struct CoordinatorAnnouncement {
  static constexpr size_t kMostAddresses = 16;

  std::string run_id;
  std::vector<HostAddress> addresses;  // at any of which rank 0 may be reached
  int64_t since = 0;                   // seconds of Unix time
};

std::string EncodeAnnouncement(const CoordinatorAnnouncement& announcement, const RunToken& token);

// InvalidArgument says what is wrong with it, phrased to follow "what is there ".
absl::StatusOr<CoordinatorAnnouncement> DecodeAnnouncement(std::string_view bytes,
                                                           const RunToken& token);

// Where rank 0 may be reached that advertises this: there, or without a host under each of
// `own_names` (system/machine_names.h), loopback only where there is nothing else.
std::vector<HostAddress> AnnouncedAddresses(const HostAddress& advertised,
                                            const std::vector<std::string>& own_names);

// "10.0.0.1:41234, node1:41234 (since 2026-11-23 16:20:00 UTC)".
std::string AnnouncementText(const CoordinatorAnnouncement& announcement);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_ANNOUNCEMENT_H_

// ProbeDoor listens on the ports of a host's nodes before a run, as the nodes will, so that other
// hosts can try them.
//
// A caller that has not shown the survey's token (probe_wire.h) holds a descriptor and 45 bytes for
// five seconds at most, and beyond kMostStrangers such callers a newcomer displaces the oldest. The
// other callers hold little memory either: a sink reads and forgets, an echo keeps the bytes that
// its caller has not taken, up to 64 KiB. Each caller has the time and the bytes that its hello
// names, and no more than a door grants.
#ifndef GRAPEVINE_NODE_PROBE_PROBE_DOOR_H_
#define GRAPEVINE_NODE_PROBE_PROBE_DOOR_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "node/identity/authentication.h"
#include "system/file_descriptor.h"

namespace grapevine {

struct ProbeDoorOptions {
  RunToken token;     // must be given
  uint32_t host = 0;  // the number of this host
  std::vector<int> ports;
  std::chrono::milliseconds lifetime{};  // the time after which the door closes by itself
};

// Has a thread of its own. Thread-compatible.
class ProbeDoor {
 public:
  static absl::StatusOr<std::unique_ptr<ProbeDoor>> Open(const ProbeDoorOptions& options);
  ~ProbeDoor();
  ProbeDoor(const ProbeDoor&) = delete;
  ProbeDoor& operator=(const ProbeDoor&) = delete;

  // Returns, in the order of the options, each port that is open, or why it is not.
  const std::vector<absl::StatusOr<int>>& ports() const { return ports_; }

  // The most callers that may be connected without having shown the token.
  static constexpr size_t kMostStrangers = 64;
  static constexpr size_t kMostCallers = 1024;
  static constexpr std::chrono::milliseconds kPatience{5000};
  // The share of its time after which a sink counts: before, a connection's window grows.
  static constexpr double kWarmUp = 0.3;

 private:
  ProbeDoor() = default;
  void Serve(const ProbeDoorOptions& options);

  std::vector<absl::StatusOr<int>> ports_;
  std::vector<UniqueDescriptor> listeners_;  // used by the thread only
  UniqueDescriptor stop_;                    // an eventfd
  std::thread thread_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_PROBE_DOOR_H_

// Finds out that nobody listens at an address any more.
//
// A process that ends takes its listening socket down, whatever ended it, and its host refuses
// connections from then on. A connection that breaks between two living processes leaves both
// listening. Hence, if the other connection of a process has broken, a refused connection to its
// port tells its death from a fault of the network. Other results of an attempt (it succeeds, or
// nothing answers) prove nothing: the process may be alive, stopped, or behind a firewall or a
// relay that answers for it.
//
// An address is tried at once and, since a process that is ending closes its sockets one by one, a
// moment later again, and then more and more rarely.
//
// Thread-safe.
#ifndef GRAPEVINE_NODE_CONTROL_PORT_WATCH_H_
#define GRAPEVINE_NODE_CONTROL_PORT_WATCH_H_

#include <atomic>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "system/deadline.h"
#include "system/machine_names.h"
#include "system/mutex.h"

namespace grapevine {

// Tries addresses (HOST:PORT). Thread-compatible.
class PortProbe {
 public:
  // Returns the addresses of a name; may take long.
  using Resolver = std::function<absl::StatusOr<std::vector<std::string>>(const std::string& name)>;
  explicit PortProbe(Resolver resolver = AddressesOfName) : resolver_(std::move(resolver)) {}

  // Returns whether each address refuses connections; all are tried at once. Takes at most twice
  // `patience`: once for names, of which one that is not resolved by then proves nothing, and once
  // for connections. Nothing is tried once `stopped`.
  std::vector<bool> Refuse(const std::vector<std::string>& addresses,
                           std::chrono::milliseconds patience,
                           const std::atomic<bool>& stopped = false);

 private:
  const Resolver resolver_;
  BoundedCall names_;
};

class PortWatch {
 public:
  // The text about an address at which nobody listens, phrased to follow a reason and "and".
  static constexpr std::string_view kClosed = "nobody listens at its address any more";

  // A thread of the watch calls `on_closed`, without the lock, for as long as the rank is watched.
  explicit PortWatch(std::function<void(Rank)> on_closed);
  // Must not be called from `on_closed`.
  ~PortWatch();

  // Watches these addresses (HOST:PORT) from now on, and no others.
  void Watch(std::map<Rank, std::string> addresses);

 private:
  void Run();

  const std::function<void(Rank)> on_closed_;
  PortProbe probe_;  // for the thread
  Mutex mutex_;
  Condition changed_;
  std::map<Rank, std::string> watched_ ABSL_GUARDED_BY(mutex_);
  std::chrono::milliseconds pause_ ABSL_GUARDED_BY(mutex_){0};
  // Set under the lock, so that no wait misses it.
  std::atomic<bool> stopped_ = false;
  std::thread thread_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_PORT_WATCH_H_

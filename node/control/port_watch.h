// Tells that nobody listens at an address any more.
//
// A process that ends takes its listening socket down, whatever ended it, and its host refuses
// connections from then on; a connection that breaks between two living processes leaves both
// listening. So a refused connection to the port of a process whose other connection has broken
// tells its death from a fault of the network. What else may come of an attempt (it is made, or
// nothing answers) says nothing: the process may be there, stopped, or behind a firewall or a relay
// that answers for it.
//
// An address is tried at once, since a process that is ending closes its sockets one by one a
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
  // The addresses of a name; may take its time.
  using Resolver = std::function<absl::StatusOr<std::vector<std::string>>(const std::string& name)>;
  explicit PortProbe(Resolver resolver = AddressesOfName) : resolver_(std::move(resolver)) {}

  // Whether each refuses connections, all tried at once. Takes twice `patience` at most: no longer
  // than that for names, of which one that is not resolved by then tells nothing, nor for
  // connections. Nothing is tried once `stopped`.
  std::vector<bool> Refuse(const std::vector<std::string>& addresses,
                           std::chrono::milliseconds patience,
                           const std::atomic<bool>& stopped = false);

 private:
  const Resolver resolver_;
  BoundedCall names_;
};

class PortWatch {
 public:
  // What is said of an address at which nobody listens: phrased to follow a reason and "and".
  static constexpr std::string_view kClosed = "nobody listens at its address any more";

  // `on_closed` is called from a thread of the watch, without its lock, for as long as the rank is
  // watched.
  explicit PortWatch(std::function<void(Rank)> on_closed);
  // Must not be called from `on_closed`.
  ~PortWatch();

  // From now on these (HOST:PORT), and no others.
  void Watch(std::map<Rank, std::string> addresses);

 private:
  void Run();

  const std::function<void(Rank)> on_closed_;
  PortProbe probe_;  // the thread's
  Mutex mutex_;
  Condition changed_;
  std::map<Rank, std::string> watched_ ABSL_GUARDED_BY(mutex_);
  std::chrono::milliseconds pause_ ABSL_GUARDED_BY(mutex_){0};
  std::atomic<bool> stopped_ = false;  // set under the lock, that no wait misses it
  std::thread thread_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_PORT_WATCH_H_

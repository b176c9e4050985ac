// Connections between simulated processes. As in TCP, each direction delivers what was sent, once
// and in order, or breaks; different connections are not ordered.
//
// A connection carries messages of bytes both ways, and the end of each way, as a gRPC stream
// does. A direction accepts few messages ahead of its reader, so that a peer that does not read
// exerts backpressure.
//
// Thread-compatible.
#ifndef GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_NETWORK_H_
#define GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_NETWORK_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "node/transport/message_memory.h"
#include "random/keyed_random.h"
#include "tests/node/whole_node/process.h"
#include "tests/node/whole_node/virtual_time.h"

namespace grapevine::testing {

class SimulatedNetwork;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  struct Reader {
    std::function<void(std::string bytes)> on_message;
    // Nothing more will come: the other end finished with this status, or the connection broke.
    std::function<void(const absl::Status& why)> on_closed;
  };
  enum class End { kCaller = 0, kCalled = 1 };

  // `window`: the most messages that a direction accepts ahead of its reader.
  Connection(SimulatedNetwork* network, Process* caller, Process* called, std::string service,
             size_t window);

  // Sets the reader of this end; messages that have come wait for it.
  void Read(End end, Reader reader);
  // `header` is followed by `data`, which are read when `written` is called: soon, or once the
  // other end has read what is ahead.
  void Write(End end, std::string header, SharedBytes data, std::function<void()> written);
  // This end writes no more.
  void Finish(End end, absl::Status status);
  // Drop what is in flight; both ends hear `why`, except the end that broke it.
  void Break(absl::Status why);
  void BreakFrom(End end, absl::Status why);
  // This end, or its process, is gone: what it has sent arrives, then the connection breaks.
  void Orphan(End end, absl::Status why);
  // Whether messages of this end wait for room.
  bool Waits(End end) const { return !side(end).waiting.empty(); }

  Rank rank(End end) const { return side(end).process->rank(); }
  const std::string& service() const { return service_; }

 private:
  friend class SimulatedNetwork;

  struct Message {
    std::string bytes;
    SharedBytes data;  // not read yet
    std::function<void()> written;
    bool last = false;
    bool broken = false;  // the last, because its process is gone
    absl::Status status;  // of the last
    SteadyTime arrives;
  };
  struct Side {
    Process* process;
    Reader reader;
    std::deque<Message> taken;    // in the network, or in the reader's socket
    std::deque<Message> waiting;  // for room
    SteadyTime last_arrival;
    bool finished = false;  // writes no more
    bool closed = false;    // has heard that the other writes no more
  };

  static End Other(End end) { return end == End::kCaller ? End::kCalled : End::kCaller; }
  Side& side(End end) { return sides_[static_cast<int>(end)]; }
  const Side& side(End end) const { return sides_[static_cast<int>(end)]; }

  void TakeIn(End from);
  // Lets the oldest message of a direction arrive, once the network allows it.
  void Arrive(End from);
  void Deliver(End from);
  void Close(End reader, const absl::Status& why);

  SimulatedNetwork* const network_;
  const std::string service_;
  const size_t window_;
  Side sides_[2];
  bool broken_ = false;
};

class SimulatedNetwork {
 public:
  struct Options {
    std::chrono::nanoseconds latency{1000000};
    std::chrono::nanoseconds jitter{1000000};  // added to it, uniform
  };
  using Accept = std::function<void(std::shared_ptr<Connection>)>;

  SimulatedNetwork(Options options, uint64_t seed, VirtualTime* time)
      : options_(options), random_(seed, Purpose::kMessageEffect), time_(time) {}

  // Releases all that connections hold, including each other's ends.
  ~SimulatedNetwork();

  // Whether a connection to the process would be refused, as of one that has ended; no answer where
  // nothing passes.
  void Probe(Process* caller, Process* called, std::function<void(bool refused)> answer);
  // Makes `process` reachable by this name: "rank/service".
  void Listen(Process* process, const std::string& service, Accept accept);
  // Calls it. If nobody listens, the caller hears Unavailable.
  std::shared_ptr<Connection> Connect(Process* caller, Process* called, const std::string& service,
                                      size_t window);

  // Nothing passes between the two before `until`, and nothing is lost.
  void Partition(Rank a, Rank b, SteadyTime until) { partitions_[Pair(a, b)] = until; }
  // Ends the process, and its connections as a kernel does.
  void EndProcess(Process* process, const std::string& why);
  // All connections between the two.
  void Reset(Rank a, Rank b);
  // Those to this service; and none is made again before `until`.
  void Cut(Rank a, Rank b, const std::string& service, SteadyTime until);

 private:
  friend class Connection;

  static std::pair<Rank, Rank> Pair(Rank a, Rank b) { return std::minmax(a, b); }
  SteadyTime PartitionedUntil(Rank a, Rank b) const;
  std::vector<std::shared_ptr<Connection>> ConnectionsBetween(Rank a, Rank b);
  std::chrono::nanoseconds Latency(Rank a, Rank b);
  std::vector<std::shared_ptr<Connection>> ConnectionsOf(Rank rank);

  const Options options_;
  KeyedRandom random_;
  VirtualTime* const time_;
  std::map<std::pair<const Process*, std::string>, Accept> listening_;
  std::map<std::pair<Rank, Rank>, SteadyTime> partitions_;
  std::map<std::pair<std::pair<Rank, Rank>, std::string>, SteadyTime> cuts_;
  std::vector<std::weak_ptr<Connection>> connections_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_WHOLE_NODE_SIMULATED_NETWORK_H_

// CreditDesk holds the credits of a node's posts in turn (Credit::kInTurn), for all its peers,
// until they are due; ArrivalMeter measures when that is.
//
// Links report to the desk what they post and what lands. The desk returns the credits that are due
// as calls, which the caller must make without holding a lock, because they concern other links.
#ifndef GRAPEVINE_NODE_TRANSPORT_CREDIT_DESK_H_
#define GRAPEVINE_NODE_TRANSPORT_CREDIT_DESK_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "algorithm/event.h"
#include "algorithm/receiving.h"
#include "node/transport/message_memory.h"
#include "system/mutex.h"

namespace grapevine {

// ArrivalMeter measures what a node can observe of its network: the rate at which messages arrive,
// and the time from a credit to its message.
//
// A message in turn arrives in several chunks. All bytes that arrive between its first and its last
// chunk, over that time, are the node's receive rate. The first chunk arrives a round trip after
// the credit went out if the sender was waiting for the credit, and later otherwise. So the
// shortest such time is the round trip, and an overestimate corrects itself as soon as a sender
// waits.
//
// Thread-compatible. The caller passes the time in.
class ArrivalMeter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // Records that the credit of a message went out.
  void Announced(Rank from, Tag tag, Time now);
  // Records that a chunk of a message has arrived. Messages that were not announced count only
  // towards the rate.
  void Landed(Rank from, Tag tag, int64_t bytes, bool last, Time now);
  // Forgets a message that will not come.
  void Forget(Rank from, Tag tag);
  // Forgets all messages of a peer from which nothing more comes.
  void Forget(Rank from);

  // Returns the number of bytes that arrive while a credit travels to `to`, which takes half a
  // round trip, and a message of `from` arrives. Uses the slowest of the last kRates rates of
  // `from`, since a message that was read late out of a buffer looks fast. For a peer that has sent
  // nothing, uses the shortest round trip and the slowest rate of all peers. Returns 0 before
  // anything was measured.
  double BytesWhileACreditTravels(Rank to, Rank from) const;

  static constexpr size_t kRates = 4;

 private:
  struct Arrival {
    Time announced;
    std::optional<Time> first;  // when the first chunk arrived
    int64_t first_bytes = 0;
    int64_t bytes = 0;         // so far
    int64_t all_at_first = 0;  // value of all_ when the first chunk had arrived
  };
  void Measure(Rank from, const Arrival& arrival, Time now);
  double SlowestRate(Rank from) const;

  std::map<std::pair<Rank, Tag>, Arrival> arrivals_;
  int64_t all_ = 0;                           // bytes of all messages that have arrived
  std::map<Rank, std::deque<double>> rates_;  // bytes per second, never empty
  std::map<Rank, double> round_trips_;        // seconds
};

// Thread-safe.
class CreditDesk {
 public:
  // Announces one credit to its peer.
  using Announce = std::function<void()>;
  using Due = std::vector<Announce>;

  explicit CreditDesk(std::function<ArrivalMeter::Time()> now =
                          [] { return std::chrono::steady_clock::now(); })
      : now_(std::move(now)) {}

  // Holds the credit of a message of `bytes` bytes that is posted in turn for `round`.
  [[nodiscard]] Due Post(Rank from, Tag tag, Round round, int64_t bytes, Announce announce);
  // Records that the credit of a message posted in turn goes out.
  void Announced(Rank from, Tag tag);
  // Forgets a message posted in turn whose post is withdrawn. Returns nullopt, and keeps the
  // message, if its credit has gone out.
  [[nodiscard]] std::optional<Due> Withdraw(Rank from, Tag tag);
  // Forgets a message posted in turn that will not come.
  [[nodiscard]] Due Lost(Rank from, Tag tag);
  // Records that a chunk of any message, posted in turn or not, is in its buffer.
  [[nodiscard]] Due Landed(Rank from, const ChunkHeader& chunk);
  // Forgets all messages of a peer from which nothing more comes.
  [[nodiscard]] Due Lost(Rank from);
  // Discards the measurements of messages under way from `from`, whose connection has been made
  // again.
  void Resumed(Rank from);

 private:
  Due Take() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const std::function<ArrivalMeter::Time()> now_;
  Mutex mutex_;
  CreditOrder order_ ABSL_GUARDED_BY(mutex_);
  ArrivalMeter meter_ ABSL_GUARDED_BY(mutex_);
  std::map<std::pair<Rank, Tag>, Announce> held_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_CREDIT_DESK_H_

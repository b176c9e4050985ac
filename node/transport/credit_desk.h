// Holds the credits of a node's posts in turn (Credit::kInTurn), for all its peers, until they are
// due, and measures when that is.
//
// Links report what they post and what lands; the desk returns the credits that are due, as calls
// to be made once the caller holds no lock, since they concern other links.
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

// The rate at which messages arrive, and the time from a credit to its message: what a node can
// observe of its network.
//
// A message in turn arrives in several chunks. Everything that arrives between the first and the
// last of them gives the node's receive rate; and the first arrives a round trip after its credit
// went out if its sender was waiting for that, otherwise later. So the shortest such time is the
// round trip, and an overestimate corrects itself as soon as a sender waits.
//
// Thread-compatible. Time is passed in.
class ArrivalMeter {
 public:
  using Time = std::chrono::steady_clock::time_point;

  // The credit of a message went out.
  void Announced(Rank from, Tag tag, Time now);
  // A chunk of a message has arrived; messages that were not announced count only towards the rate.
  void Landed(Rank from, Tag tag, int64_t bytes, bool last, Time now);
  // A message will not come; nothing more comes from this peer.
  void Forget(Rank from, Tag tag);
  void Forget(Rank from);

  // The bytes that arrive while a credit travels to a peer, half a round trip, and a message of
  // `from` arrives: at the slowest rate of the last few of `from`, since one that was read late out
  // of a buffer looks fast. For a peer that has sent nothing, with the shortest round trip and the
  // slowest rate of all; 0 before anything was measured.
  double BytesWhileACreditTravels(Rank to, Rank from) const;

  static constexpr size_t kRates = 4;

 private:
  struct Arrival {
    Time announced;
    std::optional<Time> first;  // when the first chunk arrived
    int64_t first_bytes = 0;
    int64_t bytes = 0;         // so far
    int64_t all_at_first = 0;  // all_ then
  };
  void Measure(Rank from, const Arrival& arrival, Time now);
  double SlowestRate(Rank from) const;

  std::map<std::pair<Rank, Tag>, Arrival> arrivals_;
  int64_t all_ = 0;                           // bytes of all messages
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

  // A message of so many bytes for `round` is posted in turn.
  [[nodiscard]] Due Post(Rank from, Tag tag, Round round, int64_t bytes, Announce announce);
  // The credit of such a message goes out.
  void Announced(Rank from, Tag tag);
  // The post of such a message is withdrawn: forgets it, unless its credit has gone out (nullopt).
  [[nodiscard]] std::optional<Due> Withdraw(Rank from, Tag tag);
  // Such a message will not come.
  [[nodiscard]] Due Lost(Rank from, Tag tag);
  // A chunk of any message is in its buffer.
  [[nodiscard]] Due Landed(Rank from, const ChunkHeader& chunk);
  // Nothing more comes from this peer.
  [[nodiscard]] Due Lost(Rank from);
  // Its connection has been made again: what is measured of the messages under way is void.
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

// Where the credits of one node's posts in turn wait (Credit::kInTurn), over all its
// peers.
//
// Links say what they post and what lands; the desk says which credits are due, as
// calls to be made once the caller holds no lock, since they concern other links.
//
// Thread-safe.
#ifndef GRAPEVINE_NODE_TRANSPORT_CREDIT_DESK_H_
#define GRAPEVINE_NODE_TRANSPORT_CREDIT_DESK_H_

#include <chrono>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "algorithm/credit_order.h"
#include "algorithm/event.h"
#include "node/transport/arrival_meter.h"
#include "node/transport/chunk.h"
#include "system/mutex.h"

namespace grapevine {

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
  // A chunk of any message is in its place.
  [[nodiscard]] Due Landed(Rank from, const ChunkHeader& chunk);
  // Nothing more comes from this peer.
  [[nodiscard]] Due Lost(Rank from);

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

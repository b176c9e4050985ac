// A node's way to peers that may be lost while the run goes on: between what uses a transport and
// the transport, it sees to it that every post and every send ends also with those who are gone.
//
// A transport says no more of a peer that it has lost. Here its posts and sends stay as they are
// until the members have agreed to leave it out (LeaveOut); then they end, posts as lost, sends as
// undelivered, once the transport has let go of them (Transport::GiveUp); and so do, at once, all
// that come later.
//
// Transport is for one thread; what the transport's sink hears is asked about from any.
#ifndef GRAPEVINE_NODE_RUNNER_LIVING_PEERS_H_
#define GRAPEVINE_NODE_RUNNER_LIVING_PEERS_H_

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "absl/status/status.h"
#include "algorithm/event.h"
#include "base/ids.h"
#include "node/transport/transport.h"
#include "system/mutex.h"

namespace grapevine {

class LivingPeers final : public Transport {
 public:
  using End = std::function<void(Rank peer, Tag tag)>;
  // The epoch of a message's view, where that may be an earlier one than the node is in.
  using EpochOf = std::function<std::optional<uint32_t>(const Tag& tag)>;

  // `on_lost`: a post has ended, `on_undelivered`: a send; from within the calls below.
  LivingPeers(
      End on_lost, End on_undelivered, EpochOf epoch_of = [](const Tag&) { return std::nullopt; })
      : on_lost_(std::move(on_lost)),
        on_undelivered_(std::move(on_undelivered)),
        epoch_of_(std::move(epoch_of)) {}

  // Before the first message; it outlives this.
  void Use(Transport* transport) { transport_ = transport; }

  // The peer is not in the run any more.
  void LeaveOut(Rank peer);
  // It is again, as another process, from the view of this epoch on: of earlier ones it gets and
  // sends nothing.
  void TakeInWith(Rank peer, uint32_t epoch);

  // Whether the sink is to hear of it: that a post, or a send, has ended, which it then has; that a
  // message has left; that one is offered.
  bool TakePost(Rank from, Tag tag);
  bool TakeSend(Rank to, Tag tag);
  bool Sends(Rank to, Tag tag) const;
  bool LeftOut(Rank peer) const;

  // Transport:
  void Dial(std::span<const Rank> peers) override;
  absl::Status Send(Rank to, Tag tag, Outgoing message) override;
  absl::Status Post(Rank from, Tag tag, Incoming buffer) override;
  absl::Status Decline(Rank from, Tag tag) override;
  absl::Status Withdraw(Rank from, Tag tag) override;
  void GiveUp(Rank peer, const absl::Status& why) override { transport_->GiveUp(peer, why); }
  TransportCounters counters() const override { return transport_->counters(); }
  void Shutdown() override { transport_->Shutdown(); }

 private:
  using Messages = std::set<std::pair<Rank, Tag>>;

  // Calls `end` for all of that peer, and forgets them.
  void EndAllOf(Rank peer, Messages* messages, const End& end);
  // Adds it; false if the peer is left out.
  bool Begin(Rank peer, Tag tag, Messages* messages);

  const End on_lost_;
  const End on_undelivered_;
  const EpochOf epoch_of_;
  Transport* transport_ = nullptr;
  mutable Mutex mutex_;
  std::set<Rank> left_out_ ABSL_GUARDED_BY(mutex_);
  std::map<Rank, uint32_t> since_ ABSL_GUARDED_BY(mutex_);  // the epochs of those taken in
  Messages posts_ ABSL_GUARDED_BY(mutex_);                  // that have not ended
  Messages sends_ ABSL_GUARDED_BY(mutex_);                  // likewise
  Messages untaken_ ABSL_GUARDED_BY(mutex_);                // sends that the transport did not take
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_LIVING_PEERS_H_

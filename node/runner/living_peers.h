// The way from a node to peers that may be lost while the run goes on. It stands between the users
// of a transport and the transport, and makes sure that every post and every send ends, even if the
// peer is gone.
//
// A transport reports nothing more about a peer that it has lost. Here, the posts and sends of such
// a peer stay open until the members have agreed to leave it out (LeaveOut). Then they end, posts
// as lost, sends as undelivered, once the transport has let go of them (Transport::GiveUp); all
// later ones end at once.
//
// The methods of Transport are for one thread; the questions of the transport's sink may come from
// any thread.
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
  // Returns the epoch of a message's view, if that may be an earlier view than the node's current
  // one.
  using EpochOf = std::function<std::optional<uint32_t>(const Tag& tag)>;

  // `on_lost` reports the end of a post, `on_undelivered` the end of a send. Both are called from
  // within the methods below.
  LivingPeers(
      End on_lost, End on_undelivered, EpochOf epoch_of = [](const Tag&) { return std::nullopt; })
      : on_lost_(std::move(on_lost)),
        on_undelivered_(std::move(on_undelivered)),
        epoch_of_(std::move(epoch_of)) {}

  // Sets the transport, which outlives this object. Must be called before the first message.
  void Use(Transport* transport) { transport_ = transport; }

  // Reports that the peer is no longer in the run.
  void LeaveOut(Rank peer);
  // Reports that another process has taken the peer's place, from the view of this epoch on. For
  // earlier views the process neither gets nor sends messages.
  void TakeInWith(Rank peer, uint32_t epoch);

  // Decide what the transport's sink may hear. TakePost and TakeSend return whether a post or a
  // send that has ended is still open, and close it. Sends returns whether the message of an open
  // send may be reported as having left. LeftOut returns whether offers of the peer are to be
  // ignored.
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

  // Calls `end` for all messages of the peer, and forgets them.
  void EndAllOf(Rank peer, Messages* messages, const End& end);
  // Adds the message; returns false if the peer is left out, or was taken in after the message's
  // view.
  bool Begin(Rank peer, Tag tag, Messages* messages);

  const End on_lost_;
  const End on_undelivered_;
  const EpochOf epoch_of_;
  Transport* transport_ = nullptr;
  mutable Mutex mutex_;
  std::set<Rank> left_out_ ABSL_GUARDED_BY(mutex_);
  std::map<Rank, uint32_t> since_ ABSL_GUARDED_BY(mutex_);  // first epochs of the peers taken in
  Messages posts_ ABSL_GUARDED_BY(mutex_);                  // posts that have not ended
  Messages sends_ ABSL_GUARDED_BY(mutex_);                  // sends that have not ended
  Messages untaken_ ABSL_GUARDED_BY(mutex_);                // sends that the transport refused
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_LIVING_PEERS_H_

#include "node/transport/edge/peer_links.h"

#include "absl/strings/str_cat.h"

namespace grapevine {

absl::StatusOr<std::shared_ptr<PeerLink>> PeerLinks::To(Rank peer) {
  if (peer < 0 || peer >= world_size_ || peer == self_) {
    return absl::InvalidArgumentError(absl::StrCat("rank ", peer, " is not a peer of rank ", self_,
                                                   " among ", world_size_, " nodes"));
  }
  MutexLock lock(mutex_);
  std::shared_ptr<PeerLink>& link = links_[peer];
  if (link == nullptr) link = std::make_shared<PeerLink>(peer, chunk_bytes_, gate_, desk_);
  return link;
}

std::vector<std::shared_ptr<PeerLink>> PeerLinks::All() {
  MutexLock lock(mutex_);
  std::vector<std::shared_ptr<PeerLink>> all;
  for (const auto& [peer, link] : links_) all.push_back(link);
  return all;
}

TransportCounters PeerLinks::counters() {
  TransportCounters sum;
  for (const auto& link : All()) {
    const TransportCounters one = link->counters();
    sum.bytes_sent += one.bytes_sent;
    sum.bytes_received += one.bytes_received;
    sum.messages_sent += one.messages_sent;
    sum.messages_received += one.messages_received;
  }
  return sum;
}

}  // namespace grapevine

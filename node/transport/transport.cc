#include "node/transport/transport.h"

#include <utility>

namespace grapevine {

void SinkGate::Received(const grapevine::Received& message) {
  MutexLock lock(mutex_);
  if (sink_ != nullptr) sink_->OnReceived(message);
}

void SinkGate::Sent(Rank to, Tag tag) {
  MutexLock lock(mutex_);
  if (sink_ != nullptr) sink_->OnSent(to, tag);
}

void SinkGate::PeerFailed(Rank peer, const absl::Status& why) {
  MutexLock lock(mutex_);
  if (sink_ != nullptr && failed_.insert(peer).second) sink_->OnPeerFailed(peer, why);
}

void SinkGate::Close() {
  MutexLock lock(mutex_);
  sink_ = nullptr;
}

SharedBytes ReportWhenReleased(SharedBytes bytes, std::shared_ptr<SinkGate> gate, Rank to, Tag tag,
                               std::shared_ptr<void> held) {
  void* const memory = bytes.owner.get();
  auto report = [owner = std::move(bytes.owner), held = std::move(held), gate = std::move(gate), to,
                 tag](void*) mutable {
    held.reset();
    owner.reset();
    gate->Sent(to, tag);
  };
  bytes.owner = std::shared_ptr<void>(memory, std::move(report));
  return bytes;
}

}  // namespace grapevine

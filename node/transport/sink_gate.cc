#include "node/transport/sink_gate.h"

#include <utility>

namespace grapevine {

void SinkGate::Received(Rank from, Tag tag) {
  MutexLock lock(mutex_);
  if (sink_ != nullptr) sink_->OnReceived(from, tag);
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

SharedSlice ReportWhenReleased(SharedSlice slice, std::shared_ptr<SinkGate> gate, Rank to, Tag tag,
                               std::shared_ptr<void> held) {
  float* const memory = slice.owner.get();
  auto report = [owner = std::move(slice.owner), held = std::move(held), gate = std::move(gate), to,
                 tag](float*) mutable {
    held.reset();
    owner.reset();
    gate->Sent(to, tag);
  };
  slice.owner = std::shared_ptr<float[]>(memory, std::move(report));
  return slice;
}

}  // namespace grapevine

#include "tests/node/transport/transport_harness.h"

#include <cstring>

namespace grapevine {
namespace {

SharedSlice Slice(SharedVector vector) { return {vector.data, 0, vector.size}; }

}  // namespace

void RecordingSink::Record(const Report& report, Messages* messages) {
  if (on_report) on_report(report);
  MutexLock lock(mutex_);
  messages->emplace(report.peer, report.tag);
  changed_.NotifyAll();
}

void RecordingSink::OnReceived(const Received& message) {
  if (on_received) on_received();
  {
    MutexLock lock(mutex_);
    last_received_ = message;
  }
  Record({Report::Kind::kReceived, message.from, message.tag, message.bytes, message.note},
         &received_);
}

void RecordingSink::OnOffered(const Offered& offer) {
  {
    MutexLock lock(mutex_);
    last_offered_ = offer;
  }
  Record({Report::Kind::kOffered, offer.from, offer.tag, offer.bytes, offer.note}, &offered_);
}

void RecordingSink::OnLost(Rank from, Tag tag) { Record({Report::Kind::kLost, from, tag}, &lost_); }

void RecordingSink::OnLeft(Rank to, Tag tag) { Record({Report::Kind::kLeft, to, tag}, &left_); }

void RecordingSink::OnSent(Rank to, Tag tag) { Record({Report::Kind::kSent, to, tag}, &sent_); }

void RecordingSink::OnDeclined(Rank to, Tag tag) {
  Record({Report::Kind::kDeclined, to, tag}, &declined_);
}

void RecordingSink::OnPeerFailed(Rank peer, const absl::Status& why) {
  if (on_report) on_report({.kind = Report::Kind::kFailed, .peer = peer, .why = why});
  MutexLock lock(mutex_);
  failed_.emplace(peer, why);
  changed_.NotifyAll();
}

bool RecordingSink::Await(const std::function<bool()>& condition, std::chrono::milliseconds time) {
  const auto deadline = std::chrono::steady_clock::now() + time;
  MutexLock lock(mutex_);
  while (!condition()) {
    if (!changed_.WaitUntil(mutex_, deadline)) return condition();
  }
  return true;
}

bool RecordingSink::AwaitMessage(const Messages& messages, Rank peer, Tag tag, size_t times) {
  return Await([&] { return messages.count({peer, tag}) >= times; });
}

bool RecordingSink::AwaitReceived(Rank from, Tag tag) { return AwaitMessage(received_, from, tag); }

bool RecordingSink::AwaitLeft(Rank to, Tag tag) { return AwaitMessage(left_, to, tag); }

bool RecordingSink::AwaitSent(Rank to, Tag tag) { return AwaitMessage(sent_, to, tag); }

bool RecordingSink::AwaitOffered(Rank from, Tag tag, size_t times) {
  return AwaitMessage(offered_, from, tag, times);
}

bool RecordingSink::AwaitLost(Rank from, Tag tag) { return AwaitMessage(lost_, from, tag); }

bool RecordingSink::AwaitDeclined(Rank to, Tag tag, size_t times) {
  return AwaitMessage(declined_, to, tag, times);
}

absl::Status RecordingSink::AwaitFailure(Rank peer) {
  if (!Await([&] { return failed_.contains(peer); })) return absl::OkStatus();
  MutexLock lock(mutex_);
  return failed_.find(peer)->second;
}

Received RecordingSink::last_received() const {
  MutexLock lock(mutex_);
  return last_received_;
}

Offered RecordingSink::last_offered() const {
  MutexLock lock(mutex_);
  return last_offered_;
}

int RecordingSink::Count(const Messages& messages) const {
  MutexLock lock(mutex_);
  return static_cast<int>(messages.size());
}

int RecordingSink::failures() const {
  MutexLock lock(mutex_);
  return static_cast<int>(failed_.size());
}

bool RecordingSink::HasReceived(Rank from, Tag tag) const {
  MutexLock lock(mutex_);
  return received_.contains({from, tag});
}

SharedSlice Pattern(int64_t size, float seed) {
  SharedVector vector = NewSharedVector(size);
  for (int64_t i = 0; i < size; ++i) vector.data[i] = seed + 0.37f * static_cast<float>(i % 10007);
  return Slice(vector);
}

SharedSlice Zeros(int64_t size) {
  SharedVector vector = NewSharedVector(size);
  for (float& value : vector.span()) value = 0;
  return Slice(vector);
}

bool SameBits(const SharedSlice& a, const SharedSlice& b) {
  return a.size == b.size &&
         (a.size == 0 || std::memcmp(a.begin(), b.begin(), static_cast<size_t>(a.bytes())) == 0);
}

}  // namespace grapevine

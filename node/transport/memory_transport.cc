#include "node/transport/memory_transport.h"

#include <chrono>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "glog/logging.h"

namespace grapevine {
namespace {

absl::Status LeftTheRun(Rank rank) {
  return WithLostPeer(absl::UnavailableError(absl::StrCat("rank ", rank, " left the run")), rank);
}

}  // namespace

absl::Status MemoryHub::CheckPeer(Rank self, Rank peer) const {
  const Rank size = static_cast<Rank>(endpoints_.size());
  if (peer >= 0 && peer < size && peer != self) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("rank ", peer, " is not a peer of rank ", self, " among ", size, " nodes"));
}

void MemoryHub::Attach(Rank rank, std::shared_ptr<SinkGate> gate) {
  MutexLock lock(mutex_);
  CHECK(rank >= 0 && rank < static_cast<Rank>(endpoints_.size())) << rank;
  CHECK(endpoints_[rank].gate == nullptr) << "rank " << rank << " is attached twice";
  endpoints_[rank].gate = std::move(gate);
  for (Rank from = 0; from < static_cast<Rank>(endpoints_.size()); ++from) Relay(from, rank);
}

MemoryHub::Edge& MemoryHub::EdgeBetween(Rank from, Rank to) { return edges_[{from, to}]; }

void MemoryHub::Schedule(Rank from, Rank to) {
  Edge& edge = EdgeBetween(from, to);
  if (edge.scheduled || !edge.queue.ready()) return;
  edge.scheduled = true;
  endpoints_[to].inbox.push_back(from);
  endpoints_[to].wake.NotifyOne();
}

void MemoryHub::Relay(Rank from, Rank to) {
  SinkGate* const gate = endpoints_[to].gate.get();
  if (gate == nullptr) return;
  Edge& edge = EdgeBetween(from, to);
  while (const std::optional<Notice> notice = edge.queue.NextNotice()) {
    if (const auto* offer = std::get_if<Offer>(&*notice)) {
      const absl::StatusOr<bool> unforeseen = edge.ledger.Take(*offer);
      CHECK(unforeseen.ok()) << unforeseen.status();
      if (!*unforeseen) continue;
      gate->Offered({.from = from, .tag = offer->tag, .bytes = offer->bytes, .note = offer->note});
    } else {
      const Tag tag = std::get<Withdrawn>(*notice).tag;
      const absl::StatusOr<Credit> returned = edge.ledger.Return(tag);
      CHECK(returned.ok()) << returned.status();
      gate->Lost(from, tag);
    }
  }
}

void MemoryHub::Wake(Rank from, Rank to) {
  MutexLock lock(mutex_);
  Schedule(from, to);
}

absl::Status MemoryHub::Send(Rank from, Rank to, Tag tag, Outgoing message) {
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(CheckPeer(from, to));
  Edge& edge = EdgeBetween(from, to);
  RETURN_IF_ERROR(edge.broken);
  RETURN_IF_ERROR(edge.queue.Admits(tag));
  message = Reported(std::move(message), endpoints_[from].gate, to, tag);
  if (message.written != nullptr) {
    message.written->OnRise([hub = weak_from_this(), from, to] {
      if (const std::shared_ptr<MemoryHub> here = hub.lock()) here->Wake(from, to);
    });
  }
  edge.queue.Push(tag, std::move(message));
  Relay(from, to);
  Schedule(from, to);
  return absl::OkStatus();
}

absl::Status MemoryHub::Post(Rank to, Rank from, Tag tag, Incoming buffer) {
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(CheckPeer(to, from));
  RETURN_IF_ERROR(EdgeBetween(to, from).broken);
  Edge& edge = EdgeBetween(from, to);
  RETURN_IF_ERROR(edge.ledger.Post(tag, std::move(buffer)));
  // Every credit is granted at once: in memory, credits do not travel and messages share no link.
  RETURN_IF_ERROR(edge.queue.Grant(tag, Credit::kAtOnce));
  Schedule(from, to);
  return absl::OkStatus();
}

absl::Status MemoryHub::Decline(Rank to, Rank from, Tag tag) {
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(CheckPeer(to, from));
  RETURN_IF_ERROR(EdgeBetween(to, from).broken);
  Edge& edge = EdgeBetween(from, to);
  RETURN_IF_ERROR(edge.ledger.Decline(tag));
  return edge.queue.Decline(tag);
}

absl::Status MemoryHub::Withdraw(Rank to, Rank from, Tag tag) {
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(CheckPeer(to, from));
  RETURN_IF_ERROR(EdgeBetween(to, from).broken);
  Edge& edge = EdgeBetween(from, to);
  if (!edge.ledger.Withdraw(tag)) return absl::OkStatus();
  RETURN_IF_ERROR(edge.queue.Withdraw(tag));
  Relay(from, to);
  return absl::OkStatus();
}

std::optional<std::pair<Rank, Piece>> MemoryHub::NextPiece(Rank rank) {
  MutexLock lock(mutex_);
  Endpoint& self = endpoints_[rank];
  while (!self.left) {
    if (self.inbox.empty()) {
      self.wake.WaitUntil(mutex_, std::chrono::steady_clock::now() + std::chrono::seconds(1));
      continue;
    }
    const Rank from = self.inbox.front();
    self.inbox.pop_front();
    Edge& edge = EdgeBetween(from, rank);
    edge.scheduled = false;
    std::optional<Piece> piece = edge.queue.Next();
    Schedule(from, rank);
    if (piece.has_value()) return std::pair(from, *std::move(piece));
  }
  return std::nullopt;
}

absl::Status MemoryHub::Move(Rank from, Rank to, const Piece& piece) {
  absl::StatusOr<Landing> landing;
  {
    MutexLock lock(mutex_);
    Edge& edge = EdgeBetween(from, to);
    landing = edge.ledger.Accept(piece.header);
    if (landing.ok()) {
      ++edge.landings;
      landing->in_progress =
          std::shared_ptr<void>(nullptr, [this, from, to](void*) { EndLanding(from, to); });
    }
  }
  if (!landing.ok()) return landing.status();
  if (piece.header.size > 0) {
    std::memcpy(landing->into, piece.data.begin, static_cast<size_t>(piece.header.size));
    if (landing->norm != nullptr) landing->norm->Add(landing->into, piece.header.size);
  }
  if (landing->landed) landing->landed(piece.header.offset, piece.header.size);
  std::shared_ptr<SinkGate> gate;
  {
    MutexLock lock(mutex_);
    const absl::StatusOr<bool> whole = EdgeBetween(from, to).ledger.Landed(piece.header, 0);
    if (!whole.ok()) return absl::OkStatus();  // the sender or the receiver has left meanwhile
    TransportCounters& sender = endpoints_[from].counters;
    TransportCounters& receiver = endpoints_[to].counters;
    sender.bytes_sent += piece.header.size;
    receiver.bytes_received += piece.header.size;
    ++sender.messages_sent;
    ++receiver.messages_received;
    gate = endpoints_[to].gate;
  }
  *landing = {};  // released before the sink hears of the message
  gate->Received({.from = from,
                  .tag = piece.header.tag,
                  .bytes = piece.header.total,
                  .note = piece.header.note});
  Acknowledge(from, to);
  return absl::OkStatus();
}

void MemoryHub::Acknowledge(Rank from, Rank to) {
  MutexLock lock(mutex_);
  Edge& edge = EdgeBetween(from, to);
  if (!edge.broken.ok()) return;  // the sender or the receiver has left meanwhile
  const absl::Status status = edge.queue.Acknowledge(++edge.received);
  CHECK(status.ok()) << status;
}

void MemoryHub::Deliver(Rank rank) {
  while (const std::optional<std::pair<Rank, Piece>> next = NextPiece(rank)) {
    const absl::Status moved = Move(next->first, rank, next->second);
    if (!moved.ok()) Break(next->first, rank, moved);
  }
}

void MemoryHub::BreakFor(Rank rank, Rank peer, const absl::Status& why) {
  Edge& out = EdgeBetween(rank, peer);
  Edge& in = EdgeBetween(peer, rank);
  if (out.broken.ok()) out.broken = WithLostPeer(why, peer);
  if (const auto& gate = endpoints_[rank].gate) gate->PeerFailed(peer, why);
  out.queue.Clear();
  in.ledger.Clear();
}

void MemoryHub::EndLanding(Rank from, Rank to) {
  MutexLock lock(mutex_);
  Edge& edge = EdgeBetween(from, to);
  --edge.landings;
  edge.landed.NotifyAll();
}

void MemoryHub::GiveUp(Rank rank, Rank peer, const absl::Status& why) {
  MutexLock lock(mutex_);
  BreakFor(rank, peer, why);
  if (const auto& gate = endpoints_[rank].gate) gate->GiveUp(peer);
  Edge& in = EdgeBetween(peer, rank);
  // The deadline bounds the wait if a notification is lost.
  while (in.landings > 0) {
    in.landed.WaitUntil(mutex_, std::chrono::steady_clock::now() + std::chrono::seconds(1));
  }
}

void MemoryHub::Break(Rank from, Rank to, const absl::Status& violation) {
  const absl::Status why(violation.code(),
                         absl::StrCat("rank ", from, " ", std::string(violation.message())));
  MutexLock lock(mutex_);
  BreakFor(to, from, why);
  BreakFor(from, to,
           absl::AbortedError(absl::StrCat("refused by rank ", to, ": ", why.ToString())));
}

void MemoryHub::Stop(Rank rank) {
  MutexLock lock(mutex_);
  endpoints_[rank].left = true;
  endpoints_[rank].wake.NotifyAll();
}

void MemoryHub::Leave(Rank rank) {
  MutexLock lock(mutex_);
  const absl::Status left = LeftTheRun(rank);
  for (Rank peer = 0; peer < static_cast<Rank>(endpoints_.size()); ++peer) {
    if (peer == rank) continue;
    Edge& towards = EdgeBetween(peer, rank);
    Edge& away = EdgeBetween(rank, peer);
    const bool awaited = !towards.queue.empty() || !away.ledger.empty();
    if (awaited && towards.broken.ok()) BreakFor(peer, rank, left);
    towards.broken = away.broken = left;
    away.queue.Clear();
    towards.ledger.Clear();
  }
}

TransportCounters MemoryHub::counters(Rank rank) {
  MutexLock lock(mutex_);
  return endpoints_[rank].counters;
}

MemoryTransport::MemoryTransport(std::shared_ptr<MemoryHub> hub, Rank rank, TransportSink* sink)
    : hub_(std::move(hub)), rank_(rank), gate_(std::make_shared<SinkGate>(sink)) {
  hub_->Attach(rank_, gate_);
  MutexLock lock(shutdown_);
  thread_ = std::thread([hub = hub_.get(), rank] { hub->Deliver(rank); });
}

absl::Status MemoryTransport::Send(Rank to, Tag tag, Outgoing message) {
  return hub_->Send(rank_, to, tag, std::move(message));
}

absl::Status MemoryTransport::Post(Rank from, Tag tag, Incoming buffer) {
  return hub_->Post(rank_, from, tag, std::move(buffer));
}

absl::Status MemoryTransport::Decline(Rank from, Tag tag) {
  return hub_->Decline(rank_, from, tag);
}

absl::Status MemoryTransport::Withdraw(Rank from, Tag tag) {
  return hub_->Withdraw(rank_, from, tag);
}

void MemoryTransport::Shutdown() {
  gate_->Close();
  MutexLock lock(shutdown_);
  if (!thread_.joinable()) return;
  hub_->Stop(rank_);
  thread_.join();
  hub_->Leave(rank_);
}

}  // namespace grapevine

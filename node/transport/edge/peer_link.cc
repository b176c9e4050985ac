#include "node/transport/edge/peer_link.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {
namespace {

constexpr std::chrono::seconds kNextLook{1};

// Returns `why` under a code with which no breaking connection ends, so that a peer that is given
// up does not take the end for a broken connection and come again.
absl::Status AsToldToThePeer(const absl::Status& why) {
  return MayComeAgain(why.code()) ? absl::AbortedError(why.message()) : why;
}

void Add(const TransportCounters& one, TransportCounters* sum) {
  sum->bytes_sent += one.bytes_sent;
  sum->bytes_received += one.bytes_received;
  sum->messages_sent += one.messages_sent;
  sum->messages_received += one.messages_received;
}

}  // namespace

bool MayComeAgain(absl::StatusCode code) {
  return code == absl::StatusCode::kUnavailable || code == absl::StatusCode::kInternal ||
         code == absl::StatusCode::kUnknown || code == absl::StatusCode::kCancelled ||
         code == absl::StatusCode::kResourceExhausted;
}

absl::Status ConnectedAlready(Rank peer) {
  return absl::AlreadyExistsError(
      absl::StrCat("rank ", peer, " is connected already; is the same rank started twice?"));
}

absl::Status HasComeAgain(Rank peer) {
  return absl::UnavailableError(
      absl::StrCat("rank ", peer, " has come again; its last connection ends first"));
}

absl::Status PeerLink::LeftTheRun() const {
  return WithLostPeer(absl::UnavailableError(absl::StrCat("rank ", peer_, " left the run")), peer_);
}

absl::Status PeerLink::Send(Tag tag, Outgoing message, std::shared_ptr<void> held) {
  {
    MutexLock lock(mutex_);
    RETURN_IF_ERROR(broken_);
    if (outgoing_ended_) return LeftTheRun();
    RETURN_IF_ERROR(queue_.Admits(tag));
    if (message.written != nullptr) {
      message.written->OnRise([link = weak_from_this()] {
        if (const std::shared_ptr<PeerLink> here = link.lock()) here->WakeOutgoing();
      });
    }
    queue_.Push(tag, Reported(std::move(message), gate_, peer_, tag, std::move(held)));
  }
  WakeOutgoing();
  return absl::OkStatus();
}

void PeerLink::WakeOutgoing() {
  std::shared_ptr<EdgeStream> stream;
  {
    MutexLock lock(mutex_);
    stream = streams_.outgoing;
  }
  if (stream != nullptr) stream->Wake();
}

void PeerLink::WakeIncoming() {
  std::shared_ptr<EdgeStream> stream;
  {
    MutexLock lock(mutex_);
    stream = streams_.incoming;
  }
  if (stream != nullptr) stream->Wake();
}

absl::Status PeerLink::Post(Tag tag, Incoming buffer) {
  const Credit credit = buffer.credit;
  const Round round = buffer.round;
  const int64_t bytes = buffer.into.size;
  CreditDesk::Due due;
  {
    MutexLock lock(mutex_);
    RETURN_IF_ERROR(broken_);
    if (incoming_ended_) return LeftTheRun();
    RETURN_IF_ERROR(ledger_.Post(tag, std::move(buffer)));
    if (credit == Credit::kInTurn) {
      due = desk_->Post(peer_, tag, round, bytes, [link = weak_from_this(), tag] {
        if (const std::shared_ptr<PeerLink> here = link.lock()) {
          here->Announce(tag, Credit::kInTurn);
        }
      });
    }
  }
  if (credit == Credit::kAtOnce) Announce(tag, credit);
  for (const CreditDesk::Announce& announce : due) announce();
  return absl::OkStatus();
}

void PeerLink::Announce(Tag tag, Credit credit) {
  CreditDesk::Due due;
  bool returned = false;
  {
    MutexLock lock(mutex_);
    if (!broken_.ok()) return;
    // The credit may have left the desk just before its post was withdrawn.
    returned = credit == Credit::kInTurn && ledger_.withdrawn(tag);
    if (returned) {
      std::erase(withdrawn_, tag);
      ledger_.Close(tag);
      due = desk_->Lost(peer_, tag);
    } else {
      ledger_.Announce(tag);
      grants_[credit].push_back(tag);
    }
  }
  returned ? ReportLost(tag, due) : WakeIncoming();
}

absl::Status PeerLink::Decline(Tag tag) {
  {
    MutexLock lock(mutex_);
    RETURN_IF_ERROR(broken_);
    RETURN_IF_ERROR(ledger_.Decline(tag));
    declined_.push_back(tag);
  }
  WakeIncoming();
  return absl::OkStatus();
}

absl::Status PeerLink::Withdraw(Tag tag) {
  CreditDesk::Due due;
  bool told = false;  // whether the peer knows, or is about to know, of the credit
  {
    MutexLock lock(mutex_);
    RETURN_IF_ERROR(broken_);
    if (!ledger_.Withdraw(tag)) return absl::OkStatus();
    told = !TakeBack(tag, &due);
    if (told && !IsToBeAnnounced(tag)) withdrawn_.push_back(tag);
  }
  told ? WakeIncoming() : ReportLost(tag, due);
  return absl::OkStatus();
}

bool PeerLink::IsToBeAnnounced(Tag tag) {
  const std::vector<Tag>& tags = grants_[ledger_.credit(tag)];
  return std::ranges::find(tags, tag) != tags.end();
}

// A credit of which the peer was told, even on an earlier connection, cannot be taken back: a
// message may have used it.
bool PeerLink::TakeBack(Tag tag, CreditDesk::Due* due) {
  if (ledger_.told(tag)) return false;
  const Credit credit = ledger_.credit(tag);
  if (std::erase(grants_[credit], tag) > 0) {
    if (credit == Credit::kInTurn) *due = desk_->Lost(peer_, tag);
  } else {
    if (credit == Credit::kAtOnce) return false;
    std::optional<CreditDesk::Due> released = desk_->Withdraw(peer_, tag);
    if (!released.has_value()) return false;
    *due = *std::move(released);
  }
  ledger_.Close(tag);
  return true;
}

void PeerLink::ReportLost(Tag tag, const CreditDesk::Due& due) {
  for (const CreditDesk::Announce& announce : due) announce();
  gate_->Lost(peer_, tag);
}

absl::Status PeerLink::AttachOutgoing(std::shared_ptr<EdgeStream> stream) {
  MutexLock lock(mutex_);
  RETURN_IF_ERROR(broken_);
  streams_.outgoing = std::move(stream);
  return absl::OkStatus();
}

absl::Status PeerLink::Replaced() const {
  return absl::AbortedError(
      absl::StrCat("rank ", peer_, " died: another process has come in its place"));
}

bool PeerLink::IsAnother(uint64_t process) {
  if (!process_.has_value()) process_ = process;
  return *process_ != process;
}

absl::Status PeerLink::Objection(const EdgeCall& call) const {
  // Unavailable lets the caller come again, and find that nobody listens.
  if (left_) return absl::UnavailableError(broken_.message());
  if (!broken_.ok()) return AsToldToThePeer(broken_);
  if (incoming_ended_) return ConnectedAlready(peer_);
  const bool known = process_.value_or(call.process) == call.process;
  const bool gone = incoming_interruption_.lasts() || outgoing_interruption_.lasts();
  if (known ? call.number > last_call_ : gone) return absl::OkStatus();
  return ConnectedAlready(peer_);
}

absl::StatusOr<ResumePoint> PeerLink::AttachIncoming(std::shared_ptr<EdgeStream> stream,
                                                     EdgeCall call) {
  std::shared_ptr<EdgeStream> last;
  ResumePoint point;
  bool another;
  {
    MutexLock lock(mutex_);
    RETURN_IF_ERROR(Objection(call));
    another = IsAnother(call.process);
    if (!another) {
      last_call_ = call.number;
      last = streams_.incoming;
      if (last == nullptr) point = StartIncoming(std::move(stream));
    }
  }
  if (another) {
    Break(Replaced());
    return Replaced();
  }
  if (last != nullptr) {
    last->Abort(HasComeAgain(peer_));
    return HasComeAgain(peer_);
  }
  return point;
}

ResumePoint PeerLink::StartIncoming(std::shared_ptr<EdgeStream> stream) {
  streams_.incoming = std::move(stream);
  incoming_interruption_.End();
  if (ledger_.empty()) incoming_interruption_.Progress();
  desk_->Resumed(peer_);
  ResumePoint point = ledger_.Point();
  point.received = static_cast<uint64_t>(reported_);
  acknowledged_ = reported_;
  // The point names the offers that are still open, and so the refused ones. A withdrawn credit is
  // asked back once the peer has been told of it.
  declined_.clear();
  withdrawn_.clear();
  grants_.clear();
  for (const auto& [tag, credit] : ledger_.Announced()) grants_[credit].push_back(tag);
  return point;
}

absl::Status PeerLink::Resume(uint64_t process, const ResumePoint& point) {
  MutexLock lock(mutex_);
  if (!broken_.ok()) return absl::OkStatus();
  if (IsAnother(process)) {
    return absl::AbortedError("answers as another process than before: it died, and was replaced");
  }
  RETURN_IF_ERROR(queue_.Resume(point));
  outgoing_interruption_.End();
  if (GetsOn(point)) outgoing_interruption_.Progress();
  return absl::OkStatus();
}

bool PeerLink::GetsOn(const ResumePoint& point) {
  const std::pair at(point.received, point.partial_bytes);
  const bool further = at > furthest_ || point.offers > offers_heard_;
  furthest_ = std::max(furthest_, at);
  offers_heard_ = std::max(offers_heard_, point.offers);
  return further || queue_.empty();
}

std::optional<PeerLink::Departing> PeerLink::Next() {
  MutexLock lock(mutex_);
  if (const std::optional<Notice> notice = queue_.NextNotice()) {
    return std::visit([](const auto& said) { return Departing(said); }, *notice);
  }
  std::optional<Piece> piece = queue_.Next();
  if (!piece.has_value()) return std::nullopt;
  counters_.bytes_sent += piece->header.size;
  if (piece->header.last()) ++counters_.messages_sent;
  return *std::move(piece);
}

absl::Status PeerLink::Granted(const Grant& grant) {
  MutexLock lock(mutex_);
  if (!broken_.ok()) return absl::OkStatus();
  if (grant.received > 0) RETURN_IF_ERROR(queue_.Acknowledge(grant.received));
  for (const Tag tag : grant.declined) RETURN_IF_ERROR(queue_.Decline(tag));
  for (const Tag tag : grant.withdrawn) RETURN_IF_ERROR(queue_.Withdraw(tag));
  for (const Tag tag : grant.tags) RETURN_IF_ERROR(queue_.Grant(tag, grant.credit));
  // Credits count as no progress, because every connection announces them anew.
  if (grant.received > 0 || !grant.declined.empty()) outgoing_interruption_.Progress();
  return absl::OkStatus();
}

uint64_t PeerLink::TakeReceived() {
  // After Leave the sink hears of nothing more, but the peer still hears what has been received.
  const int64_t received = broken_.ok() ? reported_ : counters_.messages_received;
  return std::exchange(acknowledged_, received) == received ? 0 : static_cast<uint64_t>(received);
}

std::vector<Tag> PeerLink::TakeTags(Credit credit) {
  std::vector<Tag> tags = std::exchange(grants_[credit], {});
  for (const Tag tag : tags) {
    ledger_.Tell(tag);
    if (ledger_.withdrawn(tag)) withdrawn_.push_back(tag);
  }
  if (credit == Credit::kInTurn) {
    for (const Tag tag : tags) desk_->Announced(peer_, tag);
  }
  return tags;
}

std::optional<Grant> PeerLink::TakeGrant() {
  MutexLock lock(mutex_);
  Grant grant{.tags = {},
              .received = TakeReceived(),
              .declined = std::exchange(declined_, {}),
              .withdrawn = std::exchange(withdrawn_, {})};
  if (!grant.declined.empty() || !grant.withdrawn.empty()) return grant;
  for (const Credit credit : {Credit::kAtOnce, Credit::kInTurn}) {
    if (!grant.tags.empty()) break;
    grant.tags = TakeTags(credit);
    if (!grant.tags.empty()) grant.credit = credit;
  }
  if (grant.tags.empty() && grant.received == 0) return std::nullopt;
  return grant;
}

absl::Status PeerLink::Offered(const Offer& offer) {
  {
    MutexLock lock(mutex_);
    if (!broken_.ok()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const bool unforeseen, ledger_.Take(offer, declined_.size()));
    incoming_interruption_.Progress();
    if (!unforeseen) return absl::OkStatus();
  }
  gate_->Offered({.from = peer_, .tag = offer.tag, .bytes = offer.bytes, .note = offer.note});
  return absl::OkStatus();
}

absl::Status PeerLink::Returned(const Withdrawn& withdrawn) {
  CreditDesk::Due due;
  {
    MutexLock lock(mutex_);
    if (!broken_.ok()) return absl::OkStatus();
    ASSIGN_OR_RETURN(const Credit credit, ledger_.Return(withdrawn.tag));
    incoming_interruption_.Progress();
    if (credit == Credit::kInTurn) due = desk_->Lost(peer_, withdrawn.tag);
  }
  ReportLost(withdrawn.tag, due);
  return absl::OkStatus();
}

absl::StatusOr<std::optional<Landing>> PeerLink::Accept(const ChunkHeader& chunk) {
  MutexLock lock(mutex_);
  if (!broken_.ok()) return std::nullopt;
  ASSIGN_OR_RETURN(Landing landing, ledger_.Accept(chunk));
  ++landings_;
  landing.in_progress =
      std::shared_ptr<void>(nullptr, [link = shared_from_this()](void*) { link->EndLanding(); });
  return landing;
}

void PeerLink::EndLanding() {
  MutexLock lock(mutex_);
  --landings_;
  landed_.NotifyAll();
}

absl::Status PeerLink::Landed(const ChunkHeader& chunk, uint32_t crc32c) {
  CreditDesk::Due due;
  bool is_whole;
  {
    MutexLock lock(mutex_);
    if (!broken_.ok()) return absl::OkStatus();
    ASSIGN_OR_RETURN(is_whole, ledger_.Landed(chunk, crc32c));
    incoming_interruption_.Progress();
    counters_.bytes_received += chunk.size;
    if (is_whole) ++counters_.messages_received;
    due = desk_->Landed(peer_, chunk);
  }
  for (const CreditDesk::Announce& announce : due) announce();
  if (is_whole) {
    gate_->Received({.from = peer_, .tag = chunk.tag, .bytes = chunk.total, .note = chunk.note});
    Acknowledge();
  }
  return absl::OkStatus();
}

void PeerLink::Acknowledge() {
  {
    MutexLock lock(mutex_);
    ++reported_;
  }
  WakeIncoming();
}

void PeerLink::OutgoingEnded() { Ended(&PeerLink::outgoing_ended_); }

void PeerLink::IncomingEnded() { Ended(&PeerLink::incoming_ended_); }

// A peer that leaves does not call or answer again, so a direction that is interrupted has ended,
// too.
void PeerLink::Ended(bool PeerLink::*direction) {
  bool needed;
  {
    MutexLock lock(mutex_);
    this->*direction = true;
    outgoing_ended_ |= outgoing_interruption_.lasts();
    incoming_ended_ |= incoming_interruption_.lasts();
    if (outgoing_ended_) outgoing_interruption_.End();
    if (incoming_ended_) incoming_interruption_.End();
    needed = (outgoing_ended_ && !queue_.empty()) || (incoming_ended_ && !ledger_.empty());
  }
  if (needed) Break(LeftTheRun());
}

void PeerLink::OutgoingBroke(const absl::Status& why) {
  {
    MutexLock lock(mutex_);
    if (!incoming_ended_) return outgoing_interruption_.Begin(why);
  }
  OutgoingEnded();
}

void PeerLink::IncomingBroke(const absl::Status& why) {
  {
    MutexLock lock(mutex_);
    if (incoming_ended_) return;
    if (!outgoing_ended_) return incoming_interruption_.Begin(why);
  }
  IncomingEnded();
}

void PeerLink::NotMended(const absl::Status& how) {
  MutexLock lock(mutex_);
  outgoing_interruption_.Failed(how);
}

void PeerLink::IncomingClosed() {
  IncomingBroke(absl::UnavailableError(absl::StrCat("the connection of rank ", peer_, " is over")));
  MutexLock lock(mutex_);
  streams_.incoming.reset();
}

void PeerLink::Tick(std::chrono::milliseconds tick, std::chrono::milliseconds peer_timeout) {
  absl::Status why;
  {
    MutexLock lock(mutex_);
    if (!broken_.ok()) return;
    why = outgoing_interruption_.Tick(tick, peer_timeout);
    why.Update(incoming_interruption_.Tick(tick, peer_timeout));
  }
  if (!why.ok()) Break(why);
}

std::optional<PeerLink::Streams> PeerLink::End(const absl::Status& why, bool leaves) {
  MutexLock lock(mutex_);
  if (!broken_.ok()) return std::nullopt;
  broken_ = why;
  left_ = leaves;
  return std::exchange(streams_, {});
}

void PeerLink::DropAll() {
  CreditDesk::Due due;
  {
    MutexLock lock(mutex_);
    queue_.Clear();
    ledger_.Clear();
    grants_.clear();
    declined_.clear();
    withdrawn_.clear();
    due = desk_->Lost(peer_);
  }
  for (const CreditDesk::Announce& announce : due) announce();
}

void PeerLink::Break(const absl::Status& why) {
  const std::optional<Streams> streams = End(WithLostPeer(why, peer_));
  if (!streams.has_value()) return;
  // The failure is reported first, because dropped messages must not be reported as sent.
  gate_->PeerFailed(peer_, why);
  if (streams->incoming != nullptr) streams->incoming->Abort(AsToldToThePeer(why));
  if (streams->outgoing != nullptr) streams->outgoing->Abort(why);
  DropAll();
}

void PeerLink::GiveUp(const absl::Status& why) {
  Break(why);
  gate_->GiveUp(peer_);
  MutexLock lock(mutex_);
  // The chunks being copied are in memory already, so no peer can delay the end. The deadline
  // bounds the wait if a notification is lost.
  while (landings_ > 0) landed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + kNextLook);
}

void PeerLink::Leave() {
  const std::optional<Streams> streams =
      End(absl::CancelledError("this node left the run"), /*leaves=*/true);
  if (!streams.has_value()) return;
  DropAll();
  if (streams->outgoing != nullptr) streams->outgoing->Leave();
  if (streams->incoming != nullptr) streams->incoming->Leave();
}

bool PeerLink::HasGivenUp(uint64_t process) {
  MutexLock lock(mutex_);
  return !broken_.ok() && !left_ && process_ == process;
}

bool PeerLink::broken() {
  MutexLock lock(mutex_);
  return !broken_.ok();
}

bool PeerLink::outgoing_over() {
  MutexLock lock(mutex_);
  return !broken_.ok() || outgoing_ended_;
}

bool PeerLink::outgoing_interrupted() {
  MutexLock lock(mutex_);
  return outgoing_interruption_.lasts();
}

TransportCounters PeerLink::counters() {
  MutexLock lock(mutex_);
  return counters_;
}

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

void PeerLinks::Renew(Rank peer, uint64_t process) {
  MutexLock lock(mutex_);
  std::shared_ptr<PeerLink>& link = links_[peer];
  if (link != nullptr) Add(link->counters(), &before_);
  link = std::make_shared<PeerLink>(peer, chunk_bytes_, gate_, desk_, process);
}

TransportCounters PeerLinks::counters() {
  MutexLock lock(mutex_);
  TransportCounters sum = before_;
  for (const auto& [peer, link] : links_) Add(link->counters(), &sum);
  return sum;
}

}  // namespace grapevine

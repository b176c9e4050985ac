#include "node/transport/edge/edge_acceptor.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "glog/logging.h"

namespace grapevine {

absl::Status EdgeAcceptor::Authenticate(const EdgeCaller& caller, const EdgeIdentity& peer) const {
  if (!IsProven(peer, EdgeEnd::kCaller, token_)) {
    return absl::UnauthenticatedError(absl::StrCat("calls itself rank ", peer.rank, ", but shows ",
                                                   peer.proof.empty() ? "no" : "another",
                                                   " token"));
  }
  if (!caller.MayBe(peer.rank)) {
    return absl::UnauthenticatedError(
        absl::StrCat("calls itself rank ", peer.rank, ", but its certificate does not"));
  }
  RETURN_IF_ERROR(CheckSameRun(self_, peer));
  return links_->To(peer.rank).status();
}

absl::StatusOr<ResumePoint> EdgeAcceptor::Admit(const std::shared_ptr<EdgeCaller>& caller,
                                                Rank peer, EdgeCall call) {
  ASSIGN_OR_RETURN(const std::shared_ptr<PeerLink> link, links_->To(peer));
  ASSIGN_OR_RETURN(ResumePoint point, link->AttachIncoming(caller, call));
  caller->Admit(link);
  return point;
}

absl::Status EdgeAcceptor::Wait(const std::shared_ptr<EdgeCaller>& caller,
                                const EdgeIdentity& peer) {
  const auto [waiting, first] = waiting_.try_emplace(peer.rank, Waiting{caller, peer.call});
  if (first) return absl::OkStatus();
  EdgeCall& last = waiting->second.call;
  if (peer.call.process != last.process && forgotten_.contains(peer.rank)) {
    // Until the rank is expected, it is unknown which of the two processes is in the run, and
    // either may come again.
    return absl::UnavailableError(
        absl::StrCat("another process of rank ", peer.rank, " waits here already"));
  }
  if (peer.call.process != last.process || peer.call.number <= last.number) {
    return ConnectedAlready(peer.rank);
  }
  last = peer.call;
  return HasComeAgain(peer.rank);
}

absl::StatusOr<ResumePoint> EdgeAcceptor::AdmitOrWait(const std::shared_ptr<EdgeCaller>& caller,
                                                      const EdgeIdentity& peer) {
  ASSIGN_OR_RETURN(const std::shared_ptr<PeerLink> link, links_->To(peer.rank));
  // A process that was given up hears so from Admit, and does not take the place of a process that
  // comes after it.
  if (link->HasGivenUp(peer.call.process)) return Admit(caller, peer.rank, peer.call);
  std::shared_ptr<EdgeCaller> last;
  {
    MutexLock lock(mutex_);
    if (!neighbours_.contains(peer.rank)) {
      const absl::Status status = Wait(caller, peer);
      if (status.ok()) return ResumePoint();
      const Waiting& waiting = waiting_.at(peer.rank);
      if (!absl::IsUnavailable(status) || waiting.call.process != peer.call.process) return status;
      last = waiting.caller;
    }
  }
  if (last == nullptr) return Admit(caller, peer.rank, peer.call);
  last->Abort(HasComeAgain(peer.rank));
  return HasComeAgain(peer.rank);
}

void EdgeAcceptor::OnHello(const std::shared_ptr<EdgeCaller>& caller, const EdgeIdentity& peer) {
  if (const absl::Status known = Authenticate(*caller, peer); !known.ok())
    return Reject(*caller, known);
  absl::StatusOr<ResumePoint> point = AdmitOrWait(caller, peer);
  if (!point.ok()) return Reject(*caller, point.status());
  EdgeIdentity answer = self_;
  answer.call.number = peer.call.number;
  answer.resume = *std::move(point);
  caller->AnswerHello(Proven(std::move(answer), peer.rank, EdgeEnd::kAnswerer, token_));
}

void EdgeAcceptor::Expect(std::span<const Rank> neighbours) {
  for (const Rank peer : neighbours) {
    Waiting waiting;
    {
      MutexLock lock(mutex_);
      if (!neighbours_.insert(peer).second) continue;
      if (auto found = waiting_.extract(peer)) waiting = std::move(found.mapped());
    }
    if (waiting.caller == nullptr) continue;
    const auto admitted = Admit(waiting.caller, peer, waiting.call);
    if (!admitted.ok()) Reject(*waiting.caller, admitted.status());
  }
}

void EdgeAcceptor::Forget(Rank neighbour) {
  MutexLock lock(mutex_);
  neighbours_.erase(neighbour);
  forgotten_.insert(neighbour);
}

void EdgeAcceptor::Reject(EdgeCaller& caller, const absl::Status& why) {
  LOG_EVERY_T(WARNING, 1) << "rejected a caller from " << caller.address() << ": " << why.message();
  caller.Abort(absl::IsUnauthenticated(why) ? absl::UnauthenticatedError("refused") : why);
}

void EdgeAcceptor::OnClosed(const EdgeCaller* caller) {
  MutexLock lock(mutex_);
  std::erase_if(waiting_, [&](const auto& entry) { return entry.second.caller.get() == caller; });
}

}  // namespace grapevine

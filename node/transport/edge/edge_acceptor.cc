#include "node/transport/edge/edge_acceptor.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "glog/logging.h"

namespace grapevine {

absl::Status EdgeAcceptor::Authenticate(const EdgeIdentity& peer) const {
  if (!IsProven(peer, EdgeEnd::kCaller, token_)) {
    return absl::UnauthenticatedError(absl::StrCat("calls itself rank ", peer.rank, ", but shows ",
                                                   peer.proof.empty() ? "no" : "another",
                                                   " token"));
  }
  RETURN_IF_ERROR(CheckSameRun(self_, peer));
  return links_->To(peer.rank).status();
}

absl::Status EdgeAcceptor::Admit(const std::shared_ptr<EdgeCaller>& caller, Rank peer) {
  ASSIGN_OR_RETURN(const std::shared_ptr<PeerLink> link, links_->To(peer));
  RETURN_IF_ERROR(link->AttachIncoming(caller));
  caller->Admit(link);
  return absl::OkStatus();
}

absl::Status EdgeAcceptor::AdmitOrWait(const std::shared_ptr<EdgeCaller>& caller, Rank peer) {
  {
    MutexLock lock(mutex_);
    if (!neighbours_.contains(peer)) {
      const bool first = waiting_.emplace(peer, caller).second;
      return first ? absl::OkStatus() : ConnectedAlready(peer);
    }
  }
  return Admit(caller, peer);
}

void EdgeAcceptor::OnHello(const std::shared_ptr<EdgeCaller>& caller, const EdgeIdentity& peer) {
  absl::Status status = Authenticate(peer);
  if (status.ok()) status = AdmitOrWait(caller, peer.rank);
  if (!status.ok()) return Reject(*caller, status);
  caller->AnswerHello(Proven(self_, peer.rank, EdgeEnd::kAnswerer, token_));
}

void EdgeAcceptor::Expect(std::span<const Rank> neighbours) {
  for (const Rank peer : neighbours) {
    std::shared_ptr<EdgeCaller> caller;
    {
      MutexLock lock(mutex_);
      if (!neighbours_.insert(peer).second) continue;
      if (auto waiting = waiting_.extract(peer)) caller = std::move(waiting.mapped());
    }
    if (caller == nullptr) continue;
    if (absl::Status status = Admit(caller, peer); !status.ok()) Reject(*caller, status);
  }
}

void EdgeAcceptor::Reject(EdgeCaller& caller, const absl::Status& why) {
  LOG_EVERY_T(WARNING, 1) << "rejected a caller from " << caller.address() << ": " << why.message();
  caller.Abort(absl::IsUnauthenticated(why) ? absl::UnauthenticatedError("refused") : why);
}

void EdgeAcceptor::OnClosed(const EdgeCaller* caller) {
  MutexLock lock(mutex_);
  std::erase_if(waiting_, [&](const auto& entry) { return entry.second.get() == caller; });
}

}  // namespace grapevine

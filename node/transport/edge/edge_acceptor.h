// Who may send to a node: which callers are authenticated, and which are admitted.
//
// A caller is authenticated to be a rank when it shows the run's token and agrees on the run. It is
// admitted when that rank is a neighbour, in place of the stream that it had before, once that is
// over; a neighbour of a later round waits until this node gets there.
//
// Thread-safe.
#ifndef GRAPEVINE_NODE_TRANSPORT_EDGE_EDGE_ACCEPTOR_H_
#define GRAPEVINE_NODE_TRANSPORT_EDGE_EDGE_ACCEPTOR_H_

#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "node/identity/authentication.h"
#include "node/transport/edge/edge_identity.h"
#include "node/transport/edge/peer_link.h"
#include "system/mutex.h"

namespace grapevine {

// A stream on which somebody sends to this node. Thread-safe.
class EdgeCaller : public EdgeStream {
 public:
  // Whether the caller's connection lets it be `rank`: its certificate may name another.
  virtual bool MayBe(Rank rank) const { return true; }
  // The caller is authenticated: answers with `self`.
  virtual void AnswerHello(const EdgeIdentity& self) = 0;
  // Admits the stream as that of the link's peer.
  virtual void Admit(std::shared_ptr<PeerLink> link) = 0;
  // The caller's address, for the log.
  virtual std::string address() const = 0;
};

class EdgeAcceptor {
 public:
  EdgeAcceptor(RunToken token, std::shared_ptr<PeerLinks> links)
      : token_(std::move(token)), links_(std::move(links)) {}

  // Tells which node this is; before any caller says Hello.
  void Open(const EdgeIdentity& self) { self_ = self; }
  // Answers a caller and admits it, now or later, or rejects it.
  void OnHello(const std::shared_ptr<EdgeCaller>& caller, const EdgeIdentity& peer);
  // These ranks are admitted from now on.
  void Expect(std::span<const Rank> neighbours);
  // This one no longer is: another process of that rank waits until it is expected again.
  void Forget(Rank neighbour);
  // Ends the stream. A caller that is not authenticated hears only that; `why` is phrased to follow
  // "a caller ".
  void Reject(EdgeCaller& caller, const absl::Status& why);
  // The stream is over.
  void OnClosed(const EdgeCaller* caller);

 private:
  absl::Status Authenticate(const EdgeCaller& caller, const EdgeIdentity& peer) const;
  struct Waiting {
    std::shared_ptr<EdgeCaller> caller;
    EdgeCall call;
  };
  // Return where the caller's messages go on.
  absl::StatusOr<ResumePoint> AdmitOrWait(const std::shared_ptr<EdgeCaller>& caller,
                                          const EdgeIdentity& peer);
  absl::StatusOr<ResumePoint> Admit(const std::shared_ptr<EdgeCaller>& caller, Rank peer,
                                    EdgeCall call);
  absl::Status Wait(const std::shared_ptr<EdgeCaller>& caller, const EdgeIdentity& peer)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const RunToken token_;
  const std::shared_ptr<PeerLinks> links_;
  EdgeIdentity self_;  // set by Open
  Mutex mutex_;
  std::set<Rank> neighbours_ ABSL_GUARDED_BY(mutex_);
  std::set<Rank> forgotten_ ABSL_GUARDED_BY(mutex_);  // ever
  // Authenticated, but no neighbours yet, or not again; one per rank.
  std::map<Rank, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_EDGE_ACCEPTOR_H_

// EdgeAcceptor decides which callers may send to a node: it authenticates and admits them.
//
// A caller is authenticated as a rank when it shows the run's token and agrees on the run. It is
// admitted when that rank is a neighbour; its stream then takes the place of the rank's last
// stream, once that is over. A neighbour of a later round waits until this node gets there.
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

// A stream on which a caller sends to this node. Thread-safe.
class EdgeCaller : public EdgeStream {
 public:
  // Whether the caller's connection allows it to be `rank`; its certificate may name another rank.
  virtual bool MayBe(Rank rank) const { return true; }
  // Answers the caller, which is authenticated, with `self`.
  virtual void AnswerHello(const EdgeIdentity& self) = 0;
  // Admits the stream as the incoming stream of the link's peer.
  virtual void Admit(std::shared_ptr<PeerLink> link) = 0;
  // Returns the caller's address, for the log.
  virtual std::string address() const = 0;
};

class EdgeAcceptor {
 public:
  EdgeAcceptor(RunToken token, std::shared_ptr<PeerLinks> links)
      : token_(std::move(token)), links_(std::move(links)) {}

  // Tells the acceptor which node this is. Must be called before any caller says Hello.
  void Open(const EdgeIdentity& self) { self_ = self; }
  // Answers a caller and admits it, now or later, or rejects it.
  void OnHello(const std::shared_ptr<EdgeCaller>& caller, const EdgeIdentity& peer);
  // Admits the ranks `neighbours` from now on.
  void Expect(std::span<const Rank> neighbours);
  // Stops admitting `neighbour`: another process of that rank waits until the rank is expected
  // again.
  void Forget(Rank neighbour);
  // Ends the stream. A caller that is not authenticated hears only that it is refused. `why` is
  // phrased to follow "a caller ".
  void Reject(EdgeCaller& caller, const absl::Status& why);
  // Forgets a caller whose stream is over.
  void OnClosed(const EdgeCaller* caller);

 private:
  absl::Status Authenticate(const EdgeCaller& caller, const EdgeIdentity& peer) const;
  struct Waiting {
    std::shared_ptr<EdgeCaller> caller;
    EdgeCall call;
  };
  // AdmitOrWait and Admit return the point at which the caller's messages go on.
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
  std::set<Rank> forgotten_ ABSL_GUARDED_BY(mutex_);  // all ranks that Forget has ever named
  // Callers that are authenticated but not neighbours yet, or not again; one per rank.
  std::map<Rank, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_EDGE_EDGE_ACCEPTOR_H_

// The messages of a node's algorithm, between its data path and its transport: those that are in
// flight, and the bytes of all.
#ifndef GRAPEVINE_NODE_RUNNER_NODE_EXCHANGE_H_
#define GRAPEVINE_NODE_RUNNER_NODE_EXCHANGE_H_

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "algorithm/event.h"
#include "algorithm/receiving.h"
#include "base/ids.h"
#include "kernels/passes/streamed_norm.h"
#include "node/runner/data_path.h"
#include "node/runner/trace_recorder.h"
#include "node/transport/transport.h"

namespace grapevine {

// Thread-compatible: the runner's thread.
class NodeExchange {
 public:
  // `trace` may be null; all outlive this. `max_norm`: of what arrives (algorithm/receiving.h).
  NodeExchange(DataPath* data_path, Transport* transport, TraceRecorder* trace,
               double max_norm = kAnyNorm)
      : data_path_(data_path), transport_(transport), trace_(trace), max_norm_(max_norm) {}

  // Before the first message: so much was sent and received before.
  void GoOnFrom(int64_t bytes_sent, int64_t bytes_received);

  // As in algorithm/host.h.
  SendId Send(Rank to, Tag tag, const Payload& payload, const Note& note);
  SendId Offer(Rank to, Tag tag, const Payload& payload, const Note& note);
  void Post(Rank from, Tag tag, const Payload& into, Round round, Credit credit);
  void Decline(Rank from, Tag tag) { status_.Update(transport_->Decline(from, tag)); }
  void Withdraw(Rank from, Tag tag);

  // The transport says that a message has left, or how its send has ended (TransportSink); returns
  // which one. CHECKs that it was in flight.
  SendId OnLeft(Rank to, Tag tag);
  SendId OnSent(Rank to, Tag tag);
  SendId OnDeclined(Rank to, Tag tag) { return OnSent(to, tag); }
  // Likewise for a message that was posted for. An error refuses its numbers.
  absl::Status OnReceived(Rank from, Tag tag);
  // For which round it was posted for, until the algorithm sees it.
  Round RoundOf(Rank from, Tag tag) const { return posted_.at({from, tag}).round; }
  void OnLost(Rank from, Tag tag) { data_path_->Lost(from, tag); }

  // Whether the algorithm, whose next event this is, may see it: not an offer that it has posted
  // for in the meantime.
  bool Admits(const Event& event);

  // The last message that was requested; none: 0.
  SendId last_send() const { return last_send_; }
  // The ranks for which messages up to `last` have not left.
  std::set<Rank> Leaving(SendId last) const;

  // Payload of all requested messages, of offers once they have left: at a boundary, of the
  // completed rounds.
  int64_t bytes_sent() const { return bytes_sent_; }
  // Payload of the messages of rounds before `completed`, which never decreases.
  int64_t BytesReceived(Round completed) { return bytes_received_.Before(completed); }

  // The first error of a request; requests cannot fail to their caller.
  const absl::Status& status() const { return status_; }

 private:
  struct InFlight {
    SendId id;
    int64_t offered = 0;  // bytes, of an offer
    bool left = false;
  };

  struct Posted {
    Round round;
    std::shared_ptr<const StreamedNorm> norm;  // of what has arrived
  };

  SendId Dispatch(Rank to, Tag tag, const Payload& payload, const Note& note, bool offered);

  DataPath* const data_path_;
  Transport* const transport_;
  TraceRecorder* const trace_;
  const double max_norm_;

  SendId last_send_;
  std::map<std::pair<Rank, Tag>, InFlight> sending_;
  int64_t bytes_sent_ = 0;
  std::map<std::pair<Rank, Tag>, Posted> posted_;  // and not ended, as the algorithm knows
  RoundBytes bytes_received_;                      // by the round for which they were posted
  absl::Status status_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_NODE_EXCHANGE_H_

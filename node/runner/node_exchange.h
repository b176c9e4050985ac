// Exchanges the messages of a node's algorithm between its data path and its transport; knows which
// are in flight, and counts the bytes of all.
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

// Thread-compatible: for the runner's thread.
class NodeExchange {
 public:
  // `trace` may be null; everything that is pointed to outlives this. `max_norm` is the largest
  // norm of an arriving message (algorithm/receiving.h).
  NodeExchange(DataPath* data_path, Transport* transport, TraceRecorder* trace,
               double max_norm = kAnyNorm)
      : data_path_(data_path), transport_(transport), trace_(trace), max_norm_(max_norm) {}

  // Sets the bytes that were sent and received before. Must be called before the first message.
  void GoOnFrom(int64_t bytes_sent, int64_t bytes_received);

  // The requests of algorithm/host.h.
  SendId Send(Rank to, Tag tag, const Payload& payload, const Note& note);
  SendId Offer(Rank to, Tag tag, const Payload& payload, const Note& note);
  void Post(Rank from, Tag tag, const Payload& into, Round round, Credit credit);
  void Decline(Rank from, Tag tag) { status_.Update(transport_->Decline(from, tag)); }
  void Withdraw(Rank from, Tag tag);

  // Handle the transport's report that a message has left, or how its send has ended
  // (TransportSink); return its id. CHECK that the message was in flight.
  SendId OnLeft(Rank to, Tag tag);
  SendId OnSent(Rank to, Tag tag);
  SendId OnDeclined(Rank to, Tag tag) { return OnSent(to, tag); }
  // Handles the arrival of a message that was posted for. Returns an error if its numbers are
  // refused.
  absl::Status OnReceived(Rank from, Tag tag);
  // Returns the round for which the message was posted for, until the algorithm sees the message.
  Round RoundOf(Rank from, Tag tag) const { return posted_.at({from, tag}).round; }
  void OnLost(Rank from, Tag tag) { data_path_->Lost(from, tag); }

  // Returns whether the algorithm, whose next event this is, may see it. False for an offer that
  // the algorithm has posted for in the meantime.
  bool Admits(const Event& event);

  // Returns the last message that was requested; 0: none.
  SendId last_send() const { return last_send_; }
  // Returns the ranks for which messages up to `last` have not left.
  std::set<Rank> Leaving(SendId last) const;

  // Returns the payload of all requested messages, with offers counted once they have left. At a
  // boundary: of the completed rounds.
  int64_t bytes_sent() const { return bytes_sent_; }
  // Returns the payload of the received messages of rounds before `completed`, which never
  // decreases.
  int64_t BytesReceived(Round completed) { return bytes_received_.Before(completed); }

  // Returns the first error of a request; requests cannot report errors to their caller.
  const absl::Status& status() const { return status_; }

 private:
  struct InFlight {
    SendId id;
    // The bytes of an offer; 0 for a plain send.
    int64_t offered = 0;
    bool left = false;
  };

  struct Posted {
    Round round;
    std::shared_ptr<const StreamedNorm> norm;  // the norm of what has arrived
  };

  SendId Dispatch(Rank to, Tag tag, const Payload& payload, const Note& note, bool offered);

  DataPath* const data_path_;
  Transport* const transport_;
  TraceRecorder* const trace_;
  const double max_norm_;

  SendId last_send_;
  std::map<std::pair<Rank, Tag>, InFlight> sending_;
  int64_t bytes_sent_ = 0;
  // The posts that have not ended, as far as the algorithm knows.
  std::map<std::pair<Rank, Tag>, Posted> posted_;
  RoundBytes bytes_received_;  // by the round for which they were posted
  absl::Status status_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_NODE_EXCHANGE_H_

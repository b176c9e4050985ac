// A node's end of its control connection to rank 0, without I/O: whether directives can be obeyed,
// what they said, whether rank 0 is still there, and how the run has ended for this node.
//
// Directives, broken connections and the time go in; the caller then asks for the outcome.
// grpc_control_client carries the connection over gRPC.
//
// Thread-compatible; functions are pure.
#ifndef GRAPEVINE_NODE_CONTROL_CONTROL_LINE_H_
#define GRAPEVINE_NODE_CONTROL_CONTROL_LINE_H_

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "algorithm/view.h"
#include "base/ids.h"
#include "node/control/control.pb.h"
#include "node/control/steady_time.h"

namespace grapevine {

// What a node knows of its run.
struct DirectiveContext {
  Rank world_size = 0;
  Round rounds = 0;  // no round limit lies beyond
  Rank sharing = 0;  // so many workers share a budget of gradients, of so many rounds; none: 0
  Round cut = 0;     // the last nominal round that was to be measured
  // Where the batch grows at plateaus: the last that was told, and the largest, in batches of
  // round 0. Elsewhere 0.
  int64_t growth = 0;
  int64_t largest_growth = 0;
  bool joined = false;   // the roster has come
  Round checkpoint = 0;  // the last one that was complete
  // Where nodes go on without those that are lost: the last view and ballot; else null and 0.
  const View* view = nullptr;
  uint32_t ballot = 0;
};

// InvalidArgument says what is wrong, phrased to follow "rank 0 ".
absl::Status CheckDirective(const control::Directive& directive, const DirectiveContext& context);

struct ControlLineOptions {
  std::string coordinator;                        // rank 0's address, for messages
  std::chrono::milliseconds peer_timeout{30000};  // --peer-timeout
  Rank world_size = 1;
  Round rounds = 0;  // of the run: no round limit lies beyond
  // So many workers share a budget of gradients, and limits are of steps; 0: all do the same
  // rounds.
  Rank sharing = 0;
  int64_t largest_growth = 0;  // DirectiveContext's
  bool resilient = false;      // nodes go on without those that are lost
};

// Of a directive that has been checked.
View ViewOf(const control::View& view);

class ControlLine {
 public:
  ControlLine(ControlLineOptions options, SteadyTime now);

  // An attempt to connect and to register begins.
  void OnConnecting(SteadyTime now);
  void OnDirective(const control::Directive& directive, SteadyTime now);
  // The connection has ended. So has the run, for a node that has joined it.
  void OnClosed(std::string_view why);
  // To be called every `pulse`, followed by a heartbeat. False when rank 0 has been silent for too
  // long, and the connection is to be given up.
  bool OnPulse(SteadyTime now);
  // This node ends the run for itself, unless it has ended.
  void End(absl::Status verdict);

  // Whether rank 0 has said anything on this connection.
  bool answered() const { return answered_; }
  // The run has begun.
  const std::optional<control::Roster>& roster() const { return roster_; }
  // The new limits, each once, when the end of the run has moved or been settled. Nothing while a
  // decree that came before is to be taken: a view may ask for something before the end is settled.
  std::optional<control::RoundLimit> TakeLimit();
  // What is to be done about members that are lost (kPrepare, kView), each once, in order; likewise
  // nothing while a limit is to be taken.
  std::optional<control::Directive> TakeDecree();
  // The nominal rounds that are to be measured, each once, ascending. To be asked before the limit,
  // which may be the last.
  std::optional<Round> TakeCut();
  // The last checkpoint that is complete, once.
  std::optional<Round> TakeCheckpoint() { return std::exchange(checkpoint_, std::nullopt); }
  // How the run has ended; OK when every node is done.
  const std::optional<absl::Status>& verdict() const { return verdict_; }
  // The final status of a node that fails with `own`: the verdict if there is one, since it may
  // know the cause behind the symptom.
  absl::Status Conclude(absl::Status own) const;

  std::chrono::nanoseconds pulse() const { return pulse_; }

 private:
  void Obey(const control::Directive& directive);
  void Move(const control::RoundLimit& limit);
  std::string RankZero() const;  // for messages
  void EndWithoutRankZero(const std::string& how);

  const ControlLineOptions options_;
  const std::chrono::nanoseconds pulse_;
  SteadyTime last_heard_;
  SteadyTime last_pulse_;
  bool answered_ = false;
  std::optional<control::Roster> roster_;
  // Limits and decrees, not taken yet: at most one more than rounds, and two for each member.
  std::deque<control::Directive> moves_;
  Round last_limit_ = 0;
  bool limit_final_ = false;
  int64_t last_growth_ = 0;
  std::deque<Round> cuts_;  // not taken yet: at most as many as the run has rounds
  Round last_cut_ = 0;
  std::optional<Round> checkpoint_;  // not taken yet
  Round last_checkpoint_ = 0;
  View view_;  // the last
  uint32_t ballot_ = 0;
  std::optional<absl::Status> verdict_;
};

// The status of a failure that came as text and number: its text is fit for a terminal, its number
// one of the documented ones.
absl::Status FailedWith(const std::string& message, int failure);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_CONTROL_LINE_H_

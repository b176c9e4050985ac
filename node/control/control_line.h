// A node's end of its control connection to the run's coordinator, rank 0's at first, without I/O:
// whether directives can be obeyed, what they said, whether rank 0 is still there, and how the run
// has ended for this node.
//
// Directives, broken connections and the time go in; the caller then asks for the outcome.
// grpc_control_client carries the connection over gRPC.
//
// Once the run has begun, the line outlives its connections. When one breaks, or nothing is heard
// on it for half of peer_timeout, the caller is to connect anew and to register again, as often as
// it takes, with its reports that rank 0 is not known to have (control_protocol.h); this ends when
// rank 0 is known to be gone (nobody listens at its address any more) or has not been heard for
// peer_timeout. Where the role may move (`role_moves`), the line is then orphaned, and goes on with
// the coordinator that has taken the run over (Adopt), to which it says where the node stands.
//
// Thread-compatible; functions are pure.
#ifndef GRAPEVINE_NODE_CONTROL_CONTROL_LINE_H_
#define GRAPEVINE_NODE_CONTROL_CONTROL_LINE_H_

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/membership/members_lately.h"
#include "algorithm/view.h"
#include "base/ids.h"
#include "node/control/control.pb.h"
#include "node/control/control_protocol.h"
#include "node/control/standstill.h"

namespace grapevine {

// What a node knows of its run.
struct DirectiveContext {
  Rank world_size = 0;
  Rank rank = 0;     // the node's own
  Round rounds = 0;  // no round limit lies beyond
  Rank sharing = 0;  // so many workers share a budget of gradients, of so many rounds; none: 0
  Round cut = 0;     // the last nominal round that was to be measured
  // Where the batch grows at plateaus: the last that was told, and the largest, in batches of
  // round 0. Elsewhere 0.
  int64_t growth = 0;
  int64_t largest_growth = 0;
  bool joined = false;   // the roster has come
  Round checkpoint = 0;  // the last one that was complete
  // Rank 0's role may move to one that does not know of it.
  bool role_moves = false;
  // Where rank 0 names rounds to be saved: the last one; else null.
  const Round* called = nullptr;
  // Where nodes go on without those that are lost: the last view; else null.
  const View* view = nullptr;
  // Where views may be for checkpoints: the last one that was; else null.
  const Round* renewed = nullptr;
  uint32_t ballot = 0;  // the last; 0: none
  bool open_ended = false;
};

// InvalidArgument says what is wrong, phrased to follow "rank 0 ".
absl::Status CheckDirective(const control::Directive& directive, const DirectiveContext& context);

struct ControlLineOptions {
  std::string coordinator;                        // rank 0's address, for messages
  std::chrono::milliseconds peer_timeout{30000};  // --peer-timeout
  // --min-peer-timeout: the least silence that this node is lost by (coordinator.h).
  std::chrono::milliseconds min_peer_timeout{30000};
  Rank world_size = 1;
  Round rounds = 0;  // of the run: no round limit lies beyond
  // So many workers share a budget of gradients, and limits are of steps; 0: all do the same
  // rounds.
  Rank sharing = 0;
  int64_t largest_growth = 0;  // DirectiveContext's
  bool changes_views = false;  // there may be other views
  bool saves_on_call = false;  // rank 0 may name rounds to be saved
  bool renews_views = false;   // or views with which all save
  bool open_ended = false;     // the run: its limit moves inwards, once
  // The connection can be made again; rank 0's own, in process, breaks with its server only.
  bool mended = true;
  // Another node takes the role over when the coordinator's is lost; `changes_views` then.
  bool role_moves = false;
  Rank rank = 0;    // this node's
  Rank holder = 0;  // of the coordinator's role, when the node comes
};

// Of a directive that has been checked.
View ViewOf(const control::View& view);
// Whether members, newcomers and lead are what a view has, by themselves.
bool AreMembers(const control::View& view, Rank world_size);

class ControlLine {
 public:
  ControlLine(ControlLineOptions options, SteadyTime now);

  // An attempt to connect and to register begins: with which number and run.
  void OnConnecting(SteadyTime now, control::Registration* registration);
  void OnDirective(const control::Directive& directive, SteadyTime now);
  // The connection, or the attempt, has ended.
  void OnClosed(std::string_view why, SteadyTime now);
  // When the next attempt to connect is to begin, for a node that has joined and is not connected.
  std::optional<SteadyTime> reconnect_at() const { return reconnect_at_; }
  // Whether the connection is broken: rank 0's process may be gone. If it is, `how` is phrased to
  // follow the reason why the connection is.
  bool interrupted() const { return !broken_.empty() && !verdict_; }
  void OnGone(std::string_view how);
  // To be called every `pulse`, followed by a heartbeat. False when rank 0 has been silent for too
  // long, and the connection or the attempt is to be given up.
  bool OnPulse(SteadyTime now);

  // A report that must come, with its number: to be sent if there is a connection.
  control::Report Add(control::Report report);
  // What is to be sent on a new connection, after the registration.
  const std::deque<control::Report>& unacknowledged() const { return told_.kept(); }
  // So many directives have come.
  uint64_t received() const { return heard_.received(); }

  // Why the coordinator's node is lost, while no other has the role and the run has not ended.
  const std::optional<absl::Status>& orphaned() const { return orphaned_; }
  // Then: whether its process is gone for certain, and not merely silent.
  bool gone() const { return gone_; }
  // The coordinator of `holder`, at `address`, has taken the run over; the caller is to connect to
  // it. Its numbers begin anew, in both directions: what it must know that has not come goes again,
  // but for what is part of where the node stands.
  void Adopt(Rank holder, std::string address, SteadyTime now);
  // The run has ended so, which an orphaned line has not heard of otherwise. It has not ended well
  // for a node that has not done its part: the others have gone on without it.
  void EndAsFound(const absl::Status& how);
  // How many members the run has lately had, by the views that have been told.
  const MembersLately& lately() const { return lately_; }
  // Whose coordinator it is, and where.
  Rank holder() const { return holder_; }
  const std::string& coordinator() const { return coordinator_; }

  // This node ends the run for itself, unless it has ended.
  void End(absl::Status verdict);

  // Whether rank 0 has said anything on this connection.
  bool answered() const { return answered_; }
  // The run has begun.
  const std::optional<control::Roster>& roster() const { return roster_; }
  // The new limits, each once, when the end of the run has moved or been settled. Limits, decrees
  // and cuts are taken in the order in which they came, of whichever is next: a view may ask for
  // something before the end is settled, and says whose models a later cut is of.
  std::optional<control::RoundLimit> TakeLimit();
  // What is to be done about members that are lost, about a checkpoint, or without gradients
  // (kPrepare, kView, kCheckpointAt, kCoast), each once.
  std::optional<control::Directive> TakeDecree();
  // The nominal rounds that are to be measured, each once, ascending.
  std::optional<Round> TakeCut();
  // The last checkpoint that is complete, once.
  std::optional<Round> TakeCheckpoint() { return std::exchange(checkpoint_, std::nullopt); }
  // How the run has ended; OK when every node is done.
  const std::optional<absl::Status>& verdict() const { return verdict_; }
  // Whether it is of this node alone: the others have left it out.
  bool others_go_on() const { return others_go_on_; }
  // The final status of a node that fails with `own`: the verdict if there is one, since it may
  // know the cause behind the symptom.
  absl::Status Conclude(absl::Status own) const;

  std::chrono::nanoseconds pulse() const { return pulse_; }

 private:
  void Obey(const control::Directive& directive);
  // Notes what it says of the connection; false if it has come before, or ends the line.
  bool Take(const control::Directive& directive);
  // This process may itself have stood still.
  void Look(SteadyTime now);
  // How long nothing may come over a connection: half of what rank 0 may lose this node by.
  std::chrono::nanoseconds Patience() const {
    return std::min(options_.peer_timeout, options_.min_peer_timeout) / 2;
  }
  // Whether what is under way, a connection or an attempt, may go on.
  bool Waits(std::chrono::nanoseconds silence, SteadyTime now);
  // Rank 0 has said what cannot be.
  void Disbelieve(const absl::Status& fits);
  void Move(const control::RoundLimit& limit);
  // The run is under way.
  void Join(const control::Joined& joined);
  // What was said of those before, in whose place newcomers of the view are, is not said of these.
  void ForgiveNewcomers();
  void Coast(const control::Directive& directive);
  void Complete(Round checkpoint);
  std::string TheCoordinator() const;  // for messages
  control::Standing Standing() const;
  bool Lasts(const control::Report& report) const;
  void SendAgain(control::Report report);
  // Whether its node is lost, and another takes the role over; else the run ends for this node.
  void LoseCoordinator(const std::string& how);

  const ControlLineOptions options_;
  const std::chrono::nanoseconds pulse_;
  Rank holder_;
  std::string coordinator_;
  std::optional<absl::Status> orphaned_;
  bool gone_ = false;
  bool others_go_on_ = false;
  bool listens_ = true;  // to what comes over a connection; not to what a lost one still brings
  SteadyTime last_heard_;
  Standstill standstill_;
  // Until when others may have lost this node, since it stood still for as long as they wait.
  SteadyTime doubtful_until_;
  bool answered_ = false;
  uint64_t calls_ = 0;
  SteadyTime connecting_since_;
  std::string broken_;  // why, until rank 0 is heard again
  std::optional<SteadyTime> reconnect_at_;
  std::chrono::nanoseconds pause_{0};  // before the next attempt
  UnacknowledgedMessages<control::Report> told_;
  ReceivedMessages heard_;
  std::optional<control::Roster> roster_;
  // Limits, decrees and cuts, not taken yet: at most two more than rounds, and two for each member
  // and each checkpoint.
  std::deque<control::Directive> moves_;
  Round last_limit_ = 0;
  bool limit_final_ = false;
  int64_t last_growth_ = 0;
  Round last_cut_ = 0;
  Round coasts_ = 0;  // below this round without gradients
  bool all_end_ = false;
  std::optional<Round> checkpoint_;  // not taken yet
  Round last_checkpoint_ = 0;
  Round called_ = 0;  // the last checkpoint that rank 0 has named
  View view_;         // the last one told
  MembersLately lately_;
  std::optional<control::View> told_view_;  // the same view as its message; absent: the first
  uint32_t ballot_ = 0;
  // What every coordinator is to hear: what this node has said of others, that its program has no
  // gradients any more (twice at most), and how good its own model is at the end. And that it is
  // done.
  std::vector<control::Report> lasting_;
  std::deque<control::Report> parts_;  // of checkpoints that are not complete, as far as is known
  std::optional<Round> done_;
  std::optional<absl::Status> verdict_;
};

// The status of a failure that came as text and number: its text is fit for a terminal, its number
// one of the documented ones.
absl::Status FailedWith(const std::string& message, int failure);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_CONTROL_LINE_H_

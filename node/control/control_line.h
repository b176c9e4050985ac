// A node's end of its control connection to the run's coordinator, at first that of rank 0, without
// I/O. It decides whether directives can be obeyed, keeps what they said, and knows whether the
// coordinator still exists and how the run has ended for this node.
//
// Directives, broken connections and the time go in; the caller then asks for the outcome.
// grpc_control_client carries the connection over gRPC.
//
// Once the run has begun, the line outlives its connections. When one breaks, or when nothing is
// heard on it for half of peer_timeout, the caller must connect anew and register again, as often
// as it takes, and repeat its reports that rank 0 is not known to have (control_protocol.h). This
// ends when rank 0 is known to be gone (nobody listens at its address any more) or has not been
// heard for peer_timeout. If the role may move (`role_moves`), the line is then orphaned, and goes
// on with the coordinator that has taken the run over (Adopt), to which it reports the node's
// standing.
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

// The knowledge of a node about its run.
struct DirectiveContext {
  Rank world_size = 0;
  Rank rank = 0;     // the node's own
  Round rounds = 0;  // the largest round limit
  // The number of workers that share a budget of gradients for `rounds` nominal rounds; 0: no
  // budget is shared.
  Rank sharing = 0;
  Round cut = 0;  // the last nominal round that was to be measured
  // If the batch grows at plateaus: the last growth that was told, and the largest, in batches of
  // round 0. Otherwise 0.
  int64_t growth = 0;
  int64_t largest_growth = 0;
  bool joined = false;   // whether the roster has arrived
  Round checkpoint = 0;  // the last complete checkpoint
  // Whether rank 0's role may move to a node that does not know of that checkpoint.
  bool role_moves = false;
  // The last round to be saved that rank 0 has named; null if rank 0 names none.
  const Round* called = nullptr;
  // The last view; null if nodes do not go on without those that are lost.
  const View* view = nullptr;
  // The last checkpoint that a view was for; null if views are not for checkpoints.
  const Round* renewed = nullptr;
  uint32_t ballot = 0;  // the last ballot; 0: none
  bool open_ended = false;
};

// Returns InvalidArgument, phrased to follow "rank 0 ", if the directive cannot be obeyed.
absl::Status CheckDirective(const control::Directive& directive, const DirectiveContext& context);

struct ControlLineOptions {
  std::string coordinator;                        // rank 0's address, for messages
  std::chrono::milliseconds peer_timeout{30000};  // --peer-timeout
  // --min-peer-timeout: the shortest silence after which this node may be lost (coordinator.h).
  std::chrono::milliseconds min_peer_timeout{30000};
  Rank world_size = 1;
  Round rounds = 0;  // the largest round limit of the run
  // The number of workers that share a budget of gradients, in which case limits count steps; 0:
  // all nodes do the same rounds.
  Rank sharing = 0;
  int64_t largest_growth = 0;  // see DirectiveContext
  bool changes_views = false;  // whether there may be other views
  bool saves_on_call = false;  // whether rank 0 may name rounds to be saved
  bool renews_views = false;   // whether there may be views with which all save
  bool open_ended = false;     // whether the run's limit moves inwards, once
  // Whether the connection can be made again. The one of rank 0 itself, in process, breaks only
  // with its server.
  bool mended = true;
  // Whether another node takes the role over when the coordinator's is lost. Requires
  // `changes_views`.
  bool role_moves = false;
  Rank rank = 0;    // the rank of this node
  Rank holder = 0;  // the rank with the coordinator's role when the node joins
};

// Returns the view of a directive that has been checked.
View ViewOf(const control::View& view);
// Returns whether members, newcomers and lead of the view are possible by themselves.
bool AreMembers(const control::View& view, Rank world_size);

class ControlLine {
 public:
  ControlLine(ControlLineOptions options, SteadyTime now);

  // Begins an attempt to connect and to register. Fills in the number of the call, the run and, if
  // the role may move, the standing.
  void OnConnecting(SteadyTime now, control::Registration* registration);
  void OnDirective(const control::Directive& directive, SteadyTime now);
  // Reports that the connection, or the attempt, has ended.
  void OnClosed(std::string_view why, SteadyTime now);
  // Returns when the next attempt to connect is to begin, for a node that has joined and is not
  // connected.
  std::optional<SteadyTime> reconnect_at() const { return reconnect_at_; }
  // Returns whether the connection is broken. The coordinator's process may then be gone. If it is,
  // the caller says so with OnGone, whose `how` follows the reason why the connection broke.
  bool interrupted() const { return !broken_.empty() && !verdict_; }
  void OnGone(std::string_view how);
  // Must be called every `pulse`, followed by a heartbeat. Returns false if rank 0 has been silent
  // for too long, and the caller must give up the connection or the attempt.
  bool OnPulse(SteadyTime now);

  // Numbers and keeps a report that must arrive. The caller sends the result if a connection
  // exists.
  control::Report Add(control::Report report);
  // Returns the reports to send on a new connection, after the registration.
  const std::deque<control::Report>& unacknowledged() const { return told_.kept(); }
  // Returns the number of numbered directives that have arrived.
  uint64_t received() const { return heard_.received(); }

  // Returns why the coordinator's node is lost, while no other node has the role and the run has
  // not ended.
  const std::optional<absl::Status>& orphaned() const { return orphaned_; }
  // If orphaned: returns whether the coordinator's process is gone for certain, and not merely
  // silent.
  bool gone() const { return gone_; }
  // Reports that the coordinator of `holder`, at `address`, has taken the run over; the caller must
  // connect to it. Numbering begins anew in both directions. Reports that this coordinator needs
  // and has not received are sent again, except for what the standing contains.
  void Adopt(Rank holder, std::string address, SteadyTime now);
  // Ends an orphaned line as the run has ended, which the line does not hear of otherwise. If the
  // node has not done its part, the run has not ended well for it: the others have gone on without
  // it.
  void EndAsFound(const absl::Status& how);
  // Returns how many members the run has lately had, according to the views that were told.
  const MembersLately& lately() const { return lately_; }
  // Return the rank that has the coordinator's role, and its address.
  Rank holder() const { return holder_; }
  const std::string& coordinator() const { return coordinator_; }

  // Ends the run for this node alone, unless the run has ended.
  void End(absl::Status verdict);

  // Returns whether rank 0 has said anything on this connection.
  bool answered() const { return answered_; }
  // Returns the roster, once the run has begun.
  const std::optional<control::Roster>& roster() const { return roster_; }
  // Returns the next new limit, once, when the end of the run has moved or been settled. Limits,
  // decrees and cuts are taken in the order in which they arrived, whichever is next: a view may
  // ask for something before the end is settled, and determines whose models a later cut is about.
  std::optional<control::RoundLimit> TakeLimit();
  // Returns, once, the next directive about lost members, a checkpoint or coasting (kPrepare,
  // kView, kCheckpointAt, kCoast).
  std::optional<control::Directive> TakeDecree();
  // Returns the next nominal round to be measured, once; rounds ascend.
  std::optional<Round> TakeCut();
  // Returns the last complete checkpoint, once.
  std::optional<Round> TakeCheckpoint() { return std::exchange(checkpoint_, std::nullopt); }
  // Returns how the run has ended; OK when every node is done.
  const std::optional<absl::Status>& verdict() const { return verdict_; }
  // Returns whether the verdict is for this node alone: the others have left it out.
  bool others_go_on() const { return others_go_on_; }
  // Returns the final status of a node that fails with `own`: the verdict if one exists, since it
  // may know the cause behind the symptom.
  absl::Status Conclude(absl::Status own) const;

  std::chrono::nanoseconds pulse() const { return pulse_; }

 private:
  void Obey(const control::Directive& directive);
  // Notes what the directive says of the connection. Returns false if it has arrived before, or
  // ends the line.
  bool Take(const control::Directive& directive);
  // Notes the time: this process itself may have stood still.
  void Look(SteadyTime now);
  // Returns how long nothing may arrive over a connection: half of the silence after which rank 0
  // may lose this node.
  std::chrono::nanoseconds Patience() const {
    return std::min(options_.peer_timeout, options_.min_peer_timeout) / 2;
  }
  // Returns whether the present connection or attempt may go on.
  bool Waits(std::chrono::nanoseconds silence, SteadyTime now);
  // Ends the line, because rank 0 has said what cannot be.
  void Disbelieve(const absl::Status& fits);
  void Move(const control::RoundLimit& limit);
  // Joins a run that is under way.
  void Join(const control::Joined& joined);
  // Forgets accusations of processes whose places newcomers of the view have taken.
  void ForgiveNewcomers();
  void Coast(const control::Directive& directive);
  void Complete(Round checkpoint);
  std::string TheCoordinator() const;  // for messages
  control::Standing Standing() const;
  bool Lasts(const control::Report& report) const;
  void SendAgain(control::Report report);
  // Handles the loss of the coordinator's node: orphans the line if another node takes the role
  // over; otherwise the run ends for this node.
  void LoseCoordinator(const std::string& how);

  const ControlLineOptions options_;
  const std::chrono::nanoseconds pulse_;
  Rank holder_;
  std::string coordinator_;
  std::optional<absl::Status> orphaned_;
  bool gone_ = false;
  bool others_go_on_ = false;
  // Whether the line listens to the connection, and not to a lost one that may still bring
  // something.
  bool listens_ = true;
  SteadyTime last_heard_;
  Standstill standstill_;
  // Until then others may have lost this node, since it stood still for as long as they wait.
  SteadyTime doubtful_until_;
  bool answered_ = false;
  uint64_t calls_ = 0;
  SteadyTime connecting_since_;
  std::string broken_;  // the reason, until rank 0 is heard again
  std::optional<SteadyTime> reconnect_at_;
  std::chrono::nanoseconds pause_{0};  // before the next attempt
  UnacknowledgedMessages<control::Report> told_;
  ReceivedMessages heard_;
  std::optional<control::Roster> roster_;
  // Limits, decrees and cuts that have not been taken: at most two more than rounds, and two for
  // each member and each checkpoint.
  std::deque<control::Directive> moves_;
  Round last_limit_ = 0;
  bool limit_final_ = false;
  int64_t last_growth_ = 0;
  Round last_cut_ = 0;
  Round coasts_ = 0;  // the node may coast below this round
  bool all_end_ = false;
  std::optional<Round> checkpoint_;  // not taken yet
  Round last_checkpoint_ = 0;
  Round called_ = 0;  // the last checkpoint that rank 0 has named
  View view_;         // the last view told
  MembersLately lately_;
  // The message that told of view_; absent for the first view.
  std::optional<control::View> told_view_;
  uint32_t ballot_ = 0;
  // Reports that every coordinator must hear: accusations of other nodes, that the node's program
  // has no more gradients (at most twice), and how good the node's own model is at the end.
  std::vector<control::Report> lasting_;
  // Parts of checkpoints that are not known to be complete.
  std::deque<control::Report> parts_;
  // The limit with which the node is done, which every coordinator must hear, too.
  std::optional<Round> done_;
  std::optional<absl::Status> verdict_;
};

// Returns the status of a failure that arrived as text and number: the text is made fit for a
// terminal, the number one of the documented ones.
absl::Status FailedWith(const std::string& message, int failure);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_CONTROL_LINE_H_

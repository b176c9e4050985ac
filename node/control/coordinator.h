// The coordinator's judgement, rank 0's at first: who is in the run, who is alive, when it ends.
//
// Without I/O: reports and the time go in, directives come out (Take), so that a test can play
// through every failure. Sessions are numbered by the caller; one session is one connection of one
// node.
//
// The run has three phases. While it gathers, nodes register; one that does not fit is refused with
// the field and both values. If such a node has proven that it belongs to this run and claims a
// rank that is still missing, the run cannot begin, and that is everybody's verdict; otherwise the
// others go on waiting, and at the time-out the missing ranks are named. While it runs, silence, a
// broken connection or a failure report ends it with one verdict for all, which names the culprit.
// It finishes when every node is done and rank 0 has written the results, so that no node takes its
// server down while a neighbour still needs it, and none reports success for a run that leaves no
// results.
//
// Where nodes go on without those that are lost (`resilient`), the verdict on a node other than
// rank 0 ends the run for that node alone: it is left out, and the others agree on the round from
// which on (algorithm/membership/view_agreement.h). A node that has done all its rounds is not
// asked, it begins none; and what befalls the numbers, the settings or the files of one node ends
// the run as ever (IsOfOneNode).
//
// A process in the place of a node that is left out may then come in (Registration's joins): it
// waits until the others have agreed on a view with it, and hears then from which round on it is
// in.
//
// Where the role may move (`role_moves`), what befalls the coordinator's own node does not end the
// run: it goes without a word, and the coordinator of another node takes the run over
// (succession.h). That one gathers those who are left, tells them what some have missed, leaves out
// the others, and goes on as ever.
//
// Where the role is held by a lease (tenure.h), nothing is decided about the others while that is
// not certain: nobody is left out, no view is agreed upon, no run begins. If something has to be
// decided and the role does not become certain again in time, this node goes.
//
// A coordinator that stood still itself (standstill.h), as when all of a run's hosts were frozen,
// gives everybody a deadline anew. If that was for so long that the others may have lost it, it
// judges nobody before it knows whether they still follow it (awakening.h).
//
// Where the run keeps checkpoints, a node that is told to end may ask for one first: the run then
// ends with the next one that is complete, or earlier for any other reason.
//
// Where the run is open-ended, its programs say when they have given their last gradients, and the
// limit moves inwards, once, to where they all have (closing.h).
//
// Conditions of a node are told apart. It is *absent* while its connection is broken: what is to be
// told to it is kept (control_protocol.h), and nothing else changes if it comes back. That is a
// registration by the same process with a later call, which takes the old session's place, whether
// or not that is known to be over. *Dead*: it has closed its connection in order, or is absent and
// known to be gone (OnGone: nobody listens at its address any more, which tells the end of a
// process from that of a connection; or another process registers at its address). *Silent*: no
// heartbeat for peer_timeout, connected or not: stopped, cut off, or the host is gone. *Slow*:
// heartbeats come, but the round does not advance: a notice, and a verdict only after step_timeout.
// When every node waits for another and nothing moves, the run is *stuck*, and ends.
//
// Thread-safety: thread-compatible.
#ifndef GRAPEVINE_NODE_CONTROL_COORDINATOR_H_
#define GRAPEVINE_NODE_CONTROL_COORDINATOR_H_

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "algorithm/membership/view_agreement.h"
#include "base/ids.h"
#include "base/status.h"
#include "node/control/applicants.h"
#include "node/control/awakening.h"
#include "node/control/blame.h"
#include "node/control/budget_desk.h"
#include "node/control/checkpoint_calls.h"
#include "node/control/control.pb.h"
#include "node/control/control_protocol.h"
#include "node/control/coordinated_checkpoints.h"
#include "node/control/dispatch.h"
#include "node/control/early_arrivals.h"
#include "node/control/members.h"
#include "node/control/notice_throttle.h"
#include "node/control/outcasts.h"
#include "node/control/rendezvous.h"
#include "node/control/renewals.h"
#include "node/control/rosters.h"
#include "node/control/run_limit.h"
#include "node/control/run_quorum.h"
#include "node/control/run_verdict.h"
#include "node/control/standstill.h"
#include "node/control/succession.h"
#include "node/control/suspicions.h"
#include "node/control/tenure.h"
#include "node/control/vital_signs.h"
#include "run/records/run_standing.h"

namespace grapevine {

struct CoordinatorOptions {
  // The registration of the coordinator's own node. Its world_size and agreements hold for all.
  control::Registration own;
  // Whether nodes that register have shown the run's token, and so belong to this run and no other.
  bool proven = false;
  std::string run_id;
  Round round_limit = 0;
  // The checkpoint that the run goes on from, if any; each node must have its part of it. In a run
  // that is taken over, what newcomers are told of that checkpoint.
  std::optional<control::Resumed> resumed;
  // Whether members go on without a lost one, if enough are left (algorithm/membership/quorum.h).
  bool resilient = false;
  std::optional<Rank> min_nodes;  // --min-nodes
  // The number of nodes that may begin once rendezvous_timeout is over; 0: all of them.
  Rank begin_nodes = 0;
  // Whether fewer than min_nodes members wait for newcomers, for rendezvous_timeout, instead of
  // ending the run (--on-failure=wait).
  bool waits = false;
  // The first rank that is a server, without which the others do not go on; 0: no rank is.
  Rank workers = 0;
  // Whether another node takes the role over when this one is lost. Needs `resilient`, and no
  // budget.
  bool role_moves = false;
  // The time since the start of the run, when this coordinator begins it or goes on with it.
  std::chrono::nanoseconds elapsed{0};
  // The coordinator whose run this one takes over, if it does.
  std::optional<SuccessionOptions> succession;
  // Present if nodes share a budget of gradients; round_limit then counts nominal rounds.
  std::optional<BudgetDeskOptions> budget;
  // Present if the run keeps checkpoints and its nodes go through rounds together.
  std::optional<CheckpointCallsOptions> checkpoints;
  // Present if the run keeps checkpoints and its nodes share a budget.
  std::optional<RenewalsOptions> renewals;
  // Whether programs say when the run ends (closing.h); round_limit is then the most rounds that it
  // can have.
  bool open_ended = false;
  // Whether the limit at which an open-ended run closes is final only once ExtendRoundLimit says
  // so.
  bool settles_last = false;
  std::chrono::milliseconds rendezvous_timeout{60000};  // --rendezvous-timeout
  std::chrono::milliseconds peer_timeout{30000};        // --peer-timeout
  // --min-peer-timeout: the shortest silence for which a connected node is lost. The limit follows
  // the silences of that node so far (silence.h). Absent: the limit is peer_timeout.
  std::optional<std::chrono::milliseconds> min_peer_timeout;
  std::chrono::milliseconds step_timeout{900000};  // --step-timeout
};

// Returns the shortest silence for which any node is lost.
inline std::chrono::milliseconds LeastSilence(const CoordinatorOptions& options) {
  return std::min(options.min_peer_timeout.value_or(options.peer_timeout), options.peer_timeout);
}

class Coordinator {
 public:
  enum class Phase { kGathering, kRunning, kFinished, kAborted };

  struct Output : Dispatch {
    std::vector<std::pair<Rank, control::NodeMetrics>> metrics;
    std::vector<std::pair<Rank, control::SavedPart>> parts;  // of checkpoints
    std::optional<Round> called;                    // all nodes are told to save after this round
    std::vector<std::string> notices;               // for the log
    std::vector<Rank> lost;                         // members that are excluded
    std::vector<std::pair<Rank, Round>> newcomers;  // and the round from which each is a member
    // True once, when every node is done: the caller writes the results, then calls Finish.
    bool all_done = false;
  };

  Coordinator(CoordinatorOptions options, SteadyTime now);
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  void OnReport(SessionId session, const control::Report& report, SteadyTime now);
  // Reports that the connection of a session is gone; `why` may be empty.
  void OnClosed(SessionId session, std::string_view why, SteadyTime now);
  // Reports that a node has closed its connection in order: its process sends nothing more.
  void OnLeft(SessionId session, SteadyTime now);
  // Returns the ranks whose connections are broken, with the addresses of their processes. The
  // caller watches whether the processes still listen there (OnGone).
  const std::map<Rank, std::string>& absent() const { return members_.absent(); }
  // Returns whether the session is a member's, which closes it itself when it has heard how the run
  // ends.
  bool IsMember(SessionId session) const { return members_.RankOf(session).has_value(); }
  // Reports that the process of an absent rank is gone. `how` is phrased to follow the reason for
  // which its connection broke.
  void OnGone(Rank rank, std::string_view how, SteadyTime now);
  // Tells whether this node has its role for certain at this moment. Must be called before the
  // events of that moment are; the role is certain before the first call.
  void OnTenure(bool certain, SteadyTime now);
  // Judges time-outs and sends a Beat to all members. Must be called a few times in peer_timeout.
  void OnTick(SteadyTime now);
  // Moves the end of the run outwards, or settles it where it is; ignores a lower limit. `growth`
  // is that of RoundLimit in control.proto, for the rounds from the limit before.
  void ExtendRoundLimit(Round limit, bool final, int64_t growth = 0);

  // Tells all nodes of a checkpoint to which they have contributed.
  void OnCheckpoint(Round round);

  // Ends the run well, once all nodes are done and the results are written: no node needs another
  // any more. Does nothing if the run has ended otherwise meanwhile.
  void Finish();
  // Ends the run because this node cannot go on. Tells all nodes that have joined, and all that
  // come later.
  void End(const absl::Status& why);
  // Ends the run as End does, before it has begun, and waits for nodes that have yet to come.
  void CannotBegin(const absl::Status& why);
  // Returns whether a node has yet to come, or to come back, to hear how the run ends.
  bool AwaitsLatecomers() const { return !resigned() && (verdict_.awaits() || !absent().empty()); }
  // Returns whether this node has gone, and the role with it. Other nodes do not hear of it from
  // here.
  bool resigned() const { return verdict_.resigned(); }

  // Returns how long nodes have to leave after the end. News of a success may take --peer-timeout
  // to reach a node that is cut off; a failure is told for kPatience.
  std::chrono::nanoseconds Patience() const;
  static constexpr std::chrono::milliseconds kPatience{5000};

  Output Take() { return std::exchange(output_, {}); }

  Phase phase() const { return phase_; }
  // Returns where the nodes are, while the run goes on.
  std::optional<RunStanding> Standing() const;
  // Returns why the run was aborted; OK in every other phase.
  const absl::Status& verdict() const { return verdict_.status(); }

 private:
  void Advance(SteadyTime now);
  // Extends all deadlines after this process did nothing for `stood_still`, until now.
  void Awake(std::chrono::nanoseconds stood_still);
  // Admits or refuses a process that wants to come into a run that is under way.
  void Consider(SessionId session, const control::Registration& registration);
  // Returns why a process cannot come in; empty if it can.
  std::string NoPlaceFor(const control::Registration& registration);
  // Takes in the newcomers of a view that members have agreed upon.
  void TakeIn(const View& view, const control::View& told);
  // Refuses applicants for which the run has no round left.
  void TurnAway(const std::vector<Rank>& declined);
  // Drops the applicant whose session this was, if it was one's.
  void Forget(SessionId session);
  void TellPrepare(const Prepare& prepare);
  void TellView(const View& view);
  void Register(SessionId session, const control::Registration& registration);
  void Join(SessionId session, const control::Registration& registration);
  // Registers a node of a run that is taken over, which goes on once all awaited nodes have come.
  void Succeed(SessionId session, const control::Registration& registration);
  void AwaitThoseWhoAreLeft();
  // Begins or takes over the run if all awaited nodes have come and the role is certain.
  void BeginIfComplete();
  void TakeOver();
  // Goes on without a rank, which may have come or not, and tells its process.
  void Exclude(Rank rank, Outcast why);
  // Excludes a rank that has not come to a run that begins or is taken over.
  void Miss(Rank rank, const std::string& message);
  // Returns whether the process is a member's, and this a later call of it.
  bool ComesBack(const control::Registration& registration) const;
  void ComeBack(SessionId session, const control::Registration& registration);
  // Notes that an absent process is gone if another one registers at its address.
  void JudgeReplacement(const control::Registration& registration);
  void Erase(Rank rank);
  void Handle(Rank rank, const control::Report& report);
  // Counts a report. Returns false if it must not be handled: it came before, or cannot be.
  bool Take(Rank rank, const control::Report& report);
  std::string Died(Rank rank, std::string_view how) const;
  // Handles a second registration on a session, which violates the protocol.
  void RegisterAgain(SessionId session, const control::Registration& registration);
  // Returns why there is no room for this node; empty if there is.
  std::string Conflict(const control::Registration& registration) const;
  // Returns whether the run waits for this rank, which no process has taken yet.
  bool IsAwaited(Rank rank) const;
  void Refuse(SessionId session, const control::Registration& registration, const std::string& why);
  void CountRefusals();
  void StartRun();
  // Returns whether the nodes that have come may begin without the others.
  bool EnoughToBegin() const;
  void MissWhoHasNotCome();
  void OnFailure(Rank reporter, const control::Failure& failure);
  void OnSteps(Rank rank, const control::Steps& steps);
  void OnHeartbeat(Rank rank, const control::Heartbeat& heartbeat);
  void OnSpent(Rank rank, const control::Spent& spent);
  // Returns the members that compute gradients.
  std::set<Rank> Workers() const;
  // Tells members what follows from the last gradients that programs have given.
  void TellClosing();
  void OnDone(Rank rank, Round limit);
  void TellIfAllDone();
  void OnPromise(Rank rank, const control::Promise& promise);
  // Answers for members that are done: they begin no round, and are not asked.
  void PromiseForThoseWhoAreDone();
  void TellDecrees();
  // Tells all members to save, if it is time.
  void CallForCheckpoints();
  // Does what the run's checkpoints ask for now.
  void FollowCheckpoints();
  // Handles a node's wish that the run end with its next checkpoint.
  void OnStop(Rank rank, const control::Failure& why);
  void JudgeGathering();
  // Judges a take-over for which not all awaited nodes have come in time.
  void JudgeSuccession();
  void JudgeRunning();
  // Judges how long the coordinator may go without judging others (Defers).
  void JudgeDeferred();
  void JudgeAwakening();
  void JudgeTenure();
  bool Defers() const { return awakening_ || (options_.resilient && !tenure_.certain()); }
  // Judges what happened while judgement was deferred.
  void JudgeKept();
  std::optional<Blame> JudgeBacklog() const;
  void Follow(const std::optional<Blame>& blame);
  // Judges members that wait for newcomers: meanwhile nobody is stuck or slow.
  std::optional<Blame> JudgeShortage();
  // Returns whether the rank is a server: what it keeps is nowhere else.
  bool IsServer(Rank rank) const { return options_.workers > 0 && rank >= options_.workers; }
  // Ends the run, or excludes the culprit and goes on.
  void Lose(Rank culprit, Failure failure, const std::string& message);
  void LeaveOut(Rank lost, Failure failure, const std::string& message);
  void Abort(Rank culprit, Failure failure, const std::string& message);
  // Gives up the role: this node goes, and says so to itself alone.
  void Resign(Failure failure, const std::string& message);
  // Handles the loss of this node: it resigns, or the run ends.
  void LoseSelf(Failure failure, const std::string& message);
  Rank world_size() const { return options_.own.world_size(); }
  Rank self() const { return options_.own.rank(); }
  std::string Self() const;  // for messages

  const CoordinatorOptions options_;
  Phase phase_ = Phase::kGathering;
  Outcasts left_out_;
  Applicants applicants_;
  Rendezvous rendezvous_;
  NoticeThrottle refusals_told_;
  VitalSigns vitals_;  // of the members
  Tenure tenure_;
  Standstill standstill_;
  std::optional<Awakening> awakening_;      // while it is unknown whether others follow
  std::optional<ViewAgreement> agreement_;  // while the run goes on, if views may change
  uint32_t ballot_ = 0;                     // of agreement_'s last question
  RunQuorum quorum_;
  std::optional<Succession> succession_;  // while members that are left come
  EarlyArrivals early_;                   // while the run is taken over
  bool all_done_told_ = false;
  SteadyTime now_;
  Output output_;
  RunVerdict verdict_;
  Members members_;
  Rosters rosters_;
  RunLimit end_;
  CoordinatedCheckpoints saves_;
  Suspicions suspicions_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_COORDINATOR_H_

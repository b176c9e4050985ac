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
#include "algorithm/membership/members_lately.h"
#include "algorithm/membership/view_agreement.h"
#include "base/ids.h"
#include "base/status.h"
#include "node/control/awakening.h"
#include "node/control/budget_desk.h"
#include "node/control/control.pb.h"
#include "node/control/control_protocol.h"
#include "node/control/coordinated_checkpoints.h"
#include "node/control/dispatch.h"
#include "node/control/members.h"
#include "node/control/notice_throttle.h"
#include "node/control/run_limit.h"
#include "node/control/standstill.h"
#include "node/control/succession.h"
#include "node/control/suspicions.h"
#include "node/control/tenure.h"
#include "node/control/vital_signs.h"
#include "run/records/run_standing.h"

namespace grapevine {

struct CoordinatorOptions {
  // The registration of this coordinator's own node: world_size and agreements hold for all.
  control::Registration own;
  // Nodes that register have shown the run's token: they belong to this run and to no other.
  bool proven = false;
  std::string run_id;
  Round round_limit = 0;
  // If the run goes on, from where; each node must have its part. Of one that is taken over, what
  // newcomers are to know of that.
  std::optional<control::Resumed> resumed;
  // Whether the others go on when one is lost, if enough are left (algorithm/membership/quorum.h).
  bool resilient = false;
  std::optional<Rank> min_nodes;  // --min-nodes
  // As many may begin, once rendezvous_timeout is over; 0: all must be there.
  Rank begin_nodes = 0;
  // Whether fewer than min_nodes wait for others to come in, for rendezvous_timeout, instead of
  // ending the run (--on-failure=wait).
  bool waits = false;
  // The ranks from here on are servers, without which the others do not go on; 0: there are none.
  Rank workers = 0;
  // Whether another node takes the role over when this one is lost; `resilient`, without a budget.
  bool role_moves = false;
  // How long ago the run began, when this one begins it, or goes on with it.
  std::chrono::nanoseconds elapsed{0};
  // If this one takes a run over: from whom.
  std::optional<SuccessionOptions> succession;
  // If nodes share a budget of gradients; round_limit then counts nominal rounds.
  std::optional<BudgetDeskOptions> budget;
  // If the run keeps checkpoints.
  std::optional<CheckpointCallsOptions> checkpoints;
  // Likewise, if nodes share a budget.
  std::optional<RenewalsOptions> renewals;
  // Programs say when it ends (closing.h); round_limit is the most that there can be.
  bool open_ended = false;
  // Then: whether the limit at which the run closes is final only once ExtendRoundLimit says so.
  bool settles_last = false;
  std::chrono::milliseconds rendezvous_timeout{60000};  // --rendezvous-timeout
  std::chrono::milliseconds peer_timeout{30000};        // --peer-timeout
  // --min-peer-timeout: the least that the limit of a connected node's silence may be, which goes
  // by what it has been so far (silence.h). None: the limit is peer_timeout.
  std::optional<std::chrono::milliseconds> min_peer_timeout;
  std::chrono::milliseconds step_timeout{900000};  // --step-timeout
};

// What any node's silence may last.
inline std::chrono::milliseconds LeastSilence(const CoordinatorOptions& options) {
  return std::min(options.min_peer_timeout.value_or(options.peer_timeout), options.peer_timeout);
}

class Coordinator {
 public:
  enum class Phase { kGathering, kRunning, kFinished, kAborted };

  struct Output : Dispatch {
    std::vector<std::pair<Rank, control::NodeMetrics>> metrics;
    std::vector<std::pair<Rank, control::SavedPart>> parts;  // of checkpoints
    std::optional<Round> called;                             // all are told to save after it
    std::vector<std::string> notices;                        // for rank 0's log
    std::vector<Rank> lost;                                  // which are left out
    std::vector<std::pair<Rank, Round>> newcomers;           // and which come in, after that round
    // True once, when every node is done: this one writes the results, then calls Finish.
    bool all_done = false;
  };

  Coordinator(CoordinatorOptions options, SteadyTime now);
  Coordinator(const Coordinator&) = delete;
  Coordinator& operator=(const Coordinator&) = delete;

  void OnReport(SessionId session, const control::Report& report, SteadyTime now);
  // The session's connection is gone; `why` may be empty.
  void OnClosed(SessionId session, std::string_view why, SteadyTime now);
  // The node has closed it in order: nothing more comes of that process.
  void OnLeft(SessionId session, SteadyTime now);
  // Whose connections are broken, and where their processes listen. Whether they still do is to be
  // watched.
  const std::map<Rank, std::string>& absent() const { return members_.absent(); }
  // Whether it is the connection of a node of the run, which closes it itself when it has heard the
  // end.
  bool IsMember(SessionId session) const { return members_.RankOf(session).has_value(); }
  // The process of an absent rank is gone: `how` is phrased to follow the reason why its connection
  // is.
  void OnGone(Rank rank, std::string_view how, SteadyTime now);
  // Whether this node has its role for certain at this moment. To be told before everything else
  // that happens; true until then.
  void OnTenure(bool certain, SteadyTime now);
  // To be called a few times per peer_timeout: judges time-outs, and sends a Beat to all.
  void OnTick(SteadyTime now);
  // Moves the end of the run outwards, or settles it where it is; a lower limit
  // is ignored. `growth`: control.proto's, of the rounds from the limit before.
  void ExtendRoundLimit(Round limit, bool final, int64_t growth = 0);

  // Tells all nodes of a checkpoint to which they have contributed.
  void OnCheckpoint(Round round);

  // All are done and the results are written: no node needs another any more. Does nothing if the
  // run has ended otherwise meanwhile.
  void Finish();
  // Rank 0 cannot go on: tells all nodes that have joined, and all that come later.
  void End(const absl::Status& why);
  // Rank 0 cannot even begin: the same, and waits for the nodes that have yet to come.
  void CannotBegin(const absl::Status& why);
  // Whether somebody has yet to come, or to come back, and hear how the run ends.
  bool AwaitsLatecomers() const {
    return !resigned_ && (!latecomers_.empty() || !absent().empty());
  }
  // Whether this node has gone, and the role with it: nobody but itself hears of it from here.
  bool resigned() const { return resigned_; }

  // How long nodes have to leave after the end: news of a success may take --peer-timeout to reach
  // a node that is cut off; a failure is told for kPatience.
  std::chrono::nanoseconds Patience() const;
  static constexpr std::chrono::milliseconds kPatience{5000};
  // The most directives that a node may not have acknowledged.
  static constexpr size_t kMaxUnacknowledged = Members::kMaxUnacknowledged;

  Output Take() { return std::exchange(output_, {}); }

  Phase phase() const { return phase_; }
  // Where the nodes are while the run goes on.
  std::optional<RunStanding> Standing() const;
  // Why the run was aborted; OK in every other phase.
  const absl::Status& verdict() const { return verdict_; }

 private:
  // Why the run ends with a checkpoint, and with which.
  struct Stop {
    Rank rank = 0;
    Failure failure = Failure::kOther;
    std::string message;
    std::optional<Round> with = std::nullopt;  // once it is named
  };

  // Who has been left out, should it come back to hear so.
  struct Outcast {
    uint64_t process;
    std::string message;
    Failure failure;
  };

  // Who waits to come in.
  struct Candidate {
    SessionId session;
    control::Registration registration;
  };

  void Advance(SteadyTime now);
  // This process did nothing for so long, until now.
  void Awake(std::chrono::nanoseconds stood_still);
  // A process that wants to come into a run that is under way.
  void Consider(SessionId session, const control::Registration& registration);
  static bool ComesAnew(const control::Registration& registration) {
    return registration.joins() && registration.run_id().empty();
  }
  // Why it cannot; empty where it can.
  std::string NoPlaceFor(const control::Registration& registration);
  // The others have agreed to go on with these.
  void TakeIn(const View& view, const control::View& told);
  // They have not, as the run has no round left for them.
  void TurnAway(const std::vector<Rank>& declined);
  // The session was a candidate's.
  void Forget(SessionId session);
  void TellPrepare(const Prepare& prepare);
  void TellView(const View& view);
  void Register(SessionId session, const control::Registration& registration);
  void Join(SessionId session, const control::Registration& registration);
  // Likewise where a run is taken over: once all have come who are awaited, it goes on.
  void Succeed(SessionId session, const control::Registration& registration);
  void AwaitThoseWhoAreLeft();
  // Once all are there who are awaited, and the role is certain.
  void BeginIfComplete();
  void TakeOver();
  // Whoever has not come to the run that is taken over, or was left out before, is out.
  void Miss(Rank rank, const std::string& message);
  // Whether its process is a member's, and this is a later call of it.
  bool ComesBack(const control::Registration& registration) const;
  void ComeBack(SessionId session, const control::Registration& registration);
  // What it says of itself cannot be: another process is in the place of an absent one.
  void JudgeReplacement(const control::Registration& registration);
  void Erase(Rank rank);
  void Handle(Rank rank, const control::Report& report);
  bool IsOwnEnd(const control::Report& report) const;
  // False if the report is not to be looked at.
  bool Take(Rank rank, const control::Report& report);
  std::string Died(Rank rank, std::string_view how) const;
  void TellVerdict(SessionId session, Rank rank);
  void TellFinish(SessionId session);
  void TellEnd(SessionId session, const std::string& message, Failure failure, Rank culprit,
               bool others_go_on);
  void AwaitLatecomers();
  // A session belongs to one node: a second registration on it violates the protocol.
  void RegisterAgain(SessionId session, const control::Registration& registration);
  // Why there is no room for this node; empty when there is.
  std::string Conflict(const control::Registration& registration) const;
  // Whether the run cannot begin without this rank, which nobody has taken yet.
  bool IsAwaited(Rank rank) const;
  void Refuse(SessionId session, const control::Registration& registration, const std::string& why);
  void CountRefusals();
  void StartRun();
  // Whether those who are there may, without the others.
  bool EnoughToBegin() const;
  void MissWhoHasNotCome();
  std::string InTheNameOf(Rank reporter, const std::string& message) const;
  void OnFailure(Rank reporter, const control::Failure& failure);
  void OnSteps(Rank rank, const control::Steps& steps);
  void OnHeartbeat(Rank rank, const control::Heartbeat& heartbeat);
  void OnSpent(Rank rank, const control::Spent& spent);
  // The members that compute gradients.
  std::set<Rank> Workers() const;
  // The limits that the run that this one goes on with has settled.
  std::vector<control::RoundLimit> Settled() const;
  // Passes on what follows from who has given its last gradient.
  void TellClosing();
  void OnDone(Rank rank, Round limit);
  void TellIfAllDone();
  void OnPromise(Rank rank, const control::Promise& promise);
  // Those who are done begin no round, and are not asked.
  void PromiseForThoseWhoAreDone();
  void TellDecrees();
  // All are told to save, if it is time.
  void CallForCheckpoints();
  // Likewise, what there is to tell of that.
  void TellCalls();
  // The same where nodes share a budget: a view for it, once all have measured its round.
  void Renew();
  // There is no round left to save after.
  void TellOfLastRounds();
  // A node asks for a checkpoint with which the run ends.
  void OnStop(Rank rank, const control::Failure& why);
  bool IsDone(Rank rank) const;
  bool AllDone() const;
  void JudgeGathering();
  void JudgeRunning();
  // While what has happened to others cannot be judged: how long that may last.
  void JudgeDeferred();
  void JudgeAwakening();
  void JudgeTenure();
  bool Defers() const { return awakening_ || (options_.resilient && !tenure_.certain()); }
  // What has happened meanwhile.
  void JudgeKept();
  void JudgeSilence();
  void JudgeBacklog();
  void Follow(const std::optional<Blame>& blame);
  void JudgeSlow();
  // Whether those who are left wait for others to come in has its end, too.
  void JudgeShortage();
  // Whether what the rank keeps is nowhere else.
  bool IsServer(Rank rank) const { return options_.workers > 0 && rank >= options_.workers; }
  // The run ends, or goes on without the culprit.
  void Lose(Rank culprit, Failure failure, const std::string& message);
  void LeaveOut(Rank lost, Failure failure, const std::string& message);
  // So many members may go on, at least; once all are done, who is lost then has done its part.
  Rank LeastMembers() const;
  // Whether those who are there without one of them would go on.
  bool EnoughAreLeft() const;
  bool Short() const { return members_.size() < LeastMembers(); }
  // With fewer members than this the others wait.
  Rank Awaited() const { return options_.waits ? options_.min_nodes.value_or(0) : 0; }
  std::string TooFew(Rank left) const;
  void Abort(Rank culprit, Failure failure, const std::string& message);
  // This coordinator's node goes, and says so to itself alone.
  void Resign(Failure failure, const std::string& message);
  // Its own loss: one or the other.
  void LoseSelf(Failure failure, const std::string& message);
  Rank world_size() const { return options_.own.world_size(); }
  Rank self() const { return options_.own.rank(); }
  std::string Self() const;  // for messages
  std::string Missing() const;

  const CoordinatorOptions options_;
  Phase phase_ = Phase::kGathering;
  absl::Status verdict_;
  Rank culprit_ = -1;                     // of the verdict
  std::map<Rank, std::string> absences_;  // why a rank is not there, as far as that is known
  std::set<Rank> latecomers_;             // have yet to hear that the run cannot begin
  std::map<Rank, Outcast> left_out_;
  std::map<Rank, Candidate> candidates_;
  std::map<Rank, Candidate> early_candidates_;  // that came while the run is taken over
  std::vector<control::View> views_;            // that were agreed upon, as far as they are known
  std::vector<std::string> addresses_;          // by rank; of those that are lost, the last
  SteadyTime started_;
  NoticeThrottle refusals_told_;
  VitalSigns vitals_;  // of the members
  Tenure tenure_;
  Standstill standstill_;
  std::optional<Awakening> awakening_;      // while it is not known whether the others follow
  std::optional<ViewAgreement> agreement_;  // while it runs, if there may be other views
  MembersLately lately_;
  std::optional<SteadyTime> short_since_;  // fewer than min_nodes, who wait for others
  uint32_t ballot_ = 0;
  std::optional<CheckpointCalls> calls_;  // while it runs, if it keeps checkpoints
  std::optional<Renewals> renewals_;      // likewise, if nodes share a budget
  std::optional<Stop> stop_;
  std::optional<Succession> succession_;  // while it gathers those who are left
  // What they say meanwhile that is of the run: of a node, one for each of its peers at most, one
  // for itself, and that it is done.
  std::vector<std::pair<Rank, control::Report>> early_;
  bool resigned_ = false;
  bool all_done_told_ = false;
  SteadyTime gather_until_;
  SteadyTime next_missing_notice_;
  SteadyTime now_;
  Output output_;
  Members members_;
  RunLimit end_;
  Suspicions suspicions_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_COORDINATOR_H_

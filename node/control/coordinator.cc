#include "node/control/coordinator.h"

#include <glog/logging.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/units.h"
#include "node/control/address_list.h"
#include "node/control/control_protocol.h"
#include "node/control/member_runs.h"
#include "node/control/wording.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Refusals that are reported one by one within Rendezvous::kNoticeInterval.
constexpr int64_t kRefusalsTold = 8;
// What is shown of a node's own words.
constexpr size_t kMaxWords = 4000;

control::Directive FinishDirective() {
  control::Directive directive;
  directive.mutable_finish();
  return directive;
}

std::string RefusalBy(const std::string& self, const control::Registration& registration,
                      const std::string& why) {
  return Printable(absl::StrCat(self, " refuses rank ", registration.rank(), " at ",
                                registration.address().substr(0, kMaxAddressBytes), ": ", why),
                   kMaxWords);
}

// Returns how long a coordinator that takes a run over waits for the members that are left. Some
// know of the loss at once, others by silence alone, and a moment later than that.
nanoseconds GatheringTime(const CoordinatorOptions& options) {
  constexpr milliseconds kMoment{2000};
  return options.peer_timeout + kMoment;
}

// Returns whether a report says that the coordinator's own node fails, and no other. A coordinator
// that has yet to take a run over then leaves that to another.
bool IsOwnEnd(const control::Report& report, Rank self) {
  return report.has_failure() && report.failure().culprit() == self &&
         IsOfOneNode(FailureFromNumber(report.failure().failure()));
}

// Returns what a member says of itself, for all to read.
std::string InTheNameOf(const Members& members, Rank reporter, const std::string& message) {
  if (message.starts_with("rank ")) return message;
  return absl::StrCat(members.NameOf(reporter), ": ", message);
}

std::string LeftOutBy(const View& view, Rank rank) {
  return absl::StrCat("the others go on without it: rank ", rank,
                      " was out of reach, and is left out from round ", view.from, " on");
}

}  // namespace

Coordinator::Coordinator(CoordinatorOptions options, SteadyTime now)
    : options_(std::move(options)),
      rendezvous_(world_size(),
                  options_.succession ? GatheringTime(options_) : options_.rendezvous_timeout, now),
      refusals_told_(kRefusalsTold, Rendezvous::kNoticeInterval),
      vitals_({.peer_timeout = options_.peer_timeout,
               .least_silence = LeastSilence(options_),
               .step_timeout = options_.step_timeout}),
      standstill_(LeastSilence(options_) / 2, now),
      quorum_({.nodes = world_size(),
               .min_nodes = options_.min_nodes,
               .waits = options_.waits,
               .peer_timeout = options_.peer_timeout,
               .rendezvous_timeout = options_.rendezvous_timeout},
              options_.succession ? options_.succession->lately : MembersLately(world_size())),
      early_(world_size()),
      now_(now),
      verdict_(&output_),
      members_(&output_),
      rosters_({.nodes = world_size(),
                .run_id = options_.run_id,
                .resumed = options_.resumed,
                .elapsed = options_.elapsed}),
      end_({.limit = options_.round_limit,
            .budget = options_.budget,
            .open_ended = options_.open_ended,
            .settles_last = options_.settles_last},
           &members_),
      saves_({.calls = options_.checkpoints, .renewals = options_.renewals}, end_, &members_),
      suspicions_({.disputes = {.members = options_.own.world_size(),
                                .peer_timeout = options_.peer_timeout,
                                .resilient = options_.resilient,
                                .coordinator = options_.own.rank(),
                                .workers = options_.workers},
                   .rendezvous_timeout = options_.rendezvous_timeout},
                  members_, vitals_) {
  if (!options_.succession) return;
  succession_.emplace(*options_.succession, self(), options_.run_id);
  AwaitThoseWhoAreLeft();
}

std::string Coordinator::Self() const { return absl::StrCat("rank ", self()); }

void Coordinator::OnReport(SessionId session, const control::Report& report, SteadyTime now) {
  Advance(now);
  CallForCheckpoints();
  if (report.has_registration()) return Register(session, report.registration());
  const std::optional<Rank> rank = members_.RankOf(session);
  // The report of a session that was refused or replaced.
  if (!rank) return;
  vitals_.OnHeard(*rank, now);
  if (Take(*rank, report)) Handle(*rank, report);
}

bool Coordinator::Take(Rank rank, const control::Report& report) {
  switch (members_.Take(rank, report)) {
    case Members::Arrival::kNew:
      return true;
    case Members::Arrival::kAgain:
      return false;
    case Members::Arrival::kImpossible:
      break;
  }
  Abort(rank, Failure::kPeerLost,
        absl::StrCat(members_.NameOf(rank), " sent report ", report.number(), " after ",
                     members_.At(rank).heard.received(), " and has heard ", report.received(),
                     " directives, which cannot be; run the same grapevine on every host"));
  return false;
}

void Coordinator::Handle(Rank rank, const control::Report& report) {
  if (succession_ && rank == self() && IsOwnEnd(report, self())) {
    return Resign(FailureFromNumber(report.failure().failure()),
                  InTheNameOf(members_, rank, Printable(report.failure().message(), kMaxWords)));
  }
  if (succession_ && (report.has_failure() || report.has_done() || report.has_spent())) {
    return early_.Keep(rank, report);
  }
  switch (report.kind_case()) {
    case control::Report::kHeartbeat:
      return OnHeartbeat(rank, report.heartbeat());
    case control::Report::kMetrics:
      if (!end_.shares_budget()) vitals_.OnRound(rank, report.metrics().round(), now_);
      output_.metrics.emplace_back(rank, report.metrics());
      return;
    case control::Report::kFailure:
      return OnFailure(rank, report.failure());
    case control::Report::kDone:
      return OnDone(rank, report.done().round_limit());
    case control::Report::kSteps:
      return OnSteps(rank, report.steps());
    case control::Report::kPromise:
      return OnPromise(rank, report.promise());
    case control::Report::kStop:
      return OnStop(rank, report.stop());
    case control::Report::kSpent:
      return OnSpent(rank, report.spent());
    case control::Report::kPart:
      output_.parts.emplace_back(rank, report.part());
      return;
    default:
      return Abort(rank, Failure::kPeerLost,
                   absl::StrCat("rank ", rank, " sent a report that ", Self(),
                                " does not know; run the same grapevine on every host"));
  }
}

void Coordinator::OnClosed(SessionId session, std::string_view why, SteadyTime now) {
  Advance(now);
  const std::optional<Rank> rank = members_.RankOf(session);
  if (!rank) return Forget(session);
  // Whoever is in the run already has numbered what it says.
  if (phase_ == Phase::kGathering && !succession_) return Erase(*rank);
  members_.Break(*rank, why);
  vitals_.OnBroken(*rank);
}

void Coordinator::OnLeft(SessionId session, SteadyTime now) {
  const std::optional<Rank> rank = members_.RankOf(session);
  OnClosed(session, "closed by the node", now);
  if (rank) OnGone(*rank, "", now);
}

void Coordinator::OnGone(Rank rank, std::string_view how, SteadyTime now) {
  Advance(now);
  if (!members_.IsAbsent(rank)) return;
  if (phase_ == Phase::kRunning && Defers()) return tenure_.Keep(rank, std::string(how));
  members_.AwaitNoLonger(rank);
  if (phase_ == Phase::kRunning) Lose(rank, Failure::kPeerLost, Died(rank, how));
  Erase(rank);
  if (!succession_) return;
  succession_->OnGone(rank);
  BeginIfComplete();
}

std::string Coordinator::Died(Rank rank, std::string_view how) const {
  std::string why = members_.At(rank).broken;
  if (!how.empty()) absl::StrAppend(&why, why.empty() ? "" : ", and ", std::string(how));
  return absl::StrCat(members_.NameOf(rank), " died: its connection to ", Self(), " broke in ",
                      vitals_.At(rank), why.empty() ? "" : absl::StrCat(" (", why, ")"),
                      vitals_.WhoWaitsFor(rank), "; its own output or its host's log says why");
}

void Coordinator::OnTenure(bool certain, SteadyTime now) {
  Advance(now);
  if (tenure_.Set(certain, now)) JudgeKept();
}

void Coordinator::JudgeKept() {
  for (const auto& [rank, how] : tenure_.TakeGone()) OnGone(rank, how, now_);
  if (phase_ == Phase::kGathering) BeginIfComplete();
  if (phase_ == Phase::kRunning && agreement_) TellDecrees();
  if (phase_ == Phase::kRunning) TellIfAllDone();
}

void Coordinator::OnTick(SteadyTime now) {
  Advance(now);
  CallForCheckpoints();
  if (phase_ == Phase::kGathering) JudgeGathering();
  if (phase_ == Phase::kRunning) Defers() ? JudgeDeferred() : JudgeRunning();
  CountRefusals();
  if (phase_ != Phase::kGathering && phase_ != Phase::kRunning) return;
  members_.BeatAll();
}

void Coordinator::JudgeRunning() {
  const auto done = [this](Rank rank) { return end_.IsDone(rank); };
  // Who has no gradients any more may rest until the others have none.
  const auto rests = [&](Rank rank) {
    return end_.Coasts(rank) || (done(rank) && !(rank == self() && end_.AllDone()));
  };
  const std::function<std::optional<Blame>()> judgements[] = {
      [&] { return JudgeShortage(); },
      [&] { return vitals_.Silent(now_); },
      [&] { return JudgeBacklog(); },
      [&] { return suspicions_.Judge(now_); },
      [&] { return suspicions_.JudgeStuck(done); },
      [&] { return vitals_.Slow(now_, rests, &output_.notices); }};
  for (const auto& judge : judgements) {
    if (phase_ == Phase::kRunning) Follow(judge());
  }
}

void Coordinator::Follow(const std::optional<Blame>& blame) {
  if (!blame) return;
  if (blame->culprit < 0) return Abort(-1, blame->failure, blame->message);
  Lose(blame->culprit, blame->failure, blame->message);
}

void Coordinator::JudgeDeferred() {
  if (awakening_) JudgeAwakening();
  if (phase_ == Phase::kRunning && !tenure_.certain()) JudgeTenure();
}

void Coordinator::JudgeAwakening() {
  const auto heard = std::ranges::count_if(members_, [this](const auto& entry) {
    return entry.first != self() && standstill_.IsNews(vitals_.last_heard(entry.first));
  });
  std::vector<Rank> gone;
  for (const auto& [rank, how] : tenure_.gone()) {
    if (rank != self() && members_.IsAbsent(rank)) gone.push_back(rank);
  }
  switch (awakening_->Judge(now_, static_cast<size_t>(heard), gone.size())) {
    case Awakening::Finding::kOpen:
      return;
    case Awakening::Finding::kDeserted:
      return LoseSelf(Failure::kPeerLost,
                      absl::StrCat(awakening_->Describe(Self()), "; ",
                                   FlagWithTime("--peer-timeout", options_.peer_timeout),
                                   " is how long the others wait, and ", Named(gone),
                                   gone.size() == 1 ? " has gone" : " have gone", " meanwhile"));
    case Awakening::Finding::kFollowed:
      awakening_.reset();
      return JudgeKept();
  }
}

void Coordinator::JudgeTenure() {
  const bool undecided = !tenure_.gone().empty() || !suspicions_.empty() || vitals_.Silent(now_) ||
                         (agreement_ && !agreement_->agreed());
  const nanoseconds uncertain = tenure_.Uncertain(now_);
  if (!undecided || uncertain < options_.rendezvous_timeout) return;
  LoseSelf(Failure::kPeerLost,
           absl::StrCat(Self(), " could not say who is still in the run: for ",
                        HumanSeconds(uncertain), ", longer than ",
                        FlagWithTime("--rendezvous-timeout", options_.rendezvous_timeout),
                        ", it has not been certain that it still has the role of rank 0 (its log "
                        "says which store is away)"));
}

void Coordinator::ExtendRoundLimit(Round limit, bool final, int64_t growth) {
  // Whoever had the role before may have settled it.
  if (options_.succession && end_.final()) return;
  if (!end_.Extend(limit, final) || phase_ != Phase::kRunning) return;
  if (agreement_) {
    agreement_->Extend(end_.StepLimit());
    TellDecrees();  // there are rounds again for those who are waited for
  }
  end_.Tell(growth);
}

void Coordinator::OnHeartbeat(Rank rank, const control::Heartbeat& heartbeat) {
  vitals_.OnHeartbeat(rank, heartbeat, now_);
  end_.OnProgress(rank, heartbeat);
  TellClosing();
}

void Coordinator::OnSpent(Rank rank, const control::Spent& spent) {
  if (phase_ != Phase::kRunning) return;
  const absl::Status taken = end_.OnSpent(rank, spent);
  if (taken.ok()) return TellClosing();
  Abort(rank, Failure::kPeerLost,
        absl::StrCat(members_.NameOf(rank), " ", std::string(taken.message()),
                     "; run the same grapevine on every host"));
}

std::set<Rank> Coordinator::Workers() const {
  std::set<Rank> workers;
  for (const auto& [rank, member] : members_) {
    if (!IsServer(rank)) workers.insert(rank);
  }
  return workers;
}

// The limit first: who coasts up to it begins no round there.
void Coordinator::TellClosing() {
  if (phase_ != Phase::kRunning) return;
  if (end_.Close()) {
    if (agreement_) agreement_->Close(end_.limit());
    saves_.Close();
    end_.TellLimit(/*growth=*/0);
    if (agreement_) TellDecrees();
  }
  end_.TellCoast();
}

void Coordinator::OnCheckpoint(Round round) {
  if (phase_ != Phase::kRunning) return;
  control::Directive directive;
  directive.mutable_checkpoint_done()->set_round(round);
  members_.TellAll(directive);
  const std::optional<Blame> stop = saves_.OnComplete(round);
  if (stop) Abort(stop->culprit, stop->failure, stop->message);
}

void Coordinator::OnStop(Rank rank, const control::Failure& why) {
  if (phase_ != Phase::kRunning || !saves_.on()) return OnFailure(rank, why);
  saves_.EndWithNext({.culprit = rank,
                      .failure = FailureFromNumber(why.failure()),
                      .message = InTheNameOf(members_, rank, Printable(why.message(), kMaxWords))});
  FollowCheckpoints();
}

void Coordinator::Advance(SteadyTime now) {
  const nanoseconds stood_still = standstill_.Look(now);
  now_ = now;
  if (stood_still > nanoseconds(0)) Awake(stood_still);
}

void Coordinator::Awake(nanoseconds stood_still) {
  vitals_.Postpone(stood_still, now_);
  suspicions_.Postpone(stood_still);
  quorum_.Postpone(stood_still);
  tenure_.Postpone(stood_still);
  rendezvous_.Postpone(stood_still);
  if (phase_ != Phase::kRunning || members_.size() < 2 ||
      !Awakening::IsDue(stood_still, options_.peer_timeout)) {
    return;
  }
  awakening_.emplace(Awakening::Options{.stood_still = stood_still,
                                        .peer_timeout = options_.peer_timeout,
                                        .others = static_cast<size_t>(members_.size() - 1),
                                        .resilient = options_.resilient},
                     now_);
  output_.notices.push_back(absl::StrCat(awakening_->Describe(Self()), "; for the others ",
                                         FlagWithTime("--peer-timeout", options_.peer_timeout),
                                         " begins anew"));
}

void Coordinator::CallForCheckpoints() {
  if (phase_ != Phase::kRunning || all_done_told_) return;
  saves_.OnTime(now_);
  FollowCheckpoints();
}

void Coordinator::FollowCheckpoints() {
  const bool agreed = agreement_ && agreement_->agreed();
  if (const std::optional<Round> due = agreed ? saves_.Renew() : std::nullopt) {
    output_.called = due;
    agreement_->Renew(*due);
    TellDecrees();
  }
  if (const std::optional<Round> named = saves_.Call()) {
    output_.called = named;
    end_.Need(*named);
    TellClosing();
  }
  std::ranges::move(saves_.TakeNotices(), std::back_inserter(output_.notices));
}

void Coordinator::Register(SessionId session, const control::Registration& registration) {
  const Rank rank = registration.rank();
  if (resigned() && rank != self()) return;
  const bool known = members_.RankOf(session).has_value();
  if (!known && ComesBack(registration)) return ComeBack(session, registration);
  if (phase_ == Phase::kAborted) return verdict_.Tell(session, rank);
  if (known) return RegisterAgain(session, registration);
  if (const Outcast* const outcast = left_out_.Find(registration)) {
    return output_.End(session, AbortDirective({rank, outcast->failure, outcast->message},
                                               /*others_go_on=*/true));
  }
  if (ComesAnew(registration) && phase_ != Phase::kGathering) {
    return Consider(session, registration);
  }
  if (succession_ && ComesAnew(registration) && rank >= 0 && rank < world_size()) {
    return early_.Keep(Applicant{session, registration});
  }
  if (succession_) return Succeed(session, registration);
  // Before it is compared with the others: it cannot end a run that it is not in.
  if (phase_ == Phase::kGathering && !registration.run_id().empty()) {
    return Refuse(session, registration, Conflict(registration));
  }
  JudgeReplacement(registration);
  if (phase_ == Phase::kAborted) return verdict_.Tell(session, rank);
  std::string why = Objection(options_.own, registration);
  if (why.empty() && options_.resumed && !options_.succession)
    why = PartObjection(*options_.resumed, registration);
  if (!why.empty() && options_.proven && IsAwaited(rank)) {
    verdict_.AwaitAll(world_size());
    Abort(rank, Failure::kRendezvous, RefusalBy(Self(), registration, why));
    return verdict_.Tell(session, rank);
  }
  if (why.empty()) why = Conflict(registration);
  if (!why.empty()) return Refuse(session, registration, why);
  Join(session, registration);
}

void Coordinator::Join(SessionId session, const control::Registration& registration) {
  members_.Add(session, registration);
  vitals_.Begin(registration.rank(), registration.address(), now_);
  if (phase_ == Phase::kGathering) BeginIfComplete();
}

void Coordinator::Succeed(SessionId session, const control::Registration& registration) {
  std::string why = succession_->Objection(registration);
  if (why.empty()) why = grapevine::Objection(options_.own, registration, RunStage::kUnderWay);
  if (!why.empty()) return Refuse(session, registration, why);
  succession_->OnCome(registration);
  // Others may be members than were thought to be.
  AwaitThoseWhoAreLeft();
  Join(session, registration);
}

void Coordinator::AwaitThoseWhoAreLeft() {
  for (const auto& [rank, address] : succession_->awaited()) members_.Await(rank, address);
}

void Coordinator::BeginIfComplete() {
  if (!tenure_.certain()) return;
  if (succession_) return succession_->complete() ? TakeOver() : void();
  if (members_.size() == world_size()) StartRun();
}

void Coordinator::TakeOver() {
  const Succession found = *std::exchange(succession_, std::nullopt);
  // It was cut off, and could not know; others will take the run over.
  if (!found.view().RankOf(self())) {
    return Resign(Failure::kPeerLost, LeftOutBy(found.view(), self()));
  }
  phase_ = Phase::kRunning;
  end_.TakeOver(found.limit());
  ballot_ = found.ballot();
  agreement_.emplace(found.view(), end_.limit(), quorum_.waits_below(), ballot_);
  quorum_.OnView(found.view().size(), now_);
  rosters_.TakeOver(found, now_);
  control::Directive limit;
  *limit.mutable_round_limit() = found.limit();
  control::Directive view;
  *view.mutable_view() = found.told();
  for (const auto& [rank, member] : members_) {
    vitals_.Begin(rank, member.registration.address(), now_);
    members_.SetDone(rank, found.DoneBelow(rank));
    if (found.Lags(rank) && found.view().RankOf(rank)) members_.Tell(rank, view);
  }
  members_.TellAll(limit);
  for (Rank rank = 0; rank < world_size(); ++rank) {
    if (!found.view().RankOf(rank)) {
      Miss(rank, LeftOutBy(found.view(), rank));
    } else if (!members_.contains(rank)) {
      Miss(rank,
           absl::StrCat("the others go on without it: rank ", rank, " did not come to ", Self(),
                        ", which has taken the run over, within ",
                        HumanSeconds(GatheringTime(options_)), " (",
                        FlagWithTime("--peer-timeout", options_.peer_timeout), " and a moment)"));
    }
  }
  end_.BeginClosing(Workers(), found.coasts());
  const std::string taken =
      absl::StrCat(Self(), " has the role of rank ", options_.succession->lost, " now; ");
  if (!quorum_.Suffices(members_.size(), now_)) {
    return Abort(options_.succession->lost, Failure::kPeerLost,
                 taken + quorum_.TooFew(members_.size(), now_));
  }
  output_.notices.push_back(absl::StrCat(taken, members_.size(), " of ", world_size(),
                                         members_.size() == 1 ? " nodes goes on" : " nodes go on"));
  TellDecrees();
  TellIfAllDone();
  for (const auto& [rank, report] : early_.TakeReports()) {
    if (members_.contains(rank)) Handle(rank, report);
  }
  TellClosing();
  for (const auto& [rank, applicant] : early_.TakeApplicants()) {
    Consider(applicant.session, applicant.registration);
  }
}

void Coordinator::Exclude(Rank rank, Outcast why) {
  const Outcast& told = left_out_.Add(rank, std::move(why));
  if (const MemberRecord* const member = members_.Find(rank)) {
    if (member->session) {
      output_.End(*member->session, AbortDirective({rank, told.failure, told.message},
                                                   /*others_go_on=*/true));
    }
    Erase(rank);
  }
  members_.AwaitNoLonger(rank);
  suspicions_.LeaveOut(rank);
  output_.lost.push_back(rank);
  agreement_->Lose(rank);
}

void Coordinator::Miss(Rank rank, const std::string& message) {
  Exclude(rank, {.process = 0, .message = message, .failure = Failure::kPeerLost});
}

bool Coordinator::ComesBack(const control::Registration& registration) const {
  const MemberRecord* const member = members_.Find(registration.rank());
  if (member == nullptr) return false;
  const control::Registration& held = member->registration;
  return held.nonce() == registration.nonce() && registration.call() > held.call() &&
         (registration.run_id().empty() || registration.run_id() == options_.run_id);
}

void Coordinator::ComeBack(SessionId session, const control::Registration& registration) {
  const Rank rank = registration.rank();
  members_.Return(session, registration);
  if (phase_ != Phase::kGathering) {
    output_.notices.push_back(absl::StrCat("rank ", rank, " is connected again, ",
                                           vitals_.SilentFor(rank, now_),
                                           " after it was last heard"));
  }
  vitals_.OnReturn(rank, now_);
  if (phase_ == Phase::kAborted) verdict_.Tell(session, rank);
  if (phase_ == Phase::kFinished) output_.End(session, FinishDirective());
}

void Coordinator::JudgeReplacement(const control::Registration& registration) {
  const Rank rank = registration.rank();
  if (!options_.proven || !members_.IsAbsent(rank)) return;
  const control::Registration& held = members_.At(rank).registration;
  // Only where the old one listened can it not be any more.
  if (registration.nonce() == held.nonce() || registration.address() != held.address()) return;
  OnGone(rank, "another process came in its place", now_);
}

void Coordinator::Erase(Rank rank) {
  members_.Remove(rank);
  vitals_.End(rank);
}

void Coordinator::RegisterAgain(SessionId session, const control::Registration& registration) {
  const Rank rank = *members_.RankOf(session);
  if (phase_ == Phase::kRunning) {
    return Abort(rank, Failure::kPeerLost,
                 absl::StrCat(members_.NameOf(rank),
                              " registered twice; run the same grapevine on every host"));
  }
  // Neither counts: nobody knows which of them this process is.
  Erase(rank);
  Refuse(session, registration,
         absl::StrCat("its connection has registered rank ", rank, " already"));
}

std::string Coordinator::Conflict(const control::Registration& registration) const {
  if (phase_ != Phase::kGathering) return "the run has already begun";
  if (!registration.run_id().empty()) {
    return "it comes back to a run that has not begun here; the rank 0 that it was in is gone";
  }
  const MemberRecord* const holder = members_.Find(registration.rank());
  if (holder == nullptr) return "";
  const control::Registration& held = holder->registration;
  if (held.nonce() == registration.nonce()) return "it is here already, with a later call";
  return absl::StrCat("rank ", held.rank(), " is already taken by the process at ", held.address(),
                      "; give each process a rank of its own");
}

bool Coordinator::IsAwaited(Rank rank) const {
  return phase_ == Phase::kGathering && rank > 0 && rank < world_size() && !members_.contains(rank);
}

void Coordinator::Refuse(SessionId session, const control::Registration& registration,
                         const std::string& why) {
  const std::string message = RefusalBy(Self(), registration, why);
  // Who comes back was in a run, and has lost its rank 0.
  const Failure kind = registration.run_id().empty() ? Failure::kRendezvous : Failure::kPeerLost;
  output_.End(session, AbortDirective({registration.rank(), kind, message}));
  if (refusals_told_.Admit(now_)) output_.notices.push_back(message);
  rendezvous_.NoteAbsence(registration.rank(),
                          absl::StrCat("was refused: ", Printable(why, kMaxWords)));
}

void Coordinator::CountRefusals() {
  const int64_t untold = refusals_told_.TakeHeldBack(now_);
  if (untold == 0) return;
  output_.notices.push_back(absl::StrCat(Self(), " refused ", untold, " more registrations"));
}

void Coordinator::StartRun() {
  phase_ = Phase::kRunning;
  vitals_.Excuse(now_);
  suspicions_.Begin(now_);
  members_.TellAll(rosters_.Begin(members_, end_, now_));
  end_.Start(rosters_.Settled(), Workers());
  if (options_.resilient || options_.renewals) {
    agreement_.emplace(FirstView(world_size()), end_.StepLimit(), quorum_.waits_below());
  }
  saves_.Begin(now_);
  end_.SendLimits();
  MissWhoHasNotCome();
}

bool Coordinator::EnoughToBegin() const {
  if (!options_.resilient || options_.resumed || options_.begin_nodes == 0) return false;
  if (!members_.contains(self())) return false;
  for (Rank rank = 0; rank < world_size(); ++rank) {
    if (IsServer(rank) && !members_.contains(rank)) return false;
  }
  return members_.size() >= options_.begin_nodes;
}

void Coordinator::MissWhoHasNotCome() {
  if (members_.size() == world_size()) return;
  output_.notices.push_back(absl::StrCat("begins with ", members_.size(), " of ", world_size(),
                                         " nodes, at least --min-nodes=", options_.begin_nodes,
                                         ": ", rendezvous_.Missing(members_)));
  for (Rank rank = 0; rank < world_size(); ++rank) {
    if (members_.contains(rank)) continue;
    Miss(rank, absl::StrCat("the run has begun without it: rank ", rank, " did not come within ",
                            FlagWithTime("--rendezvous-timeout", options_.rendezvous_timeout),
                            "; with --join it may come in"));
    end_.Leave(rank);
  }
  TellDecrees();
}

void Coordinator::OnFailure(Rank reporter, const control::Failure& failure) {
  const std::string message = Printable(failure.message(), kMaxWords);
  // Whoever leaves is no member when the last one comes, though its connection closes later. It may
  // come again.
  if (phase_ == Phase::kGathering) {
    rendezvous_.NoteAbsence(reporter,
                            absl::StrCat("left: ", InTheNameOf(members_, reporter, message)));
    return Erase(reporter);
  }
  if (phase_ != Phase::kRunning) return;
  const bool known = failure.culprit() >= 0 && failure.culprit() < world_size();
  const Failure kind = FailureFromNumber(failure.failure());
  if (!known || failure.culprit() == reporter) {
    return IsOfOneNode(kind) ? Lose(reporter, kind, InTheNameOf(members_, reporter, message))
                             : Abort(reporter, kind, InTheNameOf(members_, reporter, message));
  }
  if (!members_.contains(failure.culprit())) return;  // left out already
  suspicions_.Add({failure.culprit(), reporter, kind, message, failure.proven()}, now_);
}

// A node that ended at another round has a model other than the run's, and leaves its neighbours
// without its replicas.
void Coordinator::OnDone(Rank rank, Round limit) {
  if (phase_ != Phase::kRunning) return;
  if (const std::string why = end_.NotDone(rank, limit); !why.empty()) {
    return Abort(rank, Failure::kOther,
                 absl::StrCat("rank ", rank, " says that it is done with ", limit, why,
                              ": a defect; please report it with the run's folder"));
  }
  members_.SetDone(rank, end_.limit());
  PromiseForThoseWhoAreDone();
  TellIfAllDone();
}

void Coordinator::TellIfAllDone() {
  if (awakening_ || !end_.AllDone() || std::exchange(all_done_told_, true)) return;
  quorum_.OnAllDone();
  vitals_.OnMove(self(), now_);  // the results are to be written
  output_.all_done = true;
}

void Coordinator::OnPromise(Rank rank, const control::Promise& promise) {
  if (phase_ != Phase::kRunning) return;
  absl::Status taken = absl::InvalidArgumentError("promises what it was not asked for");
  if (saves_.asks()) taken = saves_.OnPromise(rank, promise);
  if (agreement_ && promise.round() < end_.StepLimit()) {
    taken = agreement_->OnPromise(rank, promise.ballot(), promise.round());
  }
  if (taken.ok()) return saves_.asks() ? FollowCheckpoints() : TellDecrees();
  Abort(rank, Failure::kPeerLost,
        absl::StrCat(members_.NameOf(rank), " ", std::string(taken.message()),
                     "; run the same grapevine on every host"));
}

void Coordinator::PromiseForThoseWhoAreDone() {
  if (!agreement_ || agreement_->agreed()) return;
  for (const auto& [rank, member] : members_) {
    if (!end_.IsDone(rank)) continue;
    const absl::Status taken = agreement_->OnPromise(rank, ballot_, end_.StepLimit() - 1);
    if (!taken.ok()) VLOG(1) << "rank " << rank << " " << taken;  // it had answered, with less
  }
  TellDecrees();
}

void Coordinator::TellDecrees() {
  if (Defers()) return;
  while (const std::optional<ViewAgreement::Decree> decree = agreement_->Take()) {
    if (const auto* prepare = std::get_if<Prepare>(&*decree)) {
      TellPrepare(*prepare);
    } else {
      TellView(std::get<View>(*decree));
    }
  }
  end_.Hold(!agreement_->agreed());
}

void Coordinator::TellPrepare(const Prepare& prepare) {
  ballot_ = prepare.ballot;
  control::Directive directive;
  directive.mutable_prepare()->set_ballot(ballot_);
  members_.TellAll(directive);
  PromiseForThoseWhoAreDone();
}

void Coordinator::TellView(const View& agreed) {
  quorum_.OnView(agreed.size(), now_);
  control::Directive directive;
  control::View& view = *directive.mutable_view();
  view.set_epoch(agreed.epoch);
  view.set_from(agreed.from);
  view.set_ballot(agreed.ballot);
  SetMembers(agreed.members, &view);
  view.set_lead(self());
  view.set_checkpoint(agreed.checkpoint);
  if (!end_.final() && end_.MeasuresTheEnd(agreed.from)) view.set_again(end_.limit());
  for (const Rank member : agreed.newcomers) {
    const control::Registration& registration = applicants_.Find(member)->registration;
    control::Newcomer& newcomer = *view.add_newcomers();
    newcomer.set_rank(member);
    newcomer.set_process(registration.nonce());
    newcomer.set_address(registration.address());
  }
  members_.TellAll(directive);
  TakeIn(agreed, view);
  if (!end_.shares_budget()) rosters_.OnView(view);  // nobody comes in who is to hear of it
  TurnAway(agreement_->TakeDeclined());
  end_.NeedForView(agreed.from);
  TellClosing();
}

void Coordinator::TakeIn(const View& view, const control::View& told) {
  if (view.newcomers.empty()) return;
  const control::Directive welcome = rosters_.Welcome(told, end_, now_);
  for (const Rank newcomer : view.newcomers) {
    const Applicant applicant = *applicants_.Take(newcomer);
    left_out_.Remove(newcomer);
    suspicions_.TakeIn(newcomer);
    Join(applicant.session, applicant.registration);
    members_.Tell(newcomer, welcome);
    if (!IsServer(newcomer)) end_.TakeIn(newcomer);
    quorum_.OnNewcomer(members_.size(), now_);
    output_.newcomers.emplace_back(newcomer, view.from);
    output_.notices.push_back(absl::StrCat(
        "rank ", newcomer, " at ", applicant.registration.address(), " comes in from round ",
        view.from, " on; ", members_.size(), " of ", world_size(), " nodes go on"));
  }
}

void Coordinator::TurnAway(const std::vector<Rank>& declined) {
  for (const Rank member : declined) {
    const std::optional<Applicant> applicant = applicants_.Take(member);
    if (!applicant) continue;
    Refuse(applicant->session, applicant->registration,
           "the run is in its last rounds; there is none left for it");
  }
}

void Coordinator::Consider(SessionId session, const control::Registration& registration) {
  std::string why = Objection(options_.own, registration, RunStage::kUnderWay);
  if (why.empty()) why = NoPlaceFor(registration);
  if (phase_ == Phase::kAborted) return verdict_.Tell(session, registration.rank());
  if (!why.empty()) return Refuse(session, registration, why);
  applicants_.Add({session, registration});
  output_.notices.push_back(absl::StrCat("rank ", registration.rank(), " at ",
                                         registration.address(), " wants to come in"));
  agreement_->Admit(registration.rank());
  TellDecrees();
}

std::string Coordinator::NoPlaceFor(const control::Registration& registration) {
  const Rank rank = registration.rank();
  // Those who would have to agree may have left.
  if (phase_ == Phase::kFinished) return "the run is over";
  if (end_.shares_budget()) return "its nodes share a budget of gradients, and take nobody in";
  if (!agreement_) {
    return absl::StrCat("the run is under way, and ", Self(),
                        " takes nobody in; that needs --on-failure=shrink on all nodes");
  }
  // The new process may be here before the end of the old one is known.
  if (options_.proven && members_.IsAbsent(rank)) {
    OnGone(rank, "another process came in its place", now_);
  }
  if (const MemberRecord* const holder = members_.Find(rank)) {
    return absl::StrCat("rank ", rank, " is taken by the process at ",
                        holder->registration.address(), ", which is in the run");
  }
  const Applicant* const before = applicants_.Find(rank);
  if (before != nullptr && before->registration.nonce() != registration.nonce()) {
    return absl::StrCat("another process of rank ", rank, ", at ", before->registration.address(),
                        ", waits to come in already");
  }
  const bool over =
      std::ranges::any_of(members_, [this](const auto& entry) { return end_.IsDone(entry.first); });
  return over || end_.closed() ? "the run is in its last rounds; there is none left for it" : "";
}

void Coordinator::Forget(SessionId session) {
  early_.Forget(session);
  const std::optional<Rank> rank = applicants_.Forget(session);
  if (!rank) return;
  agreement_->Lose(*rank);
  TellDecrees();
}

void Coordinator::OnSteps(Rank rank, const control::Steps& steps) {
  if (phase_ != Phase::kRunning) return;
  vitals_.OnRound(rank, steps.steps(), now_);
  const absl::Status status = end_.OnSteps(rank, steps);
  if (status.ok()) return;
  Abort(rank, Failure::kPeerLost,
        absl::StrCat(members_.NameOf(rank), " ", std::string(status.message()),
                     "; run the same grapevine on every host"));
}

void Coordinator::Finish() {
  if (phase_ != Phase::kRunning || !end_.AllDone()) return;
  phase_ = Phase::kFinished;
  for (const auto& [rank, member] : members_) {
    if (member.session) output_.End(*member.session, FinishDirective());
  }
  for (const auto& [rank, applicant] : applicants_.TakeAll()) {
    Refuse(applicant.session, applicant.registration, "the run is over");
  }
}

nanoseconds Coordinator::Patience() const {
  return phase_ == Phase::kFinished ? std::max<nanoseconds>(kPatience, options_.peer_timeout)
                                    : kPatience;
}

void Coordinator::End(const absl::Status& why) {
  const std::string message = Printable(std::string(why.message()), kMaxWords);
  Abort(self(), FailureOf(why),
        message.starts_with("rank ") ? message : absl::StrCat(Self(), ": ", message));
}

void Coordinator::CannotBegin(const absl::Status& why) {
  verdict_.AwaitAll(world_size());
  End(why);
}

void Coordinator::JudgeGathering() {
  if (!rendezvous_.IsOver(now_)) {
    const std::optional<std::string> notice = rendezvous_.Notice(members_, now_);
    if (notice) output_.notices.push_back(*notice);
    return;
  }
  if (succession_) return JudgeSuccession();
  if (EnoughToBegin() && tenure_.certain()) return StartRun();
  Abort(-1, Failure::kRendezvous,
        absl::StrCat("not all of ", world_size(), " nodes came within ",
                     HumanSeconds(options_.rendezvous_timeout), ": ", rendezvous_.Missing(members_),
                     "; start them, look at their output, or give more time with "
                     "--rendezvous-timeout"));
}

void Coordinator::JudgeSuccession() {
  const bool here = succession_->IsHere(self());
  if (here && tenure_.certain()) return TakeOver();
  if (here && tenure_.Uncertain(now_) < options_.rendezvous_timeout) return;
  Resign(Failure::kPeerLost, absl::StrCat(Self(), " was to take the run over, and is lost"));
}

std::optional<Blame> Coordinator::JudgeBacklog() const {
  const std::optional<Rank> rank = members_.Backlogged();
  if (!rank) return std::nullopt;
  return Blame{
      *rank, Failure::kPeerLost,
      absl::StrCat(members_.NameOf(*rank), " has not taken ", members_.At(*rank).told.size(),
                   " directives of ", Self(), ", last heard ", vitals_.SilentFor(*rank, now_),
                   " ago in ", vitals_.At(*rank))};
}

std::optional<RunStanding> Coordinator::Standing() const {
  if (phase_ != Phase::kRunning) return std::nullopt;
  return vitals_.Standing([this](Rank rank) { return end_.IsDone(rank); });
}

// While they wait nobody is stuck or slow.
std::optional<Blame> Coordinator::JudgeShortage() {
  if (!agreement_ || !agreement_->waits()) return std::nullopt;
  vitals_.Excuse(now_);
  return quorum_.JudgeWait(members_.size(), now_, &output_.notices);
}

void Coordinator::Lose(Rank culprit, Failure failure, const std::string& message) {
  if (culprit == self()) return LoseSelf(failure, message);
  if (options_.resilient && Defers()) return;  // one that fails leaves, and OnGone keeps that
  if (!options_.resilient) return Abort(culprit, failure, message);
  if (IsServer(culprit)) {
    return Abort(
        culprit, failure,
        absl::StrCat(message, "; rank ", culprit, " is a parameter server, and its part of ",
                     "the model is lost with it"));
  }
  const Rank left = members_.size() - 1;
  if (quorum_.Suffices(left, now_)) return LeaveOut(culprit, failure, message);
  Abort(culprit, failure, absl::StrCat(message, "; ", quorum_.TooFew(left, now_)));
}

// `message` may be of an accusation, which goes with the culprit.
void Coordinator::LeaveOut(Rank lost, Failure failure, const std::string& message) {
  const MemberRecord& member = members_.At(lost);
  output_.notices.push_back(absl::StrCat(message, "; ", members_.size() - 1, " of ", world_size(),
                                         members_.size() == 2 ? " nodes goes on" : " nodes go on"));
  Exclude(lost, {.process = member.registration.nonce(),
                 .message = absl::StrCat("the others go on without it: ", message),
                 .failure = failure});
  vitals_.Excuse(now_);  // they have waited for it, maybe
  end_.Leave(lost);
  TellDecrees();
  TellClosing();
  TellIfAllDone();
}

void Coordinator::LoseSelf(Failure failure, const std::string& message) {
  if (!options_.role_moves) return Abort(self(), failure, message);
  const Rank left = members_.size() - 1;
  if (left < 1 || quorum_.Suffices(left, now_)) return Resign(failure, message);
  Abort(self(), failure, absl::StrCat(message, "; ", quorum_.TooFew(left, now_)));
}

void Coordinator::Resign(Failure failure, const std::string& message) {
  phase_ = Phase::kAborted;
  verdict_.Resign({self(), failure, message}, /*others_go_on=*/members_.size() > 1);
  const MemberRecord* const own = members_.Find(self());
  if (own != nullptr && own->session) verdict_.Tell(*own->session, self());
}

void Coordinator::Abort(Rank culprit, Failure failure, const std::string& message) {
  if (phase_ == Phase::kFinished || phase_ == Phase::kAborted) return;
  phase_ = Phase::kAborted;
  verdict_.Pass({culprit, failure, message});
  for (const auto& [rank, member] : members_) {
    if (member.session) verdict_.Tell(*member.session, rank);
  }
  for (const auto& [rank, applicant] : applicants_.TakeAll()) {
    verdict_.Tell(applicant.session, rank);
  }
  for (const auto& [rank, applicant] : early_.TakeApplicants()) {
    verdict_.Tell(applicant.session, rank);
  }
}

}  // namespace grapevine

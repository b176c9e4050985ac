#include "node/control/control_line.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"
#include "base/units.h"
#include "node/control/address_list.h"
#include "node/control/member_runs.h"
#include "node/identity/host_address.h"

namespace grapevine {
namespace {

constexpr size_t kMaxShownAddress = 80;

absl::Status Malformed(const std::string& how) { return absl::InvalidArgumentError(how); }

// The rounds of a run or, with a shared budget, the largest number of steps of any worker.
Round Furthest(const DirectiveContext& context) {
  return context.rounds * std::max(context.sharing, 1);
}

absl::Status CheckLimit(Round limit, const DirectiveContext& context) {
  if (limit >= 0 && limit <= Furthest(context)) return absl::OkStatus();
  return Malformed(absl::StrCat("sent ", limit, " as the limit of a run of ", context.rounds,
                                " rounds", context.sharing > 0 ? " of each worker" : ""));
}

absl::Status CheckMove(const control::RoundLimit& moved, const DirectiveContext& context) {
  if (!context.joined) return Malformed("moved the end of the run before it began");
  RETURN_IF_ERROR(CheckLimit(moved.limit(), context));
  const int64_t growth = moved.growth();
  if (growth >= context.growth && growth <= context.largest_growth) return absl::OkStatus();
  return Malformed(absl::StrCat("sent batches of ", growth, " first ones up to round ",
                                moved.limit(), ", after ", context.growth, " and of at most ",
                                context.largest_growth));
}

absl::Status CheckCoast(const control::Coast& coast, const DirectiveContext& context) {
  if (!context.joined) return Malformed("let nodes coast before the run began");
  if (!context.open_ended) {
    return Malformed("lets nodes go on without gradients, in a run that is not open-ended");
  }
  if (coast.below() >= 0 && coast.below() <= context.rounds) return absl::OkStatus();
  return Malformed(
      absl::StrCat("lets nodes coast below round ", coast.below(), " of at most ", context.rounds));
}

absl::Status CheckCut(Round cut, const DirectiveContext& context) {
  if (!context.joined) return Malformed("measured the run before it began");
  if (context.sharing == 0) {
    return Malformed("sent a round to measure, where each node knows its own");
  }
  if (cut > context.cut && cut <= context.rounds) return absl::OkStatus();
  return Malformed(absl::StrCat("sent round ", cut, " to measure, after round ", context.cut,
                                " of ", context.rounds));
}

using Limits = google::protobuf::RepeatedPtrField<control::RoundLimit>;
absl::Status CheckSettled(const Limits& limits, const DirectiveContext& context) {
  DirectiveContext so_far = context;
  so_far.joined = true;
  for (const control::RoundLimit& settled : limits) {
    RETURN_IF_ERROR(CheckMove(settled, so_far));
    so_far.growth = settled.growth();
  }
  return absl::OkStatus();
}

absl::Status CheckTraffic(const control::Resumed& resumed) {
  for (Rank rank = 0; rank < resumed.parts_size(); ++rank) {
    const control::SavedPart& part = resumed.parts(rank);
    if (!CanBeCounted(part.steps())) {
      return Malformed(
          absl::StrCat("goes on after rank ", rank, " has done ", part.steps(), " steps"));
    }
    if (CanBeCounted(part.bytes_sent()) && CanBeCounted(part.bytes_received())) continue;
    return Malformed(absl::StrCat("goes on after rank ", rank, " has sent ", part.bytes_sent(),
                                  " bytes and received ", part.bytes_received()));
  }
  return absl::OkStatus();
}

// Checks a history of workers that ends no later than `round`.
absl::Status CheckHistory(const google::protobuf::RepeatedPtrField<control::Workers>& history,
                          Round round) {
  Round last = -1;
  for (const control::Workers& since : history) {
    if (since.from() <= last || since.from() > round || since.workers() < 1) {
      return Malformed(absl::StrCat("says that ", since.workers(), " workers train from round ",
                                    since.from(), " on, after round ", last, " of ", round));
    }
    last = since.from();
  }
  return absl::OkStatus();
}

absl::Status CheckResumed(const control::Resumed& resumed, const DirectiveContext& context) {
  if (resumed.round() < 0 || resumed.round() > context.rounds || !CanBeCounted(resumed.time_ns()) ||
      !CanBeCounted(resumed.lost_bytes_sent())) {
    return Malformed(absl::StrCat("goes on from round ", resumed.round(), " of ", context.rounds,
                                  ", after ", resumed.time_ns(), " ns"));
  }
  if (resumed.parts_size() != context.world_size) {
    return Malformed(absl::StrCat("goes on from the parts of ", resumed.parts_size(), " of ",
                                  context.world_size, " nodes"));
  }
  RETURN_IF_ERROR(CheckTraffic(resumed));
  RETURN_IF_ERROR(CheckHistory(resumed.history(), resumed.round()));
  return CheckSettled(resumed.settled(), context);
}

absl::Status CheckCheckpoint(Round round, const DirectiveContext& context) {
  if (!context.joined) return Malformed("completed a checkpoint before the run began");
  const bool later = round > context.checkpoint || (context.role_moves && round > 0);
  if (later && round <= context.rounds) return absl::OkStatus();
  return Malformed(absl::StrCat("completed the checkpoint of round ", round, ", after that of ",
                                context.checkpoint, ", of ", context.rounds));
}

absl::Status CheckPrepare(uint32_t ballot, const DirectiveContext& context) {
  if (!context.joined || (context.view == nullptr && context.called == nullptr)) {
    return Malformed("prepares for the loss of a node, without which this run does not go on");
  }
  if (ballot > context.ballot) return absl::OkStatus();
  return Malformed(absl::StrCat("sent ballot ", ballot, " after ballot ", context.ballot));
}

absl::Status CheckCall(const control::CheckpointAt& call, const DirectiveContext& context) {
  if (!context.joined || context.called == nullptr) {
    return Malformed("calls for a checkpoint, of which this run has none");
  }
  const bool fits =
      !call.has_round() || (call.round() > *context.called && call.round() <= context.rounds);
  if (fits && call.ballot() > 0 && call.ballot() == context.ballot) return absl::OkStatus();
  return Malformed(absl::StrCat(
      "calls for a checkpoint of round ", call.round(), " of ", context.rounds, " under ballot ",
      call.ballot(), ", after that of round ", *context.called, " and ballot ", context.ballot));
}

bool IsAddress(const std::string& text) {
  const absl::StatusOr<HostAddress> address = ParseHostAddress(text);
  // An address without a host is at the host where rank 0 was reached (host_address.h).
  return address.ok() && address->port != 0;
}

// Returns whether the view may follow `last`, some of whose members are left.
bool Follows(const control::View& view, const View& last) {
  const View next = ViewOf(view);
  return view.epoch() == last.epoch + 1 && view.from() >= last.from &&
         view.ballot() > last.ballot &&
         std::ranges::all_of(next.Veterans(),
                             [&](Member member) { return last.RankOf(member).has_value(); }) &&
         std::ranges::none_of(next.newcomers,
                              [&](Member member) { return last.RankOf(member).has_value(); });
}

std::string Describe(const control::View& view) {
  return absl::StrCat("view ", view.epoch(), ", from round ", view.from(), " on and of ",
                      CountMembers(view), " members");
}

// Returns whether the view is for a possible checkpoint, or for none.
bool IsForCheckpoint(const control::View& view, const DirectiveContext& context) {
  return view.checkpoint() == 0 ||
         (context.renewed != nullptr && view.checkpoint() > *context.renewed &&
          view.checkpoint() <= context.rounds);
}

absl::Status CheckView(const control::View& view, const DirectiveContext& context) {
  if (!context.joined || context.view == nullptr) {
    return Malformed("leaves out nodes, without which this run does not go on");
  }
  const View& last = *context.view;
  if (AreMembers(view, context.world_size) && Follows(view, last) &&
      view.from() <= Furthest(context) && view.ballot() <= context.ballot &&
      IsForCheckpoint(view, context) &&
      (!view.has_again() || (view.again() >= 0 && view.again() <= context.rounds))) {
    return absl::OkStatus();
  }
  return Malformed(absl::StrCat("sent ", Describe(view), ", of ", context.rounds,
                                " rounds, after view ", last.epoch, ", from round ", last.from,
                                " on and of ", last.size()));
}

absl::Status CheckJoined(const control::Joined& joined, const DirectiveContext& context) {
  const control::View& view = joined.view();
  if (context.view == nullptr) {
    return Malformed("takes this node in, where no run goes on without the lost");
  }
  if (!AreMembers(view, context.world_size) || !ViewOf(view).IsNewcomer(context.rank) ||
      view.from() < 0 || view.from() >= context.rounds || !CanBeCounted(joined.time_ns()) ||
      !CanBeCounted(joined.lost_bytes_sent())) {
    return Malformed(absl::StrCat("takes this node in with ", Describe(view), ", of ",
                                  context.rounds, " rounds, after ", joined.time_ns(), " ns"));
  }
  for (int i = 0; i < joined.before_size(); ++i) {
    const control::View& before = joined.before(i);
    const bool ascends = i == 0 || (before.epoch() > joined.before(i - 1).epoch() &&
                                    before.from() >= joined.before(i - 1).from());
    if (ascends && before.epoch() < view.epoch() && before.from() >= 0 &&
        before.from() <= view.from() && AreMembers(before, context.world_size)) {
      continue;
    }
    return Malformed(
        absl::StrCat("says that ", Describe(before), ", came before ", Describe(view)));
  }
  RETURN_IF_ERROR(CheckHistory(joined.history(), view.from()));
  return CheckSettled(joined.settled(), context);
}

// `roster.joined` must have been checked.
absl::Status CheckAddresses(const control::Roster& roster, const DirectiveContext& context) {
  ASSIGN_OR_RETURN(const std::vector<std::string> addresses,
                   UnpackAddresses(roster.addresses(), context.world_size));
  const View joined = ViewOf(roster.joined().view());
  for (Rank rank = 0; rank < context.world_size; ++rank) {
    // A node without which the run has begun has no address.
    const bool may_miss =
        context.view != nullptr && rank != context.rank && !joined.RankOf(rank).has_value();
    if (may_miss && addresses[rank].empty()) continue;
    if (!IsAddress(addresses[rank])) {
      return Malformed(absl::StrCat("sent \"", Printable(addresses[rank], kMaxShownAddress),
                                    "\" as the address of rank ", rank));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckRoster(const control::Roster& roster, const DirectiveContext& context) {
  if (context.joined) return Malformed("sent a second roster");
  if (roster.has_joined()) RETURN_IF_ERROR(CheckJoined(roster.joined(), context));
  RETURN_IF_ERROR(CheckAddresses(roster, context));
  RETURN_IF_ERROR(CheckLimit(roster.round_limit(), context));
  return roster.has_resumed() ? CheckResumed(roster.resumed(), context) : absl::OkStatus();
}

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

constexpr milliseconds kMinPulse{10};
constexpr milliseconds kMaxPulse{1000};
// The pauses between attempts to connect again; the first attempt comes at once.
constexpr milliseconds kMinPause{50};
constexpr milliseconds kMaxPause{1000};
// The least time for an attempt to connect.
constexpr milliseconds kMinAttempt{500};
// The largest part of another node's message that is shown.
constexpr size_t kMaxMessage = 4000;
// The number of a node's last parts that are told to the node that takes the role; earlier parts do
// not matter.
constexpr size_t kMostParts = 64;

}  // namespace

absl::Status CheckDirective(const control::Directive& directive, const DirectiveContext& context) {
  switch (directive.kind_case()) {
    case control::Directive::kRoster:
      return CheckRoster(directive.roster(), context);
    case control::Directive::kRoundLimit:
      return CheckMove(directive.round_limit(), context);
    case control::Directive::kCut:
      return CheckCut(directive.cut().round(), context);
    case control::Directive::kCheckpointDone:
      return CheckCheckpoint(directive.checkpoint_done().round(), context);
    case control::Directive::kPrepare:
      return CheckPrepare(directive.prepare().ballot(), context);
    case control::Directive::kView:
      return CheckView(directive.view(), context);
    case control::Directive::kCheckpointAt:
      return CheckCall(directive.checkpoint_at(), context);
    case control::Directive::kCoast:
      return CheckCoast(directive.coast(), context);
    case control::Directive::kFinish:
      return context.joined ? absl::OkStatus() : Malformed("ended the run before it began");
    case control::Directive::kAbort:
    case control::Directive::kBeat:
      return absl::OkStatus();
    default:
      return Malformed("sent a directive that this node does not know");
  }
}

bool AreMembers(const control::View& view, Rank world_size) {
  const std::optional<std::vector<Member>> members = MembersOf(view, world_size);
  if (!members) return false;
  const auto is_member = [&](const control::Newcomer& newcomer) {
    return std::ranges::binary_search(*members, newcomer.rank()) && IsAddress(newcomer.address());
  };
  return std::ranges::is_sorted(view.newcomers(), std::ranges::less_equal{},
                                &control::Newcomer::rank) &&
         std::ranges::all_of(view.newcomers(), is_member) &&
         static_cast<size_t>(view.newcomers_size()) < members->size() &&
         std::ranges::binary_search(*members, view.lead());
}

View ViewOf(const control::View& view) {
  std::vector<Member> newcomers;
  for (const control::Newcomer& newcomer : view.newcomers()) newcomers.push_back(newcomer.rank());
  return {.epoch = view.epoch(),
          .from = view.from(),
          .members = *MembersOf(view, std::numeric_limits<Rank>::max()),
          .ballot = view.ballot(),
          .newcomers = std::move(newcomers),
          .checkpoint = view.checkpoint()};
}

absl::Status FailedWith(const std::string& message, int failure) {
  return WithFailure(absl::AbortedError(Printable(message, kMaxMessage)),
                     FailureFromNumber(failure));
}

ControlLine::ControlLine(ControlLineOptions options, SteadyTime now)
    : options_(std::move(options)),
      pulse_(std::clamp<nanoseconds>(Patience() / 4, kMinPulse, kMaxPulse)),
      holder_(options_.holder),
      coordinator_(options_.coordinator),
      last_heard_(now),
      standstill_(Patience(), now),
      connecting_since_(now),
      last_growth_(std::min<int64_t>(options_.largest_growth, 1)),
      view_(FirstView(options_.world_size)),
      lately_(options_.world_size) {}

void ControlLine::OnConnecting(SteadyTime now, control::Registration* registration) {
  Look(now);
  registration->set_call(++calls_);
  answered_ = false;
  listens_ = true;
  connecting_since_ = now;
  reconnect_at_.reset();
  if (roster_) {
    registration->set_run_id(roster_->run_id());
    if (options_.role_moves) *registration->mutable_standing() = Standing();
  } else {
    last_heard_ = now;
  }
}

control::Standing ControlLine::Standing() const {
  control::Standing standing;
  if (told_view_) *standing.mutable_view() = *told_view_;
  standing.set_ballot(ballot_);
  const bool closed = options_.open_ended && last_limit_ > 0;
  standing.mutable_limit()->set_limit(
      closed ? last_limit_ : std::max<Round>(last_limit_, roster_->round_limit()));
  standing.mutable_limit()->set_final(limit_final_);
  standing.mutable_limit()->set_growth(last_growth_);
  if (done_) standing.set_done(*done_);
  standing.set_coasts(coasts_);
  return standing;
}

void ControlLine::Adopt(Rank holder, std::string address, SteadyTime now) {
  if (verdict_) return;
  orphaned_.reset();
  gone_ = false;
  holder_ = holder;
  coordinator_ = std::move(address);
  broken_.clear();
  answered_ = listens_ = false;
  last_heard_ = now;
  pause_ = {};
  reconnect_at_ = now;
  heard_ = {};
  const UnacknowledgedMessages<control::Report> before = std::exchange(told_, {});
  for (const control::Report& report : lasting_) SendAgain(report);
  for (const control::Report& report : parts_) SendAgain(report);
  for (const control::Report& report : before.kept()) {
    if ((report.has_metrics() || report.has_failure()) && !Lasts(report)) SendAgain(report);
  }
}

bool ControlLine::Lasts(const control::Report& report) const {
  return report.has_spent() ||
         (report.has_failure() && report.failure().culprit() != options_.rank) ||
         (report.has_metrics() && report.metrics().has_test_accuracy());
}

void ControlLine::EndAsFound(const absl::Status& how) {
  if (!orphaned_) return;
  End(how.ok() && !done_ ? *orphaned_ : how);
}

void ControlLine::SendAgain(control::Report report) {
  report.set_received(0);
  told_.Add(std::move(report));
}

void ControlLine::OnDirective(const control::Directive& directive, SteadyTime now) {
  if (!listens_) return;
  Look(now);
  last_heard_ = now;
  answered_ = true;
  broken_.clear();
  if (!Take(directive)) return;
  const absl::Status fits =
      CheckDirective(directive, {.world_size = options_.world_size,
                                 .rank = options_.rank,
                                 .rounds = options_.rounds,
                                 .sharing = options_.sharing,
                                 .cut = last_cut_,
                                 .growth = last_growth_,
                                 .largest_growth = options_.largest_growth,
                                 .joined = roster_.has_value(),
                                 .checkpoint = last_checkpoint_,
                                 .role_moves = options_.role_moves,
                                 .called = options_.saves_on_call ? &called_ : nullptr,
                                 .view = options_.changes_views ? &view_ : nullptr,
                                 .renewed = options_.renews_views ? &called_ : nullptr,
                                 .ballot = ballot_,
                                 .open_ended = options_.open_ended});
  if (fits.ok()) return Obey(directive);
  Disbelieve(fits);
}

bool ControlLine::Take(const control::Directive& directive) {
  const ReceivedMessages::Arrival arrival = heard_.Take(directive.number());
  if (arrival == ReceivedMessages::Arrival::kGap || !told_.Acknowledge(directive.received())) {
    Disbelieve(absl::InvalidArgumentError(
        absl::StrCat("sent directive ", directive.number(), " after ", heard_.received(),
                     " and has heard ", directive.received(), " reports, which cannot be")));
    return false;
  }
  return arrival == ReceivedMessages::Arrival::kNew;
}

control::Report ControlLine::Add(control::Report report) {
  report.set_received(heard_.received());
  if (report.has_done()) done_ = report.done().round_limit();
  if (options_.role_moves && Lasts(report) &&
      lasting_.size() <= static_cast<size_t>(options_.world_size) + 2) {
    lasting_.push_back(report);
  }
  if (options_.role_moves && report.has_part()) {
    if (parts_.size() == kMostParts) parts_.pop_front();
    parts_.push_back(report);
  }
  return told_.Add(std::move(report));
}

void ControlLine::Disbelieve(const absl::Status& fits) {
  End(FailedWith(absl::StrCat(TheCoordinator(), " ", std::string(fits.message()),
                              "; run the same grapevine on every host"),
                 static_cast<int>(Failure::kPeerLost)));
}

void ControlLine::Obey(const control::Directive& directive) {
  switch (directive.kind_case()) {
    case control::Directive::kRoster:
      roster_ = directive.roster();
      last_checkpoint_ = called_ = roster_->resumed().round();
      for (const auto& settled : roster_->resumed().settled()) last_growth_ = settled.growth();
      if (roster_->has_joined()) Join(roster_->joined());
      break;
    case control::Directive::kRoundLimit:
      Move(directive.round_limit());
      break;
    case control::Directive::kCut:
      last_cut_ = directive.cut().round();
      moves_.push_back(directive);
      break;
    case control::Directive::kCheckpointDone:
      Complete(directive.checkpoint_done().round());
      break;
    case control::Directive::kPrepare:
      ballot_ = directive.prepare().ballot();
      moves_.push_back(directive);
      break;
    case control::Directive::kCheckpointAt:
      if (directive.checkpoint_at().has_round()) called_ = directive.checkpoint_at().round();
      moves_.push_back(directive);
      break;
    case control::Directive::kCoast:
      Coast(directive);
      break;
    case control::Directive::kView:
      view_ = ViewOf(directive.view());
      lately_.OnView(view_.size(), last_heard_.time_since_epoch());
      told_view_ = directive.view();
      called_ = std::max(called_, view_.checkpoint);
      ForgiveNewcomers();
      moves_.push_back(directive);
      break;
    case control::Directive::kAbort:
      others_go_on_ = directive.abort().others_go_on();
      End(FailedWith(directive.abort().message(), directive.abort().failure()));
      break;
    case control::Directive::kFinish:
      End(absl::OkStatus());
      break;
    default:
      break;
  }
}

// Obeys each Coast once, however often it arrives.
void ControlLine::Coast(const control::Directive& directive) {
  const control::Coast& coast = directive.coast();
  if (coast.below() <= coasts_ && (!coast.all() || all_end_)) return;
  coasts_ = std::max(coasts_, coast.below());
  all_end_ = all_end_ || coast.all();
  moves_.push_back(directive);
}

// Another coordinator may have said so before.
void ControlLine::Complete(Round checkpoint) {
  if (checkpoint <= last_checkpoint_) return;
  last_checkpoint_ = checkpoint;
  checkpoint_ = checkpoint;
  std::erase_if(parts_, [checkpoint](const control::Report& report) {
    return report.part().round() <= checkpoint;
  });
}

void ControlLine::ForgiveNewcomers() {
  std::erase_if(lasting_, [this](const control::Report& report) {
    return report.has_failure() && view_.IsNewcomer(report.failure().culprit());
  });
}

void ControlLine::Join(const control::Joined& joined) {
  view_ = ViewOf(joined.view());
  lately_ = MembersLately(view_.size());
  told_view_ = joined.view();
  ballot_ = joined.view().ballot();
  for (const auto& settled : joined.settled()) last_growth_ = settled.growth();
}

void ControlLine::Move(const control::RoundLimit& limit) {
  last_growth_ = limit.growth();
  const bool settles = limit.final() && !limit_final_;
  const bool moves = options_.open_ended && last_limit_ > 0 ? limit.limit() < last_limit_
                                                            : limit.limit() > last_limit_;
  if (!moves && !settles) return;
  if (moves) last_limit_ = limit.limit();
  limit_final_ = limit_final_ || limit.final();
  *moves_.emplace_back().mutable_round_limit() = limit;
}

std::optional<control::RoundLimit> ControlLine::TakeLimit() {
  if (moves_.empty() || !moves_.front().has_round_limit()) return std::nullopt;
  const control::RoundLimit limit = moves_.front().round_limit();
  moves_.pop_front();
  return limit;
}

std::optional<control::Directive> ControlLine::TakeDecree() {
  if (moves_.empty() || moves_.front().has_round_limit() || moves_.front().has_cut()) {
    return std::nullopt;
  }
  control::Directive decree = std::move(moves_.front());
  moves_.pop_front();
  return decree;
}

std::optional<Round> ControlLine::TakeCut() {
  if (moves_.empty() || !moves_.front().has_cut()) return std::nullopt;
  const Round cut = moves_.front().cut().round();
  moves_.pop_front();
  return cut;
}

void ControlLine::OnClosed(std::string_view why, SteadyTime now) {
  // The end of a connection to a lost coordinator is no news.
  if (!roster_ || verdict_ || !listens_) return;
  Look(now);
  if (broken_.empty()) {
    broken_ =
        absl::StrCat("its connection broke (", why.empty() ? "closed" : std::string(why), ")");
  }
  if (!options_.mended) return LoseCoordinator(absl::StrCat("died: ", broken_));
  // A connection that had lasted for a while is made again at once.
  if (answered_ && now - connecting_since_ >= kMaxPause) pause_ = {};
  answered_ = false;
  reconnect_at_ = now + pause_;
  pause_ = std::clamp<nanoseconds>(
      2 * pause_, kMinPause,
      std::clamp<nanoseconds>(options_.peer_timeout / 8, kMinPause, kMaxPause));
}

void ControlLine::OnGone(std::string_view how) {
  if (!interrupted()) return;
  gone_ = true;
  LoseCoordinator(absl::StrCat("died: ", broken_, ", and ", std::string(how)));
}

bool ControlLine::OnPulse(SteadyTime now) {
  Look(now);
  if (orphaned_) return true;
  const nanoseconds silence = now - last_heard_;
  if (!roster_) return silence < options_.peer_timeout || !answered_;
  if (silence < options_.peer_timeout) return reconnect_at_ || Waits(silence, now);
  LoseCoordinator(
      absl::StrCat("is silent: last heard ", HumanSeconds(silence), " ago",
                   broken_.empty() ? "" : absl::StrCat("; ", broken_, ", and no other was made"),
                   "; its process is stopped, or its host or network is down (--peer-timeout=",
                   Seconds(options_.peer_timeout), "s is how long that may last)"));
  return false;
}

void ControlLine::Look(SteadyTime now) {
  const nanoseconds stood_still = standstill_.Look(now);
  if (stood_still == nanoseconds(0)) return;
  last_heard_ = now;
  connecting_since_ += stood_still;
  lately_.Postpone(stood_still);
  if (stood_still >= 2 * Patience()) doubtful_until_ = now + options_.peer_timeout;
}

bool ControlLine::Waits(nanoseconds silence, SteadyTime now) {
  if (!answered_) {
    return now - connecting_since_ < std::max<nanoseconds>(options_.peer_timeout / 8, kMinAttempt);
  }
  if (silence < Patience() || !options_.mended) return true;
  // The network may have forgotten the connection without a word.
  broken_ = absl::StrCat("nothing came over its connection for ", HumanSeconds(silence));
  return false;
}

void ControlLine::End(absl::Status verdict) {
  if (!verdict_) verdict_ = std::move(verdict);
  orphaned_.reset();
  reconnect_at_.reset();
}

std::string ControlLine::TheCoordinator() const {
  return absl::StrCat("rank ", holder_, " (the coordinator at ", coordinator_, ")");
}

void ControlLine::LoseCoordinator(const std::string& how) {
  absl::Status why = FailedWith(
      absl::StrCat(TheCoordinator(), " ", how, "; its own output or its host's log says why"),
      static_cast<int>(Failure::kPeerLost));
  // The others have left out a node that stood still for so long. It must not come back to another
  // coordinator as if nothing had happened.
  const bool doubtful = standstill_.last_look() < doubtful_until_;
  if (!options_.role_moves || !roster_ || verdict_ || doubtful) return End(std::move(why));
  orphaned_ = std::move(why);
  listens_ = false;
  broken_.clear();
  reconnect_at_.reset();
}

absl::Status ControlLine::Conclude(absl::Status own) const {
  return verdict_ && !verdict_->ok() ? *verdict_ : own;
}

}  // namespace grapevine

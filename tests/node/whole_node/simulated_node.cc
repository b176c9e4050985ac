#include "tests/node/whole_node/simulated_node.h"

#include <glog/logging.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "algorithm/membership/resilient_algorithm.h"
#include "base/status.h"
#include "node/control/control_protocol.h"
#include "node/node_report.h"
#include "optim/optimizer.h"
#include "tests/algorithm/quadratics.h"
#include "tests/node/whole_node/simulated_gradients.h"
#include "topology/weights/living_mixing.h"
#include "topology/weights/mixing.h"

namespace grapevine::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

// Reports and directives are small: sockets hold many.
constexpr size_t kControlWindow = 100;
constexpr milliseconds kRetryInterval{100};
constexpr milliseconds kLinger{1000};
// Between two looks at who has the role.
constexpr milliseconds kLook{10};
// A batch of an evaluation, which tells after each that it moves.
constexpr milliseconds kBatch{100};
// How long a runner's thread may take to come to what has arrived.
constexpr int64_t kMaxTurn = 200000;
// How long a disk takes for a part or a manifest: also longer than a round.
constexpr int64_t kMaxWriting = 1000000000;

// The budget that the nodes of the plan's run share, if they do.
std::optional<BudgetDeskOptions> Budget(const RunPlan& plan) {
  if (HasRounds(plan.algorithm)) return std::nullopt;
  return BudgetDeskOptions{
      .nodes = plan.nodes,
      .workers = *WorkerCount(plan.algorithm, plan.nodes),
      .window = StepsBetweenExchanges(plan.algorithm),
      .rounds = plan.rounds,
      .settles_last = plan.resilient,
      .measured = [](Round) { return true; },
      .evaluated = [&plan](Round completed) { return Evaluated(plan, completed); }};
}

absl::Status Uncertain() {
  return WithFailure(absl::AbortedError("another node may have rank 0's role by now"),
                     Failure::kPeerLost);
}

Rank Sharing(const RunPlan& plan) {
  const std::optional<BudgetDeskOptions> budget = Budget(plan);
  return budget ? budget->workers : 0;
}

}  // namespace

SimulatedNode::SimulatedNode(const World* world, Rank rank, int life)
    : world_(world),
      rank_(rank),
      life_(life),
      process_(world->processes[rank]),
      random_(world->plan->seed, Purpose::kStraggler, nonce() - 1),
      role_(
          process_, world->store,
          [this] {
            Interrupt(WithFailure(absl::AbortedError("another has the role"), Failure::kPeerLost));
          }),
      course_(Beforehand(plan()), [](int64_t) { return 0.0; }),
      horizon_(plan().target_met_in ? std::optional(1.0) : std::nullopt, &course_,
               plan().resilient) {}

SimulatedNode::~SimulatedNode() {
  if (runner_) runner_->EndRun();
}

void SimulatedNode::Say(const std::string& what) {
  if (world_->log) world_->log(absl::StrCat("rank ", rank_, " ", what));
}

std::string SimulatedNode::State() const {
  static constexpr const char* kNames[] = {"joining", "training", "trained", "done",
                                           "asking",  "leaving",  "ended"};
  return absl::StrCat(kNames[static_cast<int>(stage_)], ", round ", round());
}

std::unique_ptr<Algorithm> SimulatedNode::NewAlgorithm() {
  auto mixing = *MakeMixing("metropolis", *MakeTopology(plan().topology, plan().nodes, 1));
  const AlgorithmOptions options{.rank = rank_,
                                 .mixing = mixing,
                                 .learning_rate = [](Round) { return 0.1; },
                                 .window = plan().window};
  if (!plan().resilient && !Renews(plan())) return *MakeAlgorithm(plan().algorithm, options);
  views_ =
      std::make_unique<ViewMixing>(LivingMixingRequest{.whole = mixing,
                                                       .topology = plan().topology,
                                                       .mixing = "metropolis",
                                                       .seed = 1,
                                                       .usable = UsableWeights(plan().algorithm)});
  const auto instance = [this, options](const View& view, Rank position) {
    AlgorithmOptions of_view = options;
    of_view.rank = position;
    of_view.mixing = views_->Of(view)->mixing;
    return MakeAlgorithm(plan().algorithm, of_view);
  };
  return *ResilientAlgorithm::Make(
      {.self = rank_, .first = FirstView(plan().nodes), .window = plan().window, .make = instance});
}

const Fault* SimulatedNode::Planned(Fault::Kind kind) const {
  const auto found = std::ranges::find_if(
      plan().faults, [&](const Fault& fault) { return fault.kind == kind && fault.a == rank_; });
  return found == plan().faults.end() ? nullptr : &*found;
}

void SimulatedNode::MakeObjective() {
  ReplicaLayout layout;
  layout.AddParameter("x", {kParameters});
  layout.AddBuffer("b", {kBuffers});
  objective_ = std::make_unique<FunctionObjective>(
      rank_, layout,
      [this, diverges = Planned(Fault::Kind::kDiverges), quadratic = Quadratic(1, 1, 11)](
          Rank rank, Round round, std::span<const float> x, std::span<float> gradient) {
        quadratic(rank, round, x, gradient);
        ++gradients_;
        batches_.push_back(course_.PassesIn(round).count);
        if (diverges != nullptr && round == diverges->round) {
          objective_->set_loss(std::numeric_limits<double>::quiet_NaN());
        }
      });
}

void SimulatedNode::MakeRunner() {
  // Who coasts takes steps that change nothing.
  optimizer_ = *MakeOptimizer("sgd", {.momentum = plan().open_ended() ? 0 : 0.9});
  const Rank workers = *WorkerCount(plan().algorithm, plan().nodes);
  runner_ = std::make_unique<Runner>(
      RunnerOptions{
          .rank = rank_,
          .workers = workers,
          .nodes = plan().nodes,
          .tells_average = plan().tells(),
          .rounds = plan().most_rounds(),
          .open_ended = plan().open_ended(),
          .shares_budget = !HasRounds(plan().algorithm),
          .evaluate =
              [this](Round completed) {
                return plan().batch_schedule.empty() && !plan().open_ended()
                           ? Evaluated(plan(), completed)
                           : course_.Evaluated(completed);
              },
          .saved = Renews(plan()) ? nullptr : Saved(),
          .saves_on_call = plan().checkpoint_every && !Renews(plan()),
          .changes_views = plan().resilient || Renews(plan()),
          .gradients = [this](GradientReports reports) { return Gradients(std::move(reports)); },
          .now = [this] { return now(); }},
      NewAlgorithm(), rank_ < workers ? objective_.get() : nullptr, &objective_->layout(),
      optimizer_.get(), this);
}

std::unique_ptr<GradientComputer> SimulatedNode::Gradients(GradientReports reports) {
  const auto duration = [this] {
    return nanoseconds(random_.Below(2 * plan().gradient.count() + 1));
  };
  if (!plan().open_ended()) {
    return std::make_unique<SimulatedGradients>(
        objective_.get(), process(), [duration](Round) { return duration(); }, std::move(reports));
  }
  program_ = std::make_unique<SimulatedProgram>(
      objective_.get(), process(),
      SimulatedProgram::Options{
          .gradients = plan().programs[rank_],
          .ends_all = plan().ends_all,
          .duration = duration,
          .on_spent = [this](Round gradients, bool all) { OnSpent(gradients, all); }});
  return program_->NewComputer(std::move(reports));
}

void SimulatedNode::OnSpent(Round gradients, bool all) {
  Say(absl::StrCat("has given all gradients in ", gradients, " rounds",
                   all ? ", and all are to end" : ""));
  spent_ = gradients;
  if (line_->verdict() || stage_ >= Stage::kAsking) return;
  control::Report report;
  report.mutable_spent()->set_gradients(gradients);
  report.mutable_spent()->set_all(all);
  Tell(std::move(report));
}

void SimulatedNode::MakeTransport() {
  transport_ = std::make_unique<SimulatedTransport>(
      EdgeIdentity{.rank = rank_,
                   .world_size = plan().nodes,
                   .schema = "x",
                   .topology = plan().topology,
                   .algorithm = plan().algorithm,
                   .call = {.process = nonce()}},
      SimulatedTransportOptions{.peer_timeout = plan().peer_timeout,
                                .connect_timeout = plan().rendezvous_timeout,
                                .chunk_bytes = 20,
                                .round = [this] { return round(); },
                                .token = Token()},
      world_->network, &world_->processes, runner_.get());
}

RunToken SimulatedNode::Token() const {
  if (!plan().token) return RunToken();
  return RunToken(Planned(Fault::Kind::kOtherToken) ? "of another run" : "of this run");
}

control::Registration SimulatedNode::Registration() const {
  control::Registration registration;
  registration.set_protocol_version(kControlProtocolVersion);
  registration.set_rank(rank_);
  registration.set_world_size(plan().nodes);
  registration.set_nonce(nonce());
  registration.set_joins(life_ > 0);
  registration.set_address(absl::StrCat("node", rank_, ":1"));
  control::Agreement* agreement = registration.add_agreements();
  agreement->set_name("lr");
  agreement->set_value(Planned(Fault::Kind::kMisfit) ? "0.2" : "0.1");
  return registration;
}

void SimulatedNode::MakeCoordinator(std::optional<SuccessionOptions> succession) {
  reported_.resize(plan().nodes);
  desk_.emplace(CheckpointDeskOptions{.nodes = plan().nodes,
                                      .rounds = plan().most_rounds(),
                                      .saved = Renews(plan()) ? nullptr : Saved(),
                                      .evaluated = [](Round) { return false; }});
  coordinator_ = std::make_unique<SimulatedCoordinator>(
      CoordinatorOptions{.own = Registration(),
                         .proven = plan().token,
                         .run_id = "simulated",
                         .round_limit = horizon_.limit(),
                         .resilient = plan().resilient,
                         .min_nodes = plan().least,
                         .begin_nodes = plan().begin_nodes,
                         .waits = plan().waits,
                         .workers = *WorkerCount(plan().algorithm, plan().nodes),
                         .role_moves = plan().role_moves,
                         .succession = std::move(succession),
                         .budget = Budget(plan()),
                         .checkpoints = Checkpoints(),
                         .renewals = Renewed(),
                         .open_ended = plan().open_ended(),
                         .settles_last = plan().resilient,
                         .rendezvous_timeout = plan().rendezvous_timeout,
                         .peer_timeout = plan().peer_timeout,
                         .min_peer_timeout = plan().min_peer_timeout,
                         .step_timeout = plan().step_timeout},
      Token(), world_->network, &world_->processes,
      SimulatedCoordinator::Sinks{
          .on_metrics =
              [this](Rank rank, const control::NodeMetrics& metrics) {
                reported_[rank].push_back(metrics.round());
              },
          .on_notice = [this](const std::string& notice) { Say("notices: " + notice); },
          .on_called = [this](Round round) { desk_->OnCalled(round); },
          .on_part = [this](Rank rank, const control::SavedPart& part) { OnPart(rank, part); },
          .on_lost =
              [this](Rank rank) {
                desk_->OnLost(rank);
                TakeCheckpoints();
              },
          .on_newcomer = [this](Rank rank, Round from) { desk_->OnNewcomer(rank, from); },
          .is_certain = [this] { return MayAct(); },
          .on_all_done = [this] { Conclude(Looks()); }});
}

std::function<bool(Round)> SimulatedNode::Saved() const {
  if (plan().saved_every == 0) return nullptr;
  return [every = plan().saved_every](Round completed) { return completed % every == 0; };
}

std::optional<RenewalsOptions> SimulatedNode::Renewed() const {
  if (!Renews(plan())) return std::nullopt;
  return RenewalsOptions{.saved = Saved(), .every = plan().checkpoint_every};
}

std::optional<CheckpointCallsOptions> SimulatedNode::Checkpoints() const {
  if (!plan().checkpoint_every || Renews(plan())) return std::nullopt;
  return CheckpointCallsOptions{
      .nodes = plan().nodes, .rounds = plan().most_rounds(), .every = plan().checkpoint_every};
}

void SimulatedNode::OnPart(Rank rank, const control::SavedPart& part) {
  const absl::Status fits = desk_->OnPart(rank, part);
  CHECK(fits.ok()) << fits;
  TakeCheckpoints();
}

void SimulatedNode::TakeCheckpoints() {
  while (std::optional<CheckpointDesk::Complete> complete = desk_->Take()) {
    Say(absl::StrCat("has all of the checkpoint of round ", complete->round));
    // One after the other, as they are written.
    written_ = std::max(written_, now()) + nanoseconds(random_.Below(kMaxWriting));
    process()->After(written_ - now(),
                     [this, round = complete->round] { WriteManifest(round, Looks()); });
    checkpoints_.push_back(*std::move(complete));
  }
}

int SimulatedNode::Looks() const { return static_cast<int>(plan().rendezvous_timeout / kLook); }

void SimulatedNode::WriteManifest(Round round, int looks) {
  if (MayAct()) return coordinator_->OnCheckpoint(round);
  if (looks == 0) return Interrupt(Uncertain());
  process()->After(kLook, [=, this] { WriteManifest(round, looks - 1); });
}

void SimulatedNode::Start() {
  MakeObjective();
  MakeRunner();
  MakeDecrees();
  MakeTransport();
  deadline_ = now() + plan().rendezvous_timeout;
  if (plan().role_moves && life_ > 0) return FindCoordinator();
  if (begins()) {
    MakeCoordinator(std::nullopt);
    if (plan().role_moves) role_.TakeAtOnce(known_);
  }
  StartWith(0);
}

void SimulatedNode::FindCoordinator() {
  if (ending_) return;
  world_->store->Ask<std::optional<SimulatedStore::Holder>>(
      process(), [](SimulatedStore::Contents& store) { return store.holder(); },
      [this](const std::optional<std::optional<SimulatedStore::Holder>>& holder) {
        if (ending_) return;
        if (holder && *holder) {
          known_ = (*holder)->tenure;
          return StartWith((*holder)->rank);
        }
        if (now() >= deadline_) return EndWith(NotReached());
        process()->After(kRetryInterval, [this] { FindCoordinator(); });
      });
}

void SimulatedNode::StartWith(Rank holder) {
  line_.emplace(
      ControlLineOptions{
          .coordinator = absl::StrCat("node", holder, ":1"),
          .peer_timeout = plan().peer_timeout,
          .min_peer_timeout = plan().min_peer_timeout.value_or(plan().peer_timeout),
          .world_size = plan().nodes,
          .rounds = plan().most_rounds(),
          .sharing = Sharing(plan()),
          .largest_growth = plan().batch_schedule.empty() ? 0 : Beforehand(plan()).MostPasses(),
          .changes_views = plan().resilient || Renews(plan()),
          .saves_on_call = plan().checkpoint_every && !Renews(plan()),
          .renews_views = Renews(plan()),
          .open_ended = plan().open_ended(),
          .mended = !begins(),
          .role_moves = plan().role_moves && !begins(),
          .rank = rank_,
          .holder = holder},
      now());
  rank_zero_watch_.emplace(world_->network, process(), &world_->processes, [this](Rank rank) {
    if (rank == line_->holder()) line_->OnGone("nobody listens there any more");
    rank_zero_watch_->Watch({});
  });
  process()->set_after_each([this] {
    if (std::exchange(lived_, false) || std::exchange(live_planned_, true)) return;
    process()->After(nanoseconds(random_.Below(kMaxTurn)), [this] {
      live_planned_ = false;
      Live();
      lived_ = true;
    });
  });
  Say("starts");
  Connect();
  SchedulePulse();
}

void SimulatedNode::Connect() {
  control::Report report;
  *report.mutable_registration() = Registration();
  line_->OnConnecting(now(), report.mutable_registration());
  Prove(Token(), report.mutable_registration());
  control_ = world_->network->Connect(process(), world_->processes[line_->holder()],
                                      SimulatedCoordinator::kService, kControlWindow);
  control_->Read(Connection::End::kCaller,
                 {.on_message =
                      [this](const std::string& bytes) {
                        control::Directive directive;
                        CHECK(directive.ParseFromString(bytes));
                        line_->OnDirective(directive, now());
                        rank_zero_watch_->Watch({});
                      },
                  .on_closed = [this, connection = control_.get()](
                                   const absl::Status& why) { OnControlClosed(connection, why); }});
  Report(report);
  for (const control::Report& told : line_->unacknowledged()) Report(told);
}

void SimulatedNode::OnControlClosed(const Connection* connection, const absl::Status& why) {
  if (connection != control_.get()) return;
  line_->OnClosed(why.ok() ? "closed" : std::string(why.message()), now());
  if (line_->reconnect_at() && stage_ < Stage::kLeaving) {
    if (line_->interrupted()) rank_zero_watch_->Watch({line_->holder()});
    return process()->After(*line_->reconnect_at() - now(), [this] {
      if (line_->reconnect_at() && !line_->verdict() && stage_ < Stage::kLeaving) Connect();
    });
  }
  if (stage_ != Stage::kJoining || line_->verdict()) return;
  if (absl::IsUnauthenticated(why)) return Leave(WithFailure(why, Failure::kRendezvous));
  if (!why.ok()) last_error_ = std::string(why.message());
  process()->After(kRetryInterval, [this] {
    if (stage_ != Stage::kJoining || line_->verdict()) return;
    now() < deadline_ ? Connect() : Leave(NotReached());
  });
}

absl::Status SimulatedNode::NotReached() const {
  return WithFailure(absl::UnavailableError("cannot join the run: rank 0: " + last_error_),
                     Failure::kRendezvous);
}

void SimulatedNode::Tell(control::Report report) { Report(line_->Add(std::move(report))); }

void SimulatedNode::Report(const control::Report& report) {
  control_->Write(Connection::End::kCaller, report.SerializeAsString(), {}, {});
}

control::Heartbeat SimulatedNode::Heartbeat() const {
  return HeartbeatOf({.progress = runner_->progress(),
                      .counters = transport_->counters(),
                      .connecting = transport_->Connecting(),
                      .evaluated_batches = evaluated_batches_,
                      .trained = trained_});
}

void SimulatedNode::SchedulePulse() {
  process()->After(line_->pulse(), [this] {
    if (stage_ == Stage::kEnded) return;
    if (!line_->OnPulse(now())) {
      control_->BreakFrom(Connection::End::kCaller, absl::CancelledError("rank 0 is silent"));
      OnControlClosed(control_.get(), absl::CancelledError("rank 0 is silent"));
    }
    if (!line_->verdict()) {
      control::Report report;
      report.mutable_heartbeat();
      if (stage_ != Stage::kJoining) *report.mutable_heartbeat() = Heartbeat();
      report.set_received(line_->received());
      Report(report);
    }
    SchedulePulse();
  });
}

void SimulatedNode::Interrupt(absl::Status why) {
  Say("is interrupted");
  if (!line_) return EndWith(std::move(why));  // before it has begun
  if (!end_) end_ = why;
  if (stage_ == Stage::kJoining && !line_->verdict()) {
    ReportFailure(rank_, why);
    line_->End(why);
  }
  runner_->Abort(std::move(why));
}

void SimulatedNode::EndWithCheckpoint(absl::Status why) {
  if (stage_ == Stage::kJoining || line_->verdict()) return Interrupt(std::move(why));
  Say("asks for a checkpoint to end with");
  control::Report report;
  *report.mutable_stop() = FailureBy(rank_, why);
  Tell(std::move(report));
}

bool SimulatedNode::MayAct() const { return !plan().role_moves || role_.IsCertain(); }

void SimulatedNode::Conclude(int looks) {
  if (end_ || stage_ >= Stage::kAsking) return;
  if (!plan().role_moves) return End();
  if (looks == 0) return Interrupt(Uncertain());
  const auto later = [=, this] { process()->After(kLook, [=, this] { Conclude(looks - 1); }); };
  if (!MayAct()) return later();
  // Once the store knows, nobody takes the role any more.
  role_.EndRun(absl::OkStatus(), [=, this](bool told) {
    const bool may_end = told && MayAct();
    may_end ? End() : later();
  });
}

void SimulatedNode::End() {
  if (end_) return;
  concluded_ = true;
  coordinator_->Finish();
}

void SimulatedNode::SeekCoordinator() {
  if (!line_->orphaned() || stage_ >= Stage::kAsking || end_) {
    seeking_ = false;
    return GiveUpCoordinator();
  }
  LookAtClaim();
}

// One after the other, as in StoreDiscovery::LookForHolder: the store may change in between.
void SimulatedNode::LookAtClaim() {
  world_->store->Ask<SimulatedStore::Claim>(
      process(), [](SimulatedStore::Contents& store) { return store.claim(); },
      [this](const std::optional<SimulatedStore::Claim>& claim) {
        if (!claim) return OnSeen(std::nullopt);
        claim_ = *claim;
        LookAtHolder();
      });
}

void SimulatedNode::LookAtHolder() {
  world_->store->Ask<std::optional<SimulatedStore::Holder>>(
      process(), [](SimulatedStore::Contents& store) { return store.holder(); },
      [this](const std::optional<std::optional<SimulatedStore::Holder>>& holder) {
        if (!holder) return OnSeen(std::nullopt);
        RoleSearch::Seen seen{.taken = holder->has_value()};
        if (seen.taken) {
          seen.holder = RoleSearch::Holder{
              .rank = (*holder)->rank, .tenure = (*holder)->tenure, .on_this_machine = true};
        }
        LookAtEnd(seen);
      });
}

void SimulatedNode::LookAtEnd(RoleSearch::Seen seen) {
  world_->store->Ask<std::optional<SimulatedStore::End>>(
      process(), [](SimulatedStore::Contents& store) { return store.end(); },
      [this, seen](const std::optional<std::optional<SimulatedStore::End>>& end) mutable {
        if (!end) return OnSeen(std::nullopt);
        seen.over = *end && (*end)->tenure == claim_.tenure;
        if (seen.over) found_end_ = (*end)->how;
        OnSeen(seen);
      });
}

void SimulatedNode::SeekLater() {
  process()->After(kLook, [this] { SeekCoordinator(); });
}

void SimulatedNode::OnSeen(const std::optional<RoleSearch::Seen>& seen) {
  if (stage_ >= Stage::kAsking || end_) return SeekCoordinator();
  const RoleSearch::Step step = seen ? search_->Next(*seen, now()) : search_->AfterTrouble(now());
  known_ = search_->known();
  switch (step) {
    case RoleSearch::Step::kEnd:
      seeking_ = false;
      return line_->EndAsFound(found_end_);
    case RoleSearch::Step::kFollow:
      return GoOnWith(seen->holder->rank);
    case RoleSearch::Step::kRelease:
      return ReleaseRole(seen->holder->tenure);
    case RoleSearch::Step::kTake:
      return TakeRole();
    case RoleSearch::Step::kGiveUp:
      seeking_ = false;
      return GiveUpCoordinator();
    case RoleSearch::Step::kWait:
      return SeekLater();
  }
}

void SimulatedNode::ReleaseRole(uint64_t tenure) {
  world_->store->Ask<bool>(
      process(), [tenure](SimulatedStore::Contents& store) { return store.Revoke(tenure); },
      [this](const std::optional<bool>& released) {
        OnSeen(released ? std::optional(RoleSearch::Seen()) : std::nullopt);
      });
}

void SimulatedNode::GiveUpCoordinator() {
  if (line_->orphaned()) line_->End(*line_->orphaned());
}

void SimulatedNode::GoOnWith(Rank holder) {
  Say(absl::StrCat("goes on with the coordinator of rank ", holder));
  seeking_ = false;
  line_->Adopt(holder, absl::StrCat("node", holder, ":1"), now());
  Connect();
}

void SimulatedNode::TakeRole() {
  const uint64_t tenure = nonce() * 1000 + tenures_;
  role_.Take(tenure, claim_.revision, [this, tenure](SimulatedRole::Taken taken) {
    if (taken == SimulatedRole::Taken::kUnknown) return OnSeen(std::nullopt);
    if (taken == SimulatedRole::Taken::kNo) return SeekCoordinator();
    known_ = tenure;
    if (stage_ >= Stage::kAsking || end_) return role_.Withdraw();
    BecomeCoordinator();
  });
}

void SimulatedNode::BecomeCoordinator() {
  Say("takes the role");
  SuccessionOptions succession{
      .lost = line_->holder(), .open_ended = plan().open_ended(), .lately = line_->lately()};
  for (Rank rank = 0; rank < plan().nodes; ++rank) {
    succession.addresses.push_back(absl::StrCat("node", rank, ":1"));
  }
  MakeCoordinator(std::move(succession));
  GoOnWith(rank_);
}

void SimulatedNode::Live() {
  HearControl();
  if (line_ && line_->orphaned() && !std::exchange(seeking_, true)) {
    Say(absl::StrCat("has lost its coordinator: ", line_->orphaned()->ToString()));
    search_.emplace(RoleSearch::Options{
        .lost = line_->holder(),
        .known = known_,
        .gone = line_->gone(),
        .own = nonce() * 1000 + ++tenures_,
        .begin = now(),
        .precedence = milliseconds(10 * rank_),
        .deadline = now() + world_->store->time_to_live() + plan().peer_timeout});
    SeekCoordinator();
  }
  switch (stage_) {
    case Stage::kJoining:
      return Join();
    case Stage::kTraining:
      return Train();
    case Stage::kTrained:
      return;  // busy with its own model
    case Stage::kDone:
      if (end_) end_->ok() ? Leave(*end_) : Fail(*end_);
      return;
    case Stage::kAsking:
      // Without a coordinator nobody knows better.
      if (line_->verdict() || line_->orphaned() || now() >= deadline_) {
        Leave(line_->Conclude(status_));
      }
      return;
    case Stage::kLeaving:
      return TryToGo();
    case Stage::kEnded:
      return;
  }
}

void SimulatedNode::HearControl() {
  if (stage_ == Stage::kJoining) return;
  while (true) {
    if (const std::optional<Round> cut = line_->TakeCut()) {
      runner_->Cut(*cut);
    } else if (const std::optional<control::RoundLimit> moved = line_->TakeLimit()) {
      limit_ = moved->limit();
      course_.Settle(moved->limit(), moved->growth());
      if (limit_ < plan().most_rounds()) course_.Close(limit_);
      runner_->SetLimit(moved->limit(), moved->final());
    } else if (const std::optional<control::Directive> decree = line_->TakeDecree()) {
      if (decree->has_view()) {
        Say(absl::StrCat("hears of view ", decree->view().epoch(), " from round ",
                         decree->view().from()));
      }
      decrees_->Obey(*decree);
    } else {
      break;
    }
  }
  if (!line_->verdict() || std::exchange(verdict_heard_, true)) return;
  control_->Finish(Connection::End::kCaller, absl::OkStatus());
  Say(absl::StrCat("hears: ", line_->verdict()->ToString()));
  if (!end_) end_ = *line_->verdict();
  if (!line_->verdict()->ok()) runner_->Abort(*line_->verdict());
}

void SimulatedNode::MakeDecrees() {
  decrees_.emplace(
      Decrees::Options{.rank = rank_,
                       .saves_on_call = Checkpoints().has_value(),
                       .role_moves = plan().role_moves && !begins()},
      Decrees::Orders{.promise = [this](uint32_t ballot, Round round) { OnPromise(ballot, round); },
                      .expect =
                          [this](const control::Newcomer& newcomer) {
                            transport_->Expect(newcomer.rank(), newcomer.process());
                          },
                      .coast = [this](Round below, bool all) { program_->Coast(below, all); },
                      .evaluate_from = [this](Round round) { evaluates_from_ = round; }},
      runner_.get());
}

void SimulatedNode::Join() {
  if (line_->verdict()) return Leave(*line_->verdict());
  if (line_->roster()) return Begin();
  if (now() >= deadline_ && !line_->answered()) Leave(NotReached());
}

void SimulatedNode::Begin() {
  const control::Roster& roster = *line_->roster();
  Say("begins");
  stage_ = Stage::kTraining;
  transport_->Join(roster.run_id());
  limit_ = roster.round_limit();
  if (roster.has_joined()) {
    const control::View& view = roster.joined().view();
    Say(absl::StrCat("comes in with view ", view.epoch(), " from round ", view.from()));
    runner_->ComeIn(ViewOf(view), view.lead());
  }
  course_.Settle(roster.round_limit(), 1);
  runner_->SetLimit(roster.round_limit(), HasRounds(plan().algorithm) && !plan().resilient &&
                                              !plan().open_ended() &&
                                              roster.round_limit() >= plan().rounds);
  const absl::Status status = runner_->BeginRun(transport_.get(), [this](float* replica) {
    objective_->Initialize(replica);
    return absl::OkStatus();
  });
  status.ok() ? Train() : Fail(status);
}

void SimulatedNode::Train() {
  const absl::Status status = runner_->HandleMail();
  if (!status.ok()) return Fail(status);
  if (runner_->finished()) FinishTraining();
}

void SimulatedNode::FinishTraining() {
  runner_->EndRun();
  if (evaluating_ > 0) return;  // rank 0 comes back here
  Say("has trained");
  trained_ = true;
  stage_ = Stage::kTrained;
  Evaluate(plan().last_evaluation, [this] { SayDone(); });
}

void SimulatedNode::Evaluate(nanoseconds time, std::function<void()> then) {
  if (time <= kBatch) return process()->After(time, std::move(then));
  process()->After(kBatch, [this, time, then = std::move(then)] {
    ++evaluated_batches_;
    Evaluate(time - kBatch, then);
  });
}

void SimulatedNode::SayDone() {
  Say("is done");
  stage_ = Stage::kDone;
  if (line_->verdict()) return;
  control::Report report;
  report.mutable_done()->set_round_limit(round());
  Tell(std::move(report));
}

void SimulatedNode::Fail(absl::Status symptom) {
  runner_->EndRun();
  Say(absl::StrCat("fails: ", symptom.ToString()));
  status_ = std::move(symptom);
  stage_ = Stage::kAsking;
  deadline_ = now() + plan().peer_timeout;
  if (line_->verdict()) return Leave(line_->Conclude(status_));
  ReportFailure(runner_->lost_peer().value_or(rank_), status_);
}

void SimulatedNode::ReportFailure(Rank culprit, const absl::Status& why) {
  control::Report report;
  *report.mutable_failure() = FailureBy(culprit, why);
  Tell(std::move(report));
}

void SimulatedNode::Leave(absl::Status status) {
  Say(absl::StrCat("leaves: ", status.ToString()));
  status_ = std::move(status);
  stage_ = Stage::kLeaving;
  if (!coordinator_ || !role_.IsCertain() || coordinator_->coordinator().resigned() ||
      coordinator_->coordinator().phase() != Coordinator::Phase::kAborted) {
    return Depart();
  }
  role_.EndRun(coordinator_->coordinator().verdict(), [this](bool) { Depart(); });
}

void SimulatedNode::Depart() {
  told_store_ = true;
  role_.Withdraw();
  deadline_ = now() + (coordinator_ ? coordinator_->coordinator().Patience() : milliseconds(0));
  control_->Finish(Connection::End::kCaller, absl::OkStatus());
  TryToGo();
}

void SimulatedNode::TryToGo() {
  if (!told_store_) return;
  if (!departing_) {
    if (coordinator_ && !coordinator_->AllClosed() && now() < deadline_) return;
    departing_ = true;
    deadline_ = now() + kLinger;
    transport_->Shutdown();
    process()->After(kLinger, [] {});
  }
  if (transport_->quiet() || now() >= deadline_) EndWith(status_);
}

void SimulatedNode::EndWith(absl::Status status) {
  Say("ends");
  stage_ = Stage::kEnded;
  ending_ = std::move(status);
  ended_at_ = now();
  world_->network->EndProcess(process(), "socket closed");
}

absl::Status SimulatedNode::OnRound(const RoundReport& report, const BoundaryModel&) {
  Say(absl::StrCat("has done ", report.completed, " rounds"));
  return absl::OkStatus();
}

absl::Status SimulatedNode::OnCut(const CutReport& report, const BoundaryModel&) {
  control::Report message;
  message.mutable_metrics()->set_round(report.round);
  Tell(std::move(message));
  return absl::OkStatus();
}

void SimulatedNode::OnSteps(const StepsReport& report) {
  control::Report message;
  *message.mutable_steps() = StepsOf(report);
  Tell(std::move(message));
}

void SimulatedNode::OnState(SavedNode saved) {
  const Round round = saved.checkpoint;
  const Round steps = saved.state.round;
  Say(absl::StrCat("saves round ", round));
  saved_.push_back(round);
  if (Renews(plan())) states_.insert_or_assign(round, std::move(saved.state));
  process()->After(nanoseconds(random_.Below(kMaxWriting)), [this, round, steps] {
    runner_->OnStateWritten();
    if (line_->verdict()) return;
    control::Report message;
    message.mutable_part()->set_round(round);
    message.mutable_part()->set_bytes(1);
    message.mutable_part()->set_steps(steps);
    Tell(std::move(message));
  });
}

void SimulatedNode::OnToldAverage(const AveragedModel& average) {
  Say(absl::StrCat("has heard the average of round ", average.round));
  told_.push_back(average);
}

void SimulatedNode::OnNoAverage(Round round) {
  Say(absl::StrCat("has no average of round ", round));
}

void SimulatedNode::OnPeerLost(Rank peer, const absl::Status& why) { ReportFailure(peer, why); }

void SimulatedNode::OnPromise(uint32_t ballot, Round round) {
  Say(absl::StrCat("promises ballot ", ballot, " round ", round));
  control::Report message;
  message.mutable_promise()->set_ballot(ballot);
  message.mutable_promise()->set_round(round);
  Tell(std::move(message));
}

void SimulatedNode::OnAverage(AveragedModel average) {
  Say(absl::StrCat("evaluates round ", average.round));
  CHECK_GE(average.round, evaluates_from_);
  ++evaluating_;
  const Round round = average.round;
  averages_.push_back(std::move(average));
  Evaluate(plan().evaluation, [this, round] {
    if (plan().role_moves && !begins()) horizon_.CatchUp(limit_);
    if (limit_ < plan().most_rounds()) horizon_.Close(limit_);
    if (horizon_.OnEvaluation(EvaluationOf(plan(), round))) {
      coordinator_->ExtendRoundLimit(horizon_.limit(), horizon_.final(), horizon_.growth());
    }
    // The model is written; meanwhile the end moves.
    const auto writing = static_cast<uint64_t>(plan().evaluation.count());
    Evaluate(nanoseconds(random_.Below(writing + 1)), [this] {
      --evaluating_;
      runner_->OnAverageDone();
    });
  });
}

}  // namespace grapevine::testing

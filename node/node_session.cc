#include "node/node_session.h"

#include <glog/logging.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <random>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "node/control/address_list.h"
#include "node/control/control_protocol.h"
#include "node/discovery/discovery.h"
#include "node/discovery/role_lease.h"
#include "node/identity/host_address.h"
#include "node/node_report.h"
#include "node/server/grpc_channel.h"
#include "node/server/grpc_credentials.h"
#include "node/server/grpc_keepalive.h"
#include "node/transport/grpc/grpc_transport_options.h"
#include "system/file_descriptor.h"

namespace grapevine {
namespace {

using Clock = std::chrono::steady_clock;

// The time by which each rank lets the rank before it be first to take a role.
constexpr std::chrono::milliseconds kPrecedence{20};
constexpr std::chrono::milliseconds kMostDelay{1000};
// The time between two checks whether the run has ended, while the role's lease is waited for.
constexpr std::chrono::milliseconds kTenureSlice{250};
// The time for which a node that comes into a run tries one holder of the role before it asks again
// which node has the role.
constexpr std::chrono::seconds kHolderTried{2};

// Returns a number that tells two processes of one rank apart; it is not part of any result.
uint64_t ProcessNonce() {
  std::random_device device;
  return (uint64_t{device()} << 32 | device()) ^ static_cast<uint64_t>(getpid());
}

// Returns the address at which to dial each node of the roster, which comes from the network.
absl::StatusOr<std::vector<std::string>> Dialled(const control::Roster& roster, Rank nodes,
                                                 const HostAddress& coordinator) {
  std::vector<std::string> addresses;
  ASSIGN_OR_RETURN(const std::vector<std::string> packed,
                   UnpackAddresses(roster.addresses(), nodes));
  for (const std::string& text : packed) {
    if (text.empty()) {
      addresses.emplace_back();
      continue;
    }
    ASSIGN_OR_RETURN(const HostAddress told, ParseHostAddress(text));
    addresses.push_back(FormatHostAddress(DialledAddress(told, coordinator)));
  }
  return addresses;
}

// Returns the health services by which the others recognize rank 0.
std::vector<std::string> KnownAs(const NodeSessionOptions& options) {
  if (!Begins(options)) return {};
  return {kCoordinatorService, ServiceOfRun(options.run_id)};
}

}  // namespace

NodeSession::NodeSession(NodeSessionOptions options, NodeSessionCallbacks callbacks, Runner* runner)
    : options_(std::move(options)),
      callbacks_(std::move(callbacks)),
      runner_(runner),
      process_(ProcessNonce()),
      reporter_([this](Clock::time_point deadline, control::Report report) {
        return control_->SendBefore(deadline, std::move(report));
      }),
      decrees_({.rank = options_.rank,
                .saves_on_call = options_.checkpoints.has_value(),
                .role_moves = role() != nullptr && !begins()},
               {.promise = [this](uint32_t ballot, Round round) { ReportPromise(ballot, round); },
                .expect = [this](const control::Newcomer& newcomer) { Expect(newcomer); },
                .coast = callbacks_.on_coast,
                .evaluate_from = callbacks_.on_evaluations_from},
               runner) {}

NodeSession::~NodeSession() { TearDown(); }

absl::Status NodeSession::Run(std::function<absl::Status(float* replica)> initialize) {
  RETURN_IF_ERROR(Listen());
  if (absl::Status status = Join(); !status.ok()) {
    if (coordinator_) coordinator_->End(status);  // the others wait for this node
    TearDown();
    return status;
  }
  StartControl();
  absl::Status status =
      resumed_ && callbacks_.on_resumed ? callbacks_.on_resumed(*resumed_) : absl::OkStatus();
  if (status.ok()) status = callbacks_.on_start();
  if (status.ok()) status = runner_->Run(transport_.get(), std::move(initialize));
  trained_ = status.ok();
  if (status.ok()) status = callbacks_.on_trained(runner_->model());
  if (status.ok()) status = SayDone();
  if (status.ok()) status = AwaitEnd();
  if (!status.ok()) {
    status = Verdict(Cause(status));
    others_go_on_ = control_->OthersGoOn();
    End(status);
  }
  TearDown();
  return status;
}

absl::Status NodeSession::Listen() {
  transport_ = std::make_unique<GrpcTransport>(
      EdgeIdentity{.run_id = options_.run_id,
                   .rank = options_.rank,
                   .world_size = options_.size,
                   .schema = options_.schema,
                   .topology = options_.topology,
                   .algorithm = options_.algorithm,
                   .call = {.process = process_}},
      GrpcTransportOptions{.peer_timeout = options_.peer_timeout,
                           .connect_timeout = options_.rendezvous_timeout,
                           .credentials = options_.credentials.ForPeers(),
                           .names = options_.credentials.names(),
                           .token = options_.token,
                           .round = [this] { return runner_->progress().round; },
                           .faults = options_.faults},
      runner_);
  {
    MutexLock lock(mutex_);
    shown_ = transport_.get();
  }
  std::vector<GrpcServer::Register> services;
  services.push_back([this](grpc::ServerBuilder& builder) { transport_->AddTo(builder); });
  services.push_back([this](grpc::ServerBuilder& builder) {
    ApplyServerArguments(builder, IsLoopback(options_.bind.host));
  });
  if (begins()) {
    coordinator_ = MakeCoordinator(std::nullopt);
    services.push_back(
        [this](grpc::ServerBuilder& builder) { builder.RegisterService(coordinator_.get()); });
  } else if (role() != nullptr) {
    door_ = std::make_unique<GrpcControlDoor>();
    services.push_back(
        [this](grpc::ServerBuilder& builder) { builder.RegisterService(door_.get()); });
  }
  ASSIGN_OR_RETURN(server_, GrpcServer::Start({.bind = options_.bind,
                                               .nodes = options_.size,
                                               .peer_timeout = options_.peer_timeout,
                                               .offered = KnownAs(options_)},
                                              options_.credentials, services));
  advertised_ = AdvertisedAddress(options_.advertise, server_->address());
  RETURN_IF_ERROR(callbacks_.on_listening(server_->address()));
  rendezvous_deadline_ = Clock::now() + options_.rendezvous_timeout;
  return begins() ? Announce() : absl::OkStatus();
}

CoordinatorOptions NodeSession::Coordination(std::optional<SuccessionOptions> succession) const {
  return {.own = Registration(),
          .run_id = succession ? run_id_ : options_.run_id,
          .round_limit = options_.first_limit,
          .resumed = succession ? inherited_ : options_.resumed,
          .resilient = options_.resilient,
          .min_nodes = options_.min_nodes,
          .begin_nodes = options_.begin_nodes,
          .waits = options_.waits,
          .workers = options_.workers,
          .role_moves = role() != nullptr,
          .elapsed = succession ? Clock::now() - began_
                                : std::chrono::nanoseconds(
                                      options_.resumed ? options_.resumed->time_ns() : 0),
          .succession = std::move(succession),
          .budget = options_.budget,
          .checkpoints = options_.checkpoints,
          .renewals = options_.renewals,
          .open_ended = options_.open_ended,
          .settles_last = options_.settles_last,
          .rendezvous_timeout = options_.rendezvous_timeout,
          .peer_timeout = options_.peer_timeout,
          .min_peer_timeout = options_.min_peer_timeout,
          .step_timeout = options_.step_timeout};
}

std::unique_ptr<GrpcCoordinatorService> NodeSession::MakeCoordinator(
    std::optional<SuccessionOptions> succession) {
  return std::make_unique<GrpcCoordinatorService>(
      Coordination(std::move(succession)),
      GrpcCoordinatorService::Sinks{
          .on_metrics = callbacks_.on_metrics,
          .on_notice = callbacks_.on_notice,
          .on_all_done = [this] { OnAllDone(); },
          .on_part = callbacks_.on_part,
          .on_gathered = callbacks_.on_gathered,
          .on_lost = callbacks_.on_lost,
          .on_newcomer = callbacks_.on_newcomer,
          .on_called = callbacks_.on_called,
          .is_certain = [lease = lease()] { return lease == nullptr || lease->Check().ok(); },
          .on_standing = callbacks_.on_standing},
      options_.token, options_.credentials.names());
}

Discovery* NodeSession::Place() const {
  return options_.discovery != nullptr ? options_.discovery.get() : options_.role.get();
}

RoleLease* NodeSession::lease() const {
  Discovery* const place = Place();
  return place == nullptr ? nullptr : place->lease();
}

MovingRole* NodeSession::role() const {
  return options_.role == nullptr ? nullptr : options_.role->moving_role();
}

absl::Status NodeSession::Announce() {
  Discovery* const place = Place();
  if (place == nullptr) return absl::OkStatus();
  if (lease() != nullptr) {
    lease()->OnSuperseded([this](const absl::Status& why) { Interrupt(why); });
  }
  RETURN_IF_ERROR(place->Announce({.run_id = options_.run_id, .advertised = advertised_},
                                  rendezvous_deadline_, [this] { return Ended(); }));
  coordinator_->OnCertain();
  return absl::OkStatus();
}

absl::StatusOr<FoundCoordinator> NodeSession::FindCoordinator() {
  // The role may have moved.
  if (options_.joins && role() != nullptr) {
    return options_.role->Find(rendezvous_deadline_, [this] { return Ended(); });
  }
  if (options_.discovery == nullptr) return FoundCoordinator{options_.coordinator, ""};
  if (begins()) {
    // The address is for nodes of this machine alone.
    HostAddress own = server_->address();
    if (IsEverywhere(own.host)) own.host = "127.0.0.1";
    return FoundCoordinator{std::move(own), ""};
  }
  return options_.discovery->Find(rendezvous_deadline_, [this] { return Ended(); });
}

control::Registration NodeSession::Registration() const {
  control::Registration registration;
  registration.set_protocol_version(kControlProtocolVersion);
  registration.set_build(options_.build);
  registration.set_rank(options_.rank);
  registration.set_world_size(options_.size);
  registration.set_nonce(process_);
  registration.set_address(FormatHostAddress(advertised_));
  for (const control::Agreement& agreement : options_.agreements) {
    *registration.add_agreements() = agreement;
  }
  registration.set_joins(options_.joins);
  registration.mutable_parts()->Assign(options_.parts.begin(), options_.parts.end());
  return registration;
}

absl::StatusOr<std::shared_ptr<grpc::Channel>> NodeSession::ControlChannel() {
  MutexLock lock(place_mutex_);
  if (options_.rank == holder_) return server_->InProcessChannel();
  ASSIGN_OR_RETURN(std::shared_ptr<grpc::ChannelCredentials> channel,
                   options_.credentials.ForChannel(coordinator_at_.address.host));
  grpc::ChannelArguments arguments;
  SetKeepalive(options_.peer_timeout, &arguments);
  if (!coordinator_at_.certified_name.empty()) {
    arguments.SetSslTargetNameOverride(coordinator_at_.certified_name);
  }
  RequireRank(options_.credentials.names(), holder_, &arguments);
  // A channel of its own: a connection that broke must not be used again.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return DirectChannel(FormatHostAddress(coordinator_at_.address), channel, arguments);
}

GrpcControlClient::Dial NodeSession::Redial() {
  if (begins()) return {};
  return [this]() -> std::shared_ptr<grpc::Channel> {
    const absl::StatusOr<std::shared_ptr<grpc::Channel>> channel = ControlChannel();
    return channel.ok() ? *channel : nullptr;
  };
}

absl::StatusOr<control::Roster> NodeSession::AwaitRoster(Clock::time_point deadline) {
  {
    MutexLock lock(mutex_);
    if (end_) return *end_;  // interrupted already
    joining_ = true;
  }
  absl::StatusOr<control::Roster> roster = control_->Join(Registration(), deadline);
  MutexLock lock(mutex_);
  joining_ = false;
  return roster;
}

absl::StatusOr<control::Roster> NodeSession::AskToJoin(const FoundCoordinator& found,
                                                       Clock::time_point deadline) {
  {
    MutexLock lock(place_mutex_);
    coordinator_at_ = found;
    holder_ = std::clamp<Rank>(found.rank, 0, options_.size - 1);  // a store may say anything
  }
  ASSIGN_OR_RETURN(std::shared_ptr<grpc::Channel> channel, ControlChannel());
  control_ = std::make_unique<GrpcControlClient>(
      channel,
      ControlLineOptions{.coordinator = FormatHostAddress(found.address),
                         .peer_timeout = options_.peer_timeout,
                         .min_peer_timeout = options_.min_peer_timeout,
                         .world_size = options_.size,
                         .rounds = options_.rounds,
                         .sharing = options_.budget ? options_.budget->workers : 0,
                         .largest_growth = options_.largest_growth,
                         .changes_views = options_.resilient || options_.renewals.has_value(),
                         .saves_on_call = options_.checkpoints.has_value(),
                         .renews_views = options_.renewals.has_value(),
                         .open_ended = options_.open_ended,
                         .role_moves = door_ != nullptr,
                         .rank = options_.rank,
                         .holder = Holder()},
      options_.token, Redial());
  return AwaitRoster(deadline);
}

absl::StatusOr<control::Roster> NodeSession::JoinWhereTheRoleIs() {
  while (true) {
    ASSIGN_OR_RETURN(const FoundCoordinator found, FindCoordinator());
    const bool may_move = options_.joins && role() != nullptr;
    const Clock::time_point deadline =
        may_move ? std::min(rendezvous_deadline_, Clock::now() + kHolderTried)
                 : rendezvous_deadline_;
    absl::StatusOr<control::Roster> roster = AskToJoin(found, deadline);
    // A refusal comes at once; an attempt that would begin after its deadline is not made.
    const bool unanswered = absl::IsUnavailable(roster.status()) && Ended().ok() &&
                            Clock::now() + kHolderTried / 2 > deadline;
    if (!unanswered || deadline == rendezvous_deadline_) return roster;
  }
}

absl::Status NodeSession::PrepareToBegin() {
  const absl::Status prepared = callbacks_.on_announced();
  if (prepared.ok()) return prepared;
  coordinator_->CannotBegin(prepared);
  (void)coordinator_->AwaitDeparture();  // no server is left to refuse nodes that come later
  return prepared;
}

absl::Status NodeSession::Join() {
  if (begins()) RETURN_IF_ERROR(PrepareToBegin());
  ASSIGN_OR_RETURN(const control::Roster roster, JoinWhereTheRoleIs());
  std::vector<std::string> addresses;
  {
    MutexLock lock(place_mutex_);
    ASSIGN_OR_RETURN(addresses_, Dialled(roster, options_.size, coordinator_at_.address));
    addresses = addresses_;
  }
  run_id_ = roster.run_id();
  transport_->Join(roster.run_id(), addresses);
  if (roster.has_resumed()) Settle(roster.resumed());
  began_ =
      Clock::now() - std::chrono::nanoseconds(roster.has_joined() ? roster.joined().time_ns()
                                                                  : roster.resumed().time_ns());
  if (roster.has_joined()) ComeIn(roster.joined());
  SetLimit(roster.round_limit(),
           !options_.budget && !options_.settles_last && !options_.open_ended &&
               roster.round_limit() >= options_.rounds,
           /*growth=*/1);
  server_->SetReady(true);
  return absl::OkStatus();
}

void NodeSession::Settle(const control::Resumed& resumed) {
  resumed_ = inherited_ = resumed;
  if (!callbacks_.on_settled) return;
  for (const control::RoundLimit& settled : resumed.settled()) {
    callbacks_.on_settled(settled.limit(), settled.growth());
  }
}

void NodeSession::ComeIn(const control::Joined& joined) {
  *inherited_.emplace().mutable_history() = joined.history();
  inherited_->set_lost_bytes_sent(joined.lost_bytes_sent());
  for (const control::RoundLimit& settled : joined.settled()) {
    if (callbacks_.on_settled) callbacks_.on_settled(settled.limit(), settled.growth());
  }
  std::vector<View> views;
  for (const control::View& before : joined.before()) views.push_back(ViewOf(before));
  views.push_back(ViewOf(joined.view()));
  callbacks_.on_joined(views, joined);
  runner_->ComeIn(views.back(), joined.view().lead());
}

void NodeSession::Expect(const control::Newcomer& newcomer) {
  MutexLock lock(place_mutex_);
  const absl::StatusOr<HostAddress> told = ParseHostAddress(newcomer.address());
  if (!told.ok()) return;  // CheckDirective has checked the address
  std::string& address = addresses_[newcomer.rank()];
  address = FormatHostAddress(DialledAddress(*told, coordinator_at_.address));
  transport_->Expect(newcomer.rank(), newcomer.process(), address);
}

control::Heartbeat NodeSession::Heartbeat() const {
  return HeartbeatOf({.progress = runner_->progress(),
                      .counters = transport_->counters(),
                      .connecting = transport_->Connecting(),
                      .evaluated_batches = evaluated_batches_,
                      .trained = trained_});
}

void NodeSession::StartControl() {
  if (door_ != nullptr) seeker_ = std::thread([this] { SeekCoordinators(); });
  {
    MutexLock lock(mutex_);
    told_ = control_.get();
  }
  control_->Start({.on_round_limit =
                       [this](const control::RoundLimit& moved) {
                         SetLimit(moved.limit(), moved.final(), moved.growth());
                       },
                   .on_cut = [this](Round round) { runner_->Cut(round); },
                   .on_checkpoint = callbacks_.on_checkpoint,
                   .on_decree = [this](const control::Directive& decree) { decrees_.Obey(decree); },
                   .on_orphaned =
                       [this](const absl::Status& why, bool gone) {
                         MutexLock lock(mutex_);
                         orphaned_ = {why, gone};
                         ended_.NotifyAll();
                       },
                   .on_abort =
                       [this](const absl::Status& verdict) {
                         End(verdict);
                         runner_->Abort(verdict);
                       },
                   .on_finish = [this] { End(absl::OkStatus()); }},
                  [this] { return Heartbeat(); });
}

void NodeSession::SetLimit(Round limit, bool final, int64_t growth) {
  if (callbacks_.on_settled) callbacks_.on_settled(limit, growth);
  runner_->SetLimit(limit, final);
}

absl::Status NodeSession::Ended() {
  MutexLock lock(mutex_);
  return end_.value_or(absl::OkStatus());
}

void NodeSession::SeekCoordinators() {
  while (const std::optional<LostCoordinator> lost = AwaitLoss()) SeekCoordinator(*lost);
}

std::optional<NodeSession::LostCoordinator> NodeSession::AwaitLoss() {
  MutexLock lock(mutex_);
  while (!leaving_ && !orphaned_) ended_.WaitUntil(mutex_, Clock::now() + options_.peer_timeout);
  if (leaving_) return std::nullopt;
  return std::exchange(orphaned_, std::nullopt);
}

void NodeSession::SeekCoordinator(const LostCoordinator& coordinator) {
  const absl::Status& lost = coordinator.why;
  // The delay keeps all candidates from asking for the role at once; lower ranks come first.
  const auto delay = std::min<std::chrono::milliseconds>(options_.rank * kPrecedence, kMostDelay);
  const absl::StatusOr<MovingRole::Settled> settled =
      role()->Settle({.run_id = run_id_,
                      .rank = options_.rank,
                      .advertised = advertised_,
                      .lost = Holder(),
                      .gone = coordinator.gone,
                      .delay = delay},
                     Clock::now() + role()->LongestVacancy() + delay, [this] {
                       MutexLock lock(mutex_);
                       return leaving_ ? absl::CancelledError("this node leaves")
                                       : end_.value_or(absl::OkStatus());
                     });
  if (!Ended().ok()) return;  // the run has ended for this node otherwise
  if (!settled.ok()) {
    absl::Status why(lost.code(), absl::StrCat(std::string(lost.message()), "; ",
                                               std::string(settled.status().message())));
    return control_->End(WithFailure(std::move(why), FailureOf(lost)));
  }
  if (const auto* over = std::get_if<MovingRole::Over>(&*settled)) {
    return control_->EndAsFound(over->how);
  }
  GoOnWith(std::get<MovingRole::Holder>(*settled), lost);
}

void NodeSession::GoOnWith(const MovingRole::Holder& holder, const absl::Status& lost) {
  if (holder.rank < 0 || holder.rank >= options_.size ||
      (coordinator_ != nullptr && holder.rank == options_.rank)) {
    return control_->End(lost);
  }
  if (holder.own) {
    if (absl::Status status = TakeRole(); !status.ok()) {
      options_.role->Withdraw();
      return Interrupt(std::move(status));
    }
  }
  std::string address;
  {
    MutexLock lock(place_mutex_);
    address = addresses_[holder.rank];
    absl::StatusOr<HostAddress> parsed = ParseHostAddress(address);
    holder_ = holder.rank;
    if (parsed.ok()) coordinator_at_ = {*std::move(parsed), ""};
  }
  control_->Adopt(holder.rank, address);
}

absl::Status NodeSession::TakeRole() {
  LOG(WARNING) << "rank " << options_.rank << " takes over the role of rank " << Holder();
  lease()->OnSuperseded([this](const absl::Status& why) { Interrupt(why); });
  RETURN_IF_ERROR(callbacks_.on_role());
  SuccessionOptions succession{.lost = 0, .lately = control_->Lately()};
  {
    MutexLock lock(place_mutex_);
    succession.lost = holder_;
    succession.addresses = addresses_;
    succession.open_ended = options_.open_ended;
  }
  coordinator_ = MakeCoordinator(std::move(succession));
  door_->Open(coordinator_.get());
  server_->Offer({kCoordinatorService, ServiceOfRun(run_id_)});
  return absl::OkStatus();
}

Rank NodeSession::Holder() const {
  MutexLock lock(place_mutex_);
  return holder_;
}

void NodeSession::StopSeeking() {
  {
    MutexLock lock(mutex_);
    leaving_ = true;
    ended_.NotifyAll();
  }
  if (seeker_.joinable()) seeker_.join();
}

void NodeSession::End(const absl::Status& how) {
  MutexLock lock(mutex_);
  if (!end_) end_ = how;
  ended_.NotifyAll();
}

absl::Status NodeSession::SayDone() {
  control::Report report;
  report.mutable_done()->set_round_limit(runner_->progress().round);
  return Tell(std::move(report));
}

absl::Status NodeSession::Tell(control::Report last) {
  return reporter_.Tell(std::move(last), Clock::now() + options_.peer_timeout);
}

// The end is announced once the results are written: a node that reports success belongs to a run
// that has its results.
absl::Status NodeSession::Conclude() {
  RETURN_IF_ERROR(callbacks_.on_all_done());
  RETURN_IF_ERROR(EndTenure());
  if (absl::Status ended = Ended(); !ended.ok()) return ended;  // ended meanwhile
  coordinator_->Finish();
  return absl::OkStatus();
}

namespace {

// Waits for the lease for up to kTenureSlice. If the role moves, then tells the place where it is
// kept that the run has ended well, and checks that this node still has it.
absl::Status TryToEndTenure(RoleLease* lease, Discovery* moves, const std::string& run_id) {
  RETURN_IF_ERROR(lease->Await(kTenureSlice));
  if (moves == nullptr) return absl::OkStatus();
  if (const absl::Status told = moves->moving_role()->EndRun(run_id, absl::OkStatus());
      !told.ok()) {
    return WithFailure(
        absl::AbortedError(absl::StrCat(
            "all nodes are done, but ", moves->place(),
            " has not taken down that the run has ended, and a node that has not heard so might go "
            "on by itself (",
            std::string(told.message()), "); the results of the run are written")),
        Failure::kPeerLost);
  }
  return lease->Check();
}

}  // namespace

// The store is told before the other nodes are: once this node and those that have heard of the end
// are gone, one that has not would take the role, and come to an end of its own.
//
// Attempts are counted instead of time, which goes on while this node stands still.
absl::Status NodeSession::EndTenure() {
  if (lease() == nullptr) return absl::OkStatus();
  Discovery* const moves = role() == nullptr ? nullptr : options_.role.get();
  absl::Status status;
  for (auto attempts = options_.rendezvous_timeout / kTenureSlice + 1; attempts > 0; --attempts) {
    const Clock::time_point begin = Clock::now();
    status = TryToEndTenure(lease(), moves, RunId());
    if (status.ok() || !Ended().ok()) return absl::OkStatus();
    std::this_thread::sleep_until(begin + kTenureSlice);
  }
  return status;
}

// The silence or death of the coordinator's node ends this wait through on_abort, unless the role
// moves: it may come to this node meanwhile.
absl::Status NodeSession::AwaitEnd() {
  {
    MutexLock lock(mutex_);
    while (!end_ && !all_done_) ended_.WaitUntil(mutex_, Clock::now() + options_.peer_timeout);
    if (end_) return *end_;
  }
  RETURN_IF_ERROR(Conclude());
  MutexLock lock(mutex_);
  while (!end_) ended_.WaitUntil(mutex_, Clock::now() + options_.peer_timeout);
  return *end_;
}

void NodeSession::OnAllDone() {
  MutexLock lock(mutex_);
  all_done_ = true;
  ended_.NotifyAll();
}

absl::Status NodeSession::Cause(const absl::Status& symptom) {
  MutexLock lock(mutex_);
  return end_ && !end_->ok() ? *end_ : symptom;
}

absl::Status NodeSession::Verdict(const absl::Status& symptom) {
  const Rank culprit = runner_->lost_peer().value_or(options_.rank);
  return control_->AwaitVerdict(FailureBy(culprit, symptom), Clock::now() + options_.peer_timeout);
}

void NodeSession::Interrupt(absl::Status why) {
  {
    MutexLock lock(mutex_);
    if (!end_) end_ = why;
    ended_.NotifyAll();
    if (joining_) control_->Cancel(FailureBy(options_.rank, why));
  }
  runner_->Abort(std::move(why));
}

void NodeSession::EndWithCheckpoint(absl::Status why) {
  control::Report report;
  *report.mutable_stop() = FailureBy(options_.rank, why);
  if (!TellIfItRuns(std::move(report)).ok()) Interrupt(std::move(why));
}

std::map<Rank, bool> NodeSession::Connected() {
  MutexLock lock(mutex_);
  return shown_ == nullptr ? std::map<Rank, bool>() : shown_->Connected();
}

absl::Status NodeSession::OnEvaluatedBatch() {
  ++evaluated_batches_;
  return Ended();
}

void NodeSession::Report(control::NodeMetrics metrics) {
  MutexLock lock(mutex_);
  if (told_ != nullptr) reporter_.Report(std::move(metrics));
}

void NodeSession::ReportSteps(const StepsReport& steps) { control_->SetSteps(StepsOf(steps)); }

void NodeSession::ReportLoss(Rank peer, const absl::Status& why) {
  control::Report report;
  *report.mutable_failure() = FailureBy(peer, why);
  TellAtOnce(std::move(report)).IgnoreError();
}

void NodeSession::ReportSpent(Round gradients, bool all) {
  control::Report report;
  report.mutable_spent()->set_gradients(gradients);
  report.mutable_spent()->set_all(all);
  TellAtOnce(std::move(report)).IgnoreError();
}

void NodeSession::ReportPromise(uint32_t ballot, Round round) {
  control::Report report;
  report.mutable_promise()->set_ballot(ballot);
  report.mutable_promise()->set_round(round);
  TellAtOnce(std::move(report)).IgnoreError();
}

// A node that waits for the report would wait forever. Once the run is over, none waits.
absl::Status NodeSession::TellAtOnce(control::Report report) {
  const absl::Status told = TellIfItRuns(std::move(report));
  if (absl::IsResourceExhausted(told)) Interrupt(WithFailure(told, Failure::kPeerLost));
  return told;
}

absl::Status NodeSession::ReportPart(control::SavedPart part) {
  control::Report report;
  *report.mutable_part() = std::move(part);
  return TellAtOnce(std::move(report));
}

absl::Status NodeSession::TellIfItRuns(control::Report report) {
  MutexLock lock(mutex_);
  if (told_ == nullptr) return absl::FailedPreconditionError("the run is over");
  return told_->Send(std::move(report));
}

absl::Status NodeSession::ReportAtRest(control::NodeMetrics metrics) {
  control::Report report;
  *report.mutable_metrics() = std::move(metrics);
  return Tell(std::move(report));
}

void NodeSession::ExtendRoundLimit(Round limit, bool final, int64_t growth) {
  coordinator_->ExtendRoundLimit(limit, final, growth);
}

void NodeSession::TearDown() {
  StopSeeking();
  if (lease() != nullptr) lease()->OnSuperseded({});
  if (coordinator_ && control_ && role() != nullptr && lease()->Check().ok()) {
    // A node that is away may come too late to hear of the end from this node.
    const std::optional<absl::Status> ended = coordinator_->Ended();
    const absl::Status told =
        ended && !ended->ok() ? role()->EndRun(RunId(), *ended) : absl::OkStatus();
    if (!told.ok()) VLOG(1) << "the store does not know how the run has ended: " << told;
  }
  if (options_.discovery && coordinator_) options_.discovery->Withdraw();
  if (options_.role && coordinator_) options_.role->Withdraw();
  if (coordinator_ && control_ && !coordinator_->AwaitDeparture()) {
    LOG(WARNING) << "not all nodes have acknowledged the end of the run; rank 0 leaves";
  }
  {
    MutexLock lock(mutex_);
    told_ = nullptr;
    shown_ = nullptr;
  }
  control_.reset();
  if (transport_) transport_->Shutdown();
  if (server_) server_->Shutdown(std::chrono::system_clock::now());
  // The transport shares the server's completion queue: it goes down in between. The coordinator
  // stays, since a running evaluation may still want to move the end.
  transport_.reset();
  server_.reset();
}

namespace {

// Announces this rank 0 where it is looked for, and returns whether the others can find it. There
// is no time to wait until the announcement of another rank 0 is forgotten.
bool IsFound(const NodeSessionOptions& options, const HostAddress& listening) {
  if (options.discovery == nullptr) return true;
  constexpr std::chrono::seconds kPatience{3};
  const absl::Status announced = options.discovery->Announce(
      {.run_id = options.run_id, .advertised = AdvertisedAddress(options.advertise, listening)},
      Clock::now() + kPatience, [] { return absl::OkStatus(); });
  if (!announced.ok()) VLOG(1) << "nobody is told why rank 0 cannot begin: " << announced;
  return announced.ok();
}

}  // namespace

void TellOfFailedStart(const NodeSessionOptions& options, const absl::Status& why) {
  if (options.size < 2) return;
  std::optional<SignalsAreForOthers> starting(std::in_place);  // while threads are started
  CoordinatorOptions coordinator;
  coordinator.own.set_world_size(options.size);
  GrpcCoordinatorService service(std::move(coordinator),
                                 {.on_metrics = [](Rank, const control::NodeMetrics&) {},
                                  .on_notice = [](const std::string&) {}},
                                 options.token, options.credentials.names());
  service.CannotBegin(why);
  const GrpcServer::Register services[] = {
      [&service](grpc::ServerBuilder& builder) { builder.RegisterService(&service); }};
  absl::StatusOr<std::unique_ptr<GrpcServer>> server =
      GrpcServer::Start({.bind = options.bind,
                         .nodes = options.size,
                         .peer_timeout = options.peer_timeout,
                         .offered = KnownAs(options)},
                        options.credentials, services);
  if (!server.ok()) {
    VLOG(1) << "nobody is told why rank 0 cannot begin: " << server.status();
    return;
  }
  if (!IsFound(options, (*server)->address())) return;
  // From here on, signals may end this process.
  starting.reset();
  (void)service.AwaitDeparture();  // no server is left to refuse nodes that come later
  if (options.discovery) options.discovery->Withdraw();
  (*server)->Shutdown(std::chrono::system_clock::now());
}

}  // namespace grapevine

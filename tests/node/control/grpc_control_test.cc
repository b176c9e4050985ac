// The coordinator's service and its clients, over real sockets and in process.
#include <grpcpp/create_channel.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <future>
#include <optional>
#include <thread>

#include "base/failure.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "node/control/grpc_control_client.h"
#include "node/control/grpc_coordinator_service.h"
#include "node/control/registration.h"
#include "node/server/grpc_keepalive.h"
#include "node/server/grpc_server.h"
#include "system/mutex.h"
#include "tests/node/beat_counter.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

constexpr Round kRounds = 20;
constexpr seconds kLong{20};  // for what must happen; a failing test only waits longer

control::Registration RegistrationOf(Rank rank, Rank world_size) {
  control::Registration registration;
  registration.set_protocol_version(kControlProtocolVersion);
  registration.set_rank(rank);
  registration.set_world_size(world_size);
  registration.set_nonce(static_cast<uint64_t>(rank) + 1);
  registration.set_address(":" + std::to_string(7000 + rank));
  return registration;
}

std::shared_ptr<grpc::Channel> Dial(const std::string& address) {
  grpc::ChannelArguments arguments;
  SetKeepalive(seconds(5), &arguments);
  // A channel of its own per client, as if each were a process.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// Rank 0's half: server and service.
struct RankZero {
  explicit RankZero(Rank world_size, milliseconds peer_timeout = seconds(30), int port = 0,
                    milliseconds rendezvous_timeout = seconds(20), RunToken token = {},
                    std::optional<BudgetDeskOptions> budget = std::nullopt)
      : service(CoordinatorOptions{.own = RegistrationOf(0, world_size),
                                   .run_id = "run",
                                   .round_limit = 10,
                                   .budget = std::move(budget),
                                   .rendezvous_timeout = rendezvous_timeout,
                                   .peer_timeout = peer_timeout},
                {.on_metrics =
                     [this](Rank rank, const control::NodeMetrics& metrics) {
                       metrics_of.fetch_add(rank * 1000 + static_cast<int>(metrics.round()));
                     },
                 .on_notice = [](const std::string&) {},
                 .on_all_done = [this] { all_done.set_value(); }},
                std::move(token)) {
    const GrpcServer::Register services[] = {
        [this](grpc::ServerBuilder& builder) { builder.RegisterService(&service); }};
    auto started =
        GrpcServer::Start({.bind = {"127.0.0.1", port}}, *GrpcCredentials::Load({}), services);
    if (!started.ok()) {
      ADD_FAILURE() << started.status();
      std::abort();
    }
    server = *std::move(started);
  }

  std::string address() const { return FormatHostAddress(server->address()); }

  // The results are "written" once all are done.
  void AwaitAllDone() {
    ASSERT_EQ(all_done.get_future().wait_for(kLong), std::future_status::ready);
    service.Finish();
  }

  std::atomic<int> metrics_of = 0;
  std::promise<void> all_done;
  GrpcCoordinatorService service;
  std::unique_ptr<GrpcServer> server;  // goes first
};

// One node's client with what it was told.
class Node {
 public:
  Node(Rank rank, std::shared_ptr<grpc::Channel> channel, const std::string& address,
       milliseconds peer_timeout = seconds(30), Rank world_size = 2)
      : rank_(rank), client_(std::move(channel), {address, peer_timeout, world_size, kRounds}) {}

  absl::StatusOr<control::Roster> Join(Rank world_size, seconds patience = kLong) {
    return client_.Join(RegistrationOf(rank_, world_size), steady_clock::now() + patience);
  }

  void Start() {
    client_.Start({.on_round_limit = [this](Round limit, bool) { limit_.set_value(limit); },
                   .on_abort = [this](const absl::Status& status) { end_.set_value(status); },
                   .on_finish = [this] { end_.set_value(absl::OkStatus()); }},
                  [this] {
                    beats_.Count();
                    control::Heartbeat beat;
                    beat.set_round(3);
                    beat.set_state("computing");
                    return beat;
                  });
  }

  void Done(Round limit) {
    control::Report report;
    report.mutable_done()->set_round_limit(limit);
    EXPECT_TRUE(client_.Send(report).ok());
  }

  Round AwaitLimit() {
    auto limit = limit_.get_future();
    return limit.wait_for(kLong) == std::future_status::ready ? limit.get() : -1;
  }
  absl::Status AwaitEnd() {
    auto end = end_.get_future();
    return end.wait_for(kLong) == std::future_status::ready ? end.get()
                                                            : absl::DeadlineExceededError("no end");
  }
  // Whether so many heartbeats are sent within 20 s.
  bool AwaitBeats(int count) { return beats_.Await(count); }
  GrpcControlClient& client() { return client_; }

 private:
  const Rank rank_;
  std::promise<Round> limit_;
  std::promise<absl::Status> end_;
  BeatCounter beats_;
  GrpcControlClient client_;  // goes first
};

// All ranks join at once; rank 0 in process, as in a real run.
std::vector<std::unique_ptr<Node>> JoinAll(RankZero& zero, Rank n,
                                           milliseconds peer_timeout = seconds(30)) {
  std::vector<std::unique_ptr<Node>> nodes;
  std::vector<std::future<absl::StatusOr<control::Roster>>> joins;
  for (Rank rank = 0; rank < n; ++rank) {
    nodes.push_back(std::make_unique<Node>(
        rank, rank == 0 ? zero.server->InProcessChannel() : Dial(zero.address()), zero.address(),
        peer_timeout, n));
    Node& node = *nodes.back();
    joins.push_back(std::async(std::launch::async, [&node, n, rank] {
      control::Registration registration = RegistrationOf(rank, n);
      if (rank == 0) registration.set_address("127.0.0.1:7000");
      return node.client().Join(registration, steady_clock::now() + kLong);
    }));
  }
  for (Rank rank = 0; rank < n; ++rank) {
    const auto roster = joins[static_cast<size_t>(rank)].get();
    EXPECT_TRUE(roster.ok()) << roster.status();
    if (!roster.ok()) continue;
    EXPECT_EQ(roster->run_id(), "run");
    EXPECT_EQ(roster->addresses_size(), n);
    for (int peer = 0; peer < roster->addresses_size(); ++peer) {
      EXPECT_EQ(roster->addresses(peer), "127.0.0.1:" + std::to_string(7000 + peer));
    }
  }
  return nodes;
}

TEST(GrpcControl, ARunFromRosterToFinish) {
  constexpr Rank kNodes = 6;
  RankZero zero(kNodes);
  auto nodes = JoinAll(zero, kNodes);
  for (auto& node : nodes) node->Start();
  control::Report report;
  report.mutable_metrics()->set_round(7);
  ASSERT_TRUE(nodes[3]->client().Send(report).ok());
  zero.service.ExtendRoundLimit(20, true);
  for (auto& node : nodes) EXPECT_EQ(node->AwaitLimit(), 20);
  for (auto& node : nodes) node->Done(20);
  zero.AwaitAllDone();
  for (auto& node : nodes) EXPECT_TRUE(node->AwaitEnd().ok());
  EXPECT_EQ(zero.metrics_of, 3007);
  EXPECT_EQ(nodes[1]->client().Send(report).code(), absl::StatusCode::kFailedPrecondition);
  nodes.clear();
  EXPECT_TRUE(zero.service.AwaitDeparture());
  EXPECT_TRUE(zero.service.verdict().ok());
}

// What a node hears of a budget: "limit 3", "last limit 3", "measure 2".
class Heard {
 public:
  void Add(std::string what) {
    MutexLock lock(mutex_);
    heard_.push_back(std::move(what));
    changed_.NotifyAll();
  }
  bool Await(const std::string& what) {
    const auto deadline = steady_clock::now() + kLong;
    MutexLock lock(mutex_);
    while (std::ranges::count(heard_, what) == 0 && steady_clock::now() < deadline) {
      changed_.WaitUntil(mutex_, deadline);
    }
    return std::ranges::count(heard_, what) == 1;
  }

 private:
  Mutex mutex_;
  Condition changed_;
  std::vector<std::string> heard_ ABSL_GUARDED_BY(mutex_);
};

control::Steps StepsOf(Round steps, Round cut, bool resting) {
  control::Steps report;
  report.set_steps(steps);
  report.set_cut(cut);
  report.set_resting(resting);
  return report;
}

TEST(GrpcControl, ASharedBudgetFromItsFirstLimitToTheLast) {
  RankZero zero(1, seconds(30), 0, seconds(20), {},
                BudgetDeskOptions{.rounds = 10,
                                  .measured = [](Round round) { return round == 2; },
                                  .evaluated = [](Round) { return false; }});
  Heard heard;
  std::promise<absl::Status> end;
  GrpcControlClient client(
      zero.server->InProcessChannel(),
      {.coordinator = zero.address(), .world_size = 1, .rounds = 10, .sharing = 1});
  control::Registration registration = RegistrationOf(0, 1);
  registration.set_address("127.0.0.1:7000");
  ASSERT_TRUE(client.Join(registration, steady_clock::now() + kLong).ok());
  client.Start({.on_round_limit =
                    [&](Round limit, bool final) {
                      heard.Add((final ? "last limit " : "limit ") + std::to_string(limit));
                    },
                .on_cut = [&](Round round) { heard.Add("measure " + std::to_string(round)); },
                .on_abort = [&](const absl::Status& status) { end.set_value(status); },
                .on_finish = [&] { end.set_value(absl::OkStatus()); }},
               [] { return control::Heartbeat(); });
  for (Round steps = 1; steps <= 10; ++steps) {
    EXPECT_TRUE(heard.Await("limit " + std::to_string(steps)));
    client.SetSteps(StepsOf(steps, steps > 2 ? 2 : 0, false));
    if (steps != 2) continue;
    EXPECT_TRUE(heard.Await("measure 2"));
  }
  client.SetSteps(StepsOf(10, 2, true));
  EXPECT_TRUE(heard.Await("last limit 10"));
  control::Report done;
  done.mutable_done()->set_round_limit(10);
  EXPECT_TRUE(client.Send(done).ok());
  zero.AwaitAllDone();
  auto ended = end.get_future();
  ASSERT_EQ(ended.wait_for(kLong), std::future_status::ready);
  EXPECT_EQ(ended.get(), absl::OkStatus());
}

TEST(GrpcControl, AFailureReachesEverybodyWithItsClass) {
  RankZero zero(3);
  auto nodes = JoinAll(zero, 3);
  for (auto& node : nodes) node->Start();
  control::Failure failure;
  failure.set_culprit(1);
  failure.set_failure(static_cast<int>(Failure::kDiverged));
  failure.set_message("rank 1: the loss is NaN in round 3");
  const absl::Status verdict =
      nodes[1]->client().AwaitVerdict(failure, steady_clock::now() + kLong);
  EXPECT_EQ(verdict.message(), failure.message());
  for (auto& node : nodes) {
    const absl::Status end = node->AwaitEnd();
    EXPECT_EQ(FailureOf(end), Failure::kDiverged);
    EXPECT_EQ(end.message(), failure.message());
  }
}

TEST(GrpcControl, ANodeThatLeavesWithoutAWordIsNamed) {
  RankZero zero(3);
  auto nodes = JoinAll(zero, 3);
  for (auto& node : nodes) node->Start();
  nodes[2].reset();
  for (int rank : {0, 1}) {
    const absl::Status end = nodes[static_cast<size_t>(rank)]->AwaitEnd();
    EXPECT_EQ(FailureOf(end), Failure::kPeerLost);
    EXPECT_THAT(std::string(end.message()), HasSubstr("rank 2 at 127.0.0.1:7002 died"));
  }
}

TEST(GrpcControl, RankZerosDeathIsNoticed) {
  auto zero = std::make_unique<RankZero>(2);
  auto nodes = JoinAll(*zero, 2);
  for (auto& node : nodes) node->Start();
  zero->server->Shutdown(std::chrono::system_clock::now());
  const absl::Status end = nodes[1]->AwaitEnd();
  EXPECT_EQ(FailureOf(end), Failure::kPeerLost);
  // In the words of the node or, when it is quick, of the dying rank 0.
  EXPECT_THAT(std::string(end.message()), testing::ContainsRegex("rank 0 .*died"));
  nodes.clear();
}

TEST(GrpcControl, RankZeroMayComeLater) {
  // A port that nobody listens on yet.
  std::string address;
  int port;
  {
    RankZero probe(1);
    address = probe.address();
    port = probe.server->address().port;
  }
  Node node(1, Dial(address), address);
  auto join = std::async(std::launch::async, [&node] { return node.Join(2); });
  // It has failed at least once when the channel has.
  auto watched = Dial(address);
  watched->GetState(true);
  while (watched->GetState(true) != GRPC_CHANNEL_TRANSIENT_FAILURE) {
    ASSERT_TRUE(watched->WaitForStateChange(watched->GetState(false),
                                            std::chrono::system_clock::now() + kLong));
  }
  RankZero zero(2, seconds(30), port);
  Node first(0, zero.server->InProcessChannel(), address);
  control::Registration registration = RegistrationOf(0, 2);
  registration.set_address("127.0.0.1:7000");
  EXPECT_TRUE(first.client().Join(registration, steady_clock::now() + kLong).ok());
  EXPECT_TRUE(join.get().ok());
}

TEST(GrpcControl, WhenRankZeroNeverComesTheReasonIsNamed) {
  std::string address;
  { address = RankZero(1).address(); }
  Node refused(1, Dial(address), address);
  const auto roster = refused.Join(2, seconds(1));
  EXPECT_EQ(FailureOf(roster.status()), Failure::kRendezvous);
  EXPECT_THAT(std::string(roster.status().message()),
              AllOf(HasSubstr(address), HasSubstr("refused"), HasSubstr("MASTER_ADDR")));

  const std::string nowhere = "no-such-host.invalid:5000";
  Node lost(1, Dial(nowhere), nowhere);
  const auto unknown = lost.Join(2, seconds(1));
  EXPECT_EQ(FailureOf(unknown.status()), Failure::kRendezvous);
  EXPECT_THAT(std::string(unknown.status().message()),
              AllOf(HasSubstr(nowhere), testing::ContainsRegex("DNS|resol")));
}

TEST(GrpcControl, AServerThatIsNoCoordinatorIsNamedAtOnce) {
  auto server = GrpcServer::Start({}, *GrpcCredentials::Load({}), {});
  ASSERT_TRUE(server.ok());
  const std::string address = FormatHostAddress((*server)->address());
  Node node(1, Dial(address), address);
  const auto roster = node.Join(2);
  EXPECT_THAT(std::string(roster.status().message()), HasSubstr("not a grapevine coordinator"));
}

TEST(GrpcControl, AListenerThatNeverAnswersDoesNotHoldUpTheJoin) {
  const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof(address)), 0);
  ASSERT_EQ(listen(listener, 4), 0);
  socklen_t length = sizeof(address);
  getsockname(listener, reinterpret_cast<sockaddr*>(&address), &length);
  const std::string text = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  Node node(1, Dial(text), text);
  const auto roster = node.Join(2, seconds(1));
  EXPECT_EQ(FailureOf(roster.status()), Failure::kRendezvous);
  // As where a firewall drops what is sent.
  EXPECT_THAT(std::string(roster.status().message()),
              AllOf(HasSubstr("rank 0 at " + text + ": no answer"), HasSubstr("firewall"),
                    Not(HasSubstr("CANCELLED"))));
  close(listener);
}

TEST(GrpcControl, ARefusalAndATimeoutCarryTheirMessages) {
  RankZero zero(2, seconds(30), 0, milliseconds(1500));
  Node misfit(1, Dial(zero.address()), zero.address());
  const auto refused = misfit.Join(5);
  EXPECT_EQ(FailureOf(refused.status()), Failure::kRendezvous);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("number of nodes is 5 there and 2 on rank 0"));
  Node fits(1, Dial(zero.address()), zero.address());
  const auto alone = fits.Join(2);
  EXPECT_EQ(FailureOf(alone.status()), Failure::kRendezvous);
  EXPECT_THAT(std::string(alone.status().message()), HasSubstr("rank 0 is missing"));
}

// Who has the token is of this run, and without its rank nothing begins.
TEST(GrpcControl, AProvenMisfitEndsTheGatheringForAllWhoComeAndWillCome) {
  const RunToken token("the token of this run");
  RankZero zero(3, seconds(30), 0, seconds(20), token);
  const auto join = [&](Node& node, control::Registration registration) {
    Prove(token, &registration);
    return node.client().Join(registration, steady_clock::now() + kLong).status();
  };
  Node fits(1, Dial(zero.address()), zero.address(), seconds(30), 3);
  auto waiting = std::async(std::launch::async, [&] { return join(fits, RegistrationOf(1, 3)); });
  Node misfit(2, Dial(zero.address()), zero.address(), seconds(30), 3);
  control::Registration other = RegistrationOf(2, 3);
  other.add_agreements()->set_name("lr");
  const absl::Status refused = join(misfit, other);
  EXPECT_EQ(FailureOf(refused), Failure::kRendezvous);
  EXPECT_EQ(refused.message(),
            "rank 0 refuses rank 2 at 127.0.0.1:7002: lr is \"\" there and not given on rank 0; "
            "start every rank with the same configuration and the same files");
  EXPECT_EQ(waiting.get(), refused);
  EXPECT_EQ(zero.service.verdict(), refused);
  EXPECT_TRUE(zero.service.AwaitDeparture());
}

// What a caller is told that sends `registration`: a directive, or how the stream
// ended.
struct Answer {
  std::optional<control::Directive> directive;
  grpc::Status end;
};
Answer Register(const RankZero& zero, const control::Registration& registration) {
  auto stub = control::Control::NewStub(Dial(zero.address()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kLong);
  auto stream = stub->Connect(&context);
  control::Report report;
  *report.mutable_registration() = registration;
  stream->Write(report);
  control::Directive directive;
  Answer answer;
  if (stream->Read(&directive)) {
    answer.directive = directive;
    context.TryCancel();
  }
  answer.end = stream->Finish();
  return answer;
}

TEST(GrpcControl, WhoDoesNotShowTheTokenIsToldNothing) {
  const RunToken token("the token of this run");
  RankZero zero(2, seconds(30), 0, seconds(20), token);
  control::Registration misfit = RegistrationOf(1, 7);
  control::Registration of_another = RegistrationOf(0, 2);
  Prove(token, &of_another);
  of_another.set_rank(1);
  control::Registration another_token = RegistrationOf(1, 2);
  Prove(RunToken("the token of another run"), &another_token);
  for (const auto& registration : {RegistrationOf(1, 2), misfit, of_another, another_token}) {
    const Answer answer = Register(zero, registration);
    EXPECT_FALSE(answer.directive.has_value()) << answer.directive->ShortDebugString();
    EXPECT_EQ(answer.end.error_code(), grpc::StatusCode::UNAUTHENTICATED);
    EXPECT_EQ(answer.end.error_message(), "refused");
  }
  // Who has it is told what is wrong.
  Prove(token, &misfit);
  const Answer answer = Register(zero, misfit);
  ASSERT_TRUE(answer.directive.has_value()) << answer.end.error_message();
  EXPECT_THAT(answer.directive->abort().message(), HasSubstr("number of nodes is 7 there"));
}

TEST(GrpcControl, ANodeWithoutTheTokenHearsWhatHelps) {
  RankZero zero(2, seconds(30), 0, seconds(20), RunToken("the token of this run"));
  Node node(1, Dial(zero.address()), zero.address());
  const auto roster = node.Join(2);
  EXPECT_EQ(FailureOf(roster.status()), Failure::kRendezvous);
  EXPECT_THAT(std::string(roster.status().message()),
              AllOf(HasSubstr("rank 0 at " + zero.address() + " refuses this node"),
                    HasSubstr("--token-file or GRAPEVINE_TOKEN")));
}

// A call that is over, but keeps gRPC's thread until it is let go. It is cancelled once it has
// started: a call that is over before that ends on a thread of gRPC's executor, which nobody else
// waits for.
class Idler final : public grpc::ClientBidiReactor<control::Report, control::Directive> {
 public:
  struct Latch {
    Mutex mutex;
    Condition changed;
    int idling ABSL_GUARDED_BY(mutex) = 0;
    bool open ABSL_GUARDED_BY(mutex) = false;
    // False when the deadline is over.
    bool Await(int wanted) {
      const auto deadline = steady_clock::now() + kLong;
      MutexLock lock(mutex);
      while (wanted > 0 ? idling < wanted : idling > 0) {
        if (!changed.WaitUntil(mutex, deadline)) return false;
      }
      return true;
    }
    void Open() {
      MutexLock lock(mutex);
      open = true;
      changed.NotifyAll();
    }
  };

  Idler(control::Control::Stub* stub, std::shared_ptr<Latch> latch) : latch_(std::move(latch)) {
    stub->async()->Connect(&context_, this);
    StartCall();
    context_.TryCancel();  // OnDone deletes nothing before the latch opens
  }
  void OnDone(const grpc::Status&) override {
    {
      MutexLock lock(latch_->mutex);
      ++latch_->idling;
      latch_->changed.NotifyAll();
      while (!latch_->open) latch_->changed.WaitUntil(latch_->mutex, steady_clock::now() + kLong);
      --latch_->idling;
      latch_->changed.NotifyAll();
    }
    delete this;
  }

 private:
  const std::shared_ptr<Latch> latch_;
  grpc::ClientContext context_;
};

// All threads of gRPC's, until it is told to let go of them.
class NoThreadLeft {
 public:
  explicit NoThreadLeft(const RankZero& zero)
      : stub_(control::Control::NewStub(Dial(zero.address()))) {
    // gRPC serves callbacks with half as many threads as there are cores, 2 to 16.
    constexpr int kMaxThreads = 16;
    const int threads =
        std::clamp(static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)) / 2, 2, kMaxThreads);
    for (int i = 0; i < kMaxThreads; ++i) new Idler(stub_.get(), latch_);  // each deletes itself
    EXPECT_TRUE(latch_->Await(threads));
  }
  // Does `what` on a thread of its own; it must return before there are threads again.
  void ExpectToReturn(std::function<void()> what) {
    std::promise<void> returned;
    std::thread thread([&] {
      what();
      returned.set_value();
    });
    EXPECT_EQ(returned.get_future().wait_for(kLong), std::future_status::ready);
    latch_->Open();
    thread.join();
    EXPECT_TRUE(latch_->Await(0));
  }

 private:
  const std::shared_ptr<Idler::Latch> latch_ = std::make_shared<Idler::Latch>();
  const std::unique_ptr<control::Control::Stub> stub_;
};

TEST(GrpcControl, AClientCanBeDestroyedWhenGrpcHasNoThreadLeft) {
  RankZero zero(1);
  auto nodes = JoinAll(zero, 1);
  NoThreadLeft none(zero);
  none.ExpectToReturn([&] { nodes.clear(); });
}

TEST(GrpcControl, JoiningEndsWhenGrpcHasNoThreadLeft) {
  RankZero zero(2);
  auto node = std::make_unique<Node>(1, Dial(zero.address()), zero.address());
  NoThreadLeft none(zero);
  absl::Status joined;
  none.ExpectToReturn([&] { joined = node->Join(2, seconds(1)).status(); });
  EXPECT_EQ(FailureOf(joined), Failure::kRendezvous);
  EXPECT_THAT(std::string(joined.message()), HasSubstr("gRPC has no thread left"));
}

// What rank 0 says on a stream to which these registrations are written, until it ends.
std::vector<control::Directive> Told(const RankZero& zero,
                                     const std::vector<control::Registration>& registrations,
                                     grpc::Status* end) {
  auto stub = control::Control::NewStub(Dial(zero.address()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kLong);
  auto stream = stub->Connect(&context);
  for (const control::Registration& registration : registrations) {
    control::Report report;
    *report.mutable_registration() = registration;
    stream->Write(report);
  }
  std::vector<control::Directive> told;
  control::Directive directive;
  while (stream->Read(&directive)) told.push_back(directive);
  *end = stream->Finish();
  return told;
}

TEST(GrpcControl, AStreamEndsWithItsFirstRefusal) {
  RankZero zero(2);
  grpc::Status end;
  const auto told = Told(zero, std::vector(3, RegistrationOf(1, 7)), &end);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(told[0].abort().message(), HasSubstr("number of nodes is 7 there"));
  EXPECT_TRUE(end.ok()) << end.error_message();
}

TEST(GrpcControl, AReportThatIsTooLongIsNotLookedAt) {
  RankZero zero(2);
  control::Registration registration = RegistrationOf(1, 2);
  registration.add_agreements()->set_value(std::string(GrpcCoordinatorService::kMaxReport, 'x'));
  grpc::Status end;
  EXPECT_THAT(Told(zero, {registration}, &end), testing::IsEmpty());
  EXPECT_EQ(end.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(end.error_message(), "refused");
}

// A coordinator that takes the connection, says one thing, then nothing.
class MuteService final : public control::Control::CallbackService {
 public:
  explicit MuteService(control::Directive directive) : directive_(std::move(directive)) {}

 private:
  class Mute final : public grpc::ServerBidiReactor<control::Report, control::Directive> {
   public:
    explicit Mute(const control::Directive& directive) : directive_(directive) {
      StartRead(&report_);
      StartWrite(&directive_);
    }
    void OnReadDone(bool ok) override {
      if (ok) return StartRead(&report_);
      Finish(grpc::Status::OK);
    }
    void OnDone() override { delete this; }

   private:
    control::Report report_;
    const control::Directive directive_;
  };
  grpc::ServerBidiReactor<control::Report, control::Directive>* Connect(
      grpc::CallbackServerContext*) override {
    return new Mute(directive_);
  }

  const control::Directive directive_;
};

control::Directive RosterOf(int size) {
  control::Directive directive;
  for (int i = 0; i < size; ++i) directive.mutable_roster()->add_addresses("127.0.0.1:1");
  return directive;
}

// A coordinator that reads only when it is let, and keeps what it reads.
class SlowReader final : public control::Control::CallbackService {
 public:
  // The next report of the one stream; nullopt when it has ended, or nothing comes.
  std::optional<control::Report> Next() {
    const auto deadline = steady_clock::now() + kLong;
    MutexLock lock(mutex_);
    while (stream_ == nullptr && changed_.WaitUntil(mutex_, deadline)) continue;
    if (stream_ == nullptr) return std::nullopt;
    read_ = false;
    stream_->StartRead(&report_);
    while (!read_ && changed_.WaitUntil(mutex_, deadline)) continue;
    return read_ && ok_ ? std::optional(report_) : std::nullopt;
  }
  void End() {
    MutexLock lock(mutex_);
    if (stream_ != nullptr) stream_->Finish(grpc::Status::OK);
  }
  void Say(control::Directive directive) {
    MutexLock lock(mutex_);
    directive_ = std::move(directive);
    stream_->StartWrite(&directive_);
  }

 private:
  class Stream final : public grpc::ServerBidiReactor<control::Report, control::Directive> {
   public:
    explicit Stream(SlowReader& reader) : reader_(reader) {}
    void OnReadDone(bool ok) override {
      MutexLock lock(reader_.mutex_);
      reader_.read_ = true;
      reader_.ok_ = ok;
      reader_.changed_.NotifyAll();
    }
    void OnDone() override { delete this; }

   private:
    SlowReader& reader_;
  };
  grpc::ServerBidiReactor<control::Report, control::Directive>* Connect(
      grpc::CallbackServerContext*) override {
    MutexLock lock(mutex_);
    stream_ = new Stream(*this);
    changed_.NotifyAll();
    return stream_;
  }

  Mutex mutex_;
  Condition changed_;
  Stream* stream_ ABSL_GUARDED_BY(mutex_) = nullptr;
  control::Report report_;
  control::Directive directive_;
  bool read_ ABSL_GUARDED_BY(mutex_) = false;
  bool ok_ ABSL_GUARDED_BY(mutex_) = false;
};

// A node at the other end of a slow reader.
class Unheard : public testing::Test {
 protected:
  void SetUp() override {
    const GrpcServer::Register services[] = {
        [&](grpc::ServerBuilder& builder) { builder.RegisterService(&reader_); }};
    auto server = GrpcServer::Start({}, *GrpcCredentials::Load({}), services);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    const std::string address = FormatHostAddress(server_->address());
    node_ = std::make_unique<Node>(1, Dial(address), address);
    joined_ = std::async(std::launch::async, [this] { return node_->Join(2).status(); });
    const auto first = reader_.Next();
    ASSERT_TRUE(first.has_value());
    EXPECT_TRUE(first->has_registration());
  }
  void TearDown() override { reader_.End(); }

  SlowReader reader_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<Node> node_;
  std::future<absl::Status> joined_;
};

// Rank 0 may have sent the roster already: to it, the node is in the run.
TEST_F(Unheard, ANodeThatIsInterruptedWhileItJoinsSaysSoBeforeItLeaves) {
  control::Failure why;
  why.set_culprit(1);
  why.set_message("terminated (SIGTERM)");
  why.set_failure(static_cast<int>(Failure::kTerminated));
  node_->client().Cancel(why);
  const absl::Status joined = joined_.get();
  EXPECT_EQ(joined.message(), why.message());
  EXPECT_EQ(FailureOf(joined), Failure::kTerminated);
  std::optional<control::Report> report = reader_.Next();
  while (report && report->has_heartbeat()) report = reader_.Next();
  ASSERT_TRUE(report.has_value()) << "it left without a word";
  EXPECT_EQ(report->failure().ShortDebugString(), why.ShortDebugString());
  EXPECT_FALSE(reader_.Next().has_value());
}

TEST_F(Unheard, AReportWaitsForAPlaceWhereItMust) {
  reader_.Say(RosterOf(2));
  ASSERT_TRUE(joined_.get().ok());
  control::Report report;
  for (int i = 0; i < 256; ++i) report.mutable_metrics()->add_sketch(i + 0.5);
  int sent = 0;
  absl::Status status;
  while (status.ok() && sent < 100000) {
    report.mutable_metrics()->set_round(++sent);
    status = node_->client().SendBefore(steady_clock::now() + milliseconds(10), report);
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("1024 reports wait for rank 0"));
  auto waits = std::async(std::launch::async, [&] {
    return node_->client().SendBefore(steady_clock::now() + kLong, report);
  });
  Round last = 0;
  while (last < sent) {
    const std::optional<control::Report> read = reader_.Next();
    ASSERT_TRUE(read.has_value()) << "after round " << last;
    last = std::max<Round>(last, read->metrics().round());
  }
  EXPECT_TRUE(waits.get().ok());
}

// What Join of rank 1 of two says when rank 0 has said `directive`.
absl::Status AfterHearing(const control::Directive& directive) {
  MuteService mute(directive);
  const GrpcServer::Register services[] = {
      [&](grpc::ServerBuilder& builder) { builder.RegisterService(&mute); }};
  auto server = GrpcServer::Start({}, *GrpcCredentials::Load({}), services);
  if (!server.ok()) return server.status();
  const std::string address = FormatHostAddress((*server)->address());
  Node node(1, Dial(address), address);
  return node.Join(2).status();
}

TEST(GrpcControl, ADirectiveThatCannotBeObeyedNamesRankZero) {
  control::Directive finish;
  finish.mutable_finish();
  const struct {
    control::Directive directive;
    std::string message;
  } cases[] = {{RosterOf(1), "sent a roster of 1 addresses for 2 nodes"},
               {RosterOf(3), "sent a roster of 3 addresses for 2 nodes"},
               {finish, "ended the run before it began"},
               {control::Directive(), "sent a directive that this node does not know"}};
  for (const auto& c : cases) {
    const absl::Status status = AfterHearing(c.directive);
    EXPECT_EQ(FailureOf(status), Failure::kPeerLost) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(testing::StartsWith("rank 0 (the coordinator at 127.0.0.1:"),
                      HasSubstr(c.message), HasSubstr("run the same grapevine on every host")));
  }
}

TEST(GrpcControl, RankZerosSilenceIsNoticed) {
  MuteService mute(RosterOf(2));
  const GrpcServer::Register services[] = {
      [&](grpc::ServerBuilder& builder) { builder.RegisterService(&mute); }};
  auto server = GrpcServer::Start({}, *GrpcCredentials::Load({}), services);
  ASSERT_TRUE(server.ok());
  const std::string address = FormatHostAddress((*server)->address());
  Node node(1, Dial(address), address, milliseconds(500));
  ASSERT_TRUE(node.Join(2).ok());
  node.Start();
  const absl::Status end = node.AwaitEnd();
  EXPECT_EQ(FailureOf(end), Failure::kPeerLost);
  EXPECT_THAT(std::string(end.message()),
              AllOf(HasSubstr("is silent"), HasSubstr("--peer-timeout=0.5s")));
}

TEST(GrpcControl, HeartbeatsKeepAnIdleRunAlive) {
  constexpr milliseconds kPeerTimeout{1000};
  RankZero zero(2, kPeerTimeout);
  auto nodes = JoinAll(zero, 2, kPeerTimeout);
  for (auto& node : nodes) node->Start();
  // Two time-outs' worth of nothing but heartbeats, eight of which come in one.
  for (auto& node : nodes) ASSERT_TRUE(node->AwaitBeats(2 * 8));
  EXPECT_TRUE(zero.service.verdict().ok()) << zero.service.verdict();
  for (auto& node : nodes) node->Done(10);
  zero.AwaitAllDone();
  for (auto& node : nodes) EXPECT_TRUE(node->AwaitEnd().ok());
}

TEST(GrpcControl, AFloodOfUnauthenticatedCallersIsBounded) {
  RankZero zero(1);
  auto stub = control::Control::NewStub(Dial(zero.address()));
  struct Call {
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReaderWriter<control::Report, control::Directive>> stream;
  };
  std::vector<std::unique_ptr<Call>> calls;
  constexpr int kExtra = 20;
  for (int i = 0; i < GrpcCoordinatorService::kMaxUnauthenticated + 1 + kExtra; ++i) {
    calls.push_back(std::make_unique<Call>());
    calls.back()->stream = stub->Connect(&calls.back()->context);
  }
  // The service is full: one more is rejected at once.
  grpc::ClientContext context;
  auto late = stub->Connect(&context);
  control::Directive directive;
  EXPECT_FALSE(late->Read(&directive));
  EXPECT_EQ(late->Finish().error_code(), grpc::StatusCode::RESOURCE_EXHAUSTED);
  for (auto& call : calls) call->context.TryCancel();
  for (auto& call : calls) (void)call->stream->Finish();
}

}  // namespace
}  // namespace grapevine

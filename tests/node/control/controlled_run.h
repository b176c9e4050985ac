// A run's control, over real sockets and in process: rank 0's service, and nodes that join it.
#ifndef GRAPEVINE_TESTS_NODE_CONTROL_CONTROLLED_RUN_H_
#define GRAPEVINE_TESTS_NODE_CONTROL_CONTROLLED_RUN_H_

#include <gmock/gmock.h>
#include <grpcpp/create_channel.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "node/control/control_protocol.h"
#include "node/control/grpc_control_client.h"
#include "node/control/grpc_coordinator_service.h"
#include "node/server/grpc_keepalive.h"
#include "node/server/grpc_server.h"
#include "tests/node/beat_counter.h"
#include "tests/node/control/packed_lists.h"
#include "tests/testing/slowness.h"

namespace grapevine::testing {

inline constexpr Round kRounds = 20;
// For what must happen; a failing test only waits longer.
inline const std::chrono::seconds kLong = Patient(std::chrono::seconds(20));

inline control::Registration RegistrationOf(Rank rank, Rank world_size) {
  control::Registration registration;
  registration.set_protocol_version(kControlProtocolVersion);
  registration.set_rank(rank);
  registration.set_world_size(world_size);
  registration.set_nonce(static_cast<uint64_t>(rank) + 1);
  registration.set_address(":" + std::to_string(7000 + rank));
  return registration;
}

inline std::shared_ptr<grpc::Channel> Dial(const std::string& address) {
  grpc::ChannelArguments arguments;
  SetKeepalive(std::chrono::seconds(5), &arguments);
  // A channel of its own per client, as if each were a process.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  return grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
}

// Rank 0's half: server and service.
struct RankZero {
  explicit RankZero(Rank world_size,
                    std::chrono::milliseconds peer_timeout = std::chrono::seconds(30), int port = 0,
                    std::chrono::milliseconds rendezvous_timeout = std::chrono::seconds(20),
                    RunToken token = {}, std::optional<BudgetDeskOptions> budget = std::nullopt)
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
class ControlledNode {
 public:
  ControlledNode(Rank rank, std::shared_ptr<grpc::Channel> channel, const std::string& address,
                 std::chrono::milliseconds peer_timeout = std::chrono::seconds(30),
                 Rank world_size = 2, RunToken token = {}, GrpcControlClient::Dial dial = {})
      : rank_(rank),
        client_(std::move(channel),
                {.coordinator = address,
                 .peer_timeout = peer_timeout,
                 .world_size = world_size,
                 .rounds = kRounds},
                std::move(token), std::move(dial)) {}

  absl::StatusOr<control::Roster> Join(Rank world_size, std::chrono::seconds patience = kLong) {
    return client_.Join(RegistrationOf(rank_, world_size),
                        std::chrono::steady_clock::now() + patience);
  }

  void Start() {
    client_.Start(
        {.on_round_limit =
             [this](const control::RoundLimit& moved) { limit_.set_value(moved.limit()); },
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
inline std::vector<std::unique_ptr<ControlledNode>> JoinAll(
    RankZero& zero, Rank n, std::chrono::milliseconds peer_timeout = std::chrono::seconds(30)) {
  std::vector<std::unique_ptr<ControlledNode>> nodes;
  std::vector<std::future<absl::StatusOr<control::Roster>>> joins;
  for (Rank rank = 0; rank < n; ++rank) {
    nodes.push_back(std::make_unique<ControlledNode>(
        rank, rank == 0 ? zero.server->InProcessChannel() : Dial(zero.address()), zero.address(),
        peer_timeout, n));
    ControlledNode& node = *nodes.back();
    joins.push_back(std::async(std::launch::async, [&node, n, rank] {
      control::Registration registration = RegistrationOf(rank, n);
      if (rank == 0) registration.set_address("127.0.0.1:7000");
      return node.client().Join(registration, std::chrono::steady_clock::now() + kLong);
    }));
  }
  for (Rank rank = 0; rank < n; ++rank) {
    const auto roster = joins[static_cast<size_t>(rank)].get();
    EXPECT_TRUE(roster.ok()) << roster.status();
    if (!roster.ok()) continue;
    EXPECT_EQ(roster->run_id(), "run");
    std::vector<std::string> addresses;
    for (Rank peer = 0; peer < n; ++peer) {
      addresses.push_back("127.0.0.1:" + std::to_string(7000 + peer));
    }
    EXPECT_EQ(AddressesIn(*roster), addresses);
  }
  return nodes;
}

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_CONTROL_CONTROLLED_RUN_H_

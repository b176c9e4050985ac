// Runs whose order of events is random, recorded and replayed: the same bits, whatever the
// algorithm; and recordings in which an event has no cause.
#include "sim/replay/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "base/status.h"
#include "run/recording/recorder.h"
#include "sim/engine/replica_vectors.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/cluster.h"
#include "tests/testing/function_objective.h"
#include "tests/testing/random_trade.h"
#include "tests/testing/registered_specs.h"
#include "tests/testing/seeds.h"
#include "topology/weights/mixing.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using testing::Cluster;
using testing::ClusterOptions;
using testing::FunctionObjective;
using ::testing::HasSubstr;
using testing::RandomTrade;

constexpr Rank kNodes = 5;
constexpr Round kRounds = 20;
constexpr int64_t kParameters = 11;
constexpr double kMomentum = 0.9;
constexpr double kRate = 0.1;

using Models = std::vector<std::vector<float>>;
using Events = std::vector<std::vector<Event>>;

void Pull(Rank rank, Round round, std::span<const float> x, std::span<float> gradient) {
  for (size_t i = 0; i < x.size(); ++i) {
    gradient[i] = x[i] - static_cast<float>(rank + 1) - 0.1f * static_cast<float>(round) -
                  0.01f * static_cast<float>(i);
  }
}

void Ones(std::span<float> replica) { std::ranges::fill(replica, 1.0f); }

// How a recorded run came out.
struct Recorded {
  std::vector<std::string> files;
  Models models;
};

class ReplayTest : public ::testing::Test {
 protected:
  // A registered algorithm, or random trade.
  std::unique_ptr<Algorithm> Make(const AlgorithmOptions& options) const {
    if (spec_.empty()) {
      return std::make_unique<RandomTrade>(options.rank, kNodes, /*seed=*/5, nullptr);
    }
    auto algorithm = MakeAlgorithm(spec_, options);
    EXPECT_TRUE(algorithm.ok()) << algorithm.status();
    return *std::move(algorithm);
  }
  AlgorithmOptions OptionsOf(Rank rank) const {
    auto topology = MakeTopology("ring", kNodes, 1);
    return {.rank = rank,
            .mixing = *MakeMixing("metropolis", *std::move(topology)),
            .learning_rate = [](Round) { return kRate; },
            .window = 2};
  }

  RecordingHeader HeaderOf(Rank rank) const {
    RecordingHeader header;
    header.set_rank(rank);
    header.set_nodes(kNodes);
    return header;
  }
  std::string FileOf(Rank rank) const { return folder_.File(absl::StrCat("node-", rank)); }

  Recorded Record(uint64_t order_seed) {
    std::vector<std::unique_ptr<RecordingWriter>> writers;
    Recorded recorded;
    for (Rank rank = 0; rank < kNodes; ++rank) {
      recorded.files.push_back(FileOf(rank));
      writers.push_back(*RecordingWriter::Create(FileOf(rank), HeaderOf(rank)));
    }
    Cluster cluster({.algorithm = spec_.empty() ? "dpsgd" : spec_,
                     .make_algorithm =
                         [&](AlgorithmOptions options) {
                           RecordingWriter* const writer = writers[options.rank].get();
                           return std::make_unique<RecordingAlgorithm>(
                               Make(OptionsOf(options.rank)),
                               [writer](const Event& event) { return writer->Add(event); });
                         },
                     .topology = "ring",
                     .nodes = kNodes,
                     .parameters = kParameters,
                     .learning_rate = kRate,
                     .momentum = kMomentum,
                     .rounds = !spec_.empty(),
                     .order_seed = order_seed,
                     .initial = [](Rank, std::span<float> replica) { Ones(replica); },
                     .gradient = Pull});
    const absl::Status status = cluster.Run(kRounds);
    EXPECT_TRUE(status.ok()) << status << ", order seed " << order_seed;
    for (Rank rank = 0; rank < kNodes; ++rank) {
      const auto model = cluster.replica(rank);
      recorded.models.emplace_back(model.begin(), model.end());
      EXPECT_TRUE(writers[rank]->Finish(model).ok());
    }
    return recorded;
  }

  // The models of a replay; empty where a node has none.
  absl::StatusOr<Models> Replayed(const std::vector<std::string>& files,
                                  FunctionObjective::Function gradient = Pull) {
    recordings_ = *ReadRecordings(files);
    layout_ = {};
    layout_.AddParameter("x", {kParameters});
    optimizer_ = *MakeOptimizer("sgd", {.momentum = kMomentum, .weight_decay = 0});
    std::vector<std::unique_ptr<Objective>> objectives;
    for (Rank rank = 0; rank < kNodes; ++rank) {
      objectives.push_back(std::make_unique<FunctionObjective>(rank, layout_, gradient));
    }
    vectors_ = std::make_unique<ReplicaVectors>(
        ReplicaVectors::Parts{.layout = &layout_,
                              .optimizer = optimizer_.get(),
                              .initialize =
                                  [](float* replica) {
                                    Ones({replica, kParameters});
                                    return absl::OkStatus();
                                  },
                              .objectives = std::move(objectives)});
    const Round most = HasRounds(spec_) ? kRounds : kRounds * kNodes;
    replay_ = *Replay::Make(recordings_, vectors_.get(), most, [this](Rank rank) {
      return absl::StatusOr<std::unique_ptr<Algorithm>>(Make(OptionsOf(rank)));
    });
    if (absl::Status status = replay_->Run(); !status.ok()) return status;
    Models models;
    for (Rank rank = 0; rank < kNodes; ++rank) {
      const Vec model = replay_->model(rank);
      const SharedVector vector = model ? vectors_->At(model) : SharedVector{};
      models.emplace_back(vector.span().begin(), vector.span().end());
    }
    return models;
  }

  // The events of a recorded run; and files with others in their place.
  Events EventsOf(const std::vector<std::string>& files) {
    const auto nodes = ReadRecordings(files);
    EXPECT_TRUE(nodes.ok()) << nodes.status();
    Events events;
    for (const RecordedNode& node : *nodes) {
      events.emplace_back();
      for (EventCursor cursor(&node); !cursor.done(); cursor.Next()) {
        events.back().push_back(cursor.event());
      }
    }
    return events;
  }
  std::vector<std::string> Write(const Events& events) {
    std::vector<std::string> files;
    for (Rank rank = 0; rank < kNodes; ++rank) {
      files.push_back(FileOf(rank));
      auto writer = *RecordingWriter::Create(FileOf(rank), HeaderOf(rank));
      for (const Event& event : events[rank]) EXPECT_TRUE(writer->Add(event).ok());
      EXPECT_TRUE(writer->Finish({}).ok());
    }
    return files;
  }
  void ExpectRefused(const Events& events, const std::string& why) {
    const auto replayed = Replayed(Write(events));
    ASSERT_FALSE(replayed.ok()) << why;
    EXPECT_EQ(FailureOf(replayed.status()), Failure::kInput);
    EXPECT_THAT(std::string(replayed.status().message()), HasSubstr(why));
  }

  const ScratchFolder folder_;
  std::string spec_ = "dpsgd";  // empty: random trade
  std::vector<RecordedNode> recordings_;
  ReplicaLayout layout_;
  std::unique_ptr<Optimizer> optimizer_;
  std::unique_ptr<ReplicaVectors> vectors_;
  std::unique_ptr<Replay> replay_;
};

TEST_F(ReplayTest, EveryAlgorithmEndsInTheRecordedBitsInAnyOrderOfEvents) {
  std::vector<std::string> specs = testing::ExamplesOf(Algorithms());
  specs.push_back("");
  for (const std::string& spec : specs) {
    spec_ = spec;
    if (!spec.empty() && !MakeAlgorithm(spec, OptionsOf(0)).ok()) continue;  // on other graphs
    for (const uint64_t seed : testing::Seeds(5)) {
      SCOPED_TRACE(absl::StrCat(spec, ", order seed ", seed));
      const Recorded recorded = Record(seed);
      const auto replayed = Replayed(recorded.files);
      ASSERT_TRUE(replayed.ok()) << replayed.status();
      EXPECT_EQ(*replayed, recorded.models);
    }
  }
}

// Otherwise the test above would say nothing.
TEST_F(ReplayTest, TheOrderOfEventsIsWhatARunWithoutRoundsDependsOn) {
  spec_ = "eager-gossip";
  EXPECT_NE(Record(1).models, Record(2).models);
}

TEST_F(ReplayTest, AnotherGradientEndsInOtherBits) {
  const Recorded recorded = Record(1);
  const auto replayed =
      Replayed(recorded.files,
               [](Rank rank, Round round, std::span<const float> x, std::span<float> gradient) {
                 Pull(rank, round, x, gradient);
                 if (rank == 3 && round == 2) gradient[4] += 1e-3f;
               });
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_NE(*replayed, recorded.models);
}

TEST_F(ReplayTest, WhatNeverComesIsNamed) {
  Events events = EventsOf(Record(1).files);
  // Rank 1 starts, and sees nothing more.
  events[1].erase(events[1].begin() + 2, events[1].end());
  const auto replayed = Replayed(Write(events));
  ASSERT_FALSE(replayed.ok());
  EXPECT_EQ(FailureOf(replayed.status()), Failure::kInput);
  EXPECT_THAT(std::string(replayed.status().message()),
              AllOf(HasSubstr("the node waits for a message of rank 1 (channel 0"),
                    HasSubstr("which never comes; the recording was changed")));
}

TEST_F(ReplayTest, AnEventWithoutACauseIsNamedByRankEventAndOffset) {
  const Events events = EventsOf(Record(1).files);
  const auto begin = [&](Rank rank, const Event& event) {
    Events changed = events;
    changed[rank].insert(changed[rank].begin(), event);
    return changed;
  };
  const auto after_start = [&](Rank rank, const Event& event) {
    Events changed = events;
    changed[rank].insert(changed[rank].begin() + 2, event);
    return changed;
  };
  ExpectRefused(begin(1, Left{{1}}), FileOf(1) + ": rank 1, offset ");
  ExpectRefused(begin(1, Left{{1}}), "event 0: the node hears of a message before it has started");
  ExpectRefused(begin(2, GradientReady{0}),
                "event 0: a gradient is ready that nobody asked for (round 0, from 0)");
  ExpectRefused(after_start(2, GradientReady{.round = 0, .from = 3}),
                "a gradient is ready that nobody asked for (round 0, from 3)");
  ExpectRefused(after_start(0, Start{}), "event 2: the node starts a second time");
  ExpectRefused(after_start(0, RoundLimit{1}), "event 2: the end of the run moves inwards");
  ExpectRefused(after_start(0, RoundLimit{kRounds + 1}),
                absl::StrCat("event 2: the node is given ", kRounds + 1, " rounds, of ", kRounds,
                             " that it can have"));
  ExpectRefused(begin(0, RoundLimit{std::numeric_limits<Round>::max()}),
                "event 0: the node is given 9223372036854775807 rounds, of ");
  ExpectRefused(after_start(0, Sent{{99}}), "event 2: there is no send 99 of this node under way");
  ExpectRefused(after_start(0, Sent{{1}}), "event 2: a message ends before it has left");
  ExpectRefused(after_start(0, Received{.from = 3, .tag = {.index = 0}}),
                "event 2: a message arrives that nobody posted for (rank 3, ");
  ExpectRefused(after_start(0, Offered{.from = 1, .tag = {.index = 0}}),
                "event 2: a message is announced that is posted for, or was not offered");
  ExpectRefused(after_start(0, Lost{.from = 1, .tag = {.index = 0}}),
                "event 2: a post is lost that was not taken back");
}

TEST_F(ReplayTest, TwoEventsThatChangePlacesAreNoticed) {
  Events events = EventsOf(Record(1).files);
  std::vector<Event>& node = events[4];
  const auto sent = std::ranges::find_if(
      node, [](const Event& event) { return std::holds_alternative<Sent>(event); });
  const SendId id = std::get<Sent>(*sent).id;
  const auto left = std::ranges::find_if(node, [&](const Event& event) {
    const auto* candidate = std::get_if<Left>(&event);
    return candidate != nullptr && candidate->id == id;
  });
  std::iter_swap(sent, left);
  ExpectRefused(events,
                absl::StrCat("event ", left - node.begin(), ": a message ends before it has left"));
}

TEST_F(ReplayTest, RecordingsThatBreakOffAreReplayedAsFarAsTheyGo) {
  const Recorded recorded = Record(1);
  const Events events = EventsOf(recorded.files);
  {
    auto writer = *RecordingWriter::Create(FileOf(2), HeaderOf(2));
    for (size_t i = 0; i < events[2].size() / 2; ++i) {
      ASSERT_TRUE(writer->Add(events[2][i]).ok());
    }
  }
  const auto replayed = Replayed(recorded.files);
  ASSERT_TRUE(replayed.ok()) << replayed.status();
  EXPECT_FALSE(replay_->WaitsFor(2)) << "it has taken all that it recorded";
  EXPECT_GT(replay_->events(), static_cast<int64_t>(events[2].size() / 2));
  const auto waits = replay_->WaitsFor(1);
  ASSERT_TRUE(waits);
  EXPECT_THAT(*waits, HasSubstr("the node waits for"));
}

}  // namespace
}  // namespace grapevine

#include "experiment/real/outside_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "experiment/core/experiment.h"
#include "experiment/real/threaded_run.h"
#include "model/files/safetensors.h"
#include "model/problem/objective.h"
#include "run/config/config_resolve.h"
#include "run/records/metrics.h"
#include "run/records/run_directory.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/stalled_file.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using SettingsByName = std::map<std::string, std::string>;

std::chrono::steady_clock::time_point InTime() {
  return std::chrono::steady_clock::now() + std::chrono::seconds(60);
}

constexpr Rank kOutsiders = 3;

// The other half of an outside node: Grapevine's own gradients, computed by a caller.
class OutsideNodeTest : public ::testing::Test {
 protected:
  // An experiment with data, of which the callers compute the gradients.
  void Compute(SettingsByName settings) {
    settings.insert({{"rounds", "8"}, {"schedule", "constant"}, {"topology", "ring"}});
    SettingsByName whole = settings;
    whole.insert({{"nodes", absl::StrCat(kOutsiders)},
                  {"model", "lenet5"},
                  {"data", "synthetic:train=256:test=50"}});
    const auto resolved = ResolveConfig({.flags = whole});
    ASSERT_TRUE(resolved.ok()) << resolved.status();
    auto experiment = Experiment::Build(resolved->config);
    ASSERT_TRUE(experiment.ok()) << experiment.status();
    experiment_ = *std::move(experiment);
    settings_ = std::move(settings);
  }

  SettingsByName SettingsOf(Rank rank) const {
    SettingsByName own = settings_;
    own.insert({{"rank", absl::StrCat(rank)},
                {"world_size", absl::StrCat(kOutsiders)},
                {"coordinator", absl::StrCat("file:", folder_.File("coordinator"))},
                {"bind", "127.0.0.1"}});
    return own;
  }

  OutsideModel ModelAtStart() const {
    OutsideModel model{experiment_->layout(), std::vector<float>(experiment_->layout().size)};
    EXPECT_TRUE(experiment_->Initialize(model.initial.data()).ok());
    return model;
  }

  // Steps until the run is over; returns the node's model.
  std::vector<float> Step(Rank rank) const {
    const auto course = experiment_->NewCourse();
    const auto objectives = experiment_->MakeObjectives(rank, rank + 1, {}, course.get());
    auto node = OutsideNode::Join(SettingsOf(rank), ModelAtStart());
    if (!objectives.ok() || !node.ok()) {
      ADD_FAILURE() << objectives.status() << node.status();
      return {};
    }
    while (true) {
      const auto task = (*node)->Await(InTime());
      if (!task.ok() || !*task) {
        ADD_FAILURE() << task.status();
        return {};
      }
      const SharedVector& replica = (*task)->replica;
      if ((*task)->over()) {
        const auto end = (*node)->AwaitEnd(InTime());
        EXPECT_TRUE(end && end->ok());
        return {replica.span().begin(), replica.span().end()};
      }
      const auto loss = objectives->front()->Gradient(replica.data.get(), (*task)->round,
                                                      (*task)->gradient.data.get());
      EXPECT_TRUE(loss.ok() && (*node)->Deliver(*loss).ok());
    }
  }

  std::vector<std::vector<float>> StepAll() const {
    std::vector<std::vector<float>> models(kOutsiders);
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < kOutsiders; ++rank) {
      threads.emplace_back([this, rank, &models] { models[rank] = Step(rank); });
    }
    for (std::thread& thread : threads) thread.join();
    return models;
  }

  const ScratchFolder folder_;
  std::unique_ptr<Experiment> experiment_;
  SettingsByName settings_;
};

// The same bits as where nodes compute their own gradients.
TEST_F(OutsideNodeTest, GivesTheModelsOfNodesThatComputeThemselves) {
  for (const char* algorithm : {"dpsgd", "dpsgd:order=atc", "allreduce"}) {
    SCOPED_TRACE(algorithm);
    Compute({{"algorithm", algorithm}});
    const std::string run = folder_.File(absl::StrCat("run-", algorithm));
    std::filesystem::create_directory(run);
    const auto summary = RunInThreads(*experiment_, {.run_directory = run});
    ASSERT_TRUE(summary.ok()) << summary.status();
    const auto models = StepAll();
    for (Rank rank = 0; rank < kOutsiders; ++rank) {
      auto file = Safetensors::Open(NodeDirectory(run, rank) + "/model.safetensors");
      ASSERT_TRUE(file.ok()) << file.status();
      std::vector<float> own(experiment_->layout().size);
      ASSERT_TRUE(file->Load(experiment_->layout(), own.data()).ok());
      EXPECT_TRUE(models[rank] == own) << "rank " << rank;
    }
    std::filesystem::remove_all(folder_.File("coordinator"));
  }
}

// The program hears of it, and may leave, though a thread of its node never returns.
TEST_F(OutsideNodeTest, ADiskThatStallsIsToldToTheProgramsOfAll) {
  Compute(
      {{"rounds", "1000000"}, {"peer_timeout", "3s"}, {"step_timeout", "4s"}, {"log_every", "1"}});
  std::filesystem::create_directories(folder_.File("slow/node-1"));
  const testing::StalledFile stalled(folder_.File("slow/node-1/metrics.jsonl"));
  const auto step = [this](Rank rank) {
    SettingsByName settings = SettingsOf(rank);
    settings["out"] = folder_.File(rank == 1 ? "slow" : absl::StrCat("run-", rank));
    auto node = OutsideNode::Join(settings, ModelAtStart());
    if (!node.ok()) return node.status();
    absl::Status status;
    while (status.ok()) {
      const auto task = (*node)->Await(InTime());
      if (task.ok() && (!*task || (*task)->over())) break;
      if (task.ok()) std::ranges::fill((*task)->gradient.span(), 0.0f);
      status = task.ok() ? (*node)->Deliver(0) : task.status();
    }
    OutsideNode::Release(*std::move(node));
    return status;
  };
  std::vector<absl::Status> ends(kOutsiders);
  std::vector<std::thread> threads;
  for (Rank rank = 0; rank < kOutsiders; ++rank) {
    threads.emplace_back([&, rank] { ends[rank] = step(rank); });
  }
  for (std::thread& thread : threads) thread.join();
  for (const absl::Status& end : ends) {
    EXPECT_EQ(FailureOf(end), Failure::kOutput) << end;
    EXPECT_THAT(std::string(end.message()), HasSubstr("cannot write to " + stalled.path()));
  }
}

TEST_F(OutsideNodeTest, RefusesWhatOnlyItsOwnModelsCanDo) {
  Compute({});
  for (const auto& [name, value, words] :
       std::vector<std::tuple<std::string, std::string, std::string>>{
           {"model", "lenet5", "--model=lenet5: the program that computes"},
           {"data", "synthetic", "--data=synthetic: the program that computes"},
           {"accumulate", "2", "--accumulate=2: is about gradients"},
           {"clip_norm", "1", "--clip-norm=1: is about gradients"},
           {"epochs", "3", "--rounds"},
           {"target_accuracy", "0.5", "--target-accuracy=0.5"}}) {
    settings_ = {{name, value}};
    if (name != "epochs") settings_.insert({"rounds", "8"});
    const auto node = OutsideNode::Join(settings_, ModelAtStart());
    EXPECT_EQ(FailureOf(node.status()), Failure::kUsage) << name;
    EXPECT_THAT(std::string(node.status().message()), HasSubstr(words));
  }
}

TEST_F(OutsideNodeTest, TakesWeightsOnlyWhereAStepTakesUpdatesAsTheyAre) {
  Compute({{"momentum", "0.9"}});
  settings_["rounds"] = "1";
  const auto node = OutsideNode::Join(settings_, ModelAtStart());
  ASSERT_TRUE(node.ok()) << node.status();
  const auto task = (*node)->Await(InTime());
  ASSERT_TRUE(task.ok() && *task);
  const absl::Status status = (*node)->DeliverWeights(**task, (*task)->replica.data.get(), 0);
  EXPECT_EQ(FailureOf(status), Failure::kUsage);
  EXPECT_THAT(std::string(status.message()), AllOf(HasSubstr("lr=1"), HasSubstr("momentum=0")));
}

TEST_F(OutsideNodeTest, OneThatIsDroppedEndsItsRun) {
  Compute({});
  auto node = OutsideNode::Join(SettingsOf(0), ModelAtStart());
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_FALSE((*node)->AwaitEnd(std::chrono::steady_clock::now()).has_value());
  const std::string files = (*node)->run_directory();
  EXPECT_TRUE(std::filesystem::exists(files));
  node->reset();
  EXPECT_FALSE(std::filesystem::exists(files)) << "nobody asked for files";
}

// Nodes whose programs say themselves when they end.
class OpenEndedTest : public OutsideNodeTest {
 protected:
  OpenEndedTest() { Compute({{"lr", "1"}, {"momentum", "0"}, {"log_every", "1"}}); }

  std::unique_ptr<OutsideNode> Join(Rank rank, bool open) const {
    SettingsByName settings = SettingsOf(rank);
    if (open) settings.erase("rounds");
    auto node = OutsideNode::Join(settings, ModelAtStart());
    EXPECT_TRUE(node.ok()) << node.status();
    return node.ok() ? *std::move(node) : nullptr;
  }

  // An update that depends on the weights; none from round `steps` on.
  static std::vector<float> Stepped(Rank rank, const GradientDesk::Task& task, int64_t steps) {
    std::vector<float> weights(task.replica.span().begin(), task.replica.span().end());
    if (task.round >= steps) return weights;
    for (float& weight : weights) weight -= 0.01f * weight + 0.001f * static_cast<float>(rank + 1);
    return weights;
  }

  // The node's model after so many steps; `ends_at`: after that many of them it retires.
  std::vector<float> Steps(OutsideNode& node, int64_t steps, std::optional<int64_t> ends_at,
                           bool all = false) const {
    while (true) {
      const auto task = node.Await(InTime());
      if (!task.ok() || !*task) {
        ADD_FAILURE() << task.status();
        return {};
      }
      if ((*task)->over()) {
        const auto end = node.AwaitEnd(InTime());
        EXPECT_TRUE(end && end->ok());
        return {(*task)->replica.span().begin(), (*task)->replica.span().end()};
      }
      if (ends_at && (*task)->round == *ends_at) {
        EXPECT_TRUE(node.Retire(all).ok());
        continue;
      }
      const std::vector<float> stepped = Stepped(node.rank(), **task, steps);
      const absl::Status delivered = node.DeliverWeights(**task, stepped.data(), 1);
      EXPECT_TRUE(delivered.ok()) << delivered;
      if (!delivered.ok()) return {};
    }
  }

  // The models of all, each after body(rank, node).
  template <typename F>
  std::vector<std::vector<float>> OfAll(bool open, F body) const {
    std::vector<std::vector<float>> models(kOutsiders);
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < kOutsiders; ++rank) {
      threads.emplace_back([this, rank, open, &models, &body] {
        const auto node = Join(rank, open);
        if (node) models[rank] = body(rank, *node);
      });
    }
    for (std::thread& thread : threads) thread.join();
    std::filesystem::remove_all(folder_.File("coordinator"));
    return models;
  }
};

// The same bits as a run of one round more, in which nobody steps.
TEST_F(OpenEndedTest, EndsWithARoundThatAveragesAlone) {
  constexpr int64_t kSteps = 7;  // of SettingsOf's 8 rounds
  for (const char* algorithm : {"dpsgd", "dpsgd:order=atc", "sgp:overlap=1", "average:every=3"}) {
    for (const char* on_failure : {"end", "shrink"}) {
      SCOPED_TRACE(absl::StrCat(algorithm, ", ", on_failure));
      settings_["algorithm"] = algorithm;
      settings_["on_failure"] = on_failure;
      const auto known = OfAll(/*open=*/false, [&](Rank, OutsideNode& node) {
        return Steps(node, kSteps, std::nullopt);
      });
      const auto open = OfAll(/*open=*/true, [&](Rank rank, OutsideNode& node) {
        auto model = Steps(node, kSteps, kSteps);
        EXPECT_EQ(node.average()->round, kSteps + 1);
        if (rank == 0) {
          EXPECT_EQ(node.latest()->round, kSteps + 1);
        }
        return model;
      });
      EXPECT_TRUE(known == open);
    }
  }
}

// Nobody waits for an end of those that have one: the mean is that of all steps that were taken.
TEST_F(OpenEndedTest, WhoHasNoneGoesOnAveraging) {
  settings_["peer_timeout"] = "2s";  // heartbeats come often
  const std::vector<int64_t> steps = {3, 40, 90};
  std::vector<std::vector<float>> averages(kOutsiders);
  OfAll(/*open=*/true, [&](Rank rank, OutsideNode& node) {
    std::vector<float> constant(node.experiment().layout().size, 0.001f * (rank + 1));
    for (int64_t step = 0; step < steps[rank]; ++step) {
      const auto task = node.Await(InTime());
      if (!task.ok() || !*task || (*task)->over()) {
        ADD_FAILURE() << task.status();
        return std::vector<float>();
      }
      std::vector<float> weights((*task)->replica.span().begin(), (*task)->replica.span().end());
      for (size_t i = 0; i < weights.size(); ++i) weights[i] -= constant[i];
      EXPECT_TRUE(node.DeliverWeights(**task, weights.data(), 1).ok());
    }
    EXPECT_TRUE(node.Retire().ok());
    const auto end = node.Await(InTime());
    EXPECT_TRUE(end.ok() && *end && (*end)->over()) << end.status();
    EXPECT_TRUE(node.AwaitEnd(InTime()).value_or(absl::UnknownError("no end")).ok());
    averages[rank] = node.average()->model;
    return std::vector<float>();
  });
  const std::vector<float> start = ModelAtStart().initial;
  const std::vector<float>& average = averages[0];
  ASSERT_EQ(average.size(), start.size());
  for (const std::vector<float>& told : averages) EXPECT_EQ(told, average);
  const float moved = 0.001f * (3 * 1 + 40 * 2 + 90 * 3) / 3;
  for (size_t i = 0; i < start.size(); ++i) ASSERT_NEAR(average[i], start[i] - moved, 1e-4) << i;
}

TEST_F(OpenEndedTest, OneNodeMayEndItForAll) {
  std::vector<int64_t> taken(kOutsiders);
  OfAll(/*open=*/true, [&](Rank rank, OutsideNode& node) {
    const auto ends_at = rank == 1 ? std::optional<int64_t>(5) : std::nullopt;
    auto model = Steps(node, 1'000'000, ends_at, /*all=*/true);
    taken[rank] = node.latest() ? node.latest()->round : 0;
    return model;
  });
  EXPECT_GE(taken[0], 6);
}

TEST_F(OpenEndedTest, AProgramThatEndsBeforeItsFirstStepIsWaitedForByNobody) {
  OfAll(/*open=*/true,
        [&](Rank rank, OutsideNode& node) { return Steps(node, 5, rank == 2 ? 0 : 5); });
}

TEST_F(OpenEndedTest, WhoIsLostIsNotWaitedFor) {
  settings_["on_failure"] = "shrink";
  OfAll(/*open=*/true, [&](Rank rank, OutsideNode& node) {
    if (rank != 2) return Steps(node, 20, 20);
    for (int step = 0; step < 6; ++step) {
      const auto task = node.Await(InTime());
      EXPECT_TRUE(task.ok() && *task);
      const auto stepped = Stepped(rank, **task, 20);
      EXPECT_TRUE(node.DeliverWeights(**task, stepped.data(), 1).ok());
    }
    node.Interrupt(WithFailure(absl::CancelledError("it has had enough"), Failure::kTerminated));
    return std::vector<float>();
  });
}

TEST_F(OpenEndedTest, NeedsStepsThatChangeNothingWithoutAGradient) {
  settings_ = {{"momentum", "0.9"}, {"lr", "1"}};
  absl::Status refused = OutsideNode::Join(settings_, ModelAtStart()).status();
  EXPECT_EQ(FailureOf(refused), Failure::kUsage);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("say how many rounds the run has"));
  settings_ = {{"algorithm", "adpsgd"}, {"lr", "1"}, {"momentum", "0"}, {"schedule", "constant"}};
  refused = OutsideNode::Join(settings_, ModelAtStart()).status();
  EXPECT_EQ(FailureOf(refused), Failure::kUsage);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("share a budget of gradients"));
}

TEST_F(OpenEndedTest, RefusesWhatMustKnowTheEnd) {
  for (const auto& [algorithm, words] : std::vector<std::pair<std::string, std::string>>{
           {"ps", "its servers must know the end"}, {"average:every=once", "once"}}) {
    settings_["algorithm"] = algorithm;
    SettingsByName settings = SettingsOf(1);  // rank 0 would wait for the others, to tell them
    settings.erase("rounds");
    const absl::Status refused = OutsideNode::Join(settings, ModelAtStart()).status();
    EXPECT_EQ(FailureOf(refused), Failure::kUsage) << algorithm;
    EXPECT_THAT(std::string(refused.message()), HasSubstr(words));
  }
}

// Losses are those of the gradients that there were.
TEST_F(OpenEndedTest, ItsLastLineHasALoss) {
  OfAll(/*open=*/true, [&](Rank rank, OutsideNode& node) {
    auto model = Steps(node, 7, 7);
    if (rank == 0) {
      EXPECT_FALSE(node.latest()->train_loss.has_value()) << "every round is measured";
    }
    return model;
  });
  settings_["log_every"] = "100";
  OfAll(/*open=*/true, [&](Rank rank, OutsideNode& node) {
    auto model = Steps(node, 7, 7);
    if (rank == 0) {
      EXPECT_EQ(node.latest()->train_loss, 1);
    }
    return model;
  });
}

TEST_F(OpenEndedTest, ARunOfAKnownLengthDoesNotEndBefore) {
  const auto node = OutsideNode::Join({{"rounds", "3"}}, ModelAtStart());
  ASSERT_TRUE(node.ok()) << node.status();
  EXPECT_THAT(std::string((*node)->Retire().message()), HasSubstr("--rounds=3: the run ends then"));
}

}  // namespace
}  // namespace grapevine

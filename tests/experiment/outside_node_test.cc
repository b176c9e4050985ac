#include "experiment/real/outside_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <map>
#include <memory>
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

}  // namespace
}  // namespace grapevine

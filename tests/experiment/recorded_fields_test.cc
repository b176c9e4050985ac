// What real and simulated nodes of one experiment write has the same fields.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>

#include "experiment/core/experiment.h"
#include "experiment/real/threaded_run.h"
#include "experiment/simulated/simulated_run.h"
#include "run/config/config_resolve.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"
#include "tests/testing/json_text.h"

namespace grapevine {
namespace {

using testing::FileText;
using testing::JsonLines;
using testing::JsonOf;
using FieldNames = std::set<std::string>;

// "target", "target.round".
void AddNames(const nlohmann::json& object, const std::string& prefix, FieldNames* names) {
  for (const auto& [name, value] : object.items()) {
    names->insert(prefix + name);
    if (value.is_object()) AddNames(value, prefix + name + ".", names);
  }
}

// The fields of every object that a run wrote, by its file and, of metrics, its round.
std::map<std::string, FieldNames> FieldsOf(const std::string& run) {
  std::map<std::string, FieldNames> fields;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(run)) {
    const std::string path = std::filesystem::relative(entry.path(), run).string();
    if (entry.path().extension() == ".json") {
      AddNames(JsonOf(FileText(entry.path().string())), "", &fields[path]);
    } else if (entry.path().extension() == ".jsonl") {
      for (const auto& object : JsonLines(entry.path().string())) {
        AddNames(object, "", &fields[path + " " + object.at("round").dump()]);
      }
    }
  }
  return fields;
}

// All that may differ:
void LeaveOutDifferences(std::map<std::string, FieldNames>* real,
                         std::map<std::string, FieldNames>* simulated) {
  // Each has its own clock.
  EXPECT_EQ(real->at("summary.json").erase("wall_time_s"), 1u);
  EXPECT_EQ(simulated->at("summary.json").erase("simulated_time_s"), 1u);
  // Real nodes do not record where the time of each step went (--trace does).
  EXPECT_EQ(simulated->erase("statistics.json"), 1u);
  // Where a step's time went, which a simulated run has in its statistics.
  FieldNames& summary = (*real)["summary.json"];
  EXPECT_EQ(std::erase_if(summary,
                          [](const std::string& name) {
                            return name.starts_with("steps") || name.starts_with("slowest_node");
                          }),
            13u);
  // Between evaluations nobody moves real nodes' buffers.
  for (auto& [object, names] : *simulated) {
    if (object.starts_with("metrics.jsonl") && !names.contains("test_loss")) {
      names.erase("buffer_distance");
    }
  }
}

struct Case {
  std::string name;
  std::map<std::string, std::string> flags;
  friend std::ostream& operator<<(std::ostream& out, const Case& c) { return out << c.name; }
};

class RecordedFields : public ::testing::TestWithParam<Case> {};

std::unique_ptr<Experiment> Built(std::map<std::string, std::string> flags) {
  flags.insert({{"nodes", "4"},
                {"topology", "ring"},
                {"model", "softmax"},
                {"data", "synthetic:train=256:test=64"},
                {"batch", "8"},
                {"rounds", "8"},
                {"log_every", "2"},
                {"eval_every", "0.4"},
                {"compute", "1ms"}});
  const auto resolved = ResolveConfig({.flags = flags});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  auto experiment = Experiment::Build(resolved->config);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  return *std::move(experiment);
}

TEST_P(RecordedFields, AreThoseOfRealAndOfSimulatedNodes) {
  const ScratchFolder folder;
  const std::string real = folder.File("real"), simulated = folder.File("simulated");
  for (const std::string& run : {real, simulated}) std::filesystem::create_directory(run);
  const auto experiment = Built(GetParam().flags);
  const absl::StatusOr<Summary> trained = RunInThreads(*experiment, {.run_directory = real});
  ASSERT_TRUE(trained.ok()) << trained.status();
  SimulatedRun simulation(experiment.get(), {.run_directory = simulated});
  const absl::StatusOr<Summary> computed = simulation.Run();
  ASSERT_TRUE(computed.ok()) << computed.status();

  std::map<std::string, FieldNames> expected = FieldsOf(real);
  std::map<std::string, FieldNames> actual = FieldsOf(simulated);
  LeaveOutDifferences(&expected, &actual);
  ASSERT_GE(expected.size(), 5u);
  for (const auto& [object, names] : expected) EXPECT_EQ(actual[object], names) << object;
  for (const auto& [object, names] : actual) EXPECT_TRUE(expected.contains(object)) << object;
}

INSTANTIATE_TEST_SUITE_P(
    Experiments, RecordedFields,
    ::testing::Values(
        Case{"gossip", {}},
        Case{"buffers",
             {{"model", "resnet20"},
              {"data", "synthetic:train=64:test=16"},
              {"batch", "4"},
              {"rounds", "3"},
              {"log_every", "1"}}},
        Case{"allreduce", {{"algorithm", "allreduce"}}},
        Case{"noise",
             {{"batch", "4"}, {"accumulate", "2"}, {"noise_scale", "true"}, {"log_every", "1"}}},
        Case{"norms", {{"norms", "true"}}},
        Case{"a sample of the test set", {{"eval_samples", "16"}}},
        Case{"a target that is missed", {{"target_accuracy", "1"}}},
        Case{"parameter servers", {{"algorithm", "ps:servers=2"}}}));

}  // namespace
}  // namespace grapevine

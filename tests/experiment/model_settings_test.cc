#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "experiment/core/setting_checks.h"
#include "run/config/config_resolve.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;
using Flags = std::map<std::string, std::string>;

Config Resolved(const Flags& flags) {
  const auto resolved = ResolveConfig({.flags = flags});
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  return resolved.ok() ? resolved->config : Config();
}

std::string MessageOf(const absl::Status& status) {
  if (!status.ok()) {
    EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
  }
  return status.ok() ? "no error" : std::string(status.message());
}

std::string Complaint(const Flags& flags) { return MessageOf(CheckModelSettings(Resolved(flags))); }

TEST(ModelSettings, DataAreRefusedForAModelThatSeesNone) {
  const auto complaint = [](const char* model, const char* field, const char* value) {
    return Complaint({{"model", model}, {"rounds", "3"}, {"compute", "5ms"}, {field, value}});
  };
  EXPECT_EQ(complaint("quadratic:dim=4", "split", "label"),
            "--split=label: --model=quadratic:dim=4 has no data; drop one of them");
  EXPECT_EQ(complaint("phantom:1MB", "data", "mnist:dir"),
            "--data=mnist:dir: --model=phantom:1MB has no data; drop one of them");
  EXPECT_EQ(complaint("quadratic:dim=4", "label_smoothing", "10%"),
            "--label-smoothing=0.1: --model=quadratic:dim=4 has no data; drop one of them");
  EXPECT_EQ(complaint("quadratic:dim=4", "eval_samples", "9"),
            "--eval-samples=9: --model=quadratic:dim=4 has no data; drop one of them");
  EXPECT_EQ(complaint("quadratic:dim=4", "split", "iid"), "no error");
  EXPECT_EQ(complaint("lenet5", "split", "label"), "no error");
}

TEST(ModelSettings, WhatDecidesAboutTheRunSeesTheWholeTestSet) {
  EXPECT_EQ(Complaint({{"eval_samples", "9"}, {"target_accuracy", "0.9"}}),
            "--eval-samples=9: --target-accuracy decides by the whole test set; drop one of them");
  EXPECT_EQ(Complaint({{"eval_samples", "9"}, {"batch_schedule", "plateau"}}),
            "--eval-samples=9: --batch-schedule=plateau decides by the whole test set; drop one of "
            "them");
  EXPECT_EQ(Complaint({{"eval_samples", "9"}}), "no error");
}

TEST(ModelSettings, AModelSaysWhatItNeedsAndWhatMeansNothingToIt) {
  const std::vector<std::pair<Flags, std::string>> cases = {
      {{{"model", "phantom:1MB"}}, "--model=phantom:1MB: needs --compute=TIME"},
      {{{"model", "phantom:1MB"}, {"compute", "5ms"}}, "use --rounds=R"},
      {{{"model", "phantom:1MB"}, {"compute", "5ms"}, {"rounds", "9"}, {"init_from", "x"}},
       "--init-from=x: --model=phantom:1MB learns nothing"},
      {{{"model", "quadratic"}}, "--model=quadratic: has no data"},
      {{{"model", "quadratic:dim=3"}, {"rounds", "9"}, {"target_accuracy", "0.9"}},
       "--target-accuracy=0.9: --model=quadratic:dim=3 has no accuracy"},
      {{}, "no error"},
  };
  for (const auto& [flags, part] : cases) EXPECT_THAT(Complaint(flags), HasSubstr(part));
}

// A simulated gradient takes the time that --compute says, a real one its own.
TEST(ModelSettings, LeaveTheTimeOfARealGradientToTheSimulator) {
  EXPECT_THAT(MessageOf(CheckOnRealNodes(Resolved({{"compute", "5ms"}}))),
              HasSubstr("--compute=5ms: --model=lenet5 is really computed"));
  const Flags phantom = {{"compute", "5ms"}, {"model", "phantom:1MB"}, {"rounds", "3"}};
  EXPECT_TRUE(CheckOnRealNodes(Resolved(phantom)).ok());
  Flags profiled = phantom;
  profiled["profile"] = "p";
  EXPECT_THAT(MessageOf(CheckOnRealNodes(Resolved(profiled))),
              HasSubstr("--profile=p: --model=phantom:1MB computes nothing"));
}

TEST(ModelSettings, ThoseWhoGoOnWithoutTheLostSaveByRoundsWhereThereAreAny) {
  Flags flags{{"on_failure", "shrink"}, {"checkpoint_every", "10min"}};
  EXPECT_THAT(MessageOf(CheckOnRealNodes(Resolved(flags))),
              HasSubstr("--checkpoint-every=10min: nodes that go on without the lost"));
  flags["algorithm"] = "adpsgd";
  EXPECT_TRUE(CheckOnRealNodes(Resolved(flags)).ok());
  flags["record"] = "r";
  flags["on_failure"] = "end";
  EXPECT_THAT(MessageOf(CheckOnRealNodes(Resolved(flags))),
              HasSubstr("--record=r: the nodes of --algorithm=adpsgd give up what is under way"));
  flags["algorithm"] = "dpsgd";
  EXPECT_TRUE(CheckOnRealNodes(Resolved(flags)).ok());
}

}  // namespace
}  // namespace grapevine

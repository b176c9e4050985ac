// Asynchronous parameter servers as real processes over gRPC, and simulated.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

// The summary of a run of five nodes.
nlohmann::json Summary(const char* command, const std::string& algorithm,
                       const std::vector<std::string>& flags) {
  const ScratchFolder folder;
  const std::string out = folder.File("run");
  std::vector<std::string> call = {command, "-n", "5", "--algorithm=" + algorithm, "--out=" + out};
  call.insert(call.end(), flags.begin(), flags.end());
  const Ended ended = RunGrapevine(call);
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  return SummaryOf(out);
}

class AsynchronousServers : public ::testing::TestWithParam<const char*> {};

TEST_P(AsynchronousServers, Learn) {
  // Without momentum, which on a loaded machine adds to what stale gradients overshoot.
  std::vector<std::string> flags = {"--model=softmax", "--data=synthetic:train=960:test=100",
                                    "--batch=8",       "--epochs=4",
                                    "--lr=0.1",        "--momentum=0",
                                    "--slow=0:5"};
  if (GetParam() == std::string("sim")) flags.push_back("--compute=2ms");
  const nlohmann::json summary = Summary(GetParam(), "ps:async:servers=2", flags);
  ASSERT_TRUE(summary.is_object());
  EXPECT_EQ(summary["evaluated"], "servers' weights");
  EXPECT_EQ(summary["workers"], 3);
  EXPECT_LT(summary["train_loss"], 1.5) << "log 10 at first";
  EXPECT_EQ(summary["gradients"]["mean"], 4 * 960 / 8 / 3) << "an epoch is one of all workers";
  EXPECT_LT(summary["gradients"]["min"], summary["gradients"]["mean"]) << "of the slow one";
  EXPECT_GE(summary["staleness_max"], 2);
  // Of every gradient half of its 7850 floats to each server, and as many weights back.
  const std::vector<int64_t> bytes(2, int64_t{4} * 960 / 8 * 7850 / 2 * 4);
  EXPECT_EQ(summary["server_links"]["bytes_received"], bytes);
  EXPECT_EQ(summary["server_links"]["bytes_sent"], bytes);
}

TEST_P(AsynchronousServers, KeepASlowWorkersPaceWhereStalenessIsBounded) {
  const auto gradients = [](const std::string& algorithm) {
    return Summary(GetParam(), algorithm,
                   {"--model=quadratic:dim=4", "--rounds=60", "--lr=0.02", "--compute=5ms",
                    "--slow=0:5"})["gradients"];
  };
  const nlohmann::json free = gradients("ps:async:adaptive");
  EXPECT_LT(2 * free["min"].get<double>(), free["max"]);
  const nlohmann::json bounded = gradients("ps:async:staleness=2:servers=2");
  EXPECT_EQ(bounded["mean"], 60);
  EXPECT_GT(2 * bounded["min"].get<double>(), bounded["max"]);
}

// From a loss of 8 along gradients x at the rate 0.02: 60 whole steps lead below 1, and 80 quarters
// of one to 3.6, but for what is stale.
TEST_P(AsynchronousServers, AddWindowsOrPartsOfThem) {
  const auto loss = [](const char* algorithm) {
    const nlohmann::json summary =
        Summary(GetParam(), algorithm,
                {"--model=quadratic:dim=4:start=2", "--rounds=20", "--lr=0.02", "--momentum=0",
                 "--compute=1ms", "--slow=0:5"});
    EXPECT_EQ(summary["evaluated"], "servers' weights") << algorithm;
    EXPECT_EQ(summary["gradients"]["mean"], 20) << algorithm;
    return summary["test_loss"].get<double>();
  };
  EXPECT_LT(loss("downpour:window=4:servers=2"), 2);
  const double part = loss("adag:window=4");
  EXPECT_GT(part, 2);
  EXPECT_LT(part, 6);
}

// The workers' replicas go from a loss of 8 towards 0, in steps of 0.02 along x. By default the
// centre follows them; with alpha = 0.05 * 0.02 their 90 pulls move it by 0.18 of 2 at most, to
// 6.6.
TEST_P(AsynchronousServers, KeepACentreThatFollowsAsRhoSays) {
  const auto summary = [](const std::string& algorithm, const std::string& optimizer) {
    nlohmann::json found =
        Summary(GetParam(), algorithm,
                {"--model=quadratic:dim=4:start=2", "--rounds=60", "--lr=0.02", "--momentum=0.1",
                 "--optimizer=" + optimizer, "--compute=1ms", "--slow=0:5"});
    EXPECT_EQ(found["evaluated"], "servers' weights") << algorithm;
    EXPECT_EQ(found["workers"], 3) << algorithm;
    EXPECT_EQ(found["gradients"]["mean"], 60) << algorithm;
    EXPECT_GT(found["consensus_distance"], 0) << algorithm << ": replicas do not become equal";
    return found;
  };
  EXPECT_LT(summary("easgd:async:every=2:servers=2", "sgd")["test_loss"], 4);
  EXPECT_LT(summary("eamsgd:async:every=2:servers=2", "nesterov")["test_loss"], 4);
  const nlohmann::json free = summary("easgd:async:every=2:servers=2:rho=0.05", "sgd");
  EXPECT_GT(free["test_loss"], 6.5);
  EXPECT_LT(free["test_loss"], 8);
}

INSTANTIATE_TEST_SUITE_P(All, AsynchronousServers, ::testing::Values("train", "sim"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace grapevine::testing

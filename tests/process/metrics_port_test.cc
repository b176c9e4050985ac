// --metrics-port: nodes that show themselves while they train.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/free_port.h"
#include "tests/process/grapevine_process.h"
#include "tests/process/samples.h"
#include "tests/process/short_run.h"
#include "tests/testing/file_text.h"
#include "tests/testing/http_client.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;

using Json = nlohmann::json;

constexpr int kNodes = 3;
constexpr int kRounds = 5000;
constexpr int kBatch = 16;
constexpr int kStopped = 2;

std::vector<std::string> Train(const std::string& out, int port, int rounds) {
  return {"train",
          "-n",
          std::to_string(kNodes),
          "--model=softmax",
          "--data=synthetic:train=512:test=200",
          "--batch=" + std::to_string(kBatch),
          "--rounds=" + std::to_string(rounds),
          "--log-every=7",
          "--eval-every=20",
          "--checkpoint-every=100",
          "--min-peer-timeout=1min",
          "--peer-timeout=1min",
          "--metrics-port=" + std::to_string(port),
          "--out=" + out};
}

std::string OfRank(const std::string& name, int rank) {
  return "grapevine_" + name + "{rank=\"" + std::to_string(rank) + "\"}";
}
std::string OfPeer(const std::string& name, int rank, int peer) {
  return "grapevine_" + name + "{rank=\"" + std::to_string(rank) + "\",peer=\"" +
         std::to_string(peer) + "\"}";
}

double At(const Samples& samples, const std::string& name) {
  const auto found = samples.find(name);
  if (found == samples.end()) ADD_FAILURE() << "no " << name;
  return found == samples.end() ? 0 : found->second;
}

// But for the last of 17 digits, which prometheus-cpp does not write.
MATCHER_P(Is, value, "") { return std::abs(arg - value) <= 1e-12 * std::abs(value); }

// For whom it waits.
std::set<int> Awaited(const Samples& samples, int rank) {
  std::set<int> peers;
  for (int peer = 0; peer < kNodes; ++peer) {
    const auto found = samples.find(OfPeer("peer_awaited", rank, peer));
    if (found != samples.end() && found->second == 1) peers.insert(peer);
  }
  return peers;
}

// Whether neither can do anything until the stopped one does: one waits for it alone, the other at
// most for both.
bool Rest(const Samples& zero, const Samples& one) {
  const std::set<int> stopped = {kStopped};
  const std::set<int> of_zero = Awaited(zero, 0), of_one = Awaited(one, 1);
  if (of_zero.empty() || of_one.empty()) return false;
  return of_zero == stopped || of_one == stopped;
}

// But for the time.
Samples AtAnyTime(Samples samples, int rank) {
  samples.erase(OfRank("checkpoint_age_seconds", rank));
  return samples;
}

// Lines that are whole.
std::vector<Json> LinesUntil(const std::string& path, int64_t round) {
  std::vector<Json> lines;
  const std::string text = FileText(path);
  for (Json& line : JsonLinesOf(text.substr(0, text.rfind('\n') + 1))) {
    if (line["round"] <= round) lines.push_back(std::move(line));
  }
  return lines;
}

double Sum(const std::vector<Json>& lines, const std::string& field) {
  double sum = 0;
  for (const Json& line : lines) sum += line[field].get<double>();
  return sum;
}

// What the node's file says, counted again.
void ExpectAgreement(const Samples& samples, int rank, const std::string& run) {
  const auto round = static_cast<int64_t>(At(samples, OfRank("round", rank)));
  EXPECT_EQ(At(samples, OfRank("round_duration_seconds_count", rank)), round);
  const std::string file = run + "/node-" + std::to_string(rank) + "/metrics.jsonl";
  const std::vector<Json> lines = LinesUntil(file, round);
  ASSERT_FALSE(lines.empty()) << file;
  const Json& last = lines.back();
  EXPECT_THAT(At(samples, OfRank("epoch", rank)), Is(last["epoch"].get<double>()));
  EXPECT_THAT(At(samples, OfRank("training_loss", rank)), Is(last["train_loss"].get<double>()));
  EXPECT_THAT(At(samples, OfRank("learning_rate", rank)), Is(last["learning_rate"].get<double>()));
  EXPECT_EQ(At(samples, OfRank("samples_total", rank)), last["round"].get<int64_t>() * kBatch);
  for (const char* kind : {"gradient", "mix", "wait"}) {
    const std::string name = std::string(kind) + "_seconds_total";
    EXPECT_THAT(At(samples, OfRank(name, rank)), Is(Sum(lines, std::string(kind) + "_s"))) << name;
  }
  // Of every round, and all rounds send as much.
  for (const char* way : {"sent", "received"}) {
    const auto bytes = last["bytes_" + std::string(way) + "_total"].get<int64_t>();
    const auto rounds = last["round"].get<int64_t>();
    ASSERT_EQ(bytes % rounds, 0);
    EXPECT_EQ(At(samples, OfRank(std::string(way) + "_bytes_total", rank)), bytes / rounds * round);
  }
}

// The run's last value of it.
bool RunSays(const std::string& run, const char* field, double value) {
  const std::string text = FileText(run + "/metrics.jsonl");
  double last = 0;
  for (const Json& line : JsonLinesOf(text.substr(0, text.rfind('\n') + 1))) {
    if (line.contains(field)) last = line[field];
  }
  return ::testing::Value(value, Is(last));
}

TEST(MetricsPort, NodesShowWhatTheirFilesSay) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  const int port = FreePorts(kNodes);
  GrapevineProcess train(Train(run, port, kRounds));
  // Something has been measured of all.
  ASSERT_TRUE(Eventually([&] { return Scrape(port).contains("grapevine_test_loss"); }))
      << train.output();
  // With one that stands still the others soon do, too: files and figures are of the same moment.
  ASSERT_EQ(kill(train.Node(kStopped), SIGSTOP), 0) << train.output();
  Samples zero, one;
  ASSERT_TRUE(Eventually([&] {
    const Samples zero_before = std::exchange(zero, AtAnyTime(Scrape(port), 0));
    const Samples one_before = std::exchange(one, AtAnyTime(Scrape(port + 1), 1));
    return Rest(zero, one) && zero == zero_before && one == one_before;
  })) << train.output();
  ExpectAgreement(zero, 0, run);
  ExpectAgreement(one, 1, run);
  EXPECT_EQ(At(zero, OfPeer("peer_up", 0, 1)), 1);
  double waited = 0;
  for (const int peer : {1, 2}) waited += At(zero, OfPeer("peer_wait_seconds_total", 0, peer));
  EXPECT_GT(waited, 0);
  EXPECT_LE(waited, At(zero, OfRank("round_duration_seconds_sum", 0)));
  EXPECT_EQ(At(zero, "grapevine_living_nodes"), kNodes);
  EXPECT_FALSE(one.contains("grapevine_living_nodes")) << "rank 1 has not rank 0's role";
  EXPECT_TRUE(Eventually([&] {
    const Samples now = Scrape(port);
    return RunSays(run, "consensus_distance", At(now, "grapevine_consensus_distance")) &&
           RunSays(run, "train_loss", At(now, "grapevine_run_training_loss")) &&
           RunSays(run, "test_loss", At(now, "grapevine_test_loss")) &&
           RunSays(run, "test_accuracy", At(now, "grapevine_test_accuracy_ratio"));
  }));
  ASSERT_EQ(kill(train.Node(kStopped), SIGCONT), 0);
  EXPECT_EQ(train.Await(), 0) << train.output();
  const double sent = At(zero, OfRank("sent_bytes_total", 0)) / At(zero, OfRank("round", 0));
  EXPECT_EQ(SummaryOf(run)["bytes_sent_total"], sent * kNodes * kRounds);
}

// Counters that began where the files do would count once more what processes before have done.
TEST(MetricsPort, ARunThatGoesOnCountsAnew) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  const int port = FreePorts(kNodes);
  {
    GrapevineProcess killed(Train(run, port, kRounds));
    ASSERT_TRUE(Eventually([&] { return Scrape(port)[OfRank("checkpoint_round", 0)] > 0; }))
        << killed.output();
  }
  GrapevineProcess train({"train", "--resume=" + run, "--metrics-port=" + std::to_string(port)});
  Samples now;
  const std::string count = OfRank("round_duration_seconds_count", 0);
  ASSERT_TRUE(Eventually([&] {
    now = Scrape(port);
    return now.contains(count) && now[count] > 10;
  })) << train.output();
  EXPECT_GE(At(now, OfRank("round", 0)) - now[count], 100) << "it goes on from a checkpoint";
  const std::vector<Json> lines = LinesUntil(run + "/node-0/metrics.jsonl", kRounds);
  ASSERT_FALSE(lines.empty());
  const double a_round =
      lines.front()["bytes_sent_total"].get<double>() / lines.front()["round"].get<double>();
  // A round's time is told before its bytes.
  EXPECT_THAT(At(now, OfRank("sent_bytes_total", 0)) / a_round, AnyOf(now[count], now[count] - 1));
}

TEST(MetricsPort, ANodeIsReadyOnceAllHaveFoundEachOther) {
  const ScratchFolder folder;
  const int rendezvous = FreePort();
  const int port = FreePorts(2);
  const auto node = [&](int rank) {
    return std::vector<std::string>{"node",
                                    "--rank=" + std::to_string(rank),
                                    "--world-size=2",
                                    "--master-addr=127.0.0.1:" + std::to_string(rendezvous),
                                    "--model=phantom:1kB",
                                    "--compute=1ms",
                                    "--rounds=1000000",
                                    "--metrics-port=127.0.0.1:" + std::to_string(port),
                                    "--out=" + folder.File("run")};
  };
  GrapevineProcess zero(node(0));
  ASSERT_TRUE(Eventually([&] { return HttpGet(port, "/healthz").status == 200; }));
  EXPECT_EQ(HttpGet(port, "/readyz").status, 503);
  // Nodes of one machine share the setting.
  GrapevineProcess one(node(1), {.environment = {{"LOCAL_RANK", "1"}}});
  for (const int rank : {0, 1}) {
    EXPECT_TRUE(Eventually([&] { return HttpGet(port + rank, "/readyz").status == 200; })) << rank;
    EXPECT_TRUE(Eventually([&] { return Scrape(port + rank)[OfRank("round", rank)] > 0; }));
  }
  EXPECT_THAT(zero.output(), HasSubstr("metrics: http://127.0.0.1:" + std::to_string(port)));
}

TEST(MetricsPort, OneThatIsTakenIsNamedBeforeTheRunBegins) {
  const ScratchFolder folder;
  const TakenPort taken;
  for (const bool trains : {true, false}) {
    const std::string first = std::to_string(taken.port());
    std::vector<std::string> arguments = {"train", "-n", "2", "--metrics-port=" + first,
                                          "--out=" + folder.File("run")};
    if (!trains) {
      arguments = {"node",
                   "--rank=0",
                   "--world-size=2",
                   "--master-addr=127.0.0.1:" + std::to_string(FreePort()),
                   "--metrics-port=" + first,
                   "--out=" + folder.File("run")};
    }
    arguments.insert(arguments.end(), kShortRun.begin(), kShortRun.end());
    const Ended ended = RunGrapevine(arguments);
    EXPECT_EQ(ended.exit_code, kRendezvous) << ended.output;
    EXPECT_THAT(ended.output,
                AllOf(HasSubstr("cannot listen on 127.0.0.1:" + std::to_string(taken.port()) +
                                ": Address already in use"),
                      HasSubstr("--metrics-port")));
    EXPECT_FALSE(std::filesystem::exists(folder.File("run/config.textproto")))
        << "in the way of the next attempt";
  }
}

TEST(MetricsPort, WhatIsNoPlaceIsRefused) {
  const auto refusal = [](const std::string& given) {
    const Ended ended = RunGrapevine({"train", "-n", "3", "--metrics-port=" + given, "--dry-run"});
    EXPECT_EQ(ended.exit_code, kUsage) << ended.output;
    EXPECT_THAT(ended.output, HasSubstr("--metrics-port=" + given));
    return ended.output;
  };
  EXPECT_THAT(refusal("65534"), HasSubstr("none above 65535"));
  EXPECT_THAT(refusal("0.0.0.0:0"), HasSubstr("give one"));
  EXPECT_THAT(refusal("here"), HasSubstr("PORT or ADDR:PORT"));
  EXPECT_THAT(refusal("-1"), HasSubstr("PORT or ADDR:PORT"));
  EXPECT_THAT(refusal("127.0.0.1:70000"), HasSubstr("65535"));
}

TEST(MetricsPort, ASimulationHasNone) {
  const Ended ended = RunGrapevine({"sim", "-n", "2", "--metrics-port=9400"});
  EXPECT_EQ(ended.exit_code, kUsage);
  EXPECT_THAT(ended.output, HasSubstr("unknown flag --metrics-port"));
}

// Silent ones, endless ones, and one that asks and asks.
TEST(MetricsPort, StrangersChangeNothing) {
  const ScratchFolder folder;
  constexpr int kFew = 2000;
  const int port = FreePorts(kNodes);
  EXPECT_EQ(RunGrapevine(Train(folder.File("alone"), port, kFew)).exit_code, 0);
  GrapevineProcess train(Train(folder.File("beset"), port, kFew));
  ASSERT_TRUE(Eventually([&] { return HttpConnection(port).open(); }));
  std::vector<HttpConnection> strangers;
  for (int i = 0; i < 300; ++i) {
    strangers.emplace_back(port);
    if (i % 2 == 0) strangers.back().Say("GET /metrics HTTP/1.1\r\nX: " + std::string(4000, 'x'));
  }
  int answers = 0;
  while (HttpGet(port, "/metrics").status == 200) ++answers;
  EXPECT_GT(answers, 0);
  EXPECT_EQ(train.Await(), 0) << train.output();
  EXPECT_EQ(FileText(folder.File("alone/model.safetensors")),
            FileText(folder.File("beset/model.safetensors")));
}

}  // namespace
}  // namespace grapevine::testing

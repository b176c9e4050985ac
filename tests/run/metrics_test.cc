#include "run/records/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <utility>

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(RunMetrics, LeaveOutWhatWasNotMeasured) {
  RunMetrics metrics;
  metrics.round = 12;
  metrics.epoch = 0.5;
  metrics.time_s = 1.25;
  metrics.train_loss = 2.25;
  EXPECT_EQ(ToJsonLine(metrics), R"({"round":12,"epoch":0.5,"time_s":1.25,"train_loss":2.25})");
}

TEST(RunMetrics, ReadBack) {
  RunMetrics metrics;
  metrics.round = 3;
  metrics.test_accuracy_recalibrated = 0.1;
  metrics.consensus_distance = 1e-17;
  metrics.bytes_sent_total = INT64_MAX;
  const auto read = RunMetricsFromJson(ToJsonLine(metrics));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->round, 3);
  EXPECT_EQ(read->test_accuracy_recalibrated, 0.1);
  EXPECT_EQ(read->consensus_distance, 1e-17);
  EXPECT_EQ(read->bytes_sent_total, INT64_MAX);
  EXPECT_FALSE(read->test_accuracy.has_value());
}

TEST(RunMetrics, AreRememberedUntilMeasuredAnew) {
  RunMetrics latest{.round = 1, .train_loss = 2.0, .test_accuracy = 0.5};
  Remember({.round = 2, .epoch = 0.1, .time_s = 3, .train_loss = 1.5, .bytes_sent_total = 7},
           &latest);
  EXPECT_EQ(latest.round, 2);
  EXPECT_EQ(latest.time_s, 3);
  EXPECT_EQ(latest.train_loss, 1.5);
  EXPECT_EQ(latest.test_accuracy, 0.5);
  EXPECT_EQ(latest.bytes_sent_total, 7);
  EXPECT_FALSE(latest.samples_per_s.has_value());
}

TEST(RunMetrics, HaveNoPlaceForNaN) {
  RunMetrics metrics;
  metrics.train_loss = std::nan("");
  EXPECT_THAT(ToJsonLine(metrics), HasSubstr("\"train_loss\":null"));
  EXPECT_FALSE(RunMetricsFromJson(ToJsonLine(metrics))->train_loss.has_value());
}

TEST(RunMetrics, SurviveHostileLines) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "is not valid JSON"},
      {R"({"round":1)", "is not valid JSON"},
      {std::string(100000, '['), "is not valid JSON"},
      {"[]", "is not a JSON object"},
      {R"({"epoch":0,"time_s":0})", "has no \"round\""},
      {R"({"round":1.5,"epoch":0,"time_s":0})", "\"round\" has a value of the wrong type"},
      {R"({"round":18446744073709551615,"epoch":0,"time_s":0})", "\"round\" has a value"},
      {R"({"round":1,"epoch":"x","time_s":0})", "\"epoch\" has a value of the wrong type"},
      {R"({"round":1,"epoch":0,"time_s":0,"test_loss":{}})", "\"test_loss\" has a value"},
  };
  for (const auto& [line, why] : cases) {
    EXPECT_THAT(RunMetricsFromJson(line).status().message(), HasSubstr(why));
  }
  EXPECT_TRUE(RunMetricsFromJson(R"({"round":1,"epoch":0,"time_s":0,"new":[1]})").ok());
}

TEST(NodeMetrics, ReadBack) {
  NodeMetrics metrics;
  metrics.round = 7;
  metrics.wait_s = 0.5;
  metrics.bytes_received_total = 1 << 20;
  const auto read = NodeMetricsFromJson(ToJsonLine(metrics));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->round, 7);
  EXPECT_EQ(read->wait_s, 0.5);
  EXPECT_EQ(read->bytes_received_total, 1 << 20);
  EXPECT_FALSE(read->staleness.has_value());
}

TEST(NodeMetrics, ReadBackWhatThoseHaveThatShareABudget) {
  NodeMetrics metrics;
  metrics.gradients_total = 12;
  metrics.idle_s = 0.25;
  metrics.staleness_mean = 1.5;
  metrics.staleness_max = 3;
  metrics.staleness = {{5, 4, 3}};
  const auto read = NodeMetricsFromJson(ToJsonLine(metrics));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->gradients_total, 12);
  EXPECT_EQ(read->idle_s, 0.25);
  EXPECT_EQ(read->staleness_mean, 1.5);
  EXPECT_EQ(read->staleness_max, 3);
  EXPECT_THAT(*read->staleness, ElementsAre(5, 4, 3));
}

TEST(NodeMetrics, RefuseListsThatAreNone) {
  const std::string line = R"({"round":1,"epoch":0,"time_s":0,"staleness":)";
  std::string endless = "[0";
  for (int i = 0; i < 1 << 20; ++i) endless += ",0";
  for (const std::string& list :
       {std::string("{}"), std::string("[1,\"x\"]"), std::string("[0.5]"), endless + "]"}) {
    EXPECT_THAT(NodeMetricsFromJson(line + list + "}").status().message(),
                HasSubstr("\"staleness\" has a value of the wrong type or range"));
  }
  EXPECT_TRUE(NodeMetricsFromJson(line + "[]}").ok());
}

TEST(NodeMetrics, ReadBackTheNormsOfTensors) {
  NodeMetrics metrics;
  metrics.norms = {{"conv1.weight", 4, 2.5, 0.125}, {"conv1.bias", 1, 0, 1e-9}};
  const auto read = NodeMetricsFromJson(ToJsonLine(metrics));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->norms.size(), 2u);
  EXPECT_EQ(read->norms[0].tensor, "conv1.weight");
  EXPECT_EQ(read->norms[0].dimensions, 4);
  EXPECT_EQ(read->norms[0].weights, 2.5);
  EXPECT_EQ(read->norms[0].gradient, 0.125);
  EXPECT_EQ(read->norms[1].tensor, "conv1.bias");
  EXPECT_THAT(ToJsonLine(NodeMetrics()), Not(HasSubstr("norms")));
}

TEST(NodeMetrics, LeaveOutTensorsWithoutANorm) {
  NodeMetrics metrics;
  metrics.norms = {{"a", 1, 1, std::numeric_limits<double>::infinity()},
                   {"b", 1, std::nan(""), 1},
                   {"c", 1, 1, 1}};
  const auto read = NodeMetricsFromJson(ToJsonLine(metrics));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->norms.size(), 1u);
  EXPECT_EQ(read->norms[0].tensor, "c");
}

TEST(NodeMetrics, RefuseNormsThatAreNone) {
  const std::string line = R"({"round":1,"epoch":0,"time_s":0,"norms":)";
  std::string endless = "[{}";
  for (int i = 0; i < 1 << 16; ++i) endless += ",{}";
  const std::pair<std::string, std::string> cases[] = {
      {"7", "is no list of objects"},
      {"{}", "is no list of objects"},
      {endless + "]", "is no list of objects"},
      {"[3]", "is not a JSON object"},
      {R"([{"tensor":"x","dimensions":1,"weights":1}])", "has no \"gradient\""},
      {R"([{"tensor":"x","dimensions":1,"weights":1,"gradient":"1"}])",
       "\"gradient\" has a value of the wrong type or range"}};
  for (const auto& [list, why] : cases) {
    EXPECT_EQ(NodeMetricsFromJson(line + list + "}").status().message(), "\"norms\": " + why);
  }
  EXPECT_TRUE(NodeMetricsFromJson(line + "[]}").ok());
}

TEST(Summary, ReadsBack) {
  Summary summary;
  summary.nodes = 8;
  summary.topology = "torus:2x4";
  summary.wall_time_s = 12.5;
  summary.local_test_accuracy = Spread{0.1, 0.2, 0.3};
  const std::string text = ToJsonText(summary);
  EXPECT_THAT(text, Not(HasSubstr("simulated_time_s")));
  const auto read = SummaryFromJson(text);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->topology, "torus:2x4");
  EXPECT_EQ(read->wall_time_s, 12.5);
  EXPECT_EQ(read->local_test_accuracy->max, 0.3);
  EXPECT_FALSE(read->evaluated || read->gradients || read->idle_s || read->staleness_max);
}

TEST(Summary, ReadsBackWhatRunsHaveThatShareABudget) {
  Summary summary;
  summary.evaluated = "servers' weights";
  summary.gradients = Spread{10, 20, 30};
  summary.idle_s = Spread{1, 2, 3};
  summary.staleness_mean = 1.5;
  summary.staleness_max = 7;
  const auto read = SummaryFromJson(ToJsonText(summary));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->evaluated, "servers' weights");
  EXPECT_EQ(read->gradients->mean, 20);
  EXPECT_EQ(read->idle_s->max, 3);
  EXPECT_EQ(read->staleness_mean, 1.5);
  EXPECT_EQ(read->staleness_max, 7);
}

TEST(Summary, ReadsBackWhatServersLinksCarried) {
  Summary summary;
  EXPECT_THAT(ToJsonText(summary), Not(HasSubstr("server_links")));
  summary.server_links = ServerLinks{.bytes_sent = {1, 2}, .bytes_received = {3, 4}};
  const auto read = SummaryFromJson(ToJsonText(summary));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_THAT(read->server_links->bytes_sent, ElementsAre(1, 2));
  EXPECT_THAT(read->server_links->bytes_received, ElementsAre(3, 4));
}

TEST(Summary, ReadsBackWhereTheTimeOfAStepWent) {
  Summary summary;
  EXPECT_THAT(ToJsonText(summary), Not(HasSubstr("\"steps\"")));
  summary.steps =
      StepMeans{.count = 4, .mean_s = 2, .gradient_s = 1, .mix_s = 0.25, .wait_s = 0.75};
  summary.slowest_node = {.rank = 3, .steps = {.count = 1, .mean_s = 2, .gradient_s = 1.5}};
  const auto read = SummaryFromJson(ToJsonText(summary));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->steps->count, 4);
  EXPECT_EQ(read->steps->mean_s, 2);
  EXPECT_EQ(read->steps->gradient_s, 1);
  EXPECT_EQ(read->steps->mix_s, 0.25);
  EXPECT_EQ(read->steps->wait_s, 0.75);
  EXPECT_EQ(read->slowest_node->rank, 3);
  EXPECT_EQ(read->slowest_node->steps.count, 1);
  EXPECT_EQ(read->slowest_node->steps.gradient_s, 1.5);
}

TEST(Summary, ReadsBackWhoWasLostAndWhoCameIn) {
  Summary summary;
  EXPECT_THAT(ToJsonText(summary), Not(HasSubstr("membership")));
  summary.living = 6;
  summary.membership = {{.round = 52, .lost = {3, 5}, .joined = {}},
                        {.round = 90, .lost = {1}, .joined = {3}}};
  const auto read = SummaryFromJson(ToJsonText(summary));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->living, 6);
  ASSERT_EQ(read->membership->size(), 2u);
  EXPECT_EQ(read->membership->at(0).round, 52);
  EXPECT_THAT(read->membership->at(0).lost, ElementsAre(3, 5));
  EXPECT_THAT(read->membership->at(1).lost, ElementsAre(1));
  EXPECT_THAT(read->membership->at(1).joined, ElementsAre(3));
}

TEST(Summary, ReadsBackWhoWaitedLongest) {
  Summary summary;
  EXPECT_THAT(ToJsonText(summary), Not(HasSubstr("longest_waits")));
  summary.longest_waits = {{.rank = 3, .peer = 7, .seconds = 12.5}, {.rank = 2, .peer = 3}};
  const auto read = SummaryFromJson(ToJsonText(summary));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->longest_waits->size(), 2u);
  EXPECT_EQ(read->longest_waits->at(0).rank, 3);
  EXPECT_EQ(read->longest_waits->at(0).peer, 7);
  EXPECT_EQ(read->longest_waits->at(0).seconds, 12.5);
}

TEST(NodeMetrics, ReadBackForWhomTheNodeWaited) {
  NodeMetrics metrics;
  EXPECT_FALSE(NodeMetricsFromJson(ToJsonLine(metrics))->waited_for.has_value());
  metrics.waited_for.emplace();
  EXPECT_TRUE(NodeMetricsFromJson(ToJsonLine(metrics))->waited_for->empty());
  metrics.waited_for->push_back({.rank = 4, .seconds = 0.25});
  const auto read = NodeMetricsFromJson(ToJsonLine(metrics));
  ASSERT_TRUE(read.ok()) << read.status();
  ASSERT_EQ(read->waited_for->size(), 1u);
  EXPECT_EQ(read->waited_for->at(0).rank, 4);
  EXPECT_EQ(read->waited_for->at(0).seconds, 0.25);
  EXPECT_EQ(NodeMetricsFromJson(R"({"round":1,"epoch":0,"time_s":0,"waited_for":[{"rank":1}]})")
                .status()
                .message(),
            "\"waited_for\": has no \"seconds\"");
}

TEST(Summary, ReadsBackTheLinksOfMoreServersThanASimulationHas) {
  Summary summary;
  const std::vector<int64_t> bytes(100'000, 1);
  summary.server_links = ServerLinks{.bytes_sent = bytes, .bytes_received = bytes};
  EXPECT_TRUE(SummaryFromJson(ToJsonText(summary)).ok());
}

TEST(Summary, IsValidJsonWhateverThePathsAre) {
  Summary summary;
  summary.data = "mnist:/data/\xff\"";
  EXPECT_TRUE(SummaryFromJson(ToJsonText(summary)).ok());
}

TEST(Summary, NamesTheBadMember) {
  Summary summary;
  summary.local_test_accuracy = Spread{};
  std::string text = ToJsonText(summary);
  text.replace(text.find("\"mean\""), 6, "\"meen\"");
  EXPECT_EQ(SummaryFromJson(text).status().message(), "\"local_test_accuracy\": has no \"mean\"");
}

}  // namespace
}  // namespace grapevine

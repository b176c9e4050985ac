#include "report/page/page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "base/status.h"
#include "model/files/safetensors.h"
#include "report/page/model_distances.h"
#include "run/records/metrics.h"
#include "tests/report/run_folder.h"
#include "tests/testing/json_text.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::Contains;
using ::testing::DoubleNear;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using Json = nlohmann::json;

constexpr char kMetrics[] =
    "{\"round\":1,\"epoch\":0.5,\"time_s\":1,\"train_loss\":2.5,\"consensus_distance\":0.5,"
    "\"bytes_sent_total\":1000}\n"
    "{\"round\":2,\"epoch\":1,\"time_s\":2,\"train_loss\":1.5,\"test_loss\":1.25,"
    "\"test_accuracy\":0.75,\"consensus_distance\":0.25,\"bytes_sent_total\":2000}\n";

constexpr char kStatistics[] = R"({"nodes":4,"time_s":2,
  "steps":{"count":8,"mean_s":0.25,"min_s":0.2,"median_s":0.25,"p95_s":0.3,"p99_s":0.3,"max_s":0.5},
  "gradient_s":0.1,"mix_s":0.05,"wait_s":0.1,"waited_for":[{"rank":3,"seconds":4}],
  "bytes_sent":{"min":1,"mean":1,"max":1},"bytes_received":{"min":1,"mean":1,"max":1},
  "egress_utilization":{"min":0.1,"mean":0.5,"max":0.9},
  "busiest_links":[{"name":"a->b","bytes":5000,"utilization":0.75}],
  "listed":[{"rank":0,"steps":2,"gradient_s":0.5,"mix_s":0.25,"wait_s":3.25,"bytes_sent":1,
             "bytes_received":1,"waited_for":[{"rank":3,"seconds":3},{"rank":1,"seconds":0.25}]},
            {"rank":2,"steps":2,"gradient_s":0.5,"mix_s":0.25,"wait_s":1,"bytes_sent":1,
             "bytes_received":1,"waited_for":[{"rank":3,"seconds":1}]}]})";

Json DataOf(const std::vector<std::string>& runs) {
  const auto data = PageData({.runs = runs});
  EXPECT_TRUE(data.ok()) << data.status();
  return testing::JsonOf(data.value_or("{}"));
}

// Of the page, or of its first run.
Json SectionIn(const Json& sections, const std::string& id) {
  for (const Json& section : sections) {
    if (section["id"] == id) return section;
  }
  ADD_FAILURE() << "no section " << id;
  return Json::object();
}
Json SectionOf(const Json& data, const std::string& id) { return SectionIn(data["sections"], id); }
Json RunSectionOf(const Json& data, const std::string& id) {
  return SectionIn(data["runs"][0]["sections"], id);
}

Json BlockOf(const Json& section, const std::string& kind) {
  for (const Json& block : section.value("blocks", Json::array())) {
    if (block["kind"] == kind) return block;
  }
  ADD_FAILURE() << "no " << kind << " in " << section;
  return Json::object();
}

std::string MissingIn(const Json& section) { return section.value("missing", ""); }

// Of one tensor and, to be left alone, the statistics of a batch norm.
void WriteModel(const std::string& node, const std::vector<float>& weights, float mean) {
  std::filesystem::create_directories(node);
  const std::vector<SafetensorsTensor> tensors = {
      {.name = "fc.weight", .shape = {2}, .elements = weights},
      {.name = "bn.running_mean", .shape = {1}, .elements = {&mean, 1}}};
  ASSERT_TRUE(WriteSafetensors(node + "/model.safetensors", tensors, {}).ok());
}

TEST(PageTest, ChartsAreAgainstEpochsBytesAndTime) {
  const std::string folder = FreshFolder();
  WriteRun(folder + "/ring", "nodes: 4", kMetrics);
  WriteRun(folder + "/torus", "nodes: 4 topology: \"complete\"", kMetrics);
  const Json data = DataOf({folder});
  EXPECT_EQ(data["curves"].size(), 2u);
  const Json learning = SectionOf(data, "learning");
  ASSERT_EQ(learning["blocks"].size(), 4u) << learning;
  const Json& loss = learning["blocks"][0];
  EXPECT_EQ(loss["labels"], Json({"ring, dpsgd", "complete, dpsgd"}));
  EXPECT_EQ(loss["colours"], Json({0, 1}));
  EXPECT_EQ(loss["panels"][0]["name"], "epochs");
  EXPECT_EQ(loss["panels"][0]["curves"][0], Json::parse("[[0.5,2.5,2.5,2.5],[1.0,1.5,1.5,1.5]]"));
  EXPECT_EQ(loss["panels"][1]["x"]["label"], "bytes sent by all nodes (kB)");
  EXPECT_EQ(loss["panels"][1]["curves"][1][1][0], 2.0) << "in kB";
  EXPECT_EQ(loss["panels"][2]["x"]["label"], "time (s)");
  EXPECT_EQ(learning["blocks"][2]["panels"][0]["curves"][0], Json::parse("[[1.0,75.0,75.0,75.0]]"))
      << "accuracies in percent";
}

TEST(PageTest, SaysWhereACurveIsOfASampleOfTheTestSet) {
  const std::string folder = FreshFolder();
  WriteRun(folder + "/run", "nodes: 4",
           "{\"round\":1,\"epoch\":0.5,\"time_s\":1,\"test_loss\":2,\"test_accuracy\":0.5,"
           "\"test_samples\":200}\n"
           "{\"round\":2,\"epoch\":1,\"time_s\":2,\"test_loss\":1,\"test_accuracy\":0.75}\n");
  const Json learning = SectionOf(DataOf({folder + "/run"}), "learning");
  EXPECT_THAT(BlockOf(learning, "text")["text"].get<std::string>(),
              HasSubstr("are of a sample of the test set"));
}

TEST(PageTest, WhatIsMissingIsSaidInASentence) {
  const std::string folder = FreshFolder();
  WriteRun(folder + "/run", "nodes: 4", kMetrics);
  const Json data = DataOf({folder + "/run"});
  EXPECT_THAT(MissingIn(SectionOf(data, "staleness")), HasSubstr("records no staleness"));
  EXPECT_THAT(MissingIn(SectionOf(data, "prediction")), HasSubstr("a real and a simulated run"));
  EXPECT_THAT(MissingIn(RunSectionOf(data, "waiting")), HasSubstr("run/trace.json"));
  EXPECT_THAT(MissingIn(RunSectionOf(data, "utilization")), HasSubstr("no metrics of its nodes"));
  EXPECT_THAT(std::string(data["runs"][0]["state"]), HasSubstr("not finished"));
  const Json graph = RunSectionOf(data, "graph");
  EXPECT_EQ(BlockOf(graph, "graph")["edges"].size(), 4u) << "a ring is drawn all the same";
  EXPECT_THAT(BlockOf(graph, "text")["text"], HasSubstr("node-0/model.safetensors is not here"));
}

TEST(PageTest, RunsThatLearnNothingAndHaveNothingInCommonAreShown) {
  const std::string folder = FreshFolder();
  constexpr char kTimes[] = "{\"round\":1,\"epoch\":1,\"time_s\":1,\"bytes_sent_total\":9}\n";
  WriteRun(folder + "/a", "nodes: 4 model: \"phantom:1MB\" network: \"switch\" compute: \"1ms\"",
           kTimes);
  WriteRun(folder + "/b",
           "nodes: 8 model: \"phantom:2MB\" network: \"wan-3-sites\" compute: \"2ms\"", kTimes);
  const Json data = DataOf({folder});
  EXPECT_EQ(data["title"], "2 runs");
  EXPECT_THAT(MissingIn(SectionOf(data, "learning")), HasSubstr("learns nothing has none"));
  EXPECT_EQ(BlockOf(SectionOf(data, "outcome"), "table")["rows"].size(), 2u);
}

TEST(PageTest, NoRunAndBrokenRunsAreErrors) {
  const std::string folder = FreshFolder();
  const absl::Status none = PageOfRuns({.runs = {folder + "/none"}}).status();
  EXPECT_EQ(FailureOf(none), Failure::kInput);
  EXPECT_THAT(std::string(none.message()), HasSubstr("none does not exist"));
  WriteRun(folder + "/run", "nodes: 4", "{\"round\":\n");
  EXPECT_THAT(std::string(PageOfRuns({.runs = {folder + "/run"}}).status().message()),
              HasSubstr("metrics.jsonl:1: "));
}

TEST(PageTest, WaitsMarkTheSlowEdges) {
  const std::string folder = FreshFolder();
  WriteRun(folder, "nodes: 4 network: \"switch\"", kMetrics);
  WriteText(folder + "/statistics.json", kStatistics);
  const Json data = DataOf({folder});
  const Json edges = BlockOf(RunSectionOf(data, "graph"), "graph")["edges"];
  EXPECT_EQ(edges, Json::parse(R"([{"from":0,"to":1,"waited_s":0.25,"slow":false},
                                   {"from":0,"to":3,"waited_s":3.0,"slow":true},
                                   {"from":1,"to":2,"waited_s":0.0,"slow":false},
                                   {"from":2,"to":3,"waited_s":1.0,"slow":false}])"));
  const Json waiting = RunSectionOf(data, "waiting");
  EXPECT_EQ(BlockOf(waiting, "matrix")["values"][0], Json::parse("[0,0.25,0,3.0]"));
  EXPECT_EQ(BlockOf(waiting, "table")["rows"][0], Json({"rank 0", "rank 3", "3.00 s", "70.6 %"}));
}

TEST(PageTest, UtilizationIsThatOfTheStatistics) {
  const std::string folder = FreshFolder();
  WriteRun(folder, "nodes: 4 network: \"switch\"", kMetrics);
  WriteText(folder + "/statistics.json", kStatistics);
  const Json utilization = RunSectionOf(DataOf({folder}), "utilization");
  EXPECT_EQ(BlockOf(utilization, "shares")["rows"][0],
            Json::parse(R"({"name":"rank 0","values":[0.5,0.25,3.25]})"));
  EXPECT_THAT(utilization.dump(), AllOf(HasSubstr(R"(["sending","10.0 %","50.0 %","90.0 %"])"),
                                        HasSubstr(R"(["a->b","5.00 kB","75.0 %"])")));
}

TEST(PageTest, TimesOfRealNodesAreSumsOfTheirLines) {
  const std::string folder = FreshFolder();
  WriteRun(folder, "nodes: 2", kMetrics);
  WriteText(folder + "/node-1/metrics.jsonl",
            "{\"round\":1,\"epoch\":0.5,\"time_s\":1,\"gradient_s\":0.5,\"mix_s\":0.125,"
            "\"wait_s\":0.25}\n"
            "{\"round\":2,\"epoch\":1,\"time_s\":2,\"gradient_s\":0.25,\"wait_s\":0.5}\n");
  const Json shares = BlockOf(RunSectionOf(DataOf({folder}), "utilization"), "shares");
  EXPECT_EQ(shares["rows"], Json::parse(R"([{"name":"rank 1","values":[0.75,0.125,0.75]}])"));
}

TEST(PageTest, WaitsOfRealNodesAreSumsOfTheirLines) {
  const std::string folder = FreshFolder();
  WriteRun(folder, "nodes: 4", kMetrics);
  WriteText(folder + "/node-1/metrics.jsonl",
            "{\"round\":1,\"epoch\":0.5,\"time_s\":1,\"waited_for\":[{\"rank\":2,"
            "\"seconds\":0.5},{\"rank\":0,\"seconds\":0.25},{\"rank\":9,\"seconds\":1},"
            "{\"rank\":-1,\"seconds\":1},{\"rank\":3,\"seconds\":-1}]}\n"
            "{\"round\":2,\"epoch\":1,\"time_s\":2,\"waited_for\":[{\"rank\":2,"
            "\"seconds\":0.25}]}\n");
  Json waiting = RunSectionOf(DataOf({folder}), "waiting");
  EXPECT_EQ(BlockOf(waiting, "matrix")["values"][1], Json::parse("[0.25,0,0.75,0]"));
  EXPECT_THAT(std::string(BlockOf(waiting, "text")["text"]),
              HasSubstr("3 of 4 nodes have theirs elsewhere."));
  // Of those whose files are on other machines, the summary has some.
  Summary summary;
  summary.nodes = 4;
  summary.longest_waits = {{.rank = 3, .peer = 2, .seconds = 2},
                           {.rank = 1, .peer = 2, .seconds = 0.75},
                           {.rank = 3, .peer = 4, .seconds = 0.5}};
  WriteText(folder + "/summary.json", ToJsonText(summary));
  waiting = RunSectionOf(DataOf({folder}), "waiting");
  EXPECT_EQ(BlockOf(waiting, "matrix")["values"],
            Json::parse("[[0,0,0,0],[0.25,0,0.75,0],[0,0,0,0],[0,0,2.0,0]]"));
  EXPECT_THAT(std::string(BlockOf(waiting, "text")["text"]), HasSubstr("longest waits"));
  const Json edges = BlockOf(RunSectionOf(DataOf({folder}), "graph"), "graph")["edges"];
  EXPECT_EQ(edges[3], Json::parse(R"({"from":2,"to":3,"waited_s":2.0,"slow":true})"));
}

TEST(PageTest, NodesAreColouredByTheirModels) {
  const std::string folder = FreshFolder();
  WriteRun(folder, "nodes: 2", kMetrics);
  WriteModel(folder + "/node-0", {1, 2}, 5);
  WriteModel(folder + "/node-1", {3, 2}, 9);
  const Json graph = BlockOf(RunSectionOf(DataOf({folder}), "graph"), "graph");
  EXPECT_EQ(graph["nodes"], Json::parse(R"([{"distance":1.0},{"distance":1.0}])"));
}

TEST(PageTest, SaysWhoWasLostAndDrawsThemSo) {
  const std::string folder = FreshFolder();
  WriteRun(folder, "nodes: 3", kMetrics);
  WriteModel(folder + "/node-0", {1, 2}, 5);
  WriteModel(folder + "/node-2", {3, 2}, 9);
  Summary summary{.nodes = 3, .living = 2};
  summary.membership = {{.round = 5, .lost = {1, 2}, .joined = {}},
                        {.round = 9, .lost = {}, .joined = {2}}};
  WriteText(folder + "/summary.json", ToJsonText(summary));
  const Json data = DataOf({folder});
  EXPECT_EQ(data["runs"][0]["state"],
            "finished, 2 of 3 nodes at the end: without ranks 1, 2 from round 5 on; with rank 2 "
            "from round 9 on");
  const Json graph = BlockOf(RunSectionOf(data, "graph"), "graph");
  EXPECT_EQ(graph["nodes"], Json::parse(R"([{"distance":1.0},{"lost":5},{"distance":1.0}])"));
}

TEST(PageTest, OfARunThatGoesOnDrawsThoseWhoMeasuredLastTheLongestAgoAsLost) {
  const std::string folder = FreshFolder();
  WriteRun(folder, "nodes: 3 rounds: 9",
           "{\"round\":2,\"epoch\":1,\"time_s\":1}\n"
           "{\"round\":6,\"epoch\":3,\"time_s\":3,\"living\":2}\n");
  const auto write = [&folder](Rank rank, Round round) {
    WriteText(absl::StrCat(folder, "/node-", rank, "/metrics.jsonl"),
              absl::StrCat("{\"round\":", round, ",\"epoch\":1,\"time_s\":1}\n"));
  };
  write(0, 6);
  write(1, 2);
  const auto nodes = [&folder] {
    return BlockOf(RunSectionOf(DataOf({folder}), "graph"), "graph")["nodes"];
  };
  EXPECT_EQ(nodes(), Json::parse("[{},{},{}]")) << "that of rank 2 may be on another host";
  write(2, 5);
  EXPECT_EQ(nodes(), Json::parse(R"([{},{"lost":2},{}])"));
}

TEST(PageTest, OfARunThatGoesOnSaysHowFarItIs) {
  const std::string folder = FreshFolder();
  WriteRun(folder, "nodes: 3 rounds: 8", kMetrics);
  WriteText(folder + "/node-0/metrics.jsonl",
            "{\"round\":2,\"epoch\":1,\"time_s\":2,\"train_loss\":1.5,\"samples_per_s\":250}\n");
  WriteText(folder + "/node-2/metrics.jsonl",
            "{\"round\":1,\"epoch\":0.5,\"time_s\":1,\"train_loss\":2.5}\n");
  const auto data = PageData({.runs = {folder}, .live = true});
  ASSERT_TRUE(data.ok()) << data.status();
  const Json page = testing::JsonOf(*data);
  EXPECT_EQ(page["runs"][0]["state"], "under way");
  const Json& progress = page["sections"][0];
  EXPECT_EQ(progress["id"], "progress");
  EXPECT_EQ(progress["blocks"][0]["rows"][0],
            Json::parse(R"(["2 of 8","1","25.0 %","2.00 s","about 6.00 s","1.5","75.00 %",
                            "3 of 3"])"));
  EXPECT_EQ(progress["blocks"][1]["rows"],
            Json::parse(R"([["2","1","1.00 s","2.5",""],["0","2","2.00 s","1.5","250"]])"));
  for (const Json& section : page["sections"]) EXPECT_FALSE(section.contains("missing")) << section;
}

TEST(ModelDistancesTest, AreFromTheMeanOfTheParameters) {
  const std::string folder = FreshFolder();
  WriteModel(folder + "/a", {0, 0}, 1);
  WriteModel(folder + "/b", {0, 3}, 100);
  WriteModel(folder + "/c", {6, 0}, 1);
  const auto path = [&folder](const char* node) {
    return folder + "/" + node + "/model.safetensors";
  };
  const auto distances = ModelDistances({path("a"), path("b"), path("c")});
  ASSERT_TRUE(distances.ok()) << distances.status();
  EXPECT_THAT(*distances,
              ElementsAre(DoubleNear(5, 1e-9), DoubleNear(8, 1e-9), DoubleNear(17, 1e-9)));
  EXPECT_THAT(std::string(ModelDistances({path("a"), path("none")}).status().message()),
              HasSubstr("none/model.safetensors is not here"));
  WriteText(path("b"), "no model");
  EXPECT_EQ(FailureOf(ModelDistances({path("a"), path("b")}).status()), Failure::kInput);
  WriteModel(folder + "/wide", {1, 2}, 0);
  const std::vector<float> three = {1, 2, 3};
  const std::vector<SafetensorsTensor> other = {
      {.name = "fc.weight", .shape = {3}, .elements = three}};
  ASSERT_TRUE(WriteSafetensors(path("b"), other, {}).ok());
  EXPECT_THAT(std::string(ModelDistances({path("a"), path("b")}).status().message()),
              HasSubstr("fc.weight"));
}

TEST(PageTest, SimulatedRunsStandBesideRealOnes) {
  const std::string folder = FreshFolder();
  WriteRun(folder + "/real", "nodes: 4", kMetrics);
  WriteRun(folder + "/simulated", "nodes: 4 network: \"switch\" bandwidth: \"1Gbit\"",
           "{\"round\":2,\"epoch\":1,\"time_s\":3,\"train_loss\":1.5}\n");
  WriteRun(folder + "/other", "nodes: 4 batch: 7 network: \"switch\"", kMetrics);
  const Json data = DataOf({folder});
  EXPECT_EQ(data["curves"].size(), 3u);
  const Json prediction = SectionOf(data, "prediction");
  ASSERT_EQ(prediction["blocks"].size(), 1u) << prediction;
  const Json rows = prediction["blocks"][0]["rows"];
  EXPECT_THAT(rows, Contains(Json({"time of a round", "1.00 s", "1.50 s", "1.500"})));
  EXPECT_THAT(rows, Contains(Json({"training loss", "1.5", "1.5", "1.000"})));
}

TEST(PageTest, TheConfigurationIsThereWithTheCommand) {
  const std::string folder = FreshFolder();
  WriteRun(folder, "nodes: 8 topology: \"torus\"", kMetrics);
  const Json settings = RunSectionOf(DataOf({folder}), "settings");
  EXPECT_EQ(BlockOf(settings, "command")["text"], "grapevine train --nodes=8 --topology=torus");
  EXPECT_EQ(settings["blocks"][1]["rows"], Json::parse(R"([["nodes","8"],["topology","torus"]])"));
  const Json& defaults = settings["blocks"][2];
  EXPECT_TRUE(defaults["folded"]);
  EXPECT_THAT(defaults["rows"], Contains(Json({"mixing", "metropolis"})));
  EXPECT_THAT(defaults.dump(), Not(HasSubstr("placement"))) << "real nodes have none";
  EXPECT_THAT(defaults.dump(), Not(HasSubstr("insecure"))) << "a run directory does not say it";
}

TEST(PageTest, TextsOfRunsCannotBecomeElements) {
  const std::string folder = FreshFolder() + "/<img src=x onerror=alert(1)>&{{script}}";
  WriteRun(folder, "nodes: 4 topology: \"</script><script>alert(1)</script>\"", kMetrics);
  WriteText(folder + "/statistics.json", "{\"nodes\":\"<!--<script>\"}");
  const auto data = PageData({.runs = {folder}, .title = "\xff</title>\xe2\x80\xa8"});
  ASSERT_TRUE(data.ok()) << data.status();
  EXPECT_THAT(*data, AllOf(Not(HasSubstr("<")), Not(HasSubstr(">")), Not(HasSubstr("&"))));
  for (const char c : *data) ASSERT_LT(static_cast<unsigned char>(c), 0x80u);
  const Json json = testing::JsonOf(*data);
  EXPECT_EQ(json["runs"][0]["path"], folder) << "escaped, not changed";
  const std::string page = *PageOfRuns({.runs = {folder}});
  EXPECT_THAT(page, HasSubstr(R"({{script}})")) << "what looks like a mark in the data stays";
  EXPECT_THAT(page, AllOf(Not(HasSubstr("alert(1)</script>")), Not(HasSubstr("<img"))));
}

TEST(PageTest, NeedsNothingElse) {
  const std::string folder = FreshFolder();
  WriteRun(folder, "nodes: 4", kMetrics);
  const std::string page = *PageOfRuns({.runs = {folder}});
  for (const char* outside : {"src=", "@import", "https://", "url(\"", "<link", "fetch(",
                              "XMLHttpRequest", "innerHTML", "{{style}}"}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
  EXPECT_THAT(page, HasSubstr("default-src 'none'; connect-src 'none'"));
}

TEST(PageTest, ALivePageMayAskForItsDataAndForNothingElse) {
  const std::string page = LivePage();
  EXPECT_THAT(page, AllOf(HasSubstr("default-src 'none'; connect-src 'self'"),
                          HasSubstr("fetch('data.json'"), HasSubstr(">null</script>")));
  for (const char* outside : {"src=", "@import", "https://", "<link", "innerHTML", "{{"}) {
    EXPECT_THAT(page, Not(HasSubstr(outside)));
  }
}

TEST(PageTest, GraphsThatPlayNoPartOrAreTooLargeAreNotDrawn) {
  const std::string folder = FreshFolder();
  WriteRun(folder + "/1", "nodes: 4 algorithm: \"allreduce\"", kMetrics);
  EXPECT_THAT(MissingIn(RunSectionOf(DataOf({folder + "/1"}), "graph")),
              HasSubstr("plays no part in allreduce"));
  WriteRun(folder + "/2", "nodes: 2000000000", kMetrics);
  EXPECT_THAT(MissingIn(RunSectionOf(DataOf({folder + "/2"}), "graph")),
              HasSubstr("2000000000 nodes is not drawn"));
  WriteRun(folder + "/3", "nodes: 4 topology: \"torus:3x3\"", kMetrics);
  EXPECT_THAT(MissingIn(RunSectionOf(DataOf({folder + "/3"}), "graph")), HasSubstr("torus:3x3"));
}

}  // namespace
}  // namespace grapevine

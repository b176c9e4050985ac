#include "report/curve.h"

#include <gtest/gtest.h>

namespace grapevine {
namespace {

RecordedRun RunWith(const std::string& topology, uint64_t seed, double lr = 0.05) {
  RecordedRun run;
  run.config.set_topology(topology);
  run.config.set_seed(seed);
  run.config.set_lr(lr);
  run.config.set_batch(32);
  return run;
}

TEST(GroupRuns, JoinsRunsThatDifferInTheSeedAlone) {
  std::vector<RecordedRun> runs = {RunWith("ring", 1), RunWith("complete", 1), RunWith("ring", 2)};
  runs[2].config.set_revision("another");
  runs[2].config.set_peer_timeout("1min");
  const std::vector<Curve> curves = GroupRuns(runs);
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].label, "ring, dpsgd (2 seeds)");
  EXPECT_EQ(curves[0].runs[1], &runs[2]);
  EXPECT_EQ(curves[1].label, "complete, dpsgd");
}

TEST(GroupRuns, NamesWhateverElseDiffers) {
  std::vector<RecordedRun> runs = {RunWith("ring", 1), RunWith("ring", 1, 0.1)};
  runs[0].config.set_rounds(100);
  const std::vector<Curve> curves = GroupRuns(runs);
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].label, "ring, dpsgd, rounds=100, lr=0.05");
  EXPECT_EQ(curves[1].label, "ring, dpsgd, epochs=3, lr=0.1");
}

TEST(GroupRuns, NamesWhatComputed) {
  std::vector<RecordedRun> runs = {RunWith("ring", 1), RunWith("ring", 1)};
  for (RecordedRun& run : runs) run.config.set_device("cuda");
  runs[1].config.set_precision("bf16");
  const std::vector<Curve> curves = GroupRuns(runs);
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[1].label, "ring, dpsgd, precision=bf16");
}

TEST(GroupRuns, CountsRepetitionsOfOneRun) {
  const std::vector<RecordedRun> runs = {RunWith("ring", 1), RunWith("ring", 1)};
  EXPECT_EQ(GroupRuns(runs)[0].label, "ring, dpsgd (2 runs)");
}

TEST(GroupRuns, TakesNoNoticeOfAGraphThatPlaysNoPart) {
  std::vector<RecordedRun> runs = {RunWith("ring", 1), RunWith("ring", 1), RunWith("torus", 1)};
  runs[1].config.set_algorithm("allreduce:tree");
  runs[2].config.set_algorithm("allreduce:tree");
  const std::vector<Curve> curves = GroupRuns(runs);
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[1].label, "allreduce:tree (2 runs)");
}

TEST(GroupRuns, CountsSeedsNotTheGraphsOnWhichTheyRan) {
  std::vector<RecordedRun> runs;
  for (const char* graph : {"ring", "torus"}) {
    for (const int seed : {1, 2, 3}) {
      runs.push_back(RunWith(graph, seed));
      runs.back().config.set_algorithm("allreduce");
    }
  }
  EXPECT_EQ(GroupRuns(runs)[0].label, "allreduce");
  EXPECT_EQ(CommonTitle(ConfigsOf(runs)),
            "lenet5 on synthetic, split iid, 4 nodes, batch 32, lr 0.05, 3 seeds");
  runs.push_back(RunWith("ring", 1));
  EXPECT_EQ(GroupRuns(runs)[0].label, "allreduce (3 seeds)") << "another curve has one alone";
  EXPECT_EQ(CommonTitle(ConfigsOf(runs)),
            "lenet5 on synthetic, split iid, 4 nodes, batch 32, lr 0.05");
}

TEST(GroupRuns, TellsSimulatedRunsFromRealOnes) {
  std::vector<RecordedRun> runs = {RunWith("ring", 1), RunWith("ring", 1)};
  runs[1].config.set_network("switch");
  runs[1].config.set_memory_bandwidth("10Gbit");
  const std::vector<Curve> curves = GroupRuns(runs);
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].label, "ring, dpsgd");
  EXPECT_EQ(curves[1].label, "ring, dpsgd, simulated");
}

TEST(GroupRuns, SaysNothingOfAClusterOfRealNodes) {
  std::vector<RecordedRun> runs = {RunWith("ring", 1), RunWith("ring", 1), RunWith("ring", 1)};
  for (size_t i : {1, 2}) runs[i].config.set_network("switch");
  runs[2].config.set_memory_bandwidth("10Gbit");
  const std::vector<Curve> curves = GroupRuns(runs);
  ASSERT_EQ(curves.size(), 3u);
  EXPECT_EQ(curves[0].label, "ring, dpsgd");
  EXPECT_EQ(curves[2].label, "ring, dpsgd, memory_bandwidth=10Gbit, simulated");
}

TEST(GroupRuns, TellsSimulatedClustersApart) {
  std::vector<RecordedRun> runs = {RunWith("ring", 1), RunWith("ring", 1)};
  for (RecordedRun& run : runs) run.config.set_network("switch");
  runs[0].config.set_bandwidth("100Mbit");
  runs[1].config.set_bandwidth("1Gbit");
  const std::vector<Curve> curves = GroupRuns(runs);
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[1].label, "ring, dpsgd, bandwidth=1Gbit");
}

TEST(CurveLabels, LeaveOutWhatIsApart) {
  std::vector<RecordedRun> runs = {RunWith("ring", 1), RunWith("ring", 2)};
  for (RecordedRun& run : runs) run.config.set_network("switch");
  runs[0].config.set_bandwidth("100Mbit");
  const std::vector<std::string> labels = CurveLabels(ConfigsOf(runs), {"bandwidth"});
  EXPECT_EQ(labels, (std::vector<std::string>{"ring, dpsgd", "ring, dpsgd"}));
}

// Each run has timed its own gradient, and none was given --compute.
std::vector<RecordedRun> TimedRuns() {
  std::vector<RecordedRun> runs = {RunWith("ring", 1), RunWith("ring", 2), RunWith("ring", 1)};
  for (RecordedRun& run : runs) run.config.set_network("switch");
  runs[0].config.set_compute("2.31ms");
  runs[1].config.set_compute("2.4ms");
  runs[2].config.set_compute("9.02ms");
  runs[2].config.set_batch(128);
  return runs;
}

TEST(GroupRuns, JoinsRunsThatHaveTimedTheirOwnGradients) {
  const std::vector<RecordedRun> runs = TimedRuns();
  const std::vector<Curve> curves = GroupRuns(runs);
  ASSERT_EQ(curves.size(), 2u);
  EXPECT_EQ(curves[0].label, "ring, dpsgd, batch=32 (2 seeds)");
  EXPECT_EQ(CommonTitle(ConfigsOf(runs)),
            "lenet5 on synthetic, split iid, 4 nodes, lr 0.05, gradient 2.31ms to 9.02ms");
  EXPECT_EQ(CurveLabels(ConfigsOf(runs), {"batch"}), (std::vector<std::string>(3, "ring, dpsgd")));
}

TEST(GroupRuns, NamesTimesOfGradientsThatAloneTellRunsApart) {
  std::vector<RecordedRun> runs = TimedRuns();
  runs[1].config.set_seed(1);
  EXPECT_EQ(GroupRuns(runs)[1].label, "ring, dpsgd, compute=2.4ms, batch=32");
  runs = TimedRuns();
  runs[1].config.set_compute("normal:mean=2ms:sd=1ms");
  EXPECT_EQ(GroupRuns(runs).size(), 3u);
  runs = TimedRuns();
  runs[1].config.set_model("phantom:1MB");
  EXPECT_EQ(GroupRuns(runs).size(), 3u);
}

TEST(CommonTitle, SaysWhatTheRunsShare) {
  std::vector<RecordedRun> runs = {RunWith("ring", 1), RunWith("torus", 2)};
  for (RecordedRun& run : runs) run.config.set_data("mnist:/a/long/path");
  EXPECT_EQ(CommonTitle(ConfigsOf(runs)), "lenet5 on mnist, split iid, 4 nodes, batch 32, lr 0.05");
  runs[1].config.set_nodes(8);
  runs[1].config.set_model("mlp");
  EXPECT_EQ(CommonTitle(ConfigsOf(runs)), "on mnist, split iid, batch 32, lr 0.05");
}

}  // namespace
}  // namespace grapevine

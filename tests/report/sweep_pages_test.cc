#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"
#include "report/kinds/pages.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SweptCell Cell(const std::string& algorithm, int nodes, const std::string& bandwidth,
               const std::string& latency, double seconds) {
  SweptCell cell{.seconds_per_round = seconds, .workers = nodes};
  cell.config.set_model("phantom:1MB");
  cell.config.set_network("switch");
  cell.config.set_algorithm(algorithm);
  cell.config.set_nodes(nodes);
  cell.config.set_bandwidth(bandwidth);
  cell.config.set_latency(latency);
  return cell;
}

TEST(StepTimePage, HasAPanelForEachValueOfTheOther) {
  std::vector<SweptCell> cells;
  for (const char* algorithm : {"dpsgd", "allreduce"}) {
    for (const char* bandwidth : {"10Mbit", "100Mbit", "1Gbit"}) {
      for (const char* latency : {"1ms", "10ms"}) {
        cells.push_back(Cell(algorithm, 8, bandwidth, latency, 0.5));
      }
    }
  }
  const absl::StatusOr<Page> page = StepTimePage(cells);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(page->labels, ElementsAre("ring, dpsgd", "allreduce"));
  // Two latencies beside each other and a hole, then three bandwidths.
  ASSERT_EQ(page->panels.size(), 6u);
  EXPECT_EQ(page->columns, 3);
  EXPECT_EQ(page->panels[0].title, "latency 1ms");
  EXPECT_TRUE(page->panels[2].blank);
  EXPECT_EQ(page->panels[5].title, "bandwidth 1Gbit");
  ASSERT_EQ(page->panels[0].curves[1].size(), 3u);
  EXPECT_EQ(page->panels[0].curves[1][0].x, 1e7);
  EXPECT_EQ(page->panels[0].curves[1][0].mean, 0.5);
  EXPECT_TRUE(page->panels[0].x.logarithmic);
}

TEST(StepTimePage, JoinsSeedsAndUnusedGraphs) {
  std::vector<SweptCell> cells = {Cell("allreduce", 8, "1Gbit", "1ms", 1),
                                  Cell("allreduce", 8, "1Gbit", "1ms", 3),
                                  Cell("allreduce", 8, "2Gbit", "1ms", 1)};
  cells[0].config.set_seed(2);
  cells[1].config.set_topology("torus");
  const absl::StatusOr<Page> page = StepTimePage(cells);
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_EQ(page->labels.size(), 1u);
  const BandPoint& joined = page->panels[0].curves[0][0];
  EXPECT_EQ(joined.low, 1);
  EXPECT_EQ(joined.mean, 2);
  EXPECT_EQ(joined.high, 3);
}

TEST(StepTimePage, NamesTheMissingList) {
  const std::vector<SweptCell> cells = {Cell("dpsgd", 8, "1Gbit", "1ms", 1)};
  const absl::Status status = StepTimePage(cells).status();
  EXPECT_EQ(status.message(),
            "the sweep has one bandwidth and one latency; give --bandwidth or --latency a list");
  EXPECT_EQ(FailureOf(status), Failure::kInput);
}

TEST(SpeedUpPage, IsInUnitsOfTheBestWithTheFewestNodes) {
  std::vector<SweptCell> cells = {
      Cell("dpsgd", 2, "1Gbit", "1ms", 1), Cell("dpsgd", 8, "1Gbit", "1ms", 1),
      Cell("ps:servers=1", 2, "1Gbit", "1ms", 1), Cell("ps:servers=1", 8, "1Gbit", "1ms", 2)};
  cells[2].workers = 1;
  cells[3].workers = 7;
  const absl::StatusOr<Page> page = SpeedUpPage(cells);
  ASSERT_TRUE(page.ok()) << page.status();
  ASSERT_EQ(page->panels.size(), 1u);
  const Panel& panel = page->panels[0];
  EXPECT_EQ(panel.curves[0][0].mean, 1);
  EXPECT_EQ(panel.curves[0][1].mean, 4);
  EXPECT_EQ(panel.curves[1][0].mean, 0.5);
  EXPECT_EQ(panel.curves[1][1].mean, 1.75);
  EXPECT_EQ(panel.reference.back().mean, 4);
  EXPECT_THAT(panel.y.label, HasSubstr("over the fastest with 2 nodes"));
}

TEST(SpeedUpPage, WantsSeveralNumbersOfNodes) {
  const std::vector<SweptCell> cells = {Cell("dpsgd", 8, "1Gbit", "1ms", 1)};
  EXPECT_EQ(SpeedUpPage(cells).status().message(),
            "the sweep has one number of nodes (8); give --nodes a list");
}

}  // namespace
}  // namespace grapevine

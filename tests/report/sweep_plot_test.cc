// Sweeps as folders on the disk, to pictures.
#include "report/sweep_plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "report/run_reader.h"
#include "tests/report/run_folder.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

bool GnuplotIsMissing() { return system("command -v gnuplot > /dev/null") != 0; }

class SweepPlotTest : public ::testing::Test {
 protected:
  SweepPlotTest() : folder_(FreshFolder()) {
    for (const char* algorithm : {"dpsgd", "allreduce:tree"}) {
      for (const char* bandwidth : {"10Mbit", "1Gbit"}) {
        for (const char* latency : {"1ms", "10ms"}) {
          for (const int nodes : {4, 8}) WriteCell(algorithm, bandwidth, latency, nodes);
        }
      }
    }
    options_.sweeps = {folder_};
    options_.output = folder_ + "/picture.png";
  }

  void WriteCell(const std::string& algorithm, const std::string& bandwidth,
                 const std::string& latency, int nodes) {
    const std::string cell =
        absl::StrCat(folder_, "/nodes=", nodes, "_", algorithm, bandwidth, latency);
    WriteRun(cell,
             absl::StrCat("nodes: ", nodes, " algorithm: \"", algorithm,
                          "\" model: \"phantom:1MB\" compute: \"10ms\" rounds: 10 network: "
                          "\"switch\" bandwidth: \"",
                          bandwidth, "\" latency: \"", latency, "\""),
             "");
    WriteText(
        cell + "/summary.json",
        absl::StrCat("{\"nodes\":", nodes, ",\"topology\":\"ring\",\"mixing\":\"metropolis\",",
                     "\"algorithm\":\"", algorithm,
                     "\",\"model\":\"phantom:1MB\",\"data\":\"\",\"seed\":1,\"rounds\":10,",
                     "\"epochs\":10,\"stopped\":\"finished\",\"simulated_time_s\":",
                     algorithm == "dpsgd" ? 2 : 3, "}"));
  }

  std::string folder_;
  SweepPlotOptions options_;
};

// A program with algorithms of its own ran the sweep (docs/extending.md), another draws it.
TEST_F(SweepPlotTest, ReadsCellsOfAlgorithmsThatThisProgramDoesNotKnow) {
  const std::string sweep = FreshFolder();
  folder_ = sweep;
  WriteCell("mine:speed=3", "10Mbit", "1ms", 8);
  WriteCell("ps:servers=2", "10Mbit", "1ms", 8);
  const auto cells = ReadSweep(std::vector<std::string>{sweep});
  ASSERT_TRUE(cells.ok()) << cells.status();
  ASSERT_EQ(cells->size(), 2u);
  EXPECT_EQ((*cells)[0].workers, 8);
  EXPECT_EQ((*cells)[1].workers, 6);
}

TEST_F(SweepPlotTest, WritesEveryPicture) {
  if (GnuplotIsMissing()) GTEST_SKIP() << "gnuplot is not installed";
  for (const SweepPicture picture : {SweepPicture::kStepTime, SweepPicture::kSpeedUp}) {
    options_.picture = picture;
    ASSERT_EQ(PlotSweep(options_), absl::OkStatus());
    EXPECT_THAT(testing::FileText(options_.output), StartsWith("\x89PNG"));
  }
  options_.picture = SweepPicture::kWinner;
  EXPECT_THAT(std::string(PlotSweep(options_).message()), HasSubstr("several values of --nodes"));
  options_.sweeps.clear();
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("nodes=8")) options_.sweeps.push_back(entry.path().string());
  }
  options_.output = folder_ + "/picture.svg";
  ASSERT_EQ(PlotSweep(options_), absl::OkStatus());
  EXPECT_THAT(testing::FileText(options_.output), HasSubstr("<svg"));
  EXPECT_THAT(testing::FileText(options_.output), HasSubstr("ring"));
}

TEST_F(SweepPlotTest, LeavesOutCellsThatDidNotFinish) {
  std::filesystem::remove(folder_ + "/nodes=4_dpsgd10Mbit1ms/summary.json");
  if (GnuplotIsMissing()) GTEST_SKIP() << "gnuplot is not installed";
  EXPECT_EQ(PlotSweep(options_), absl::OkStatus());
}

TEST_F(SweepPlotTest, RefusesRealRunsAndEmptySweeps) {
  const std::string path = folder_ + "/nodes=4_dpsgd10Mbit1ms";
  std::string summary = testing::FileText(path + "/summary.json");
  summary.replace(summary.find("simulated"), 9, "wall");
  WriteText(path + "/summary.json", summary);
  const absl::Status status = PlotSweep(options_);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("summary.json has no simulated time: name the folder of a sweep"));
  EXPECT_EQ(FailureOf(status), Failure::kInput);
  std::filesystem::remove(path + "/summary.json");
  options_.sweeps = {path};
  EXPECT_EQ(PlotSweep(options_).message(), path + " has no finished cell (no summary.json)");
}

}  // namespace
}  // namespace grapevine

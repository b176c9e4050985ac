// Sweeps as folders on the disk, to pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "report/plot.h"
#include "report/run_reader.h"
#include "tests/report/missing_gnuplot.h"
#include "tests/report/run_folder.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

class SweepFiguresTest : public ::testing::Test {
 protected:
  SweepFiguresTest() : folder_(FreshFolder()) {
    for (const char* algorithm : {"dpsgd", "allreduce:tree"}) {
      for (const char* bandwidth : {"10Mbit", "1Gbit"}) {
        for (const char* latency : {"1ms", "10ms"}) {
          for (const int nodes : {4, 8}) WriteCell(algorithm, bandwidth, latency, nodes);
        }
      }
    }
    options_.request.runs = {folder_};
    output_ = folder_ + "/picture.png";
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
  PlotOptions options_{.kind = "step-time"};
  std::string output_;
};

// A program with algorithms of its own ran the sweep (docs/extending.md), another draws it.
TEST_F(SweepFiguresTest, ReadsCellsOfAlgorithmsThatThisProgramDoesNotKnow) {
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

TEST_F(SweepFiguresTest, WritesEveryPicture) {
  if (GnuplotIsMissing()) GTEST_SKIP() << "gnuplot is not installed";
  for (const char* kind : {"step-time", "speed-up"}) {
    options_.kind = kind;
    ASSERT_EQ(WriteFigure(options_, output_), absl::OkStatus());
    EXPECT_THAT(testing::FileText(output_), StartsWith("\x89PNG"));
  }
  options_.kind = "winner";
  EXPECT_THAT(std::string(WriteFigure(options_, output_).message()),
              HasSubstr("several values of --nodes"));
  options_.request.runs.clear();
  for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("nodes=8")) options_.request.runs.push_back(entry.path().string());
  }
  output_ = folder_ + "/picture.svg";
  ASSERT_EQ(WriteFigure(options_, output_), absl::OkStatus());
  EXPECT_THAT(testing::FileText(output_), HasSubstr("<svg"));
  EXPECT_THAT(testing::FileText(output_), HasSubstr("ring"));
}

TEST_F(SweepFiguresTest, PrintsTheNumbersOfAMap) {
  options_.request.runs.clear();
  for (const char* algorithm : {"dpsgd", "allreduce:tree"}) {
    for (const char* bandwidth : {"10Mbit", "1Gbit"}) {
      for (const char* latency : {"1ms", "10ms"}) {
        options_.request.runs.push_back(
            absl::StrCat(folder_, "/nodes=8_", algorithm, bandwidth, latency));
      }
    }
  }
  options_.kind = "winner";
  const absl::StatusOr<Figure> figure = MakeFigure(options_);
  ASSERT_TRUE(figure.ok()) << figure.status();
  EXPECT_EQ(TableText(NumbersOf(*figure), TableFormat::kMarkdown),
            "| latency | bandwidth | winner | advantage of gossip |\n"
            "| --- | --- | --- | ---: |\n"
            "| 1ms | 10Mbit | ring | 1.5 |\n"
            "| 1ms | 1Gbit | ring | 1.5 |\n"
            "| 10ms | 10Mbit | ring | 1.5 |\n"
            "| 10ms | 1Gbit | ring | 1.5 |\n");
  options_.adjustment.legend = {"mine"};
  EXPECT_EQ(MakeFigure(options_).status().message(),
            "--legend means nothing to --kind=winner, a map, which has neither curves nor a "
            "scale; leave it out");
}

TEST_F(SweepFiguresTest, PrintsTheNumbersOfPanelsInUnits) {
  options_.request.runs = {folder_ + "/nodes=4_dpsgd10Mbit1ms", folder_ + "/nodes=4_dpsgd1Gbit1ms"};
  const absl::StatusOr<Figure> figure = MakeFigure(options_);
  ASSERT_TRUE(figure.ok()) << figure.status();
  EXPECT_EQ(TableText(NumbersOf(*figure), TableFormat::kCsv),
            "panel,curve,bandwidth (bit/s),time of a round (s)\n"
            "latency 1ms,\"ring, dpsgd\",1e+07,0.2\n"
            "latency 1ms,\"ring, dpsgd\",1e+09,0.2\n");
}

TEST_F(SweepFiguresTest, LeavesOutCellsThatDidNotFinish) {
  std::filesystem::remove(folder_ + "/nodes=4_dpsgd10Mbit1ms/summary.json");
  if (GnuplotIsMissing()) GTEST_SKIP() << "gnuplot is not installed";
  EXPECT_EQ(WriteFigure(options_, output_), absl::OkStatus());
}

TEST_F(SweepFiguresTest, RefusesRealRunsAndEmptySweeps) {
  const std::string path = folder_ + "/nodes=4_dpsgd10Mbit1ms";
  std::string summary = testing::FileText(path + "/summary.json");
  summary.replace(summary.find("simulated"), 9, "wall");
  WriteText(path + "/summary.json", summary);
  const absl::Status status = WriteFigure(options_, output_);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("summary.json has no simulated time: name the folder of a sweep"));
  EXPECT_EQ(FailureOf(status), Failure::kInput);
  std::filesystem::remove(path + "/summary.json");
  options_.request.runs = {path};
  EXPECT_EQ(WriteFigure(options_, output_).message(),
            path + " has no finished cell (no summary.json)");
}

}  // namespace
}  // namespace grapevine

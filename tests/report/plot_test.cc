#include "report/plot.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <variant>

#include "absl/cleanup/cleanup.h"
#include "base/status.h"
#include "report/gnuplot.h"
#include "report/kinds/pages.h"
#include "tests/report/missing_gnuplot.h"
#include "tests/report/run_folder.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char kMetrics[] =
    "{\"round\":0,\"epoch\":0,\"time_s\":0,\"train_loss\":2.3,\"test_accuracy\":0.1,"
    "\"consensus_distance\":0,\"bytes_sent_total\":0}\n"
    "{\"round\":9,\"epoch\":1,\"time_s\":5,\"train_loss\":0.4,\"test_accuracy\":0.9,"
    "\"consensus_distance\":0.2,\"bytes_sent_total\":1000000}\n";

class PlotTest : public ::testing::Test {
 protected:
  PlotTest() : folder_(FreshFolder()) {
    WriteRun(folder_ + "/ring", "topology: \"ring\"", kMetrics);
    WriteRun(folder_ + "/it's `id`", "topology: \"'; \\\"quoted\\\"_{2}\"", kMetrics);
    options_.request.runs = {folder_};
    output_ = folder_ + "/it's | a plot.png";
  }

  std::string folder_;
  PlotOptions options_;
  std::string output_;
};

TEST_F(PlotTest, WritesPictures) {
  if (GnuplotIsMissing()) GTEST_SKIP() << "gnuplot is not installed";
  ASSERT_EQ(WriteFigure(options_, output_), absl::OkStatus());
  EXPECT_THAT(testing::FileText(output_), StartsWith("\x89PNG"));
  output_ = folder_ + "/plot.svg";
  ASSERT_EQ(WriteFigure(options_, output_), absl::OkStatus());
  const std::string svg = testing::FileText(output_);
  EXPECT_THAT(svg, HasSubstr("<svg"));
  EXPECT_THAT(svg, HasSubstr("ring, dpsgd"));
}

TEST_F(PlotTest, HasNinePanelsOrThree) {
  std::vector<RecordedRun> runs = {*ReadRun(folder_ + "/ring")};
  EXPECT_EQ(ConvergencePage(runs)->panels.size(), 9u);
  const Page page = *ConvergencePage(runs, {.x = "time"});
  EXPECT_EQ(page.panels.size(), 3u);
  EXPECT_EQ(page.columns, 3);
  EXPECT_FALSE(page.shared_rows);
}

TEST_F(PlotTest, RefusesAnUnknownFormat) {
  output_ = "plot.jpg";
  const absl::Status status = WriteFigure(options_, output_);
  EXPECT_EQ(status.message(),
            "cannot tell the format of plot.jpg; end its name in .png, .svg or .pdf");
  EXPECT_EQ(FailureOf(status), Failure::kUsage);
}

TEST_F(PlotTest, NamesAnOutputThatCannotBeWritten) {
  if (GnuplotIsMissing()) GTEST_SKIP() << "gnuplot is not installed";
  output_ = folder_ + "/none/plot.png";
  const absl::Status status = WriteFigure(options_, output_);
  EXPECT_THAT(status.message(), HasSubstr(output_));
  EXPECT_EQ(FailureOf(status), Failure::kOutput);
}

TEST_F(PlotTest, NamesAMissingRun) {
  options_.request.runs.push_back(folder_ + "/none");
  const absl::Status status = WriteFigure(options_, output_);
  EXPECT_EQ(status.message(), folder_ + "/none does not exist");
  EXPECT_EQ(FailureOf(status), Failure::kInput);
}

TEST_F(PlotTest, WantsSomethingToDraw) {
  WriteRun(folder_ + "/phantom", "", "{\"round\":1,\"epoch\":0,\"time_s\":1}\n");
  options_.request.runs = {folder_ + "/phantom"};
  const absl::Status status = WriteFigure(options_, output_);
  EXPECT_EQ(status.message(),
            folder_ +
                "/phantom has no loss, accuracy or consensus distance to draw; of what learns "
                "nothing there are pictures of sweeps: --kind=step-time, winner or speed-up");
  EXPECT_EQ(FailureOf(status), Failure::kInput);
}

TEST_F(PlotTest, PrintsTheNumbersOfThePanels) {
  options_.request.runs = {folder_ + "/ring"};
  options_.request.x = "epoch";
  const absl::StatusOr<Figure> figure = MakeFigure(options_);
  ASSERT_TRUE(figure.ok()) << figure.status();
  EXPECT_EQ(TableText(NumbersOf(*figure), TableFormat::kCsv),
            "curve,epoch,y,value\n"
            "\"ring, dpsgd\",0,training loss,2.3\n"
            "\"ring, dpsgd\",1,training loss,0.4\n"
            "\"ring, dpsgd\",0,test accuracy (%),10\n"
            "\"ring, dpsgd\",1,test accuracy (%),90\n"
            "\"ring, dpsgd\",0,consensus distance,0\n"
            "\"ring, dpsgd\",1,consensus distance,0.2\n");
}

// Whatever a kind wants: it says so of runs that hold next to nothing.
TEST_F(PlotTest, EveryKindNamesWhatARunLacks) {
  WriteRun(folder_ + "/bare/run", "", "{\"round\":1,\"epoch\":0,\"time_s\":1}\n");
  options_.request.runs = {folder_ + "/bare"};
  ASSERT_GE(PlotKinds().All().size(), 10u);
  for (const PlotKind* kind : PlotKinds().All()) {
    SCOPED_TRACE(kind->name);
    options_.kind = kind->name;
    const absl::Status status = MakeFigure(options_).status();
    EXPECT_THAT(FailureOf(status), ::testing::AnyOf(Failure::kInput, Failure::kUsage)) << status;
    options_.request.runs = {folder_ + "/none"};
    EXPECT_EQ(MakeFigure(options_).status().message(), folder_ + "/none does not exist");
    options_.request.runs = {folder_ + "/bare"};
    EXPECT_LE(kind->help.size(), 80u) << "does not fit a line of the help";
  }
}

TEST_F(PlotTest, RefusesFlagsThatMeanNothingToTheKind) {
  options_.kind = "winner";
  options_.request.x = "time";
  const absl::Status status = MakeFigure(options_).status();
  EXPECT_THAT(std::string(status.message()),
              StartsWith("--x means nothing to --kind=winner; it is for --kind="));
  EXPECT_EQ(FailureOf(status), Failure::kUsage);
}

TEST_F(PlotTest, RefusesWhatNoAxisIs) {
  options_.request.x = "weeks";
  const absl::Status status = MakeFigure(options_).status();
  EXPECT_EQ(status.message(), "--x=weeks: convergence is drawn against epoch, bytes, time or all");
  EXPECT_EQ(FailureOf(status), Failure::kUsage);
}

TEST_F(PlotTest, LeavesOutOfTheLegendWhatHasNoCurve) {
  WriteRun(folder_ + "/phantom", "model: \"phantom:1MB\"",
           "{\"round\":1,\"epoch\":0,\"time_s\":1}\n");
  const std::vector<RecordedRun> runs = {*ReadRun(folder_ + "/phantom"),
                                         *ReadRun(folder_ + "/ring")};
  const absl::StatusOr<Page> page = ConvergencePage(runs);
  ASSERT_TRUE(page.ok()) << page.status();
  EXPECT_THAT(page->labels, ElementsAre(HasSubstr("ring, dpsgd")));
  EXPECT_EQ(page->panels[0].curves.size(), 1u);
}

TEST_F(PlotTest, DrawsSimulatedRunsBesideRealOnesThinner) {
  WriteRun(folder_ + "/simulated", "topology: \"ring\" network: \"switch\"", kMetrics);
  const std::vector<RecordedRun> runs = {*ReadRun(folder_ + "/ring"),
                                         *ReadRun(folder_ + "/simulated")};
  EXPECT_THAT(ConvergencePage(runs)->hollow, ElementsAre(1u));
  EXPECT_TRUE(ConvergencePage({runs[1]})->hollow.empty());
}

TEST_F(PlotTest, NamesThePackageOfAMissingGnuplot) {
  const std::string path = getenv("PATH");
  const absl::Cleanup restore = [&path] { setenv("PATH", path.c_str(), 1); };
  setenv("PATH", folder_.c_str(), 1);
  EXPECT_EQ(WriteFigure(options_, output_).message(),
            "gnuplot is not installed; on Debian: apt-get install gnuplot-nox");
}

TEST_F(PlotTest, WritesPdfOfTheWidthOfAColumn) {
  if (GnuplotIsMissing()) GTEST_SKIP() << "gnuplot is not installed";
  output_ = folder_ + "/plot.pdf";
  options_.request.x = "epoch";
  options_.width = "column";
  ASSERT_EQ(WriteFigure(options_, output_), absl::OkStatus());
  const std::string pdf = testing::FileText(output_);
  EXPECT_THAT(pdf, StartsWith("%PDF-"));
  EXPECT_THAT(pdf, HasSubstr("MediaBox [ 0 0 237 ")) << "8.4 cm are 238 points";
}

// Another gnuplot than the real one sees a script in which no terminal draws PDF.
TEST_F(PlotTest, SaysThatAGnuplotCannotDrawPdf) {
  if (GnuplotIsMissing()) GTEST_SKIP() << "gnuplot is not installed";
  const std::string path = getenv("PATH");
  const absl::Cleanup restore = [&path] { setenv("PATH", path.c_str(), 1); };
  WriteText(folder_ + "/bin/gnuplot", "#!/bin/sh\nPATH='" + path +
                                          "'\nsed -i \"s/GPVAL_TERMINALS/'png svg'/\" script.gp\n" +
                                          "exec gnuplot \"$@\"\n");
  std::filesystem::permissions(folder_ + "/bin/gnuplot", std::filesystem::perms::owner_all);
  setenv("PATH", (folder_ + "/bin:" + path).c_str(), 1);
  options_.request.runs = {folder_ + "/ring"};
  const absl::Status status = WriteFigure(options_, folder_ + "/plot.pdf");
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("this gnuplot cannot draw PDF, as it was built without pdfcairo; draw a "
                        ".svg, or install gnuplot-nox"));
  EXPECT_FALSE(std::filesystem::exists(folder_ + "/plot.pdf"));
  EXPECT_EQ(WriteFigure(options_, folder_ + "/plot.svg"), absl::OkStatus());
}

TEST_F(PlotTest, DrawsOneQuantityOnALogarithmicAxis) {
  options_.request.x = "epoch";
  options_.request.y = "loss";
  options_.request.log_loss = true;
  const absl::StatusOr<Figure> figure = MakeFigure(options_);
  ASSERT_TRUE(figure.ok()) << figure.status();
  const Page& page = std::get<Page>(*figure);
  ASSERT_EQ(page.panels.size(), 1u);
  EXPECT_EQ(page.panels[0].y.label, "training loss");
  EXPECT_TRUE(page.panels[0].y.logarithmic);
  EXPECT_GT(page.panels[0].y.low, 0);
  options_.request.y = "accuracy";
  EXPECT_FALSE(std::get<Page>(*MakeFigure(options_)).panels[0].y.logarithmic);
  options_.request.y = "weather";
  EXPECT_EQ(MakeFigure(options_).status().message(),
            "--y=weather: must be loss, accuracy, consensus or all");
}

TEST_F(PlotTest, AdjustsWhatTheKindMade) {
  WriteRun(folder_ + "/three", "",
           "{\"round\":1,\"epoch\":1,\"time_s\":1,\"train_loss\":3}\n"
           "{\"round\":2,\"epoch\":2,\"time_s\":2,\"train_loss\":0.5}\n"
           "{\"round\":3,\"epoch\":3,\"time_s\":3,\"train_loss\":1}\n");
  options_.request.runs = {folder_ + "/three"};
  options_.request.x = "epoch";
  options_.request.y = "loss";
  options_.adjustment = {.legend = {"mine"}, .smooth = "3"};
  EXPECT_EQ(TableText(NumbersOf(*MakeFigure(options_)), TableFormat::kCsv),
            "curve,epoch,training loss,unsmoothed\n"
            "mine,1,3,3\n"
            "mine,2,1.5,0.5\n"
            "mine,3,1,1\n");
  options_.adjustment = {.legend = {"mine", "yours"}};
  EXPECT_EQ(FailureOf(MakeFigure(options_).status()), Failure::kUsage);
  options_.adjustment = {};
  options_.width = "broad";
  EXPECT_EQ(FailureOf(WriteFigure(options_, output_)), Failure::kUsage);
  options_.kind = "survival";
  options_.request = {.runs = options_.request.runs};
  options_.adjustment = {.smooth = "2"};
  EXPECT_THAT(std::string(MakeFigure(options_).status().message()),
              StartsWith("--smooth means nothing to --kind=survival; it is for --kind="));
}

TEST_F(PlotTest, PassesOnWhatGnuplotComplainsAbout) {
  if (GnuplotIsMissing()) GTEST_SKIP() << "gnuplot is not installed";
  const std::string complaint(RunGnuplot("plot no_such_function(x)\n", "x").status().message());
  EXPECT_THAT(complaint, ContainsRegex("gnuplot failed: .*script.gp.* line 1: "));
}

}  // namespace
}  // namespace grapevine

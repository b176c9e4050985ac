#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <tuple>
#include <vector>

#include "cli/terminal/progress.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/testing/json_text.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;
using testing::JsonLinesOf;
using ::testing::Not;

constexpr ProgressGoal kGoal{.rounds = 200, .epochs = 3};

RunMetrics Halfway() {
  return {.round = 100,
          .epoch = 1.5,
          .time_s = 30,
          .train_loss = 0.25,
          .test_accuracy = 0.975,
          .consensus_distance = 0.0125,
          .samples_per_s = 5120};
}

ProgressDisplay::Sink To(std::ostringstream& stream) {
  return [&stream](std::string text) { stream << text; };
}

TEST(ProgressLine, HasWhatWasMeasured) {
  EXPECT_EQ(ProgressLine(Halfway(), kGoal),
            "round 100/200  epoch 1.50/3  loss 0.2500  accuracy 97.50 %  consensus 0.0125  5120 "
            "samples/s  30.0 s");
  EXPECT_EQ(ProgressLine({.round = 1, .epoch = 0.015, .time_s = 0.5}, kGoal).substr(0, 29),
            "round 1/200  epoch 0.01/3  50");
}

TEST(ProgressBar, ShowsShareAndRemainingTime) {
  const std::string bar = ProgressBar(Halfway(), kGoal, 200);
  EXPECT_THAT(bar, HasSubstr("[##########----------]  50 %  round 100/200"));
  EXPECT_THAT(bar, HasSubstr("ETA 30.0 s"));
}

TEST(ProgressBar, KeepsWhatMattersOnANarrowTerminal) {
  RunMetrics metrics = Halfway();
  metrics.round = 100000;
  metrics.test_accuracy = 0.98765;
  const std::string bar = ProgressBar(metrics, {.rounds = 200000, .epochs = 3}, 80);
  EXPECT_LE(bar.size(), 79u);
  EXPECT_THAT(bar, HasSubstr("[#####-----]  50 %"));
  EXPECT_THAT(bar, HasSubstr("accuracy 98.77 %"));
  EXPECT_THAT(bar, HasSubstr("ETA"));
}

TEST(ProgressBar, HasWholeMeasurementsOnly) {
  EXPECT_EQ(ProgressBar(Halfway(), kGoal, 200),
            "[##########----------]  50 %  round 100/200  epoch 1.50/3  loss 0.2500  accuracy "
            "97.50 %  consensus 0.0125  5120 samples/s  ETA 30.0 s");
  EXPECT_EQ(ProgressBar(Halfway(), kGoal, 80),
            "[#####-----]  50 %  epoch 1.50/3  loss 0.2500  accuracy 97.50 %  ETA 30.0 s");
  EXPECT_EQ(ProgressBar(Halfway(), kGoal, 40), " 50 %  loss 0.2500  ETA 30.0 s");
  EXPECT_EQ(ProgressBar(Halfway(), kGoal, 18), " 50 %  ETA 30.0 s");
  EXPECT_EQ(ProgressBar(Halfway(), kGoal, 17), " 50 %");
}

TEST(ProgressBar, LostNodesMatterMost) {
  RunMetrics metrics = Halfway();
  metrics.living = 3;
  EXPECT_EQ(ProgressBar(metrics, kGoal, 40), " 50 %  3 nodes left  ETA 30.0 s");
}

TEST(ProgressBar, FitsTheTerminalAndAnyNumbers) {
  RunMetrics large = Halfway();
  large.living = 100'000;
  large.train_loss = 1e30;
  large.consensus_distance = 1e-300;
  for (int width = 0; width < 250; ++width) {
    EXPECT_LE(ProgressBar(Halfway(), kGoal, width).size(), std::max(width - 1, 0));
    EXPECT_LE(ProgressBar(large, kGoal, width).size(), std::max(width - 1, 0));
  }
  RunMetrics beyond = Halfway();
  beyond.round = 1000000;
  EXPECT_THAT(ProgressBar(beyond, kGoal, 200), HasSubstr("[####################] 100 %"));
  beyond.round = -5;
  EXPECT_THAT(ProgressBar(beyond, kGoal, 200), HasSubstr("[--------------------]   0 %"));
  EXPECT_THAT(ProgressBar(beyond, {}, 200), HasSubstr("  0 %"));
}

RunStanding LongWait() {
  return {.slowest_rank = 7,
          .slowest_round = 90,
          .fastest_rank = 0,
          .fastest_round = 105,
          .wait = StandingWait{.rank = 3, .peer = 7, .round = 91, .seconds = 4.1}};
}

TEST(ProgressBar, SaysWhereTheNodesAreWhereThereIsRoom) {
  EXPECT_EQ(ProgressBar(Halfway(), kGoal, 220, LongWait()),
            "[##########----------]  50 %  round 100/200  epoch 1.50/3  loss 0.2500  accuracy "
            "97.50 %  consensus 0.0125  5120 samples/s  rank 3 waits for 7, round 91, 4.10 s  "
            "rank 7 at 90, rank 0 at 105  ETA 30.0 s");
  EXPECT_EQ(ProgressBar(Halfway(), kGoal, 100, LongWait()),
            "[#####-----]  50 %  loss 0.2500  accuracy 97.50 %  rank 3 waits for 7, round 91, "
            "4.10 s  ETA 30.0 s");
  EXPECT_EQ(ProgressBar(Halfway(), kGoal, 80, LongWait()),
            "[##########----------]  50 %  rank 3 waits for 7, round 91, 4.10 s  ETA 30.0 s");
  EXPECT_EQ(ProgressBar(Halfway(), kGoal, 40, LongWait()), " 50 %  loss 0.2500  ETA 30.0 s")
      << "not even by itself would it fit";
  for (int width = 0; width < 250; ++width) {
    RunStanding large = LongWait();
    large.fastest_round = large.wait->round = int64_t{1} << 62;
    large.wait->seconds = 1e300;
    EXPECT_LE(ProgressBar(Halfway(), kGoal, width, large).size(), std::max(width - 1, 0));
  }
}

// Rounds take 0.3 s here.
TEST(ProgressBar, OnlyLongWaitsAndTrueDistancesAreWorthSaying) {
  RunStanding standing = LongWait();
  standing.wait->seconds = 0.99;
  standing.slowest_round = 99;  // six rounds, which is 1.8 s
  EXPECT_EQ(ProgressBar(Halfway(), kGoal, 220, standing), ProgressBar(Halfway(), kGoal, 220));
  standing.slowest_round = 98;
  EXPECT_THAT(ProgressBar(Halfway(), kGoal, 220, standing), HasSubstr("rank 7 at 98, rank 0"));
  standing.wait->seconds = 4.1;
  RunMetrics slow = Halfway();
  slow.time_s = 206;
  EXPECT_THAT(ProgressBar(slow, kGoal, 220, standing), Not(HasSubstr("waits")))
      << "as long as two rounds take anyway";
  EXPECT_THAT(ProgressBar({}, kGoal, 220, standing), HasSubstr("rank 3 waits for 7"))
      << "before anything is measured";
}

TEST(TimeLeft, IsAtThePaceSoFar) {
  EXPECT_EQ(TimeLeft(10, 1, 3), "  ETA 30.0 s");
  for (const auto& [elapsed, done, left] :
       {std::tuple(0.0, 1.0, 1.0), std::tuple(1.0, 0.0, 1.0), std::tuple(1.0, 1.0, 0.0)}) {
    EXPECT_EQ(TimeLeft(elapsed, done, left), "");
  }
}

TEST(ProgressDisplay, PlainIsALineAMeasurement) {
  std::ostringstream out, errors;
  {
    ProgressDisplay display({.goal = kGoal}, To(out), To(errors));
    display.OnProgress(ToJsonLine(Halfway()));
    display.OnLine(3, false, "hello");
    display.OnLine(4, true, "trouble");
  }
  EXPECT_EQ(out.str(), ProgressLine(Halfway(), kGoal) + "\n[3] hello\n");
  EXPECT_EQ(errors.str(), "[4] trouble\n");
}

TEST(ProgressDisplay, TheBarStaysBelowLinesAndKeepsItsLastValues) {
  std::ostringstream out;
  {
    ProgressDisplay display({.goal = kGoal, .live = true, .width = [] { return 100; }}, To(out),
                            To(out));
    display.OnLine(0, false, "before");
    display.OnProgress(ToJsonLine(Halfway()));
    display.OnLine(1, true, "between");
    out.str("");
    display.OnProgress(ToJsonLine(RunMetrics{.round = 150, .epoch = 2.25, .time_s = 45}));
  }
  const RunMetrics expected{
      .round = 150, .epoch = 2.25, .time_s = 45, .train_loss = 0.25, .test_accuracy = 0.975};
  EXPECT_EQ(out.str(), "\r\033[K" + ProgressBar(expected, kGoal, 100) + "\n");
}

TEST(ProgressDisplay, ABarIsAsWideAsTheTerminalHasBecome) {
  std::ostringstream out;
  int width = 200;
  ProgressDisplay display({.goal = kGoal, .live = true, .width = [&width] { return width; }},
                          To(out), To(out));
  display.OnProgress(ToJsonLine(Halfway()));
  width = 40;
  display.OnProgress(ToJsonLine(Halfway()));
  EXPECT_EQ(out.str(), "\r\033[K" + ProgressBar(Halfway(), kGoal, 200) + "\r\033[K" +
                           ProgressBar(Halfway(), kGoal, 40));
}

TEST(ProgressDisplay, WhereTheNodesAreIsForTheBarAlone) {
  std::ostringstream live, plain, json;
  {
    ProgressDisplay bar({.goal = kGoal, .live = true, .width = [] { return 150; }}, To(live),
                        To(live));
    bar.OnProgress(ToJsonLine(Halfway()));
    live.str("");
    bar.OnProgress(ToJsonLine(LongWait()));
    ProgressDisplay lines({.goal = kGoal}, To(plain), To(plain));
    lines.OnProgress(ToJsonLine(LongWait()));
    ProgressDisplay objects({.goal = kGoal, .json = true}, To(json), To(json));
    objects.OnProgress(ToJsonLine(LongWait()));
  }
  EXPECT_EQ(live.str(), "\r\033[K" + ProgressBar(Halfway(), kGoal, 150, LongWait()) + "\n");
  EXPECT_EQ(plain.str(), "");
  EXPECT_EQ(json.str(), "");
}

TEST(ProgressDisplay, AWaitIsOverOnceItsRoundIs) {
  std::ostringstream out;
  ProgressDisplay display({.goal = kGoal, .live = true, .width = [] { return 150; }}, To(out),
                          To(out));
  RunMetrics metrics = Halfway();
  metrics.round = 91;
  display.OnProgress(ToJsonLine(LongWait()));
  display.OnProgress(ToJsonLine(metrics));
  EXPECT_THAT(out.str(), HasSubstr(ProgressBar(metrics, kGoal, 150, LongWait())));
  out.str("");
  display.OnProgress(ToJsonLine(Halfway()));
  EXPECT_THAT(out.str(), Not(HasSubstr("waits for")));
}

TEST(ProgressDisplay, InJsonEveryLineIsAnObject) {
  std::ostringstream out, errors;
  {
    ProgressDisplay display({.goal = kGoal, .json = true}, To(out), To(errors));
    display.OnProgress(ToJsonLine(Halfway()));
    display.OnLine(3, false, "hello \"you\"");
    display.OnLine(4, true, "{\"level\":\"warning\",\"message\":\"slow\"}");
    display.OnLine(5, true, "not \xff UTF-8");
    display.OnNotice("killed");
  }
  const std::vector<nlohmann::json> told = JsonLinesOf(out.str()),
                                    wrong = JsonLinesOf(errors.str());
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0]["metrics"]["round"], 100);
  EXPECT_EQ(told[1]["message"], "hello \"you\"");
  EXPECT_EQ(told[1]["rank"], 3);
  ASSERT_EQ(wrong.size(), 3u);
  EXPECT_EQ(wrong[0], nlohmann::json({{"level", "warning"}, {"message", "slow"}, {"rank", 4}}));
  EXPECT_EQ(wrong[1]["rank"], 5);
  EXPECT_EQ(wrong[2]["message"], "killed");
}

TEST(ProgressDisplay, RubbishIsIgnored) {
  std::ostringstream out;
  ProgressDisplay display({.goal = kGoal}, To(out), To(out));
  for (const char* line : {"", "{", "[]", "null", "{\"round\":\"x\"}", "{\"round\":1}",
                           "{\"round\":1e99,\"epoch\":1,\"time_s\":1}"}) {
    display.OnProgress(line);
  }
  EXPECT_EQ(out.str(), "");
}

}  // namespace
}  // namespace grapevine

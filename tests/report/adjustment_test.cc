#include "report/adjustment.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "report/axis.h"

namespace grapevine {
namespace {

using ::testing::DoubleEq;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Two curves; loss and accuracy, or two losses.
Page PageOf(Vertical first, Vertical second) {
  const std::vector<Band> curves = {{{0, 4, 4, 4}, {1, 2, 3, 4}, {2, 1, 2.5, 3}, {3, 0.5, 1, 1.5}},
                                    {{0, 1, 1, 1}, {3, 2, 2, 2}}};
  Page page{.labels = {"ring", "torus"}};
  for (const Vertical y : {first, second}) {
    page.panels.push_back(
        {.x = AxisOf(Horizontal::kEpoch, curves), .y = AxisOf(y, curves), .curves = curves});
  }
  return page;
}

Page PageOfLosses() { return PageOf(Vertical::kTrainLoss, Vertical::kTrainLoss); }

// The message of a refusal, which is the user's to mend.
std::string Refusal(const Adjustment& adjustment, Page page = PageOfLosses()) {
  const absl::Status status = Adjust(adjustment, &page);
  EXPECT_EQ(FailureOf(status), Failure::kUsage) << status;
  return std::string(status.message());
}

TEST(Adjustment, NamesCurvesInTheirOrder) {
  Page page = PageOfLosses();
  ASSERT_EQ(Adjust({.legend = {"ours", "theirs"}}, &page), absl::OkStatus());
  EXPECT_THAT(page.labels, ElementsAre("ours", "theirs"));
  EXPECT_EQ(Refusal({.legend = {"ours"}}),
            "--legend is given 1 times; give it once for each curve, in this order: ring; torus");
}

TEST(Adjustment, LimitsEitherSideOfAnAxis) {
  Page page = PageOfLosses();
  const double high = page.panels[1].y.high;
  ASSERT_EQ(Adjust({.x_range = "1:2.5", .y_range = "0:"}, &page), absl::OkStatus());
  EXPECT_EQ(page.panels[1].x.low, 1);
  EXPECT_EQ(page.panels[1].x.high, 2.5);
  EXPECT_EQ(page.panels[1].y.low, 0);
  EXPECT_EQ(page.panels[1].y.high, high);
  const double low = page.panels[0].x.low;
  ASSERT_EQ(Adjust({.x_range = ":2"}, &page), absl::OkStatus());
  EXPECT_EQ(page.panels[0].x.low, low);
  EXPECT_EQ(page.panels[0].x.high, 2);
}

TEST(Adjustment, GivesALogarithmicAxisOtherTics) {
  Page page = PageOf(Vertical::kConsensusDistance, Vertical::kConsensusDistance);
  EXPECT_FALSE(page.panels[0].y.decades);
  ASSERT_EQ(Adjust({.y_range = "0.001:1000"}, &page), absl::OkStatus());
  EXPECT_TRUE(page.panels[0].y.decades);
  EXPECT_TRUE(page.panels[0].y.tics.empty());
  ASSERT_EQ(Adjust({.y_range = "0.9:6"}, &page), absl::OkStatus());
  EXPECT_FALSE(page.panels[0].y.decades);
  EXPECT_THAT(page.panels[0].y.tics, ElementsAre(1, 2, 5));
  ASSERT_EQ(Adjust({.y_range = "0.75:1.1"}, &page), absl::OkStatus());
  EXPECT_THAT(page.panels[0].y.tics, ElementsAre(DoubleEq(0.8), DoubleEq(0.9), 1));
}

TEST(Adjustment, RefusesWhatNoRangeIs) {
  const std::pair<const char*, const char*> ranges[] = {
      {"5", "is no range"},         {"1:2:3", "is no range"},       {":", "limits nothing"},
      {"a:2", "that is no number"}, {"0:nan", "that is no number"}, {"0:inf", "that is no number"},
      {"2:1", "not go upwards"},    {"2:2", "not go upwards"}};
  for (const auto& [range, why] : ranges) {
    const std::string refusal = Refusal({.x_range = range});
    EXPECT_THAT(refusal, HasSubstr(absl::StrCat("--x-range=", range, ": "))) << range;
    EXPECT_THAT(refusal, HasSubstr(why)) << range;
    EXPECT_THAT(refusal, HasSubstr("as 0:10, 0: or :10")) << range;
  }
}

TEST(Adjustment, RefusesRangesThatTheAxesCannotHave) {
  EXPECT_EQ(Refusal({.y_range = "0:1"}, PageOf(Vertical::kTrainLoss, Vertical::kTestAccuracy)),
            "--y-range cannot be the range of different axes (test accuracy (%), training loss); "
            "draw one of them, as by --x=epoch and --y=loss");
  EXPECT_EQ(Refusal({.x_range = "7:"}),
            "--x-range=7:: the axis of epoch goes from 0 to 3, of which this leaves nothing; give "
            "both sides");
  EXPECT_EQ(Refusal({.y_range = "0:1"},
                    PageOf(Vertical::kConsensusDistance, Vertical::kConsensusDistance)),
            "--y-range=0:1: the axis of consensus distance is logarithmic; give limits above 0");
  Page bars = PageOfLosses();
  bars.panels[0].bars = true;
  EXPECT_EQ(Refusal({.x_range = "0:1"}, bars),
            "--x-range: bars stand side by side and have no such range; leave it out");
}

// Of means 4, 3, 2.5, 1 around the inner two: 9.5 / 3 and 6.5 / 3; the outer two have nobody on
// one side.
TEST(Adjustment, SmoothsByAMovingAverageAndKeepsWhatWasMeasured) {
  Page page = PageOfLosses();
  ASSERT_EQ(Adjust({.smooth = "3"}, &page), absl::OkStatus());
  const Band& curve = page.panels[1].curves[0];
  ASSERT_EQ(curve.size(), 4u);
  const BandPoint expected[] = {{0, 4, 4, 4},
                                {1, 7.0 / 3, 9.5 / 3, 11.0 / 3},
                                {2, 3.5 / 3, 6.5 / 3, 8.5 / 3},
                                {3, 0.5, 1, 1.5}};
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(curve[i].x, expected[i].x);
    EXPECT_DOUBLE_EQ(curve[i].low, expected[i].low) << i;
    EXPECT_DOUBLE_EQ(curve[i].mean, expected[i].mean) << i;
    EXPECT_DOUBLE_EQ(curve[i].high, expected[i].high) << i;
  }
  ASSERT_EQ(page.panels[1].unsmoothed.size(), 2u);
  EXPECT_EQ(page.panels[1].unsmoothed[0][2].mean, 2.5);

  page = PageOfLosses();
  ASSERT_EQ(Adjust({.smooth = "2"}, &page), absl::OkStatus());
  EXPECT_EQ(page.panels[0].curves[0][1].mean, (3 + 2.5) / 2) << "and the one after it";
  EXPECT_EQ(page.panels[0].curves[0][2].mean, (2.5 + 1) / 2);
  page = PageOfLosses();
  ASSERT_EQ(Adjust({.smooth = "1000"}, &page), absl::OkStatus());
  EXPECT_DOUBLE_EQ(page.panels[0].curves[0][1].mean, 9.5 / 3) << "never farther than to an end";
}

TEST(Adjustment, RefusesCountsThatSmoothNothing) {
  for (const char* count : {"0", "1", "-3", "1001", "2.5", "x"}) {
    EXPECT_EQ(Refusal({.smooth = count}),
              absl::StrCat("--smooth=", count,
                           ": must be how many measurements are averaged, from 2 to 1000"));
  }
}

}  // namespace
}  // namespace grapevine

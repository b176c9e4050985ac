#include "report/gnuplot_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

namespace grapevine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Two curves, one of them with a band, one exactly zero on the logarithmic
// axis; a panel without data.
Page SmallPage() {
  const Band with_band = {{0, 2, 2.25, 2.5}, {1, 1, 1.5, 2}};
  const Band line = {{0, 2.5, 2.5, 2.5}, {1, 0.5, 0.5, 0.5}};
  const Band zero = {{0, 0, 0, 0}, {1, 0, 0, 0}};
  Page page;
  page.title = "lenet5 on synthetic";
  page.labels = {"ring, dpsgd (2 seeds)", "complete, allreduce"};
  const auto panel = [](Vertical y, const std::vector<Band>& curves) {
    return Panel{.x = AxisOf(Horizontal::kEpoch, curves), .y = AxisOf(y, curves), .curves = curves};
  };
  page.panels = {panel(Vertical::kTrainLoss, {with_band, line}),
                 panel(Vertical::kTestAccuracy, {{}, {}}),
                 panel(Vertical::kConsensusDistance, {with_band, zero})};
  page.columns = 1;
  return page;
}

TEST(GnuplotScript, IsAsRecorded) {
  std::ostringstream golden;
  golden << std::ifstream("tests/report/small_page.gp").rdbuf();
  EXPECT_EQ(GnuplotScript(SmallPage(), PictureFormat::kPng, "out.png"), golden.str());
}

TEST(GnuplotScript, KeepsHostileTextsInsideTheirQuotes) {
  Page page = SmallPage();
  page.title = "it's `touch /tmp/x` $(id)\nset output '|id'\x01";
  page.labels[0] = "'; system('id') #";
  const std::string script = GnuplotScript(page, PictureFormat::kSvg, "out.svg");
  EXPECT_THAT(script, HasSubstr("'it\u2019s `touch /tmp/x` $(id) set output \u2019|id\u2019 '"));
  EXPECT_THAT(script, HasSubstr("set label '\u2019; system(\u2019id\u2019) #' at screen"));
  EXPECT_THAT(script, Not(HasSubstr("\"")));
}

TEST(GnuplotScript, GivesEachOfManyCurvesItsOwnColourAndDash) {
  Page page;
  for (int i = 0; i < 40; ++i) page.labels.push_back("run");
  const std::string script = GnuplotScript(page, PictureFormat::kPng, "out.png");
  std::set<std::string> styles;
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("set arrow")) styles.insert(line.substr(line.find("lc rgb")));
  }
  EXPECT_EQ(styles.size(), 40u);
}

}  // namespace
}  // namespace grapevine

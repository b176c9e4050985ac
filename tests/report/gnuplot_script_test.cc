#include "report/gnuplot_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string>

#include "absl/strings/str_replace.h"

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

TEST(GnuplotScript, KeepsTheNoteOfAgreementInsideItsPanel) {
  const Band zero = {{0, 0, 0, 0}, {1, 0, 0, 0}};
  Page page;
  Panel panel{.x = AxisOf(Horizontal::kEpoch, std::vector<Band>{zero}),
              .y = AxisOf(Vertical::kConsensusDistance, std::vector<Band>{zero})};
  for (int i = 0; i < 8; ++i) {
    page.labels.push_back("complete, dpsgd, a setting of many letters=" + std::to_string(i));
    panel.curves.push_back(zero);
  }
  page.panels = {panel, panel, panel};
  page.columns = 3;
  for (const bool shared : {true, false}) {
    page.shared_rows = shared;
    std::istringstream lines(GnuplotScript(page, PictureFormat::kPng, "out.png"));
    int notes = 0, more = 0;
    for (std::string line; std::getline(lines, line);) {
      if (line.find("at graph 0.03") == line.npos) continue;
      ++notes;
      more += line.find("more'") != line.npos;
      const size_t text = line.find('\'') + 1;
      EXPECT_LE(line.find('\'', text) - text, 80u) << line;
    }
    // Once where the panels share their axis, else in each.
    EXPECT_EQ(more, shared ? 1 : 3);
    EXPECT_EQ(notes, shared ? 3 : 9);
  }
}

TEST(GnuplotScript, CutsATitleThatWouldCoverTheNextPanels) {
  Page page = SmallPage();
  const std::string four = "\u00d7\u00d7\u00d7\u00d7";
  page.panels[0].title = std::string(52, 'a') + four;
  EXPECT_THAT(GnuplotScript(page, PictureFormat::kPng, "out.png"),
              HasSubstr("'" + page.panels[0].title + "'"));
  page.panels[0].title += 'b';
  EXPECT_THAT(GnuplotScript(page, PictureFormat::kPng, "out.png"),
              HasSubstr("'" + std::string(52, 'a') + "\u00d7...'"));
}

// The line of a script that says how large its picture is.
std::string TerminalOf(const Page& page) {
  const std::string script = GnuplotScript(page, PictureFormat::kPng, "out.png");
  const size_t size = script.find(" size ");
  return script.substr(size, script.find('\n', size) - size);
}

TEST(GnuplotScript, IsAsWideAsItsTitleHasLettersUpToTwiceItsPanels) {
  Page page = SmallPage();
  page.title = std::string(60, 'u');
  const std::string wide = TerminalOf(page);
  EXPECT_NE(wide, TerminalOf(SmallPage()));
  page.title.clear();
  for (int i = 0; i < 60; ++i) page.title += "\u00fc";
  EXPECT_EQ(TerminalOf(page), wide) << "letters, not bytes";

  page.title = std::string(1000, 'u');
  const std::string widest = TerminalOf(page);
  page.title = std::string(50'000, 'u');
  EXPECT_EQ(TerminalOf(page), widest);
  const std::string script = GnuplotScript(page, PictureFormat::kPng, "out.png");
  EXPECT_LT(script.size(), 5000u) << "and the title is cut";
  EXPECT_THAT(script, HasSubstr("uuu...'"));
}

TEST(GnuplotScript, CutsWhatItsLegendHasNoRoomFor) {
  Page page = SmallPage();
  page.labels[0] = std::string(30, 'u');
  const std::string plain = GnuplotScript(page, PictureFormat::kPng, "out.png");
  const std::string dotted = absl::StrReplaceAll(std::string(30, 'u'), {{"u", "\u00fc"}});
  page.labels[0] = dotted;
  EXPECT_EQ(absl::StrReplaceAll(GnuplotScript(page, PictureFormat::kPng, "out.png"),
                                {{dotted, std::string(30, 'u')}}),
            plain)
      << "letters, not bytes";

  page.labels[0] = std::string(50'000, 'u');
  const std::string script = GnuplotScript(page, PictureFormat::kPng, "out.png");
  EXPECT_LT(script.size(), 5000u);
  EXPECT_THAT(script, HasSubstr("uuu...' at screen "));
  EXPECT_THAT(script, Not(HasSubstr("screen -"))) << "nothing left of the picture";
}

TEST(GnuplotScript, DrawsBarsBesideEachOtherUnderTheirNotes) {
  const double nothing = std::numeric_limits<double>::quiet_NaN();
  Page page;
  page.labels = {"reached", "not reached"};
  Panel panel{.x = AxisOfBars("", {""}),
              .curves = {{{0, 1, 2, 3}}, {{0, nothing, nothing, nothing}}},
              .bars = true,
              .notes = {{"2 s"}, {"never"}}};
  panel.y = UpwardsAxisOf(Horizontal::kTime, panel.curves);
  page.panels = {panel};
  page.columns = 1;
  const std::string script = GnuplotScript(page, PictureFormat::kPng, "out.png");
  EXPECT_THAT(script, HasSubstr("using ($1+-0.2):3:(0.36) notitle with boxes fc rgb '#0072B2'"));
  EXPECT_THAT(script, HasSubstr("using ($1+-0.2):2:(0):($4-$2) notitle with vectors"));
  EXPECT_THAT(script, HasSubstr("set label '2 s' at first -0.2,3 center"));
  EXPECT_THAT(script, HasSubstr("set label 'never' at first 0.2,0 center"));
  EXPECT_THAT(script, Not(HasSubstr("nan")));
  EXPECT_THAT(script, Not(HasSubstr("not measured")));
}

TEST(GnuplotScript, NotesOfManyBarsStandUprightAndBarsOfOneColourDifferInTheirFill) {
  Page page;
  Panel panel{.x = AxisOfBars("", {""}), .bars = true};
  for (int i = 0; i < 12; ++i) {
    page.labels.push_back(std::to_string(i));
    panel.curves.push_back({{0, 1, 2, 3}});
    panel.notes.push_back({"2 s"});
  }
  panel.y = UpwardsAxisOf(Horizontal::kTime, panel.curves);
  page.panels = {panel};
  page.columns = 1;
  const std::string script = GnuplotScript(page, PictureFormat::kPng, "out.png");
  EXPECT_THAT(script, HasSubstr(",3 rotate by 90 left offset character 0,0.4 noenhanced"));
  EXPECT_THAT(script, HasSubstr("fc rgb '#0072B2' fs solid 0.85 noborder"));
  EXPECT_THAT(script, HasSubstr("fc rgb '#0072B2' fs pattern 4 noborder"));
  std::set<std::string> legend;
  std::istringstream lines(script);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("set arrow")) legend.insert(line.substr(line.find("lc rgb")));
  }
  EXPECT_EQ(legend.size(), 12u);
}

TEST(GnuplotScript, DrawsHollowCurvesThinner) {
  Page page = SmallPage();
  page.hollow = {1};
  const std::string script = GnuplotScript(page, PictureFormat::kPng, "out.png");
  EXPECT_THAT(script, HasSubstr("$p0c1 using 1:3 notitle with linespoints lc rgb '#D55E00' dt "
                                "(14,5) lw 1 pt 6 ps 0.7"));
  EXPECT_THAT(script, HasSubstr("nohead lc rgb '#D55E00' dt (14,5) lw 1.25"));
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

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

TEST(GnuplotScript, DrawsSimulatedCurvesThinnerAndDashed) {
  Page page = SmallPage();
  page.hollow = {1};
  const std::string script = GnuplotScript(page, PictureFormat::kPng, "out.png");
  EXPECT_THAT(script, HasSubstr("$p0c1 using 1:3 notitle with linespoints lc rgb '#D55E00' dt "
                                "(12,6) lw 1 pt 6 ps 0.7"));
  EXPECT_THAT(script, HasSubstr("nohead lc rgb '#D55E00' dt (12,6) lw 1.25"));
}

TEST(GnuplotScript, DrawsRealCurvesBesideSimulatedOnesSolid) {
  Page page = SmallPage();
  page.labels = {"ring", "ring, simulated", "torus", "torus, simulated"};
  page.hollow = {1, 3};
  page.panels[0].curves = {{{0, 1, 1, 1}}, {{0, 2, 2, 2}}, {{0, 3, 3, 3}}, {{0, 4, 4, 4}}};
  const std::string script = GnuplotScript(page, PictureFormat::kPng, "out.png");
  EXPECT_THAT(script, HasSubstr("$p0c0 using 1:3 notitle with linespoints lc rgb '#0072B2' dt "
                                "solid lw 2"));
  EXPECT_THAT(script, HasSubstr("$p0c2 using 1:3 notitle with linespoints lc rgb '#009E73' dt "
                                "solid lw 2"));
  EXPECT_THAT(script, HasSubstr("$p0c3 using 1:3 notitle with linespoints lc rgb '#CC79A7' dt "
                                "(12,6) lw 1"));
  EXPECT_THAT(script, Not(HasSubstr("'dashed: simulated'"))) << "the labels say it";
  page.labels[3] = "model";
  EXPECT_THAT(GnuplotScript(page, PictureFormat::kPng, "out.png"),
              HasSubstr("set label 'dashed: simulated' at screen"));
}

TEST(GnuplotScript, DrawsWhatWasMeasuredFaintlyUnderWhatIsSmoothed) {
  Page page = SmallPage();
  page.panels[0].unsmoothed = {{{0, 3, 3, 3}, {1, 2, 2, 2}}, {}};
  const std::string script = GnuplotScript(page, PictureFormat::kPng, "out.png");
  EXPECT_THAT(script, HasSubstr("$p0c0raw << EOD\n0 3 3 3\n1 2 2 2\nEOD\n"));
  const size_t faint = script.find("$p0c0raw using 1:3 notitle with lines lc rgb '#b00072B2'");
  ASSERT_NE(faint, script.npos);
  EXPECT_LT(faint, script.find("$p0c0 using 1:3")) << "below";
}

TEST(GnuplotScript, LeavesOutNotesBeyondItsAxes) {
  Page page;
  page.labels = {"ring"};
  Panel panel{.curves = {{{1, 1, 1, 1}, {2, 2, 2, 2}}}, .notes = {{"inside", "outside"}}};
  panel.x = AxisOf(Horizontal::kEpoch, panel.curves);
  panel.y = AxisOf(Vertical::kTrainLoss, panel.curves);
  panel.reference = {{1, 1, 1, 1}, {2, 1, 1, 1}};
  panel.reference_name = "ideal";
  Limit(0, 1.5, &panel.x);
  page.panels = {panel};
  const std::string script = GnuplotScript(page, PictureFormat::kPng, "out.png");
  EXPECT_THAT(script, HasSubstr("set xrange [0:1.5]"));
  EXPECT_THAT(script, HasSubstr("set label 'inside' at first 1,1"));
  EXPECT_THAT(script, Not(HasSubstr("'outside'")));
  EXPECT_THAT(script, HasSubstr("set label 3 'ideal' at 1,1 right"));
}

// 8.4 cm are 238.11 points, 317 dots of 0.75 points; of those 317 are 237.75 points again.
TEST(GnuplotScript, IsAsWideAsPaper) {
  Page page = SmallPage();
  page.title = "";
  const auto terminal = [&page](PictureFormat format, double width_cm) {
    const std::string script = GnuplotScript(page, format, "out", width_cm);
    const size_t size = script.find(" size ");
    return script.substr(size, script.find('\n', size) - size);
  };
  EXPECT_THAT(terminal(PictureFormat::kPdf, 8.4), HasSubstr(" size 3.30208in,"));
  EXPECT_THAT(terminal(PictureFormat::kPdf, 8.4), HasSubstr("fontscale 0.75 linewidth 1.5"));
  EXPECT_THAT(terminal(PictureFormat::kPng, 8.4), HasSubstr(" size 991,")) << "300 to the inch";
  EXPECT_THAT(terminal(PictureFormat::kPng, 8.4),
              HasSubstr("fontscale 3.125 linewidth 3.125 pointscale 3.125"));
  EXPECT_THAT(terminal(PictureFormat::kSvg, 8.4), HasSubstr(" size 317,")) << "96 to the inch";
  EXPECT_THAT(terminal(PictureFormat::kPng, 17.4), HasSubstr(" size 2053,"));
}

// In a column, side by side becomes one below the other, each with its own horizontal axis.
TEST(GnuplotScript, StacksPanelsThatHaveNoRoomBesideEachOther) {
  Page page = SmallPage();
  page.title = "";
  page.columns = 3;
  page.shared_rows = false;
  const auto labels = [&page](double width_cm) {
    const std::string script = GnuplotScript(page, PictureFormat::kPdf, "out", width_cm);
    int count = 0;
    for (size_t at = 0; (at = script.find("set xlabel 'epoch'", at)) != script.npos; ++at) ++count;
    return std::pair(count, script.find("set lmargin at screen 0.2839") != script.npos);
  };
  EXPECT_EQ(labels(8.4), std::pair(3, true)) << "all begin at 90 of 317 dots";
  EXPECT_EQ(CheckWidth(page, 8.4), absl::OkStatus());
  EXPECT_EQ(CheckWidth(page, 4).message(),
            "--width of 4 cm is too narrow for 1 side by side; give a greater one, or a picture "
            "of fewer panels, as by --x=epoch");
}

// Of an axis from 0 to 1 and a panel of 202 dots: five tics have room, so that they are 0.2 apart.
TEST(GnuplotScript, HasFewerTicsOnPaper) {
  Page page = SmallPage();
  EXPECT_THAT(GnuplotScript(page, PictureFormat::kPdf, "out", 8.4), HasSubstr("set xtics 0.2\n"));
  Limit(0, 8, &page.panels[0].x);
  EXPECT_THAT(GnuplotScript(page, PictureFormat::kPdf, "out", 8.4), HasSubstr("set xtics 2\n"));
  EXPECT_THAT(GnuplotScript(page, PictureFormat::kPdf, "out"), Not(HasSubstr("set xtics 2\n")));
}

TEST(GnuplotScript, RefusesAColumnForPanelsThatShareTheirAxes) {
  Page page = SmallPage();
  page.columns = 3;
  EXPECT_EQ(CheckWidth(page, 8.4).message(),
            "--width of 8.4 cm is too narrow for 3 side by side; give a greater one, or a picture "
            "of fewer panels, as by --x=epoch");
  EXPECT_EQ(CheckWidth(page, 17.4), absl::OkStatus());
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

#include "report/winner_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <sstream>

#include "base/status.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

SweptCell Cell(const std::string& algorithm, const std::string& bandwidth,
               const std::string& latency, double seconds) {
  SweptCell cell{.seconds_per_round = seconds, .workers = 8};
  cell.config.set_nodes(8);
  cell.config.set_model("phantom:1MB");
  cell.config.set_algorithm(algorithm);
  cell.config.set_bandwidth(bandwidth);
  cell.config.set_latency(latency);
  return cell;
}

std::vector<SweptCell> Grid() {
  return {Cell("dpsgd", "1Gbit", "1ms", 2),          Cell("allreduce:tree", "1Gbit", "1ms", 1),
          Cell("dpsgd", "1Gbit", "10ms", 2),         Cell("allreduce:tree", "1Gbit", "10ms", 6),
          Cell("dpsgd", "10Mbit", "1ms", 4),         Cell("allreduce:tree", "10Mbit", "1ms", 4),
          Cell("allreduce:ring", "10Mbit", "1ms", 5)};
}

absl::StatusOr<WinnerMap> ByRounds(const std::vector<SweptCell>& cells) {
  return MakeWinnerMap(cells, [](const SweptCell& cell) { return cell.seconds_per_gradients(); });
}

TEST(WinnerMap, ComparesTheBestOfBothSides) {
  const absl::StatusOr<WinnerMap> map = ByRounds(Grid());
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_THAT(map->bandwidths, ElementsAre(1e7, 1e9));
  EXPECT_THAT(map->latencies, ElementsAre(0.001, 0.01));
  ASSERT_EQ(map->cells.size(), 4u);
  EXPECT_EQ(map->cells[0]->advantage, 1);
  EXPECT_EQ(map->cells[1]->winner, "allreduce:tree");
  EXPECT_EQ(map->cells[1]->advantage, 0.5);
  EXPECT_EQ(map->cells[2], std::nullopt);  // nobody was there
  EXPECT_EQ(map->cells[3]->winner, "ring");
  EXPECT_EQ(map->cells[3]->advantage, 3);
}

TEST(WinnerMap, CountsGradientsRatherThanRounds) {
  std::vector<SweptCell> cells = Grid();
  cells[3].workers = 4;  // of 8
  EXPECT_EQ((*ByRounds(cells)).cells[3]->advantage, 6);
}

TEST(WinnerMap, KnowsWhoNeverGetsThere) {
  std::vector<SweptCell> cells = Grid();
  cells.back().path = cells[2].path = cells[4].path = cells[5].path = "never";
  const auto map = MakeWinnerMap(cells, [](const SweptCell& cell) {
    return cell.path == "never" ? INFINITY : cell.seconds_per_round;
  });
  ASSERT_TRUE(map.ok()) << map.status();
  EXPECT_EQ(map->cells[0], std::nullopt);
  EXPECT_EQ(map->cells[1]->advantage, 0.5);
  EXPECT_EQ(map->cells[3]->winner, "allreduce:tree");
  EXPECT_EQ(map->cells[3]->advantage, 0);
  const std::string script = WinnerScript(*map, PictureFormat::kSvg, "picture");
  EXPECT_THAT(script, HasSubstr("'alone' at first 1,0.78"));
  EXPECT_THAT(script, HasSubstr("'2\u00d7' at first 1,-0.22"));
  EXPECT_THAT(script, ::testing::Not(HasSubstr("inf")));
}

TEST(WinnerMap, TakesCellsThatHaveTimedTheirOwnGradients) {
  std::vector<SweptCell> cells = Grid();
  for (size_t i = 0; i < cells.size(); ++i) {
    cells[i].config.set_model("lenet5");
    cells[i].config.set_compute(i % 2 == 0 ? "2.31ms" : "2.4ms");
  }
  EXPECT_TRUE(ByRounds(cells).ok()) << ByRounds(cells).status();
  for (SweptCell& cell : cells) cell.config.set_model("phantom:1MB");
  EXPECT_THAT(std::string(ByRounds(cells).status().message()),
              HasSubstr("several values of --compute"));
}

TEST(WinnerMap, NamesWhatIsMissing) {
  const auto complaint = [](std::vector<SweptCell> cells) {
    const absl::Status status = ByRounds(cells).status();
    EXPECT_EQ(FailureOf(status), Failure::kInput);
    return std::string(status.message());
  };
  const std::vector<SweptCell> grid = Grid();
  EXPECT_EQ(complaint({grid[0], grid[4]}),
            "the sweep has one latency (1ms); give --latency a list");
  EXPECT_EQ(complaint({grid[0], grid[2]}),
            "the sweep has one bandwidth (1Gbit); give --bandwidth a list");
  EXPECT_THAT(complaint({grid[0], grid[2], grid[4]}),
              HasSubstr("add allreduce or ps to --algorithm"));
  EXPECT_THAT(complaint({grid[1], grid[3], grid[5]}), HasSubstr("add dpsgd to --algorithm"));
  std::vector<SweptCell> sizes = grid;
  sizes[0].config.set_nodes(16);
  EXPECT_THAT(complaint(sizes), HasSubstr("several values of --nodes (16, 8)"));
  // Means over them would be of nothing that was asked for.
  std::vector<SweptCell> overheads = grid;
  overheads[0].config.set_message_overhead("1ms");
  EXPECT_THAT(complaint(overheads), HasSubstr("several values of --message-overhead (0s, 1ms)"));
  SweptCell preset = grid[0];
  preset.config.clear_latency();
  preset.config.clear_bandwidth();
  EXPECT_THAT(complaint({preset}), HasSubstr("leaves the bandwidth to the network"));
}

TEST(WinnerScript, WritesNotesBesideTheLabelsOfAllCells) {
  WinnerMap map = *ByRounds(Grid());
  map.notes = {"a note", "another"};
  std::istringstream script(WinnerScript(map, PictureFormat::kSvg, "picture"));
  std::set<std::string> labels;
  int count = 0;
  for (std::string line; std::getline(script, line);) {
    if (!line.starts_with("set label ")) continue;
    ++count;
    labels.insert(line.substr(0, line.find('\'')));
  }
  EXPECT_EQ(labels.size(), count);
  EXPECT_EQ(count, 1 + 2 * 3 + 2);
}

TEST(WinnerScript, KeepsHostileTextsInsideTheirQuotes) {
  WinnerMap map = *ByRounds(Grid());
  map.cells[0]->winner = "'; system('id') #";
  map.title = "`id`";
  const std::string script = WinnerScript(map, PictureFormat::kSvg, "picture");
  EXPECT_THAT(script, HasSubstr("'\u2019; system(\u2019id\u2019) #' at first"));
  EXPECT_THAT(script, HasSubstr("set label 1 '`id`' at screen"));
}

// 17.4 cm are 6.85 inches, whatever the map has columns.
TEST(WinnerScript, IsAsWideAsPaperAndRefusesTinyLetters) {
  const WinnerMap map = *ByRounds(Grid());
  EXPECT_THAT(WinnerScript(map, PictureFormat::kPdf, "picture", 17.4),
              HasSubstr("set terminal pdfcairo size 6.85039in,"));
  EXPECT_EQ(CheckWidth(map, 17.4), absl::OkStatus());
  const absl::Status refused = CheckWidth(map, 4);
  EXPECT_EQ(FailureOf(refused), Failure::kUsage);
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("--width of 4 cm would make the letters of this map "));
}

}  // namespace
}  // namespace grapevine

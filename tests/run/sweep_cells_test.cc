#include "run/config/sweep_cells.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "random/keyed_random.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

using Flags = std::map<std::string, std::string>;

std::vector<SweepCell> CellsOf(const Flags& flags) {
  auto cells = ResolveSweep({.flags = flags});
  EXPECT_TRUE(cells.ok()) << cells.status();
  return cells.ok() ? *std::move(cells) : std::vector<SweepCell>();
}

std::vector<std::string> LabelsOf(const Flags& flags) {
  std::vector<std::string> labels;
  for (const SweepCell& cell : CellsOf(flags)) labels.push_back(cell.label);
  return labels;
}

std::string SweepErrorOf(const ConfigSources& sources) {
  const auto cells = ResolveSweep(sources);
  if (cells.ok()) return "no error";
  EXPECT_EQ(FailureOf(cells.status()), Failure::kUsage);
  return std::string(cells.status().message());
}

TEST(ResolveSweep, IsOneCellWithoutLists) {
  const std::vector<SweepCell> cells = CellsOf({{"lr", "0.2"}, {"out", "x,y"}});
  ASSERT_EQ(cells.size(), 1u);
  EXPECT_EQ(cells[0].label, "");
  EXPECT_THAT(cells[0].coordinates, ElementsAre());
  EXPECT_EQ(cells[0].resolved.config.lr(), 0.2);
  EXPECT_EQ(cells[0].resolved.config.out(), "x,y") << "where files go is no list";
}

TEST(ResolveSweep, CombinesTheListsOfAnySettings) {
  const std::vector<SweepCell> cells = CellsOf({{"batch", "16,32"},
                                                {"optimizer", "sgd,adam"},
                                                {"schedule", "constant,step:at=50%+75%"},
                                                {"label_smoothing", "0,10%"},
                                                {"slow_start", "false,true"}});
  ASSERT_EQ(cells.size(), 32u);
  EXPECT_EQ(cells[0].label,
            "label_smoothing=0_batch=16_schedule=constant_optimizer=sgd_slow_start=false");
  EXPECT_EQ(cells[1].label,
            "label_smoothing=0_batch=16_schedule=constant_optimizer=sgd_slow_start=true");
  EXPECT_THAT(cells[31].coordinates,
              ElementsAre(Pair("label_smoothing", "0.1"), Pair("batch", "32"),
                          Pair("schedule", "step:at=50%+75%"), Pair("optimizer", "adam"),
                          Pair("slow_start", "true")));
  EXPECT_EQ(cells[31].resolved.config.batch(), 32);
  EXPECT_TRUE(cells[31].resolved.config.slow_start());
  EXPECT_EQ(cells[31].resolved.OriginOf("batch").where, "--batch");
}

// Whoever adds a setting of the run has added a list.
TEST(ResolveSweep, TakesListsOfEverySettingOfTheRun) {
  for (const ConfigField* field : ConfigFields()) {
    const Section section = InfoOf(*field).section();
    const bool kept = section != CLUSTER && section != RECORD;
    const bool of_ranks = field->name() == "slow" || field->name() == "chaos";
    const bool listable = kept && !of_ranks && !field->name().ends_with("_timeout");
    EXPECT_EQ(IsSweepable(field->name()), listable) << field->name();
  }
  EXPECT_FALSE(IsSweepable("no_such_field"));
}

TEST(ResolveSweep, TakesListsOfVariables) {
  const auto cells =
      ResolveSweep({.flags = {{"lr", "0.1,0.2"}},
                    .environment = {{"GRAPEVINE_BATCH", "8,16"}, {"GRAPEVINE_LR", "1,2,3"}}});
  ASSERT_TRUE(cells.ok()) << cells.status();
  ASSERT_EQ(cells->size(), 4u) << "a flag replaces a variable's list";
  EXPECT_EQ((*cells)[2].label, "batch=16_lr=0.1");
  EXPECT_EQ((*cells)[2].resolved.OriginOf("batch").where, "GRAPEVINE_BATCH");
}

// A real run has no simulated cluster: a list there would be of equal runs.
TEST(ResolveSweep, AsksForTheFieldsOfItsCommandAlone) {
  const auto cells = ResolveSweep({.environment = {{"GRAPEVINE_SEED", "1,2"}}},
                                  {&ConfigFieldNamed("batch"), &ConfigFieldNamed("lr")});
  EXPECT_THAT(std::string(cells.status().message()), HasSubstr("GRAPEVINE_SEED: \"1,2\""));
}

TEST(ResolveSweep, KeepsCommasThatBelongToAValue) {
  const std::vector<SweepCell> one = CellsOf({{"data", "mnist:/a\\,b"}});
  ASSERT_EQ(one.size(), 1u);
  EXPECT_EQ(one[0].resolved.config.data(), "mnist:/a,b");
  const std::vector<SweepCell> two = CellsOf({{"data", "mnist:/a\\,b,synthetic"}});
  ASSERT_EQ(two.size(), 2u);
  EXPECT_EQ(two[0].resolved.config.data(), "mnist:/a,b");
  EXPECT_EQ(two[0].label, "data=mnist--a-b");
  EXPECT_EQ(ListElement("mnist:/a,b"), "mnist:/a\\,b");
  EXPECT_EQ(ListElement("mnist:/a\\"), "mnist:/a\\\\");
}

TEST(SingleValues, AreWrittenAsElementsOfListsOrAsTheyAre) {
  const ConfigSources written = SingleValues(
      {.flags = {{"init_from", "/e,f\\\\g\\h"}, {"out", "i\\,j"}},
       .environment = {{"GRAPEVINE_DATA", "mnist:/a\\,b"}, {"GRAPEVINE_TRACE", "c\\,d"}}});
  EXPECT_EQ(written.environment.at("GRAPEVINE_DATA"), "mnist:/a,b");
  EXPECT_EQ(written.flags.at("init_from"), "/e,f\\g\\h");
  // What is no setting of a run is never a list.
  EXPECT_EQ(written.environment.at("GRAPEVINE_TRACE"), "c\\,d");
  EXPECT_EQ(written.flags.at("out"), "i\\,j");
}

TEST(ResolveSweep, AsksWhetherSeveralOfOneRunAreMeant) {
  EXPECT_EQ(SweepErrorOf({.flags = {{"slow", "2:5,3:5"}}}),
            "--slow=2:5,3:5: a run may have several of these, so this could be one run with all "
            "of them or a run for each; for one run write --slow=2:5 --slow=3:5");
  const std::vector<SweepCell> both = CellsOf({{"slow", "2:5\\,3:5"}, {"lr", "1,2"}});
  ASSERT_EQ(both.size(), 2u);
  EXPECT_THAT(both[1].resolved.config.slow(), ElementsAre("2:5", "3:5"));
}

TEST(ResolveSweep, NamesEveryFolderDifferently) {
  EXPECT_THAT(LabelsOf({{"data", "mnist:/a/b,mnist:/a-b,mnist:/a_b"}}),
              ElementsAre("data=mnist--a-b", "data=mnist--a-b-2", "data=mnist--a-b-3"));
  const std::string deep(300, 'x');
  const std::vector<std::string> labels =
      LabelsOf({{"data", absl::StrCat("mnist:/", deep, "/a,mnist:/", deep, "/b")}, {"lr", "1,2"}});
  EXPECT_EQ(std::set<std::string>(labels.begin(), labels.end()).size(), 4u);
  for (const std::string& label : labels) EXPECT_LE(label.size(), kLongestLabel);
  EXPECT_TRUE(labels[3].starts_with("data=mnist")) << labels[3];
  EXPECT_TRUE(labels[3].ends_with("_4")) << labels[3];
}

// Whatever the values are, as long as they are different.
TEST(ResolveSweep, NamesFoldersOfAnyValuesDifferently) {
  constexpr std::string_view kAlphabet = "ab2-_/.=:,\\% ";
  for (const uint64_t seed : testing::Seeds(200)) {
    KeyedRandom random(seed, Purpose::kPlacement);
    std::set<std::string> values;
    for (int i = 0; i < 12; ++i) {
      std::string value = "x:";
      for (uint64_t length = random.Below(i == 0 ? 300 : 6); length > 0; --length) {
        value += kAlphabet[random.Below(kAlphabet.size())];
      }
      values.insert(value);
    }
    std::vector<std::string> elements;
    for (const std::string& value : values) elements.push_back(ListElement(value));
    const auto cells =
        ResolveSweep({.flags = {{"data", absl::StrJoin(elements, ",")}, {"lr", "0.1,0.2"}}});
    ASSERT_TRUE(cells.ok()) << "seed " << seed << ": " << cells.status();
    ASSERT_EQ(cells->size(), 2 * values.size()) << "seed " << seed;
    std::set<std::string> labels;
    for (size_t i = 0; i < cells->size(); ++i) {
      const SweepCell& cell = (*cells)[i];
      EXPECT_TRUE(labels.insert(cell.label).second) << "seed " << seed << ": " << cell.label;
      EXPECT_LE(cell.label.size(), kLongestLabel) << "seed " << seed;
      EXPECT_EQ(cell.label.find_first_of("/\\ ,:"), std::string::npos) << "seed " << seed;
      EXPECT_EQ(cell.resolved.config.data(), *std::next(values.begin(), static_cast<int>(i / 2)))
          << "seed " << seed;
    }
  }
}

TEST(ResolveSweep, RefusesWhatMakesNoGrid) {
  EXPECT_EQ(SweepErrorOf({.flags = {{"lr", "0.1,"}}}),
            "--lr=0.1,: an element of the list is empty");
  EXPECT_EQ(SweepErrorOf({.flags = {{"lr", "0.1,0.10"}}}),
            "--lr=0.1,0.10: a value is listed twice");
  EXPECT_EQ(SweepErrorOf({.flags = {{"bandwidth", "1Gbit,1000Mbit"}}}),
            "--bandwidth=1Gbit,1000Mbit: a value is listed twice");
  EXPECT_EQ(SweepErrorOf({.flags = {{"batch", "16,many"}}}),
            "--batch: \"many\" is not a whole number of 32 bits");
  EXPECT_EQ(SweepErrorOf({.flags = {{"batch", "16,-3"}}}), "--batch=-3: must be positive");
  EXPECT_EQ(
      SweepErrorOf({.flags = {{"rounds", "9"}}, .environment = {{"GRAPEVINE_EPOCHS", "1,2"}}}),
      "GRAPEVINE_EPOCHS=1,2: another setting replaces this list (--epochs and --rounds exclude "
      "each other); drop one of them");
  std::string seeds = "0";
  for (int i = 1; i < 400; ++i) absl::StrAppend(&seeds, ",", i);
  EXPECT_EQ(SweepErrorOf({.flags = {{"seed", seeds}, {"log_every", seeds}}}),
            "the sweep has more than 100000 cells; make it smaller");
}

}  // namespace
}  // namespace grapevine

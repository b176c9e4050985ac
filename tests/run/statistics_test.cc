#include "run/records/statistics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "run/records/run_directory.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

Statistics SomeStatistics() {
  Statistics statistics{.nodes = 2,
                        .time_s = 3,
                        .gradient_s = 0.5,
                        .mix_s = 0.25,
                        .wait_s = 0.125,
                        .waited_for = {{.rank = 1, .seconds = 0.5}},
                        .bytes_sent = {.min = 1, .mean = 2, .max = 3},
                        .bytes_received = {.min = 2, .mean = 3, .max = 4},
                        .egress_utilization = Spread{.min = 0.1, .mean = 0.2, .max = 0.3},
                        .busiest_links = {{.name = "a->b", .bytes = 7, .utilization = 0.5}},
                        .listed = {{.rank = 1,
                                    .steps = 4,
                                    .gradient_s = 2,
                                    .mix_s = 1,
                                    .wait_s = 0.5,
                                    .waited_for = {{.rank = 0, .seconds = 0.5}},
                                    .bytes_sent = 9,
                                    .bytes_received = 8}}};
  statistics.steps.Add(1'000'000'000);
  statistics.steps.Add(3'000'000'000);
  return statistics;
}

TEST(StatisticsTest, AreReadAsTheyWereWritten) {
  const Statistics written = SomeStatistics();
  const auto read = StatisticsFromJson(ToJsonText(written));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->step_times.count, 2);
  EXPECT_DOUBLE_EQ(read->step_times.mean_s, 2);
  EXPECT_DOUBLE_EQ(read->step_times.max_s, 3);
  // All but the distribution, of which a file has no more.
  Statistics again = read->statistics;
  again.steps = written.steps;
  EXPECT_EQ(ToJsonText(again), ToJsonText(written));
}

TEST(StatisticsTest, ErrorsNameTheMember) {
  const auto error_of = [](const std::string& text) {
    return std::string(StatisticsFromJson(text).status().message());
  };
  EXPECT_THAT(error_of("{"), HasSubstr("not valid JSON"));
  EXPECT_THAT(error_of("[]"), HasSubstr("not a JSON object"));
  EXPECT_THAT(error_of("{}"), HasSubstr("\"nodes\""));
  std::string text = ToJsonText(SomeStatistics());
  text.replace(text.find("\"listed\": ["), 11, "\"listed\": [7,");
  EXPECT_THAT(error_of(text), HasSubstr("\"listed\" is not a JSON object"));
}

TEST(StatisticsTest, AreReadWhereThereAreAny) {
  const ScratchFolder folder;
  const auto none = ReadStatisticsIfAny(folder.File("."));
  ASSERT_TRUE(none.ok()) << none.status();
  EXPECT_FALSE(none->has_value());
  folder.Write("statistics.json", "{}");
  EXPECT_THAT(std::string(ReadStatisticsIfAny(folder.File(".")).status().message()),
              HasSubstr("statistics.json"));
}

}  // namespace
}  // namespace grapevine

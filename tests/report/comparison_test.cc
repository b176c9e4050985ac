#include "report/comparison.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"
#include "tests/report/run_folder.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

class ComparisonTest : public ::testing::Test {
 protected:
  ComparisonTest() : folder_(FreshFolder()) {
    WriteRun(folder_ + "/ring", "nodes: 8 topology: \"ring\"",
             "{\"round\":1,\"epoch\":1,\"time_s\":10,\"test_accuracy\":0.95,"
             "\"consensus_distance\":0.25,\"bytes_sent_total\":1000000}\n"
             "{\"round\":2,\"epoch\":2,\"time_s\":20,\"test_accuracy\":0.9,"
             "\"bytes_sent_total\":2000000}\n");
    WriteRun(folder_ + "/servers", "nodes: 8 algorithm: \"ps:async\" network: \"switch\"",
             "{\"round\":1,\"epoch\":1,\"time_s\":5,\"test_accuracy\":0.92,"
             "\"bytes_sent_total\":3000000}\n");
    WriteText(folder_ + "/servers/summary.json",
              "{\"nodes\":8,\"topology\":\"ring\",\"mixing\":\"metropolis\",\"algorithm\":"
              "\"ps:async\",\"model\":\"lenet5\",\"data\":\"synthetic\",\"seed\":1,\"rounds\":1,"
              "\"epochs\":1,\"stopped\":\"finished\",\"staleness_mean\":5.5,\"staleness_max\":12}");
    options_.runs = {folder_};
  }

  std::string Compared() {
    const auto text = ComparisonText(options_);
    EXPECT_TRUE(text.ok()) << text.status();
    return text.value_or("");
  }

  std::string folder_;
  ComparisonOptions options_;
};

TEST_F(ComparisonTest, HasNumbersForPrograms) {
  options_.format = TableFormat::kCsv;
  options_.target = "95%";
  EXPECT_EQ(Compared(),
            "run,method,test_accuracy,best_test_accuracy,target_time_s,time_s,bytes_sent_total,"
            "consensus_distance,staleness_mean,staleness_max,command\n" +
                folder_ +
                "/servers,\"ps:async (servers), simulated\",0.92,0.92,,5,3000000,,5.5,12,"
                "grapevine sim --nodes=8 --algorithm=ps:async\n" +
                folder_ +
                "/ring,\"ring, dpsgd\",0.9,0.95,10,20,2000000,0.25,,,"
                "grapevine train --nodes=8\n");
}

TEST_F(ComparisonTest, HasUnitsForPeopleAndCommandsBelow) {
  options_.sort = "best";
  const std::string text = Compared();
  EXPECT_THAT(text, HasSubstr("best     time    sent"));
  EXPECT_THAT(text, HasSubstr("90.00 %   95.00 %  20.0 s  2.00 MB"));
  EXPECT_LT(text.find("/ring"), text.find("/servers"));
  EXPECT_TRUE(
      text.ends_with("command that repeats each, in this order\ngrapevine train --nodes=8\n"
                     "grapevine sim --nodes=8 --algorithm=ps:async\n"))
      << text;
}

// Nodes go on to the end that was announced last, and measure there, too.
TEST_F(ComparisonTest, TheAccuracyOfARunThatMetItsTargetIsThatOfTheModelThatItKept) {
  WriteText(folder_ + "/ring/summary.json",
            "{\"nodes\":8,\"topology\":\"ring\",\"mixing\":\"metropolis\",\"algorithm\":"
            "\"dpsgd\",\"model\":\"lenet5\",\"data\":\"synthetic\",\"seed\":1,\"rounds\":1,"
            "\"epochs\":1,\"stopped\":\"target accuracy\",\"test_accuracy\":0.95}");
  options_.format = TableFormat::kCsv;
  EXPECT_THAT(Compared(), HasSubstr("/ring,\"ring, dpsgd\",0.95,0.95,"));
}

TEST_F(ComparisonTest, SaysWhoNeverMetTheTarget) {
  options_.target = "95%";
  EXPECT_THAT(Compared(), HasSubstr("92.00 %  never         5.00 s"));
  EXPECT_THAT(Compared(), HasSubstr("95.00 %  10.0 s        20.0 s"));
}

TEST_F(ComparisonTest, PutsTheBestFirstAndTheUnmeasuredLast) {
  const std::pair<const char*, const char*> firsts[] = {
      {"accuracy", "/servers"},  {"best", "/ring"},
      {"target", "/ring"},       {"time", "/servers"},
      {"bytes", "/ring"},        {"consensus", "/ring"},
      {"staleness", "/servers"}, {"greatest-staleness", "/servers"}};
  options_.target = "95%";
  EXPECT_EQ(ComparisonKeys().size(), std::size(firsts));
  for (const auto& [key, first] : firsts) {
    options_.sort = key;
    const std::string text = Compared();
    const size_t line = text.find('\n') + 1;
    EXPECT_THAT(text.substr(line, text.find(' ', line) - line), folder_ + first) << key;
  }
}

TEST_F(ComparisonTest, ReadsASummaryOnlyIfItIsOne) {
  WriteText(folder_ + "/servers/summary.json", "{");
  const auto refused = ComparisonText(options_);
  EXPECT_EQ(refused.status().message(), folder_ + "/servers/summary.json: is not valid JSON");
  EXPECT_EQ(FailureOf(refused.status()), Failure::kInput);
}

TEST_F(ComparisonTest, KnowsItsKeys) {
  options_.sort = "beauty";
  const auto refused = ComparisonText(options_);
  EXPECT_THAT(std::string(refused.status().message()),
              HasSubstr("--sort=beauty: must be one of accuracy, best, target"));
  EXPECT_EQ(FailureOf(refused.status()), Failure::kUsage);
}

}  // namespace
}  // namespace grapevine

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
            "consensus_distance,living,staleness_mean,staleness_max,command\n" +
                folder_ +
                "/servers,\"ps:async (servers), simulated\",0.92,0.92,,5,3000000,,,5.5,12,"
                "grapevine sim --nodes=8 --algorithm=ps:async\n" +
                folder_ +
                "/ring,\"ring, dpsgd\",0.9,0.95,10,20,2000000,0.25,,,,"
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
      {"accuracy", "/servers"}, {"best", "/ring"},         {"target", "/ring"},
      {"time", "/servers"},     {"bytes", "/ring"},        {"consensus", "/ring"},
      {"living", "/servers"},   {"staleness", "/servers"}, {"greatest-staleness", "/servers"}};
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

// Three seeds of a ring, whose accuracies and times are easy to average by hand, and one run of a
// torus alone.
class SeedsTest : public ::testing::Test {
 protected:
  SeedsTest() : folder_(FreshFolder()) {
    const char* const lines[] = {
        "{\"round\":1,\"epoch\":1,\"time_s\":10,\"test_accuracy\":0.9,"
        "\"consensus_distance\":1e-5,\"bytes_sent_total\":1000000}\n",
        "{\"round\":1,\"epoch\":1,\"time_s\":20,\"test_accuracy\":0.92,"
        "\"consensus_distance\":2e-5,\"bytes_sent_total\":2000000}\n",
        "{\"round\":1,\"epoch\":1,\"time_s\":30,\"test_accuracy\":0.97,"
        "\"consensus_distance\":3e-5,\"bytes_sent_total\":3000000}\n"};
    for (int i = 0; i < 3; ++i) {
      const std::string seed = std::to_string(i + 1);
      WriteRun(folder_ + "/ring-" + seed, "nodes: 8 topology: \"ring\" seed: " + seed, lines[i]);
    }
    WriteRun(folder_ + "/torus", "nodes: 8 topology: \"torus\" seed: 7",
             "{\"round\":1,\"epoch\":1,\"time_s\":40,\"test_accuracy\":0.96,"
             "\"bytes_sent_total\":4000000}\n");
    options_.runs = {folder_};
    options_.over_seeds = true;
    options_.target = "95%";
  }

  std::string Compared(TableFormat format) {
    options_.format = format;
    const auto text = ComparisonText(options_);
    EXPECT_TRUE(text.ok()) << text.status();
    return text.value_or("");
  }

  std::string folder_;
  ComparisonOptions options_;
};

// Of 0.9, 0.92 and 0.97 the mean is 0.93, and the squares of what is left over, 0.0026 together,
// are divided by two.
TEST_F(SeedsTest, HasMeansDeviationsAndCountsForPrograms) {
  EXPECT_EQ(
      Compared(TableFormat::kCsv),
      "method,runs,test_accuracy_mean,test_accuracy_sd,test_accuracy_runs,"
      "best_test_accuracy_mean,best_test_accuracy_sd,best_test_accuracy_runs,"
      "target_time_s_mean,target_time_s_sd,target_time_s_runs,time_s_mean,time_s_sd,"
      "time_s_runs,bytes_sent_total_mean,bytes_sent_total_sd,bytes_sent_total_runs,"
      "consensus_distance_mean,consensus_distance_sd,consensus_distance_runs,"
      "living_mean,living_sd,living_runs,staleness_mean_mean,staleness_mean_sd,staleness_mean_runs,"
      "staleness_max_mean,staleness_max_sd,staleness_max_runs\n"
      "\"torus, dpsgd\",1,0.96,,1,0.96,,1,40,,1,40,,1,4000000,,1,,,0,,,0,,,0,,,0\n"
      "\"ring, dpsgd\",3,0.93,0.0360555127546,3,0.93,0.0360555127546,3,30,,1,20,10,3,"
      "2000000,1000000,3,2e-05,1e-05,3,,,0,,,0,,,0\n");
}

TEST_F(SeedsTest, HasATableForPapers) {
  EXPECT_EQ(Compared(TableFormat::kBooktabs),
            "\\begin{tabular}{lrllllll}\n\\toprule\n"
            "method & runs & accuracy & best & time to 95 \\% & time & sent & consensus distance "
            "\\\\\n\\midrule\n"
            "torus, dpsgd & 1 & 96.00 \\% & 96.00 \\% & 40.0 s & 40.0 s & 4.00 MB &  \\\\\n"
            "ring, dpsgd & 3 & 93.0 $\\pm$ 3.6 \\% & 93.0 $\\pm$ 3.6 \\% & 30.0 s (1 of 3) & "
            "20 $\\pm$ 10 s & 2.0 $\\pm$ 1.0 MB & (2.0 $\\pm$ 1.0)$\\cdot 10^{-5}$ \\\\\n"
            "\\bottomrule\n\\end{tabular}\n");
}

TEST_F(SeedsTest, HasATableForPages) {
  options_.target = "99%";
  EXPECT_EQ(
      Compared(TableFormat::kMarkdown),
      "| method | runs | accuracy | best | time to 99 % | time | sent | consensus distance |\n"
      "| --- | ---: | --- | --- | --- | --- | --- | --- |\n"
      "| torus, dpsgd | 1 | 96.00 % | 96.00 % | never | 40.0 s | 4.00 MB |  |\n"
      "| ring, dpsgd | 3 | 93.0 \u00b1 3.6 % | 93.0 \u00b1 3.6 % | never | "
      "20 \u00b1 10 s | 2.0 \u00b1 1.0 MB | (2.0 \u00b1 1.0)e-05 |\n");
}

// The third seed of the ring alone got to 95 %, sooner than the torus.
TEST_F(SeedsTest, WhoDidNotGetThereWithEverySeedComesAfterWhoDid) {
  options_.sort = "target";
  const std::string text = Compared(TableFormat::kText);
  EXPECT_THAT(text, HasSubstr("30.0 s (1 of 3)"));
  EXPECT_LT(text.find("torus, dpsgd"), text.find("ring, dpsgd")) << text;
}

TEST_F(SeedsTest, SortsByTheMeans) {
  options_.sort = "time";
  const std::string text = Compared(TableFormat::kText);
  EXPECT_LT(text.find("ring, dpsgd"), text.find("torus, dpsgd")) << text;
  EXPECT_EQ(text.find("grapevine train"), text.npos) << "no command repeats several runs";
  options_.sort = "beauty";
  EXPECT_EQ(FailureOf(ComparisonText(options_).status()), Failure::kUsage);
}

}  // namespace
}  // namespace grapevine

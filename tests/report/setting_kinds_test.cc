// --kind=accuracy, scaling and throughput, from folders to the numbers of their pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "report/plot.h"
#include "report/table.h"
#include "tests/report/run_folder.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

class SettingKindsTest : public ::testing::Test {
 protected:
  SettingKindsTest() : folder_(FreshFolder()) { options_.request.runs = {folder_}; }

  void WriteLearner(const std::string& name, const std::string& config, double accuracy) {
    WriteRun(
        folder_ + "/" + name, config,
        absl::StrCat("{\"round\":1,\"epoch\":1,\"time_s\":1,\"test_accuracy\":0.99}\n",
                     "{\"round\":2,\"epoch\":2,\"time_s\":2,\"test_accuracy\":", accuracy, "}\n"));
  }

  // A real run of 10 rounds.
  void WriteFinished(const std::string& name, int nodes, double seconds, double samples) {
    const std::string run = absl::StrCat(folder_, "/", name, nodes);
    WriteRun(run, absl::StrCat("nodes: ", nodes, " topology: \"", name, "\""), "");
    WriteText(run + "/summary.json",
              absl::StrCat("{\"nodes\":", nodes, ",\"topology\":\"ring\",\"mixing\":\"\",",
                           "\"algorithm\":\"dpsgd\",\"model\":\"lenet5\",\"data\":\"\",",
                           "\"seed\":1,\"rounds\":10,\"epochs\":1,\"stopped\":\"finished\",",
                           "\"wall_time_s\":", seconds, ",\"samples_per_s\":", samples, "}"));
  }

  std::string Numbers(const std::string& kind) {
    options_.kind = kind;
    const absl::StatusOr<Figure> figure = MakeFigure(options_);
    EXPECT_TRUE(figure.ok()) << figure.status();
    return figure.ok() ? TableText(NumbersOf(*figure), TableFormat::kCsv) : "";
  }

  absl::Status Complaint(const std::string& kind, const std::string& x) {
    options_.kind = kind;
    options_.request.x = x;
    return MakeFigure(options_).status();
  }

  std::string folder_;
  PlotOptions options_;
};

TEST_F(SettingKindsTest, DrawFinalAccuracyAgainstWhatVaries) {
  WriteLearner("a", "lr: 0.1", 0.5);
  WriteLearner("b", "lr: 0.1 seed: 2", 0.7);
  WriteLearner("c", "lr: 0.4", 0.9);
  EXPECT_EQ(Numbers("accuracy"),
            "curve,lr,final test accuracy (%),least,greatest\n"
            "\"ring, dpsgd\",0.1,60,50,70\n"
            "\"ring, dpsgd\",0.4,90,90,90\n");
  WriteLearner("c", "lr: 0.1 momentum: 0", 0.9);
  options_.request.x = "momentum";  // one of whose values has no logarithm
  EXPECT_THAT(Numbers("accuracy"), HasSubstr("\"ring, dpsgd\",0,90,90,90\n"));
  // What is finished counts by the model that it kept.
  WriteText(folder_ + "/c/summary.json",
            "{\"nodes\":4,\"topology\":\"ring\",\"mixing\":\"\",\"algorithm\":\"dpsgd\","
            "\"model\":\"lenet5\",\"data\":\"\",\"seed\":1,\"rounds\":1,\"epochs\":1,"
            "\"stopped\":\"target accuracy\",\"test_accuracy\":0.99}");
  EXPECT_THAT(Numbers("accuracy"), HasSubstr("\"ring, dpsgd\",0,99,99,99\n"));
}

TEST_F(SettingKindsTest, DrawFinalAccuracyAsBarsWhereNoNumberVaries) {
  WriteLearner("a", "topology: \"star\"", 0.5);
  WriteLearner("b", "topology: \"star\" seed: 2", 0.7);
  WriteLearner("c", "topology: \"ring\"", 0.9);
  WriteRun(folder_ + "/d", "algorithm: \"sgp\"", "{\"round\":1,\"epoch\":0,\"time_s\":1}\n");
  const std::string bars =
      "curve,final test accuracy (%),least,greatest,note\n"
      "\"star, dpsgd\",60,50,70,60.00 %\n"
      "\"ring, dpsgd\",90,90,90,90.00 %\n"
      "\"ring, sgp\",,,,not measured\n";
  EXPECT_EQ(Numbers("accuracy"), bars);
  options_.request.x = "topology";
  EXPECT_EQ(Numbers("accuracy"), bars);
}

TEST_F(SettingKindsTest, NameWhatIsMissing) {
  WriteLearner("a", "", 0.5);
  const absl::Status unknown = Complaint("accuracy", "mood");
  EXPECT_THAT(std::string(unknown.message()), HasSubstr("--x=mood is no setting of a run"));
  EXPECT_EQ(FailureOf(unknown), Failure::kUsage);
  WriteRun(folder_ + "/a", "", "{\"round\":1,\"epoch\":0,\"time_s\":1}\n");
  const absl::Status phantom = Complaint("accuracy", "batch");
  EXPECT_THAT(std::string(phantom.message()), HasSubstr("/a has no test accuracy: "));
  EXPECT_EQ(FailureOf(phantom), Failure::kInput);
  WriteFinished("ring", 4, 1, 100);
  for (const char* kind : {"scaling", "throughput"}) {
    const absl::Status one = Complaint(kind, "");
    EXPECT_EQ(one.message(),
              "the runs have one number of nodes (4); give --nodes a list, or name runs with "
              "several");
    EXPECT_EQ(FailureOf(one), Failure::kInput);
  }
}

TEST_F(SettingKindsTest, SayWhatMoreNodesBring) {
  WriteFinished("ring", 2, 1, 200);
  WriteFinished("ring", 8, 2, 400);
  WriteFinished("torus", 2, 2, 100);
  WriteFinished("torus", 8, 2, 400);
  EXPECT_EQ(Numbers("scaling"),
            "curve,nodes,y,value\n"
            "\"ring, dpsgd\",2,time of a step (s),0.1\n"
            "\"ring, dpsgd\",8,time of a step (s),0.2\n"
            "\"torus, dpsgd\",2,time of a step (s),0.2\n"
            "\"torus, dpsgd\",8,time of a step (s),0.2\n"
            "\"ring, dpsgd\",2,efficiency (%),100\n"
            "\"ring, dpsgd\",8,efficiency (%),50\n"
            "\"torus, dpsgd\",2,efficiency (%),100\n"
            "\"torus, dpsgd\",8,efficiency (%),100\n");
  EXPECT_EQ(Numbers("throughput"),
            "curve,nodes,samples per second,note\n"
            "\"ring, dpsgd\",2,200,100 %\n"
            "\"ring, dpsgd\",8,400,50 %\n"
            "\"torus, dpsgd\",2,100,50 %\n"
            "\"torus, dpsgd\",8,400,50 %\n");
}

TEST_F(SettingKindsTest, DrawTimedSimulationsAsOneCurve) {
  WriteLearner("a", "batch: 16 compute: \"2.31ms\" network: \"switch\"", 0.5);
  WriteLearner("b", "batch: 64 compute: \"8.4ms\" network: \"switch\"", 0.7);
  EXPECT_EQ(Numbers("accuracy"),
            "curve,batch,final test accuracy (%)\n"
            "\"ring, dpsgd\",16,50\n"
            "\"ring, dpsgd\",64,70\n");
}

TEST_F(SettingKindsTest, SayNothingOfTheEfficiencyOfOneNumberOfNodes) {
  WriteFinished("ring", 2, 1, 200);
  WriteFinished("torus", 8, 2, 400);
  EXPECT_EQ(Numbers("scaling"),
            "curve,nodes,y,value\n"
            "\"ring, dpsgd\",2,time of a step (s),0.1\n"
            "\"torus, dpsgd\",8,time of a step (s),0.2\n");
}

}  // namespace
}  // namespace grapevine

// --kind=target and winner-target, from folders to the numbers of their pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "report/plot.h"
#include "report/table.h"
#include "tests/report/run_folder.h"

namespace grapevine {
namespace {

class TargetKindsTest : public ::testing::Test {
 protected:
  TargetKindsTest() : folder_(FreshFolder()) { options_.request.runs = {folder_}; }

  // A run that has 50 % accuracy at first and `accuracy` after `seconds`.
  void Write(const std::string& name, const std::string& config, double seconds, double accuracy) {
    WriteRun(
        folder_ + "/" + name, config,
        absl::StrCat("{\"round\":1,\"epoch\":0.5,\"time_s\":0.1,\"test_accuracy\":0.5,"
                     "\"bytes_sent_total\":1000}\n{\"round\":2,\"epoch\":1,\"time_s\":",
                     seconds, ",\"test_accuracy\":", accuracy, ",\"bytes_sent_total\":2000000}\n"));
  }

  void WriteCell(const std::string& algorithm, const std::string& bandwidth,
                 const std::string& latency, double seconds, double accuracy) {
    const std::string name = algorithm + bandwidth + latency;
    Write(name,
          absl::StrCat("algorithm: \"", algorithm, "\" network: \"switch\" bandwidth: \"",
                       bandwidth, "\" latency: \"", latency, "\""),
          seconds, accuracy);
    WriteText(
        folder_ + "/" + name + "/summary.json",
        absl::StrCat("{\"nodes\":4,\"topology\":\"ring\",\"mixing\":\"metropolis\",",
                     "\"algorithm\":\"", algorithm,
                     "\",\"model\":\"softmax\",\"data\":\"\",\"seed\":1,\"rounds\":2,",
                     "\"epochs\":1,\"stopped\":\"finished\",\"simulated_time_s\":", seconds, "}"));
  }

  std::string Numbers() {
    const absl::StatusOr<Figure> figure = MakeFigure(options_);
    EXPECT_TRUE(figure.ok()) << figure.status();
    return figure.ok() ? TableText(NumbersOf(*figure), TableFormat::kCsv) : "";
  }

  std::string folder_;
  PlotOptions options_{.kind = "target"};
};

TEST_F(TargetKindsTest, ComparesWhatMethodsNeed) {
  Write("a", "topology: \"ring\" target_accuracy: 0.9", 10, 0.9);
  Write("b", "topology: \"ring\" seed: 2 target_accuracy: 0.9", 20, 0.95);
  Write("c", "topology: \"ring\" seed: 3 target_accuracy: 0.9", 20, 0.8);
  Write("d", "topology: \"torus\" target_accuracy: 0.9", 5, 0.8);
  EXPECT_EQ(Numbers(),
            "curve,y,value,least,greatest,note\n"
            "\"ring, dpsgd (3 seeds)\",time (s),15,10,20,15.0 s (2 of 3)\n"
            "\"torus, dpsgd\",time (s),,,,never\n"
            "\"ring, dpsgd (3 seeds)\",bytes sent by all nodes (MB),2,2,2,2.00 MB (2 of 3)\n"
            "\"torus, dpsgd\",bytes sent by all nodes (MB),,,,never\n"
            "\"ring, dpsgd (3 seeds)\",epoch,1,1,1,1 (2 of 3)\n"
            "\"torus, dpsgd\",epoch,,,,never\n");
}

TEST_F(TargetKindsTest, PutsThoseFirstThatGotThereWithEverySeed) {
  Write("a", "topology: \"ring\" target_accuracy: 0.9", 10, 0.9);
  Write("b", "topology: \"ring\" seed: 2 target_accuracy: 0.9", 20, 0.8);
  Write("c", "topology: \"torus\" target_accuracy: 0.9", 40, 0.9);
  EXPECT_THAT(Numbers(),
              ::testing::StartsWith("curve,y,value,note\n\"torus, dpsgd\",time (s),40,40.0 s\n"
                                    "\"ring, dpsgd (2 seeds)\",time (s),10,"
                                    "10.0 s (1 of 2)\n"));
}

TEST_F(TargetKindsTest, NamesWhatIsMissing) {
  Write("a", "", 10, 0.9);
  for (const char* kind : {"target", "winner-target"}) {
    options_.kind = kind;
    WriteCell("dpsgd", "1Gbit", "1ms", 1, 0.9);
    options_.request.target = "";
    absl::Status status = MakeFigure(options_).status();
    EXPECT_EQ(
        status.message(),
        "the runs have no target accuracy: name one with --target-accuracy=97%, here or when they "
        "run");
    EXPECT_EQ(FailureOf(status), Failure::kUsage);
  }
  options_.kind = "target";
  options_.request.target = "99%";
  const absl::Status status = MakeFigure(options_).status();
  EXPECT_EQ(
      status.message(),
      "no evaluation of these runs reached 99 %; choose a lower --target-accuracy, or train longer "
      "(--epochs)");
  EXPECT_EQ(FailureOf(status), Failure::kInput);
}

TEST_F(TargetKindsTest, MapsWhoIsFirst) {
  options_.kind = "winner-target";
  options_.request.target = "90%";
  for (const char* bandwidth : {"10Mbit", "1Gbit"}) {
    WriteCell("dpsgd", bandwidth, "1ms", 4, 0.9);
    WriteCell("dpsgd", bandwidth, "10ms", 4, 0.8);
    WriteCell("allreduce", bandwidth, "1ms", 8, 0.9);
  }
  WriteCell("allreduce", "10Mbit", "10ms", 8, 0.9);
  WriteCell("allreduce", "1Gbit", "10ms", 8, 0.8);
  EXPECT_EQ(Numbers(),
            "latency,bandwidth,winner,advantage of gossip\n"
            "1ms,10Mbit,ring,2\n"
            "1ms,1Gbit,ring,2\n"
            "10ms,10Mbit,allreduce,0\n");
}

TEST_F(TargetKindsTest, LeavesOutAFinishedCellWithoutMeasurements) {
  options_.kind = "winner-target";
  options_.request.target = "90%";
  for (const char* bandwidth : {"10Mbit", "1Gbit"}) {
    for (const char* latency : {"1ms", "10ms"}) {
      WriteCell("dpsgd", bandwidth, latency, 4, 0.9);
      WriteCell("allreduce", bandwidth, latency, 8, 0.9);
    }
  }
  WriteText(folder_ + "/allreduce10Mbit1ms/metrics.jsonl", "");
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Numbers(),
            "latency,bandwidth,winner,advantage of gossip\n"
            "1ms,1Gbit,ring,2\n"
            "10ms,10Mbit,ring,2\n"
            "10ms,1Gbit,ring,2\n");
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::HasSubstr("allreduce10Mbit1ms/metrics.jsonl has no measurements yet"));
}

}  // namespace
}  // namespace grapevine

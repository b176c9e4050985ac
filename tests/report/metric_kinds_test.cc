// --kind=staleness and generalization, from folders to the numbers of their pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/failure.h"
#include "report/plot.h"
#include "report/table.h"
#include "tests/report/run_folder.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;

constexpr char kLine[] = "{\"round\":1,\"epoch\":1,\"time_s\":1}\n";

class MetricKindsTest : public ::testing::Test {
 protected:
  MetricKindsTest() : folder_(FreshFolder()) { options_.request.runs = {folder_}; }

  void WriteNode(const std::string& run, int rank, const std::string& members) {
    WriteText(folder_ + "/" + run + "/node-" + std::to_string(rank) + "/metrics.jsonl",
              kLine + ("{\"round\":2,\"epoch\":2,\"time_s\":2" + members + "}\n"));
  }

  absl::StatusOr<std::string> Numbers(const std::string& kind) {
    options_.kind = kind;
    const absl::StatusOr<Figure> figure = MakeFigure(options_);
    if (!figure.ok()) return figure.status();
    return TableText(NumbersOf(*figure), TableFormat::kCsv);
  }

  std::string folder_;
  PlotOptions options_;
};

TEST_F(MetricKindsTest, AddUpTheStalenessOfAllNodes) {
  WriteRun(folder_ + "/a", "algorithm: \"ps:async:servers=2\" nodes: 4", kLine);
  WriteNode("a", 0, "");  // a worker
  WriteNode("a", 2, ",\"staleness_mean\":1,\"staleness\":[1,1,2]");
  WriteNode("a", 3, ",\"staleness_mean\":0.25,\"staleness\":[3,1]");
  WriteRun(folder_ + "/synchronous", "nodes: 2", kLine);
  EXPECT_EQ(*Numbers("staleness"),
            "curve,staleness: updates since the gradient's replica,gradients (%)\n"
            "\"ps:async:servers=2 (servers), nodes=4, mean 0.625\",0,50\n"
            "\"ps:async:servers=2 (servers), nodes=4, mean 0.625\",1,25\n"
            "\"ps:async:servers=2 (servers), nodes=4, mean 0.625\",2 to 3,25\n");
}

TEST_F(MetricKindsTest, SayWhatIsMissing) {
  WriteRun(folder_ + "/a", "", kLine);
  for (const auto& [kind, message] :
       {std::pair("staleness", "/a records no staleness: its nodes' metrics have it where"),
        std::pair("generalization", "/a has no test loss: it is measured every --eval-every")}) {
    const absl::Status status = Numbers(kind).status();
    EXPECT_THAT(std::string(status.message()), HasSubstr(message));
    EXPECT_EQ(FailureOf(status), Failure::kInput);
  }
}

TEST_F(MetricKindsTest, NameTheLineOfANodeThatIsNoMetrics) {
  WriteRun(folder_ + "/a", "nodes: 1", kLine);
  WriteNode("a", 0, ",\"staleness\":7");
  const absl::Status status = Numbers("staleness").status();
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("/a/node-0/metrics.jsonl:2: \"staleness\" has a value of the wrong type"));
  EXPECT_EQ(FailureOf(status), Failure::kInput);
}

TEST_F(MetricKindsTest, DrawBothLossesAndTheirGap) {
  WriteRun(folder_ + "/a", "",
           "{\"round\":1,\"epoch\":0.5,\"time_s\":1,\"train_loss\":2}\n"
           "{\"round\":2,\"epoch\":1,\"time_s\":2,\"train_loss\":1,\"test_loss\":1.5}\n");
  EXPECT_EQ(*Numbers("generalization"),
            "panel,curve,epoch,loss\n"
            "\"ring, dpsgd\",training loss,0.5,2\n"
            "\"ring, dpsgd\",training loss,1,1\n"
            "\"ring, dpsgd\",test loss,1,1.5\n"
            "\"ring, dpsgd\",gap (test - training),1,0.5\n");
}

}  // namespace
}  // namespace grapevine

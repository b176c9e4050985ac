// --kind=staleness, norms, survival and generalization, from folders to the numbers of their
// pictures.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <variant>

#include "base/status.h"
#include "report/plot.h"
#include "report/table.h"
#include "tests/report/run_folder.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::EndsWith;
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

TEST_F(MetricKindsTest, ShowLossAndLivingNodesOverTime) {
  WriteRun(folder_ + "/shrinks", "nodes: 4 on_failure: \"shrink\"",
           "{\"round\":1,\"epoch\":1,\"time_s\":1,\"test_loss\":2}\n"
           "{\"round\":2,\"epoch\":2,\"time_s\":2,\"test_loss\":1.5,\"living\":3}\n");
  WriteRun(folder_ + "/whole", "nodes: 4 on_failure: \"end\"",
           "{\"round\":1,\"epoch\":1,\"time_s\":1,\"test_loss\":1}\n");
  EXPECT_EQ(*Numbers("survival"),
            "curve,time (s),y,value\n"
            "\"ring, dpsgd, on_failure=shrink\",1,test loss,2\n"
            "\"ring, dpsgd, on_failure=shrink\",2,test loss,1.5\n"
            "\"ring, dpsgd, on_failure=end\",1,test loss,1\n"
            "\"ring, dpsgd, on_failure=shrink\",1,living nodes (%),100\n"
            "\"ring, dpsgd, on_failure=shrink\",2,living nodes (%),75\n"
            "\"ring, dpsgd, on_failure=end\",1,living nodes (%),100\n");
}

TEST_F(MetricKindsTest, SayWhatIsMissing) {
  WriteRun(folder_ + "/a", "", kLine);
  for (const auto& [kind, message] :
       {std::pair("staleness", "/a records no staleness: its nodes' metrics have it where"),
        std::pair("norms",
                  "/a records no norms: its workers' metrics have them in a run with --norms, each "
                  "where its own count of gradients meets an evaluation (--eval-every)"),
        std::pair("survival", "/a has no test loss: a model that learns has"),
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

// Of node 0, which has some: the other is not read, it may be on another machine.
TEST_F(MetricKindsTest, DivideTheNormsOfWeightsByThoseOfGradients) {
  WriteRun(folder_ + "/a", "nodes: 2", kLine);
  WriteNode("a", 0,
            ",\"norms\":[{\"tensor\":\"b.weight\",\"dimensions\":4,\"weights\":6,\"gradient\":2},"
            "{\"tensor\":\"b.bias\",\"dimensions\":1,\"weights\":1,\"gradient\":1},"
            "{\"tensor\":\"a.weight\",\"dimensions\":2,\"weights\":1,\"gradient\":4}]");
  WriteNode("a", 1, ",\"norms\":7");
  WriteRun(folder_ + "/unmeasured", "nodes: 2 seed: 2", kLine);
  EXPECT_EQ(*Numbers("norms"),
            "panel,curve,epoch,norm of weights / norm of gradient\n"
            "\"ring, dpsgd\",b.weight,2,3\n"
            "\"ring, dpsgd\",a.weight,2,0.25\n");
}

// A gradient of 0 has no place on a logarithmic axis, nor has its ratio.
TEST_F(MetricKindsTest, ShowAllNormsWhereNoTensorHasTwoDimensions) {
  WriteRun(folder_ + "/a", "", kLine);
  WriteNode("a", 0,
            ",\"norms\":[{\"tensor\":\"x\",\"dimensions\":1,\"weights\":6,\"gradient\":2},"
            "{\"tensor\":\"dead\",\"dimensions\":1,\"weights\":6,\"gradient\":0}]");
  EXPECT_EQ(*Numbers("norms"),
            "panel,curve,epoch,norm of weights / norm of gradient\n\"ring, dpsgd\",x,2,3\n");
}

std::string LineOfNorms(const std::string& epoch, const std::string& weights,
                        const std::string& gradient) {
  return "{\"round\":1,\"epoch\":" + epoch +
         ",\"time_s\":1,\"norms\":[{\"tensor\":\"x\",\"dimensions\":2,\"weights\":" + weights +
         ",\"gradient\":" + gradient + "}]}\n";
}

// A stranger's file may hold any numbers, in any order.
TEST_F(MetricKindsTest, ShowOnlyRatiosOfNormsThatFloatsCanHave) {
  WriteRun(folder_ + "/a", "", kLine);
  WriteText(folder_ + "/a/node-0/metrics.jsonl",
            LineOfNorms("3", "9", "3") + LineOfNorms("1", "1", "1") + LineOfNorms("2", "4", "2") +
                LineOfNorms("4", "1e300", "1e-300") + LineOfNorms("5", "1e-300", "1e300") +
                LineOfNorms("6", "1e300", "1") + LineOfNorms("7", "1e-300", "1") +
                LineOfNorms("8", "-1", "-1"));
  EXPECT_EQ(*Numbers("norms"),
            "panel,curve,epoch,norm of weights / norm of gradient\n"
            "\"ring, dpsgd\",x,1,1\n\"ring, dpsgd\",x,2,2\n\"ring, dpsgd\",x,3,3\n");
}

// Where workers share a budget of gradients, a slow one may never measure.
TEST_F(MetricKindsTest, ShowTheNormsOfTheLowestRankThatHasSome) {
  WriteRun(folder_ + "/a", "nodes: 3", kLine);
  WriteNode("a", 0, "");
  WriteText(folder_ + "/a/node-1/metrics.jsonl", LineOfNorms("2", "6", "2"));
  WriteText(folder_ + "/a/node-2/metrics.jsonl", LineOfNorms("2", "8", "2"));
  EXPECT_EQ(*Numbers("norms"),
            "panel,curve,epoch,norm of weights / norm of gradient\n\"ring, dpsgd\",x,2,3\n");
}

TEST_F(MetricKindsTest, ShowSomeTensorsOfManyAndSaySo) {
  WriteRun(folder_ + "/a", "", kLine);
  std::string norms;
  for (int i = 0; i < 28; ++i) {
    norms += (i == 0 ? "" : ",") + ("{\"tensor\":\"" + std::to_string(i)) +
             "\",\"dimensions\":2,\"weights\":1,\"gradient\":1}";
  }
  WriteNode("a", 0, ",\"norms\":[" + norms + "]");
  options_.kind = "norms";
  const absl::StatusOr<Figure> figure = MakeFigure(options_);
  ASSERT_TRUE(figure.ok()) << figure.status();
  const Page& page = std::get<Page>(*figure);
  EXPECT_THAT(page.labels, ElementsAre("0", "3", "6", "9", "12", "15", "18", "21", "24", "27"));
  EXPECT_THAT(page.title, EndsWith(", 10 of 28 tensors"));
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

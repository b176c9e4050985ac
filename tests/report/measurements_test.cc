#include "report/measurements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/status.h"
#include "tests/report/run_folder.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

std::string Measured(const std::vector<std::string>& runs, TableFormat format) {
  const auto text = MeasurementsText(runs, format);
  EXPECT_TRUE(text.ok()) << text.status();
  return text.value_or("");
}

TEST(MeasurementsTest, HaveALineForEachWithAllFields) {
  const std::string folder = FreshFolder();
  WriteRun(folder + "/ring", "nodes: 8 topology: \"ring\"",
           "{\"round\":1,\"epoch\":0.5,\"time_s\":0.1,\"train_loss\":2.302585092994046}\n"
           "{\"round\":2,\"epoch\":1,\"time_s\":20,\"test_accuracy\":0.9,"
           "\"bytes_sent_total\":9007199254740993,\"living\":7}\n");
  WriteRun(folder + "/torus", "nodes: 8 topology: \"torus\"",
           "{\"round\":1,\"epoch\":1,\"time_s\":3,\"consensus_distance\":1e-9}\n");
  EXPECT_EQ(Measured({folder}, TableFormat::kCsv),
            "run,method,round,epoch,time_s,train_loss,learning_rate,gradient_variance,"
            "gradient_square,noise_scale,test_loss,test_accuracy,test_loss_recalibrated,"
            "test_accuracy_recalibrated,test_samples,consensus_distance,buffer_distance,"
            "bytes_sent_total,evaluation_bytes_sent_total,samples_per_s,living\n" +
                folder + "/ring,\"ring, dpsgd\",1,0.5,0.1,2.302585092994046,,,,,,,,,,,,,,,\n" +
                folder + "/ring,\"ring, dpsgd\",2,1.0,20.0,,,,,,,0.9,,,,,,9007199254740993,,,7\n" +
                folder + "/torus,\"torus, dpsgd\",1,1.0,3.0,,,,,,,,,,,1e-09,,,,,\n");
  EXPECT_THAT(Measured({folder + "/torus"}, TableFormat::kText), Not(HasSubstr("test_accuracy")))
      << "what is nowhere is left out for people";
}

TEST(MeasurementsTest, NoRunIsAnInputError) {
  const absl::Status status = MeasurementsText({"/nonexistent"}, TableFormat::kCsv).status();
  EXPECT_EQ(FailureOf(status), Failure::kInput);
  EXPECT_THAT(std::string(status.message()), StartsWith("/nonexistent"));
}

}  // namespace
}  // namespace grapevine

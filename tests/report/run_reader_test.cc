#include "report/run_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/status.h"
#include "tests/report/run_folder.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr char kReadLine[] = "{\"round\":1,\"epoch\":0.5,\"time_s\":2}\n";

TEST(ReadRun, ReadsConfigurationAndMetrics) {
  const std::string run = FreshFolder();
  WriteRun(run, "topology: \"torus:2x2\"", std::string(kReadLine) + kReadLine);
  const auto read = ReadRun(run);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->config.topology(), "torus:2x2");
  ASSERT_EQ(read->metrics.size(), 2u);
  EXPECT_EQ(read->metrics[0].epoch, 0.5);
}

TEST(ReadRun, LeavesOutALineThatIsStillBeingWritten) {
  const std::string run = FreshFolder();
  WriteRun(run, "", std::string(kReadLine) + "{\"round\":2,\"ep");
  EXPECT_EQ(ReadRun(run)->metrics.size(), 1u);
}

TEST(ReadRun, NamesFileAndLine) {
  const std::string run = FreshFolder();
  WriteRun(run, "", std::string(kReadLine) + "{\"round\":2\n" + kReadLine);
  const auto broken = ReadRun(run);
  EXPECT_EQ(broken.status().message(), run + "/metrics.jsonl:2: is not valid JSON");
  EXPECT_EQ(FailureOf(broken.status()), Failure::kInput);
  WriteRun(run, "", std::string(kReadLine) + "{\"round\":2,\"epoch\":1}\n");
  EXPECT_EQ(ReadRun(run).status().message(), run + "/metrics.jsonl:2: has no \"time_s\"");
}

TEST(ReadRun, WaitsForNoPipe) {
  const std::string run = FreshFolder();
  for (const char* name : {"/metrics.jsonl", "/config.textproto"}) {
    WriteRun(run, "", kReadLine);
    std::filesystem::remove(run + name);
    ASSERT_EQ(mkfifo((run + name).c_str(), 0600), 0);
    const auto refused = ReadRun(run);
    EXPECT_EQ(refused.status().message(), run + name + " is not a regular file");
    EXPECT_EQ(FailureOf(refused.status()), Failure::kInput);
    std::filesystem::remove(run + name);
  }
}

TEST(ReadRun, WantsMeasurements) {
  const std::string run = FreshFolder();
  WriteRun(run, "", "");
  EXPECT_EQ(ReadRun(run).status().message(), run + "/metrics.jsonl has no measurements yet");
}

TEST(ReadRuns, LeavesOutCellsWithoutMeasurements) {
  const std::string sweep = FreshFolder();
  WriteRun(sweep + "/a", "", kReadLine);
  WriteRun(sweep + "/b", "", "");
  WriteText(sweep + "/c/config.textproto", "");
  WriteRun(sweep + "/d", "", kReadLine);
  ::testing::internal::CaptureStderr();
  const auto runs = ReadRuns(std::vector<std::string>{sweep});
  const std::string notes = ::testing::internal::GetCapturedStderr();
  ASSERT_TRUE(runs.ok()) << runs.status();
  ASSERT_EQ(runs->size(), 2u);
  EXPECT_EQ((*runs)[1].path, sweep + "/d");
  EXPECT_THAT(notes, HasSubstr("left out: " + sweep + "/b/metrics.jsonl has no measurements yet"));
  EXPECT_THAT(notes, HasSubstr("left out: " + sweep + "/c/metrics.jsonl has no measurements yet"));
}

TEST(ReadRuns, WantsMeasurementsOfRunsThatAreNamedAndOfOneCell) {
  const std::string sweep = FreshFolder();
  WriteRun(sweep + "/a", "", kReadLine);
  WriteRun(sweep + "/b", "", "");
  const std::string why = sweep + "/b/metrics.jsonl has no measurements yet";
  EXPECT_EQ(ReadRuns(std::vector<std::string>{sweep, sweep + "/b"}).status().message(), why);
  WriteRun(sweep + "/a", "", "nonsense\n");
  EXPECT_EQ(ReadRuns(std::vector<std::string>{sweep}).status().message(),
            sweep + "/a/metrics.jsonl:1: is not valid JSON");
  std::filesystem::remove_all(sweep + "/a");
  const auto none = ReadRuns(std::vector<std::string>{sweep});
  EXPECT_EQ(none.status().message(), why);
  EXPECT_EQ(FailureOf(none.status()), Failure::kInput);
}

TEST(FindRuns, FindsTheCellsOfASweep) {
  const std::string sweep = FreshFolder();
  WriteRun(sweep + "/b", "", "");
  WriteRun(sweep + "/a", "", "");
  WriteText(sweep + "/plots/readme.txt", "");
  EXPECT_THAT(*FindRuns(sweep), ElementsAre(sweep + "/a", sweep + "/b"));
  EXPECT_THAT(*FindRuns(sweep + "/a"), ElementsAre(sweep + "/a"));
}

TEST(FindRuns, HasTheCellsOfASweepInTheOrderOfItsLists) {
  const std::string sweep = FreshFolder();
  WriteText(sweep + "/sweep.textproto", "# --topology=ring,complete\n# --seed=2,1\nnodes: 8\n");
  for (const char* cell : {"topology=complete_seed=1", "topology=complete_seed=2",
                           "topology=ring_seed=1", "topology=ring_seed=2", "another"}) {
    WriteRun(sweep + "/" + cell, "", kReadLine);
  }
  const auto found = FindRuns(sweep);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_THAT(*found, ElementsAre(sweep + "/topology=ring_seed=2", sweep + "/topology=ring_seed=1",
                                  sweep + "/topology=complete_seed=2",
                                  sweep + "/topology=complete_seed=1", sweep + "/another"));
  WriteText(sweep + "/sweep.textproto", "# --topology=ring,ring\n");
  EXPECT_EQ(FindRuns(sweep)->front(), sweep + "/another") << "by name where that is no sweep's";
}

TEST(FindRuns, NamesWhatIsNoRun) {
  const std::string folder = FreshFolder();
  WriteText(folder + "/file", "");
  const std::pair<std::string, std::string> cases[] = {
      {folder + "/none", " does not exist"},
      {folder + "/file", " is not a folder; name a run directory"},
      {folder, " is not a run directory and has none in it (there is no config.textproto)"}};
  for (const auto& [path, why] : cases) {
    const auto runs = FindRuns(path);
    EXPECT_EQ(runs.status().message(), path + why);
    EXPECT_EQ(FailureOf(runs.status()), Failure::kInput);
  }
}

}  // namespace
}  // namespace grapevine

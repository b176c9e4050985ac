#include "run/records/event_file.h"

#include <filesystem>
#include <string>

#include "absl/time/time.h"
#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "run/records/run_directory.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

using testing::FileText;
using ::testing::HasSubstr;
using ::testing::StartsWith;

absl::Time Then() { return absl::FromUnixSeconds(1600000000); }

TEST(EventFileTest, BeginsAsTensorFlowsDo) {
  const ScratchFolder folder;
  const auto file = CreateEventFile(folder.path(), Then(), absl::UnixEpoch(), 0);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT((*file)->path(), StartsWith(folder.File("events.out.tfevents.1600000000.")));
  const std::string bytes = FileText((*file)->path());
  // brain.Event:2 at time 0, which proto3 leaves out.
  ASSERT_EQ(bytes.size(), 8u + 4 + 15 + 4);
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x0f\0\0\0\0\0\0\0", 8));
  EXPECT_EQ(bytes.substr(12, 15),
            "\x1a\x0d"
            "brain.Event:2");
}

TEST(EventFileTest, AFileOfAnEarlierProcessStaysAndIsOverruled) {
  const ScratchFolder folder;
  const auto fresh = CreateEventFile(folder.path(), Then(), Then(), 0);
  const auto resumed =
      CreateEventFile(folder.path(), Then() + absl::Seconds(5), Then() + absl::Seconds(5), 40);
  ASSERT_TRUE(fresh.ok() && resumed.ok());
  EXPECT_LT((*fresh)->path(), (*resumed)->path()) << "TensorBoard reads in the order of names";
  EXPECT_GT(FileText((*resumed)->path()).size(), FileText((*fresh)->path()).size());
}

TEST(EventFileTest, AFolderThatCannotBeWrittenIsAnOutputError) {
  const absl::Status status = CreateEventFile("/nonexistent", Then(), Then(), 0).status();
  EXPECT_EQ(FailureOf(status), Failure::kOutput);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/nonexistent/events.out.tfevents."));
}

TEST(EventFileTest, IsRemovedWithItsRun) {
  const ScratchFolder folder;
  const auto file = CreateEventFile(folder.path(), Then(), Then(), 0);
  ASSERT_TRUE(file.ok());
  folder.Write("mine.txt", "stays");
  ASSERT_TRUE(RemoveRun(folder.path()).ok());
  EXPECT_FALSE(std::filesystem::exists((*file)->path()));
  EXPECT_TRUE(std::filesystem::exists(folder.File("mine.txt")));
}

}  // namespace
}  // namespace grapevine

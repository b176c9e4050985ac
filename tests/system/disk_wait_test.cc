#include "system/disk_wait.h"

#include <gtest/gtest.h>

#include <optional>
#include <string>

#include "system/file.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

TEST(DiskWait, ShowsTheEarliestOfAFolder) {
  const std::string other = "runs/ring-2/metrics.jsonl", first = "runs/ring/metrics.jsonl",
                    second = "runs/ring/node-1/events.rec";
  EXPECT_EQ(DiskWait::Earliest("runs/ring"), std::nullopt);
  const DiskWait elsewhere(other);
  EXPECT_EQ(DiskWait::Earliest("runs/ring"), std::nullopt) << "a folder, not the begin of a name";
  auto wait = std::make_optional<DiskWait>(first);
  const DiskWait later(second);
  EXPECT_EQ(DiskWait::Earliest("runs/ring")->path, first);
  EXPECT_EQ(DiskWait::Earliest("runs/ring/")->path, first);
  EXPECT_EQ(DiskWait::Earliest("runs/ring/node-1")->path, second);
  EXPECT_EQ(DiskWait::Earliest(second)->path, second);
  EXPECT_EQ(DiskWait::Earliest("runs")->path, other);
  const uint64_t number = DiskWait::Earliest("runs/ring")->number;
  wait.emplace(first);
  EXPECT_EQ(DiskWait::Earliest("runs/ring")->path, second);
  wait.reset();
  EXPECT_GT(DiskWait::Earliest("runs/ring")->number, number);
}

TEST(DiskWait, IsOverOnceAFileIsWritten) {
  const ScratchFolder folder;
  ASSERT_TRUE(WriteFileAtomically(folder.File("file"), "text").ok());
  EXPECT_EQ(DiskWait::Earliest(folder.File("")), std::nullopt);
}

}  // namespace
}  // namespace grapevine

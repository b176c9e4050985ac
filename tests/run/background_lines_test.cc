#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "run/records/output_file.h"
#include "tests/testing/file_text.h"
#include "tests/testing/stalled_file.h"

namespace grapevine::testing {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr int kLines = 20000;  // more than a pipe takes

std::string Line(int i) { return absl::StrCat("{\"round\":", i, "}"); }

void ExpectNoFailure(const absl::Status& status) { ADD_FAILURE() << status; }

std::string StalledPath() { return ::testing::TempDir() + "/stalled"; }

TEST(BackgroundLines, AStalledDiskHoldsNobodyUpAndLosesNothing) {
  const StalledFile file(StalledPath());
  std::string expected, text;
  std::thread reader;
  {
    BackgroundLines lines(*LineFile::Open(file.path()), ExpectNoFailure);
    for (int i = 0; i < kLines; ++i) {
      lines.Append(Line(i));
      expected += Line(i) + "\n";
    }
    // Nobody has read a byte.
    const absl::Status late = lines.Drain(steady_clock::now());
    EXPECT_EQ(FailureOf(late), Failure::kOutput);
    EXPECT_THAT(std::string(late.message()),
                AllOf(HasSubstr("cannot write to " + file.path() + ": it has stood still for "),
                      HasSubstr(" bytes wait")));
    reader = std::thread([&] { text = file.ReadAll(); });
    EXPECT_TRUE(lines.Drain(steady_clock::now() + seconds(60)).ok());
  }
  reader.join();
  EXPECT_EQ(text, expected);
}

TEST(BackgroundLines, TooManyWaitingLinesAreAnErrorThatIsToldOnce) {
  const StalledFile file(StalledPath());
  std::vector<absl::Status> told;
  BackgroundLines lines(*LineFile::Open(file.path()),
                        [&](const absl::Status& why) { told.push_back(why); });
  const std::string line((size_t{1} << 20) - 1, '1');  // and its end
  constexpr size_t kFit = BackgroundLines::kCapacity >> 20;
  for (size_t i = 0; i < kFit; ++i) lines.Append(line);
  EXPECT_THAT(told, IsEmpty());
  for (int i = 0; i < 3; ++i) lines.Append(line);  // one may have been taken to be written
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(FailureOf(told[0]), Failure::kOutput);
  EXPECT_THAT(std::string(told[0].message()),
              ContainsRegex("cannot write to " + file.path() +
                            ": it has stood still for [0-9.]+ s, and [0-9]+ bytes wait"));
  EXPECT_EQ(lines.Drain(steady_clock::now()), told[0]);
  // The disk never comes back, and holds up nobody's end.
}

TEST(BackgroundLines, WhatIsLeftIsWrittenAtTheEnd) {
  const std::string path = ::testing::TempDir() + "/lines";
  unlink(path.c_str());
  std::string expected;
  {
    BackgroundLines lines(*LineFile::Open(path), ExpectNoFailure);
    for (int i = 0; i < 100; ++i) {
      lines.Append(Line(i));
      expected += Line(i) + "\n";
    }
  }
  EXPECT_EQ(FileText(path), expected);
}

TEST(BackgroundLines, AFilesErrorIsToldAtOnceAndKept) {
  absl::Status told;
  {
    BackgroundLines lines(*LineFile::Open("/dev/full"),
                          [&told](const absl::Status& status) { told = status; });
    lines.Append("no room");
    const absl::Status status = lines.Drain(steady_clock::now() + seconds(60));
    EXPECT_EQ(FailureOf(status), Failure::kOutput);
    EXPECT_THAT(std::string(status.message()), HasSubstr("cannot write /dev/full"));
    lines.Append("nor now");
    EXPECT_EQ(lines.Drain(steady_clock::now() + seconds(60)), status);
  }
  EXPECT_EQ(FailureOf(told), Failure::kOutput);
}

}  // namespace
}  // namespace grapevine::testing

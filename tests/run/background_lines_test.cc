#include "run/background_lines.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "system/unique_descriptor.h"
#include "tests/testing/file_text.h"

namespace grapevine::testing {
namespace {

using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::HasSubstr;

constexpr int kLines = 20000;  // a pipe takes 64 KiB

std::string Line(int i) { return absl::StrCat("{\"round\":", i, "}"); }

void ExpectNoFailure(const absl::Status& status) { ADD_FAILURE() << status; }

// A file whose disk stalls until somebody reads.
class StalledFile {
 public:
  StalledFile() : path_(::testing::TempDir() + "/stalled") {
    unlink(path_.c_str());
    EXPECT_EQ(mkfifo(path_.c_str(), 0600), 0);
    // A reader must be there before a writer opens it.
    reader_ = UniqueDescriptor(open(path_.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
    fcntl(reader_.get(), F_SETFL, 0);
  }
  std::unique_ptr<LineFile> Open() const { return *LineFile::Open(path_); }
  // Until the writer closes it.
  std::string ReadAll() const {
    std::string text;
    char buffer[4096];
    ssize_t got;
    while ((got = read(reader_.get(), buffer, sizeof(buffer))) > 0) text.append(buffer, got);
    return text;
  }
  const std::string& path() const { return path_; }

 private:
  const std::string path_;
  UniqueDescriptor reader_;
};

TEST(BackgroundLines, AStalledDiskHoldsNobodyUpAndLosesNothing) {
  const StalledFile file;
  std::string expected, text;
  std::thread reader;
  {
    BackgroundLines lines(file.Open(), ExpectNoFailure);
    for (int i = 0; i < kLines; ++i) {
      ASSERT_TRUE(lines.Append(Line(i)).ok());
      expected += Line(i) + "\n";
    }
    // Nobody has read a byte.
    const absl::Status late = lines.Drain(steady_clock::now());
    EXPECT_EQ(FailureOf(late), Failure::kOutput);
    EXPECT_THAT(
        std::string(late.message()),
        AllOf(HasSubstr("lines wait to be written to " + file.path()), HasSubstr("stalls")));
    reader = std::thread([&] { text = file.ReadAll(); });
    EXPECT_TRUE(lines.Drain(steady_clock::now() + seconds(60)).ok());
  }
  reader.join();
  EXPECT_EQ(text, expected);
}

TEST(BackgroundLines, TooManyWaitingLinesAreAnError) {
  const StalledFile file;
  auto lines = std::make_unique<BackgroundLines>(file.Open(), ExpectNoFailure);
  absl::Status status;
  size_t appended = 0;
  for (; status.ok() && appended < 10 * BackgroundLines::kMaxWaiting; ++appended) {
    status = lines->Append(Line(0));
  }
  EXPECT_GE(appended, BackgroundLines::kMaxWaiting);
  EXPECT_EQ(FailureOf(status), Failure::kOutput);
  EXPECT_EQ(lines->Append("more"), status);
  EXPECT_EQ(lines->Drain(steady_clock::now() + seconds(60)), status);
  std::thread reader([&file] { (void)file.ReadAll(); });
  lines.reset();
  reader.join();
}

TEST(BackgroundLines, WhatIsLeftIsWrittenAtTheEnd) {
  const std::string path = ::testing::TempDir() + "/lines";
  unlink(path.c_str());
  std::string expected;
  {
    BackgroundLines lines(*LineFile::Open(path), ExpectNoFailure);
    for (int i = 0; i < 100; ++i) {
      ASSERT_TRUE(lines.Append(Line(i)).ok());
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
    ASSERT_TRUE(lines.Append("no room").ok());
    const absl::Status status = lines.Drain(steady_clock::now() + seconds(60));
    EXPECT_EQ(FailureOf(status), Failure::kOutput);
    EXPECT_THAT(std::string(status.message()), HasSubstr("cannot write /dev/full"));
    EXPECT_EQ(lines.Append("nor now"), status);
  }
  EXPECT_EQ(FailureOf(told), Failure::kOutput);
}

}  // namespace
}  // namespace grapevine::testing

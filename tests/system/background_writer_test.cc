#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "system/background.h"
#include "system/file_descriptor.h"
#include "system/mutex.h"

namespace grapevine {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

struct Pipe {
  Pipe() {
    int ends[2];
    EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
    read = UniqueDescriptor(ends[0]);
    write = UniqueDescriptor(ends[1]);
  }
  // Everything until the other end is closed.
  std::string ReadAll() const {
    std::string text;
    char buffer[4096];
    ssize_t got;
    while ((got = ::read(read.get(), buffer, sizeof(buffer))) > 0) text.append(buffer, got);
    return text;
  }
  UniqueDescriptor read, write;
};

std::string Note(int64_t dropped) { return absl::StrCat("[", dropped, " lost]\n"); }

std::string Line(int i) { return absl::StrCat("line ", i, "\n"); }

TEST(BackgroundWriter, WritesInOrder) {
  Pipe pipe;
  std::string expected;
  {
    BackgroundWriter writer(pipe.write.get(), "the pipe", Note);
    for (int i = 0; i < 100; ++i) {
      writer.Write(Line(i));
      expected += Line(i);
    }
    EXPECT_TRUE(writer.Drain().ok());
  }
  pipe.write.Close();
  EXPECT_EQ(pipe.ReadAll(), expected);
}

TEST(BackgroundWriter, AReaderThatStallsHoldsNobodyUp) {
  Pipe pipe;
  constexpr int kLines = 200000;  // more than the pipe and the writer take
  std::string text;
  {
    BackgroundWriter writer(pipe.write.get(), "the pipe", Note, /*capacity=*/10000);
    writer.Write(Line(0));
    EXPECT_TRUE(writer.Drain().ok());
    for (int i = 1; i < kLines; ++i) writer.Write(Line(i));
    // Nobody has read a byte.
    std::thread reader([&] { text = pipe.ReadAll(); });
    EXPECT_TRUE(writer.Drain().ok());
    pipe.write.Close();
    reader.join();
  }
  EXPECT_THAT(text, StartsWith("line 0\n"));
  EXPECT_THAT(text, HasSubstr(" lost]\nline "));
  EXPECT_THAT(text, EndsWith(Line(kLines - 1)));
}

// What stands still until it is told to go on.
class Stalling {
 public:
  absl::Status Write(std::string_view text) {
    MutexLock lock(mutex_);
    while (!open_) changed_.WaitUntil(mutex_, Soon());
    written_.emplace_back(text);
    return absl::OkStatus();
  }
  void Open() {
    MutexLock lock(mutex_);
    open_ = true;
    changed_.NotifyAll();
  }
  bool AwaitTexts(size_t count) {
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    MutexLock lock(mutex_);
    while (written_.size() < count) {
      if (!changed_.WaitUntil(mutex_, std::min(deadline, Soon()))) {
        if (std::chrono::steady_clock::now() >= deadline) return false;
      }
    }
    return true;
  }
  std::vector<std::string> written() {
    MutexLock lock(mutex_);
    return written_;
  }

 private:
  static std::chrono::steady_clock::time_point Soon() {
    return std::chrono::steady_clock::now() + std::chrono::milliseconds(10);
  }
  Mutex mutex_;
  Condition changed_;
  bool open_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::string> written_ ABSL_GUARDED_BY(mutex_);
};

BackgroundWriter::Options To(const std::shared_ptr<Stalling>& file) {
  return {.write = [file](std::string_view text) { return file->Write(text); },
          .name = "the file",
          .patience = std::chrono::milliseconds(1)};
}

TEST(BackgroundWriter, WithoutANoteNothingIsDroppedAndTheBoundIsAnError) {
  const auto file = std::make_shared<Stalling>();
  absl::Status failed;
  int failures = 0;
  BackgroundWriter::Options options = To(file);
  options.capacity = 20;
  options.failed = [&](const absl::Status& why) { failed = why, ++failures; };
  BackgroundWriter writer(std::move(options));
  for (int i = 0; i < 6; ++i) writer.Write(Line(i));  // of 7 bytes
  EXPECT_EQ(failures, 1);
  EXPECT_EQ(failed.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(std::string(failed.message()),
              ContainsRegex("cannot write to the file: it has stood still for [0-9.]+ s, and "
                            "[0-9]+ bytes wait"));
  EXPECT_EQ(writer.Drain(), failed);
  file->Open();
}

TEST(BackgroundWriter, WhatStoodStillGoesOnTextByText) {
  const auto file = std::make_shared<Stalling>();
  BackgroundWriter writer(To(file));
  for (int i = 0; i < 3; ++i) writer.Write(Line(i));
  const auto soon = [] { return std::chrono::steady_clock::now() + std::chrono::milliseconds(1); };
  const absl::Status late = writer.Drain(soon());
  EXPECT_EQ(late.code(), absl::StatusCode::kDeadlineExceeded);
  EXPECT_THAT(std::string(late.message()), HasSubstr("the file: it has stood still for "));
  file->Open();
  EXPECT_TRUE(writer.Drain().ok());
  EXPECT_THAT(file->written(), ElementsAre(Line(0), Line(1), Line(2)));
}

// It writes what it has, should that ever be possible.
TEST(BackgroundWriter, AWriteThatDoesNotReturnIsLeftBehind) {
  const auto file = std::make_shared<Stalling>();
  {
    BackgroundWriter writer(To(file));
    for (int i = 0; i < 3; ++i) writer.Write(Line(i));
  }
  EXPECT_THAT(file->written(), IsEmpty());
  file->Open();
  EXPECT_TRUE(file->AwaitTexts(3));
}

TEST(BackgroundWriter, AReaderThatLeavesIsAnError) {
  Pipe pipe;
  BackgroundWriter writer(pipe.write.get(), "the pipe", Note);
  pipe.read.Close();
  writer.Write("nobody reads that\n");
  EXPECT_THAT(std::string(writer.Drain().message()),
              HasSubstr("cannot write to the pipe: Broken pipe"));
  writer.Write("nor that\n");
  EXPECT_FALSE(writer.Drain().ok());
}

}  // namespace
}  // namespace grapevine

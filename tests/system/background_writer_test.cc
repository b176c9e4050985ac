#include "system/background_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "system/unique_descriptor.h"

namespace grapevine {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::StartsWith;

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

#include "node/transport/grpc/write_loop.h"

#include <thread>
#include <vector>

#include "gtest/gtest.h"

namespace grapevine {
namespace {

// Writes of which the test completes each.
struct Writer {
  int wanted = 0;
  int begun = 0;
  int ended = 0;
  WriteLoop loop{[this] {
                   if (wanted == 0) return false;
                   --wanted;
                   ++begun;
                   return true;
                 },
                 [this] { ++ended; }};
};

TEST(WriteLoop, WritesOneAtATime) {
  Writer writer;
  writer.wanted = 2;
  writer.loop.Wake();
  writer.loop.Wake();
  EXPECT_EQ(writer.begun, 1);
  writer.loop.Written();
  EXPECT_EQ(writer.begun, 2);
  writer.loop.Written();
  EXPECT_EQ(writer.begun, 2);
  writer.wanted = 1;
  writer.loop.Wake();
  EXPECT_EQ(writer.begun, 3);
}

TEST(WriteLoop, EndsOnceWhenIdle) {
  Writer writer;
  writer.loop.Wake();
  writer.loop.Close();
  writer.loop.Close();
  EXPECT_EQ(writer.ended, 1);
  writer.wanted = 1;
  writer.loop.Wake();
  EXPECT_EQ(writer.begun, 0);
}

TEST(WriteLoop, EndsAfterTheWriteUnderway) {
  Writer writer;
  writer.wanted = 2;
  writer.loop.Wake();
  writer.loop.Close();
  EXPECT_EQ(writer.ended, 0);
  writer.loop.Written();
  EXPECT_EQ(writer.ended, 1);
  EXPECT_EQ(writer.begun, 1);
}

TEST(WriteLoop, FinishesWhatThereIsToWrite) {
  Writer writer;
  writer.wanted = 2;
  writer.loop.Wake();
  writer.loop.Finish();
  EXPECT_EQ(writer.ended, 0);
  writer.loop.Written();
  EXPECT_EQ(writer.begun, 2);
  EXPECT_EQ(writer.ended, 0);
  writer.loop.Written();
  EXPECT_EQ(writer.ended, 1);
  writer.wanted = 1;
  writer.loop.Wake();
  writer.loop.Finish();
  writer.loop.Close();
  EXPECT_EQ(writer.begun, 2);
  EXPECT_EQ(writer.ended, 1);
}

TEST(WriteLoop, LosesNoWakeUp) {
  // The wish comes while the loop finds nothing to write.
  int wanted = 0;
  int begun = 0;
  bool first = true;
  WriteLoop* loop = nullptr;
  WriteLoop it(
      [&] {
        if (std::exchange(first, false)) {
          wanted = 1;
          loop->Wake();
          return false;
        }
        if (wanted == 0) return false;
        --wanted;
        ++begun;
        return true;
      },
      [] {});
  loop = &it;
  it.Wake();
  EXPECT_EQ(begun, 1);
}

}  // namespace
}  // namespace grapevine

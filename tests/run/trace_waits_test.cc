#include "run/trace/trace_waits.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "base/status.h"
#include "run/trace/chrome_trace.h"
#include "run/trace/run_trace.h"
#include "tests/model/scratch_folder.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

constexpr int64_t kSecond = 1'000'000'000;

TEST(TraceWaitsTest, SumsTheWaitsOfEachPair) {
  const ScratchFolder folder;
  const std::string path = folder.File("trace.json");
  const std::unique_ptr<ChromeTrace> file = *ChromeTrace::Create(path);
  RunTrace trace(file.get());
  trace.Gradient(0, 0, {0, kSecond});
  trace.Wait(0, 1, {kSecond, 3 * kSecond});
  trace.Mix(0, {3 * kSecond, 4 * kSecond});
  trace.Wait(0, 1, {4 * kSecond, 5 * kSecond});
  trace.Wait(1, 2, {0, kSecond / 2});
  trace.Sent({.from = 1, .to = 0}, 100, {0, kSecond});
  ASSERT_TRUE(file->Finish().ok());
  const auto waited = ReadTraceWaits(path, 3);
  ASSERT_TRUE(waited.ok()) << waited.status();
  EXPECT_THAT(*waited, ElementsAre(Pair(std::pair(0, 1), 3.0), Pair(std::pair(1, 2), 0.5)));
}

TEST(TraceWaitsTest, WhatIsNoWaitBetweenRanksCountsNothing) {
  const ScratchFolder folder;
  for (const char* event :
       {R"({"name":"wait for 9","pid":0,"dur":1,"args":{"rank":9}})",
        R"({"name":"wait for 1","pid":-1,"dur":1,"args":{"rank":1}})",
        R"({"name":"wait for 1","pid":0,"dur":-1,"args":{"rank":1}})",
        R"({"name":"wait for 1","pid":0,"dur":1})", R"({"name":7,"pid":{},"dur":[1]})",
        R"({"name":"mix","pid":0,"dur":1,"args":{"rank":1}})", "[[[]]]", "1e999"}) {
    const std::string path =
        folder.Write("trace.json", std::string("{\"traceEvents\":[") + event + "]}");
    const auto waited = ReadTraceWaits(path, 3);
    EXPECT_THAT(waited.value_or(WaitedSeconds()), IsEmpty()) << event;
  }
}

TEST(TraceWaitsTest, ErrorsNameTheFile) {
  const ScratchFolder folder;
  const std::string path = folder.Write("trace.json", "{\"traceEvents\":[{]}");
  const absl::Status status = ReadTraceWaits(path, 3).status();
  EXPECT_EQ(FailureOf(status), Failure::kInput);
  EXPECT_THAT(std::string(status.message()), HasSubstr("trace.json: is not valid JSON at byte"));
  EXPECT_EQ(FailureOf(ReadTraceWaits(folder.File("none"), 3).status()), Failure::kInput);
}

}  // namespace
}  // namespace grapevine

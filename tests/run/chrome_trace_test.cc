#include "run/trace/chrome_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "base/status.h"
#include "run/trace/run_trace.h"
#include "tests/testing/trace_file.h"

namespace grapevine::testing {
namespace {

using ::testing::HasSubstr;

std::string PathOf(const std::string& name) { return ::testing::TempDir() + "/" + name; }

std::unique_ptr<ChromeTrace> Create(const std::string& path, int64_t most = 1000) {
  auto trace = ChromeTrace::Create(path, most);
  EXPECT_TRUE(trace.ok()) << trace.status();
  return *std::move(trace);
}

TEST(ChromeTrace, ReadsBack) {
  const std::string path = PathOf("small.json");
  const auto trace = Create(path);
  trace->NameProcess(3, "rank \"3\"\n\xff");
  trace->NameLane({3, 7}, "lane");
  const ChromeTrace::Argument arguments[] = {{"round", 12}, {"bytes", -1}};
  trace->Slice({3, 7}, "a", 1, 1'234'567, arguments);
  trace->Slice({3, 7}, "b", 1'234'567, 1'234'567);
  trace->FlowFrom({3, 7}, 1, 77);
  trace->FlowTo({3, 7}, 1'234'567, 77);
  ASSERT_TRUE(trace->Finish().ok());
  const TraceFile file(path);
  file.ExpectWellFormed();
  EXPECT_EQ(file.ExpectArrows(), 1);
  ASSERT_EQ(file.slices().size(), 2u);
  EXPECT_EQ(file.slices()[0].begin, 1);
  EXPECT_EQ(file.slices()[0].end, 1'234'567);
  EXPECT_EQ(file.slices()[0].arguments["round"], 12);
  EXPECT_EQ(file.slices()[0].arguments["bytes"], -1);
  EXPECT_EQ(file.json()["traceEvents"][0]["args"]["name"], "rank \"3\"\n\xef\xbf\xbd");
  EXPECT_EQ(file.json()["traceEvents"][1]["args"]["sort_index"], 3);
  EXPECT_EQ(file.json()["otherData"]["dropped_events"], 0);
}

TEST(ChromeTrace, WithoutEventsIsValid) {
  const std::string path = PathOf("empty.json");
  ASSERT_TRUE(Create(path)->Finish().ok());
  EXPECT_TRUE(TraceFile(path).json()["traceEvents"].empty());
}

TEST(ChromeTrace, CountsWhatItDrops) {
  const std::string path = PathOf("full.json");
  const auto trace = Create(path, 10);
  for (int i = 0; i < 25; ++i) trace->Slice({0, 0}, "slice", i, i);
  EXPECT_EQ(trace->dropped(), 15);
  ASSERT_TRUE(trace->Finish().ok());
  const TraceFile file(path);
  EXPECT_EQ(file.slices().size(), 10u);
  EXPECT_EQ(file.json()["otherData"]["dropped_events"], 15);
}

TEST(ChromeTrace, AppearsWholeOrNotAtAll) {
  const std::string path = PathOf("unfinished.json");
  {
    const auto trace = Create(path, 1 << 20);
    for (int i = 0; i < 100'000; ++i) trace->Slice({0, 0}, "slice", i, i);  // beyond its buffer
  }
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(ChromeTrace, NamesAPathThatCannotBeWritten) {
  const auto trace = ChromeTrace::Create("/no/such/folder/trace.json");
  EXPECT_EQ(FailureOf(trace.status()), Failure::kOutput);
  EXPECT_THAT(std::string(trace.status().message()), HasSubstr("/no/such/folder/trace.json"));
}

TEST(RunTrace, GivesMessagesThatGoOnAtOnceLanesOfTheirOwn) {
  const std::string path = PathOf("lanes.json");
  const auto trace = Create(path);
  RunTrace run(trace.get());
  const auto message = [](Rank to, Round round) {
    return TraceMessage{.from = 0, .to = to, .channel = 0, .round = round, .step = 0};
  };
  run.Sent(message(1, 0), 100, {0, 50});
  run.Sent(message(2, 0), 100, {10, 60});
  run.Sent(message(1, 1), 100, {50, 90});
  run.Received(message(1, 0), {20, 70});
  run.Received(message(2, 0), {30, 80});
  ASSERT_TRUE(trace->Finish().ok());
  const TraceFile file(path);
  file.ExpectWellFormed();
  const auto sends = file.Named("to ");
  ASSERT_EQ(sends.size(), 3u);
  EXPECT_NE(sends[0].thread, sends[1].thread);
  EXPECT_EQ(sends[0].thread, sends[2].thread) << "free again";
  EXPECT_EQ(file.ExpectArrows(), 2);
}

}  // namespace
}  // namespace grapevine::testing

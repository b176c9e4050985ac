#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <string>
#include <vector>

#include "base/status.h"
#include "run/trace/run_trace.h"
#include "tests/testing/file_text.h"
#include "tests/testing/trace_file.h"

namespace grapevine::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string NodeTracePath(const std::string& name) { return ::testing::TempDir() + "/" + name; }

// A node that sends to the other one and waits for it.
NodeTrace Trace(Rank rank, const std::string& clock, int64_t start) {
  const Rank other = 1 - rank;
  NodeTrace trace{.rank = rank, .clock = clock, .start = start, .dropped = 0, .records = {}};
  const auto add = [&](TraceKind kind, int64_t begin, int64_t end, Rank peer = 0) {
    trace.records.push_back({.begin = start + begin,
                             .end = start + end,
                             .bytes = kind == TraceKind::kSent ? 100 : 0,
                             .round = 0,
                             .step = 0,
                             .channel = 0,
                             .peer = peer,
                             .kind = kind});
  };
  add(TraceKind::kGradient, 0, 10'000);
  add(TraceKind::kSent, 100, 15'000, other);
  add(TraceKind::kReceived, 20'000, 20'000, other);
  add(TraceKind::kWait, 10'000, 20'000, other);
  add(TraceKind::kMix, 20'000, 25'000);
  add(TraceKind::kStep, 0, 25'000);
  return trace;
}

std::string ErrorOf(const std::string& contents) {
  const std::string path = NodeTracePath("hostile.bin");
  std::ofstream(path, std::ios::binary) << contents;
  const absl::Status status = ReadNodeTrace(path, 2).status();
  EXPECT_EQ(FailureOf(status), Failure::kInput);
  EXPECT_THAT(std::string(status.message()), HasSubstr(path));
  return std::string(status.message());
}

TEST(NodeTrace, ReadsBack) {
  const std::string path = NodeTracePath("node.bin");
  NodeTrace trace = Trace(1, "clock", 1'000'000);
  trace.dropped = 3;
  ASSERT_TRUE(WriteNodeTrace(path, trace).ok());
  const auto read = ReadNodeTrace(path, 2);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->rank, 1);
  EXPECT_EQ(read->clock, "clock");
  EXPECT_EQ(read->start, 1'000'000);
  EXPECT_EQ(read->dropped, 3);
  ASSERT_EQ(read->records.size(), 6u);
  EXPECT_EQ(read->records[1].kind, TraceKind::kSent);
  EXPECT_EQ(read->records[1].bytes, 100);
  EXPECT_EQ(read->records[1].end, 1'015'000);
}

TEST(NodeTrace, RefusesWhatIsBroken) {
  const std::string path = NodeTracePath("whole.bin");
  ASSERT_TRUE(WriteNodeTrace(path, Trace(1, "clock", 1000)).ok());
  const std::string whole = testing::FileText(path);
  const size_t body = whole.find('\n') + 1;
  EXPECT_THAT(ErrorOf(""), HasSubstr("no header"));
  EXPECT_THAT(ErrorOf(std::string(100'000, '{')), HasSubstr("no header"));
  EXPECT_THAT(ErrorOf("{\"rank\":0}\n"), HasSubstr("its header has no \"format\""));
  for (size_t size : {body, body + 4, whole.size() - 1}) {
    EXPECT_THAT(ErrorOf(whole.substr(0, size)),
                ::testing::AnyOf(HasSubstr("cut off"), HasSubstr("makes no sense")));
  }
  EXPECT_THAT(ErrorOf(whole + "x"), HasSubstr("cut off"));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string changed = whole;
    changed.replace(changed.find(from), from.size(), to);
    return changed;
  };
  EXPECT_THAT(ErrorOf(with("\"rank\":1", "\"rank\":2")), HasSubstr("header makes no sense"));
  EXPECT_THAT(ErrorOf(with("\"records\":6", "\"records\":7")), HasSubstr("cut off"));
  EXPECT_THAT(ErrorOf(with("\"records\":6", "\"records\":999999999999")),
              HasSubstr("header makes no sense"));
  EXPECT_THAT(ErrorOf(with("trace-1", "trace-2")), HasSubstr("header makes no sense"));
  std::string order = whole;
  std::swap(order[body], order[body + 7]);
  EXPECT_THAT(ErrorOf(order), HasSubstr("byte order"));
  // The first record: its begin, its peer, its kind.
  for (size_t byte : {size_t{7}, size_t{42}, size_t{44}}) {
    std::string record = whole;
    record[body + 8 + byte] = 0x7f;
    EXPECT_THAT(ErrorOf(record), HasSubstr("a record makes no sense")) << byte;
  }
}

TEST(MergeTraces, AlignsClocks) {
  struct Case {
    const char* other_clock;
    int64_t other_start;
    int64_t expected;  // of rank 1's step
  };
  // On one clock rank 1 began 3 us later; on another one it began together with rank 0.
  for (const Case& c : {Case{"a", 5'003'000, 3000}, Case{"b", 77, 0}, Case{"", 77, 0}}) {
    const std::vector<std::string> files = {NodeTracePath("0.bin"), NodeTracePath("1.bin")};
    ASSERT_TRUE(WriteNodeTrace(files[0], Trace(0, "a", 5'000'000)).ok());
    ASSERT_TRUE(WriteNodeTrace(files[1], Trace(1, c.other_clock, c.other_start)).ok());
    const std::string path = NodeTracePath("merged.json");
    const auto trace = *ChromeTrace::Create(path);
    const auto missing = MergeTraces(files, trace.get());
    ASSERT_TRUE(missing.ok()) << missing.status();
    EXPECT_TRUE(missing->empty());
    ASSERT_TRUE(trace->Finish().ok());
    const TraceFile file(path);
    file.ExpectWellFormed();
    EXPECT_EQ(file.ExpectArrows(), 2);
    const auto steps = file.Named("round ");
    ASSERT_EQ(steps.size(), 2u);
    EXPECT_EQ(steps[0].begin, 0);
    EXPECT_EQ(steps[1].begin, c.expected);
    EXPECT_EQ(steps[1].end, c.expected + 25'000);
    EXPECT_EQ(file.Named("wait for 1").size(), 1u);
  }
}

// The earliest start becomes 0, also when it is not rank 0's.
TEST(MergeTraces, BeginsWithTheFirstNode) {
  const std::vector<std::string> files = {NodeTracePath("0.bin"), NodeTracePath("1.bin")};
  ASSERT_TRUE(WriteNodeTrace(files[0], Trace(0, "a", 5'000'000)).ok());
  ASSERT_TRUE(WriteNodeTrace(files[1], Trace(1, "a", 4'000'000)).ok());
  const auto trace = *ChromeTrace::Create(NodeTracePath("first.json"));
  ASSERT_TRUE(MergeTraces(files, trace.get()).ok());
  ASSERT_TRUE(trace->Finish().ok());
  const auto steps = TraceFile(NodeTracePath("first.json")).Named("round ");
  EXPECT_EQ(steps[0].begin, 1'000'000);
  EXPECT_EQ(steps[1].begin, 0);
}

TEST(MergeTraces, NamesRanksWithoutATraceAndRefusesAnothers) {
  const auto trace = *ChromeTrace::Create(NodeTracePath("partial.json"));
  ASSERT_TRUE(WriteNodeTrace(NodeTracePath("1.bin"), Trace(1, "a", 5)).ok());
  const std::vector<std::string> partial = {NodeTracePath("none.bin"), NodeTracePath("1.bin")};
  const auto missing = MergeTraces(partial, trace.get());
  ASSERT_TRUE(missing.ok()) << missing.status();
  EXPECT_THAT(*missing, ElementsAre(0));
  const std::vector<std::string> swapped = {NodeTracePath("1.bin"), NodeTracePath("none.bin")};
  const absl::Status status = MergeTraces(swapped, trace.get()).status();
  EXPECT_EQ(FailureOf(status), Failure::kInput);
  EXPECT_THAT(std::string(status.message()), HasSubstr("is the trace of rank 1, not 0"));
}

}  // namespace
}  // namespace grapevine::testing

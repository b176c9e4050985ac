#include "node/runner/trace_recorder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <vector>

namespace grapevine {
namespace {

using ::testing::ElementsAre;

TraceRecorder::Time At(int64_t nanoseconds) {
  return TraceRecorder::Time(std::chrono::nanoseconds(nanoseconds));
}

std::vector<TraceKind> Kinds(const NodeTrace& trace) {
  std::vector<TraceKind> kinds;
  for (const TraceRecord& record : trace.records) kinds.push_back(record.kind);
  return kinds;
}

TEST(TraceRecorder, KeepsWhatIsRecorded) {
  TraceRecorder recorder;
  recorder.Start(At(1000));
  recorder.BeginGradient();
  recorder.EndGradient(0, At(1100), At(1200));
  recorder.Wait(5, At(1200), At(1300));
  recorder.Mix(At(1300), At(1400));
  recorder.EndStep(0, At(1400));
  recorder.EndStep(1, At(1500));
  const NodeTrace trace = recorder.Take(3);
  EXPECT_EQ(trace.rank, 3);
  EXPECT_EQ(trace.start, 1000);
  EXPECT_THAT(Kinds(trace), ElementsAre(TraceKind::kGradient, TraceKind::kWait, TraceKind::kMix,
                                        TraceKind::kStep, TraceKind::kStep));
  EXPECT_EQ(trace.records[1].peer, 5);
  EXPECT_EQ(trace.records[3].begin, 1000);
  EXPECT_EQ(trace.records[4].begin, 1400);
  EXPECT_EQ(trace.records[4].end, 1500);
  EXPECT_EQ(trace.records[4].round, 1);
  EXPECT_TRUE(recorder.Take(3).records.empty());
}

TEST(TraceRecorder, ANodeThatComputesDoesNotWait) {
  TraceRecorder recorder;
  recorder.BeginGradient();
  recorder.Wait(1, At(10), At(20));
  recorder.EndGradient(0, At(5), At(25));
  recorder.Wait(2, At(30), At(40));
  const NodeTrace trace = recorder.Take(0);
  ASSERT_THAT(Kinds(trace), ElementsAre(TraceKind::kGradient, TraceKind::kWait));
  EXPECT_EQ(trace.records[1].peer, 2);
}

TEST(TraceRecorder, AMessageLastsFromRequestToDeparture) {
  TraceRecorder recorder;
  const Tag tag{.channel = 1, .index = 7, .step = 2};
  recorder.BeginSend(4, tag, 1000);
  recorder.EndSend(5, tag);  // another's, which was not asked for
  recorder.EndSend(4, tag);
  recorder.EndSend(4, tag);  // and once only
  recorder.Receive(6, tag);
  const NodeTrace trace = recorder.Take(0);
  ASSERT_THAT(Kinds(trace), ElementsAre(TraceKind::kSent, TraceKind::kReceived));
  const TraceRecord& sent = trace.records[0];
  EXPECT_EQ(sent.peer, 4);
  EXPECT_EQ(sent.bytes, 1000);
  EXPECT_EQ(sent.round, 7);
  EXPECT_EQ(sent.step, 2u);
  EXPECT_EQ(sent.channel, 1u);
  EXPECT_LE(sent.begin, sent.end);
  EXPECT_LE(sent.end, trace.records[1].begin);
  EXPECT_EQ(trace.records[1].begin, trace.records[1].end);
}

TEST(TraceRecorder, ForgetsWhatWasDeclined) {
  TraceRecorder recorder;
  recorder.BeginSend(4, {}, 1000);
  recorder.ForgetSend(4, {});
  recorder.EndSend(4, {});
  EXPECT_TRUE(recorder.Take(0).records.empty());
}

TEST(TraceRecorder, KeepsTheLastRecordsInOrder) {
  TraceRecorder recorder(10);
  for (int i = 0; i < 27; ++i) recorder.Mix(At(i), At(i + 1));
  const NodeTrace trace = recorder.Take(0);
  EXPECT_EQ(trace.dropped, 17);
  ASSERT_EQ(trace.records.size(), 10u);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(trace.records[i].begin, 17 + i);
}

}  // namespace
}  // namespace grapevine

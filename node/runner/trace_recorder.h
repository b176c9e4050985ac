// Records what a node does and when, for a trace. Keeps only the latest records, in bounded memory.
//
// A record takes about 50 ns. Each gradient, pass over vectors, wait and message has one.
#ifndef GRAPEVINE_NODE_RUNNER_TRACE_RECORDER_H_
#define GRAPEVINE_NODE_RUNNER_TRACE_RECORDER_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "algorithm/event.h"
#include "base/ids.h"
#include "run/trace/run_trace.h"
#include "system/mutex.h"

namespace grapevine {

// Thread-safe.
class TraceRecorder {
 public:
  using Clock = std::chrono::steady_clock;
  using Time = Clock::time_point;

  // The number of records that fit into 12 MiB.
  static constexpr size_t kMaxRecords = size_t{1} << 18;

  explicit TraceRecorder(size_t most_records = kMaxRecords) : most_(most_records) {}

  // Records the end of a step, which began when the one before ended; the first step begins at
  // Start.
  void Start(Time now);
  void EndStep(Round round, Time now);

  void BeginGradient();
  void EndGradient(Round round, Time begin, Time end);
  void Mix(Time begin, Time end);
  // Records that the runner had nothing to do until it heard from `peer`. Ignored while a gradient
  // runs: the node is computing then.
  void Wait(Rank peer, Time begin, Time end);
  // Record that a message was requested, and that its bytes have left this node or were declined
  // (OnLeft and OnDeclined of TransportSink). A message that was not requested is ignored.
  void BeginSend(Rank to, const Tag& tag, int64_t bytes);
  void EndSend(Rank to, const Tag& tag);
  void ForgetSend(Rank to, const Tag& tag);
  void Receive(Rank from, const Tag& tag);

  // Returns the records in the order in which they ended; the recorder is empty afterwards.
  NodeTrace Take(Rank rank);

 private:
  struct Send {
    Time begin;
    int64_t bytes;
  };

  void Record(const TraceRecord& record) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t most_;
  Mutex mutex_;
  // A ring once it is full; `next_` is then the index of the oldest record.
  std::vector<TraceRecord> records_ ABSL_GUARDED_BY(mutex_);
  size_t next_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t dropped_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<std::pair<Rank, Tag>, Send> sends_ ABSL_GUARDED_BY(mutex_);  // messages in flight
  bool computing_ ABSL_GUARDED_BY(mutex_) = false;
  Time start_ ABSL_GUARDED_BY(mutex_);
  Time step_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_TRACE_RECORDER_H_

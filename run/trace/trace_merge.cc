#include "run/trace/trace_merge.h"

#include <algorithm>
#include <filesystem>
#include <limits>
#include <system_error>

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "run/trace/node_trace.h"
#include "run/trace/run_trace.h"

namespace grapevine {
namespace {

// An arrival is drawn so long, to be seen and to be hit by its arrow.
constexpr int64_t kArrival = 1000;

TraceMessage MessageOf(const TraceRecord& record, Rank from, Rank to) {
  return {.from = from,
          .to = to,
          .channel = static_cast<uint16_t>(record.channel),
          .round = record.round,
          .step = record.step};
}

void Add(Rank rank, const TraceRecord& record, const TraceInterval& interval, RunTrace* trace) {
  switch (record.kind) {
    case TraceKind::kStep:
      return trace->Step(rank, record.round, interval);
    case TraceKind::kGradient:
      return trace->Gradient(rank, record.round, interval);
    case TraceKind::kMix:
      return trace->Mix(rank, interval);
    case TraceKind::kWait:
      return trace->Wait(rank, record.peer, interval);
    case TraceKind::kSent:
      return trace->Sent(MessageOf(record, rank, record.peer), record.bytes, interval);
    case TraceKind::kReceived:
      return trace->Received(MessageOf(record, record.peer, rank),
                             {interval.end, interval.end + kArrival});
  }
}

// When rank `node`'s start is, on the clock of `reference` where both share it;
// else the common start.
int64_t StartOn(const NodeTrace& reference, const NodeTrace& node) {
  const bool shared = !node.clock.empty() && node.clock == reference.clock;
  return shared ? node.start : reference.start;
}

// The first node that is there is the reference; its clock is the run's.
class Merger {
 public:
  explicit Merger(std::span<const std::string> files) : files_(files) {}

  // Reads all starts, so that the earliest becomes 0.
  absl::Status FindStart() {
    for (Rank rank = 0; rank < static_cast<Rank>(files_.size()); ++rank) {
      std::error_code error;
      if (!std::filesystem::exists(files_[rank], error)) {
        missing_.push_back(rank);
        continue;
      }
      ASSIGN_OR_RETURN(NodeTrace node, Read(rank));
      node.records = {};
      present_.push_back(rank);
      if (present_.size() == 1) reference_ = node;
      zero_ = std::min(zero_, StartOn(reference_, node));
    }
    return absl::OkStatus();
  }

  absl::Status AddAll(RunTrace* trace) {
    for (Rank rank : present_) {
      ASSIGN_OR_RETURN(const NodeTrace node, Read(rank));
      const int64_t shift = StartOn(reference_, node) - node.start - zero_;
      for (const TraceRecord& record : node.records) {
        // What little was done before the start is drawn at it.
        const TraceInterval interval{std::max<int64_t>(0, record.begin + shift),
                                     std::max<int64_t>(0, record.end + shift)};
        Add(rank, record, interval, trace);
      }
    }
    return absl::OkStatus();
  }

  const std::vector<Rank>& missing() const { return missing_; }

 private:
  absl::StatusOr<NodeTrace> Read(Rank rank) const {
    absl::StatusOr<NodeTrace> node = ReadNodeTrace(files_[rank], static_cast<Rank>(files_.size()));
    if (!node.ok() || node->rank == rank) return node;
    return InputError(files_[rank],
                      absl::StrCat("is the trace of rank ", node->rank, ", not ", rank));
  }

  const std::span<const std::string> files_;
  std::vector<Rank> present_;
  std::vector<Rank> missing_;
  NodeTrace reference_;
  int64_t zero_ = std::numeric_limits<int64_t>::max();
};

}  // namespace

absl::StatusOr<std::vector<Rank>> MergeTraces(std::span<const std::string> files,
                                              ChromeTrace* trace) {
  Merger merger(files);
  RETURN_IF_ERROR(merger.FindStart());
  RunTrace run_trace(trace);
  RETURN_IF_ERROR(merger.AddAll(&run_trace));
  return merger.missing();
}

}  // namespace grapevine

// What a real run records besides its metrics: a trace, a compute profile, the order of events.
//
// Every node records its own part in its folder of the run directory; rank 0 joins the parts once
// all nodes are done. Parts on another machine's disk are missing from the result, with a
// warning.
#ifndef GRAPEVINE_EXPERIMENT_REAL_NODE_RECORDING_H_
#define GRAPEVINE_EXPERIMENT_REAL_NODE_RECORDING_H_

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "algorithm/algorithm.h"
#include "base/ids.h"
#include "kernels/vector/shared_vector.h"
#include "node/runner/runner.h"
#include "node/runner/trace_recorder.h"
#include "run/config/config.pb.h"
#include "run/recording/recorder.h"
#include "run/recording/recording.pb.h"
#include "run/timing/compute_profile.pb.h"
#include "run/trace/chrome_trace.h"
#include "system/file.h"

namespace grapevine {

// Records how long the gradients and the mixing of one node took. Thread-compatible. Its memory
// does not depend on the length of the run.
class ProfileRecorder {
 public:
  explicit ProfileRecorder(std::string device) : device_(std::move(device)) {}

  // Adds a round. `gradient` is zero on a parameter server. The first round, which warms up, is
  // left out if others follow.
  void OnRound(std::chrono::nanoseconds gradient, std::chrono::nanoseconds mix, int64_t mix_bytes);

  // Returns the profile of one device, with a sample of at most kMaxTimes times.
  ComputeProfile Profile() const;

  static constexpr size_t kMaxTimes = 4096;

 private:
  void AddGradient(std::chrono::nanoseconds time);

  const std::string device_;
  int64_t rounds_ = 0;
  std::vector<int64_t> times_;  // times of every stride_-th gradient
  int64_t stride_ = 1;
  int64_t gradients_ = 0;
  int64_t mix_bytes_ = 0;
  std::chrono::nanoseconds mix_{};
};

// Thread-compatible; the recorder that it lends is thread-safe.
class NodeRecording {
 public:
  // Records what `config` asks for (--trace, --profile, --record). Rank 0 creates the files at
  // once: a path that cannot be written fails the run before it begins (kOutput).
  static absl::StatusOr<std::unique_ptr<NodeRecording>> Make(const Config& config, Rank rank,
                                                             std::string run_directory);

  // The recorder of the trace; null if no trace is wanted.
  TraceRecorder* trace() { return recorder_.get(); }

  // Returns the algorithm to drive: if events are wanted, one that notes them. This object must
  // outlive it.
  std::unique_ptr<Algorithm> Recorded(std::unique_ptr<Algorithm> algorithm, RecordingHeader header);
  // Begins the events. Must be called before the first event, once the node's folder exists.
  absl::Status BeginEvents();

  void OnRound(const RoundReport& report);

  // Writes this node's part. Must be called after training, before the node reports that it has
  // trained. `model` is the node's final model; without data if it has none.
  absl::Status WritePart(const SharedVector& model);
  // Joins the parts. Must be called on rank 0, once all nodes have trained.
  absl::Status Join();

 private:
  NodeRecording(const Config& config, Rank rank, std::string run_directory);

  absl::Status BeginFiles();
  absl::Status WriteTracePart();
  absl::Status JoinTraces();
  absl::Status JoinProfiles();
  absl::Status JoinEvents();
  // Returns the paths of all nodes' parts, by rank.
  std::vector<std::string> Parts(std::string (*path)(const std::string& folder)) const;
  void WarnOfMissing(std::string_view what, const std::vector<Rank>& missing) const;

  const Config config_;
  const Rank rank_;
  const std::string run_directory_;
  std::unique_ptr<TraceRecorder> recorder_;
  std::unique_ptr<ProfileRecorder> profiler_;
  RecordingHeader header_;
  std::unique_ptr<RecordingWriter> events_;
  // Files of rank 0:
  std::unique_ptr<ChromeTrace> trace_;
  std::unique_ptr<AtomicFile> profile_;
  std::unique_ptr<AtomicFile> recording_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_NODE_RECORDING_H_

// The faults of --chaos as they happen to one real node: it ends or stops its own process, and its
// transport asks here what is wrong with the edges.
//
// Thread-safe, except for Start.
#ifndef GRAPEVINE_EXPERIMENT_REAL_NODE_CHAOS_H_
#define GRAPEVINE_EXPERIMENT_REAL_NODE_CHAOS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <thread>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "node/transport/grpc/grpc_transport_options.h"
#include "run/chaos/fault_timeline.h"
#include "run/records/output_file.h"
#include "system/mutex.h"

namespace grapevine {

struct NodeChaosOptions {
  Rank rank = 0;
  FaultSchedule faults;
  uint64_t seed = 1;  // seed of what is drawn for each message
  // A pipe to the launcher (node/launch/launcher.h), through which a node asks to be stopped: only
  // the launcher would let it go on.
  std::optional<int> launcher;
};

class NodeChaos final : public EdgeFaults {
 public:
  // Makes the faults of a node. kUsage for a fault that this process cannot have.
  static absl::StatusOr<std::unique_ptr<NodeChaos>> Make(NodeChaosOptions options);
  ~NodeChaos() override;

  // Begins the faults when training begins, or goes on after this number of rounds and this time.
  // The faults that happen are added to chaos.jsonl of the run. With `newcomer`, the process is in
  // the place of a lost one.
  absl::Status Start(const std::string& run_directory, Round completed = 0,
                     std::chrono::nanoseconds time = {}, bool newcomer = false);
  // Must be called when this node has completed this number of rounds.
  void OnRound(Round completed);
  // Returns the factor by which the gradients of this node take longer at this moment.
  double Slowness();

  // EdgeFaults:
  bool Cuts(Rank peer) override;
  bool Holds(Rank peer) override;
  bool Drops(Rank peer) override;
  bool Corrupts(Rank peer) override;

 private:
  explicit NodeChaos(NodeChaosOptions options);

  FaultTimeline::Time Now() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Carries out the faults that are due by time, until the end.
  void Watch();
  void Begin(const FaultTimeline::Begun& begun) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Record(const FaultTimeline::Begun& begun) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Carries out a fault of this process.
  void Strike(const Fault& fault) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Tells the launcher that this process is to be stopped, or started again, and for how long.
  void TellLauncher(std::string_view what, const Fault& fault) const;

  const NodeChaosOptions options_;
  Mutex mutex_;
  FaultTimeline timeline_ ABSL_GUARDED_BY(mutex_);
  std::optional<std::chrono::steady_clock::time_point> start_ ABSL_GUARDED_BY(mutex_);
  std::unique_ptr<LineFile> record_ ABSL_GUARDED_BY(mutex_);
  Round round_ ABSL_GUARDED_BY(mutex_) = 0;
  std::map<Rank, int64_t> chunks_ ABSL_GUARDED_BY(mutex_);  // chunks sent to each peer
  std::map<Rank, FaultTimeline::Time> held_until_ ABSL_GUARDED_BY(mutex_);
  std::set<Rank> corrupted_ ABSL_GUARDED_BY(mutex_);  // peers that have been sent a wrong bit
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  Condition changed_;
  std::thread watch_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_NODE_CHAOS_H_

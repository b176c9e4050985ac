// One node of a run whose gradients another program computes: what the C and the Python interface
// are made of.
//
// The caller owns the training loop. It takes the replica at which a gradient is wanted, computes
// it while the node exchanges replicas with its neighbours, leaves it, and comes back:
//
//   ASSIGN_OR_RETURN(auto node, OutsideNode::Join({{"topology", "ring"}, {"rounds", "100"}},
//                                                 {.layout = layout, .initial = weights}));
//   while (true) {
//     ASSIGN_OR_RETURN(const auto task, node->Await(Soon()));
//     if (!task) continue;                // a chance to look at something else
//     if (task->over()) break;            // task->replica is the model
//     const double loss = Gradient(task->replica, task->gradient.data.get());
//     RETURN_IF_ERROR(node->Deliver(loss));
//   }
//   RETURN_IF_ERROR(*node->AwaitEnd(Later()));
//
// How many rounds there are need not be known: without "rounds" and "epochs" the run is open-ended,
// and ends when all have called Retire (node/control/closing.h).
//
// Everything else is as for `grapevine node`: settings and their variables, how the nodes find each
// other, files, failures.
#ifndef GRAPEVINE_EXPERIMENT_REAL_OUTSIDE_NODE_H_
#define GRAPEVINE_EXPERIMENT_REAL_OUTSIDE_NODE_H_

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "experiment/core/experiment.h"
#include "experiment/real/node_run.h"
#include "kernels/vector/replica_layout.h"
#include "node/identity/identity.h"
#include "node/runner/gradient_desk.h"
#include "node/telemetry/http_server.h"
#include "run/records/metrics.h"
#include "run/records/run_directory.h"
#include "system/mutex.h"
#include "system/temporary_folder.h"

namespace grapevine {

// The same on all nodes, the weights of rank 0 too.
struct OutsideModel {
  ReplicaLayout layout;
  std::vector<float> initial;  // layout.size elements
};

// Thread-safe, with one caller at a time for Await and Deliver.
class OutsideNode {
 public:
  // Which node this process would be, with these settings and in this environment.
  static absl::StatusOr<NodeIdentity> Identify(const std::map<std::string, std::string>& settings);

  // Settings by name, as for MakeExperiment; "config" names a file of them. Variables of the
  // environment count where a setting is not given. Without "out" the files of the run last as
  // long as this object. Returns once the settings are checked, before the others are there.
  // Errors are those of `grapevine node`; kUsage for what only a model of Grapevine's own can do.
  static absl::StatusOr<std::unique_ptr<OutsideNode>> Join(
      const std::map<std::string, std::string>& settings, OutsideModel model);
  // Ends a run that is not over, for the others too. Waits for its threads.
  ~OutsideNode();
  // The same, but for a few seconds at most where its disk does not answer: then it is left to a
  // thread, for as long as that takes.
  static void Release(std::unique_ptr<OutsideNode> node);

  const Experiment& experiment() const { return *experiment_; }
  Rank rank() const { return rank_; }
  // A setting of the experiment by name, as text; empty where it has none. kUsage: there is no
  // such.
  absl::StatusOr<std::string> SettingOf(std::string_view name) const;

  // As GradientDesk's. A node that serves gets the end alone.
  absl::StatusOr<std::optional<GradientDesk::Task>> Await(
      std::chrono::steady_clock::time_point deadline);
  absl::Status Deliver(double loss) { return desk_->Deliver(loss); }
  // The same for a caller with an update rule of its own, that has made the task's replica into
  // these weights, replica.size() of them: writes the gradient of which a step makes this change.
  // In the section of buffers they are the moving averages after the batch. kUsage unless a step
  // takes a gradient as it is (TakesUpdates).
  absl::Status DeliverWeights(const GradientDesk::Task& task, const float* weights, double loss);
  // In an open-ended run: no gradient follows, and Await gives the end once all nodes' programs
  // have said so; until then the node averages on. `all`: they are to say so after the gradient
  // that they compute. kUsage in other runs.
  absl::Status Retire(bool all = false);
  // Waits until all nodes are done and the files are written; none at the deadline.
  std::optional<absl::Status> AwaitEnd(std::chrono::steady_clock::time_point deadline);
  // Ends the run with this error, unless it is over.
  void Interrupt(absl::Status why);

  // The last averaged model: the mean of the workers' models after a round that --eval-every names,
  // and at the end, the same on all workers; of servers' weights, where this node has rank 0's
  // role. None elsewhere, or before the first.
  struct Average {
    Round round = 0;
    std::vector<float> model;
    std::optional<double> consensus_distance;  // exact
  };
  std::optional<Average> average();
  // The last measurement of the run, where this node has rank 0's role; none elsewhere, or before
  // the first.
  std::optional<RunMetrics> latest();
  // The run's files.
  const std::string& run_directory() const { return folder_.path(); }

 private:
  OutsideNode(std::unique_ptr<Experiment> experiment, RunReservation folder,
              std::unique_ptr<const TemporaryFolder> temporary,
              std::unique_ptr<const HttpServer> dashboard);
  void Begin(NodeRunOptions options);
  void Run();
  void OnStalled(const absl::Status& why);
  bool Stalled();

  const std::unique_ptr<Experiment> experiment_;
  const std::unique_ptr<const TemporaryFolder> temporary_;  // of folder_, or none
  RunReservation folder_;
  const std::unique_ptr<const HttpServer> dashboard_;  // of it, or none
  const std::shared_ptr<GradientDesk> desk_ = std::make_shared<GradientDesk>();
  Rank rank_ = 0;

  Mutex mutex_;
  Condition changed_;
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  std::optional<absl::Status> stalled_ ABSL_GUARDED_BY(mutex_);  // by its disk, before that or not
  std::optional<RunMetrics> latest_ ABSL_GUARDED_BY(mutex_);
  std::optional<Average> average_ ABSL_GUARDED_BY(mutex_);

  std::unique_ptr<NodeRun> run_;
  std::thread thread_;  // runs it
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_OUTSIDE_NODE_H_

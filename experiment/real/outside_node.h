// One node of a run whose gradients another program computes: the basis of the C and the Python
// interface.
//
// The caller owns the training loop. It takes the replica at which a gradient is wanted, computes
// the gradient while the node exchanges replicas with its neighbours, delivers it, and comes back:
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
// The number of rounds need not be known: without "rounds" and "epochs" the run is open-ended, and
// ends when all programs have called Retire (node/control/closing.h).
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

// The model whose gradients the program computes. Layout and weights must be the same on all nodes,
// the weights of rank 0 included.
struct OutsideModel {
  ReplicaLayout layout;
  std::vector<float> initial;  // layout.size elements
};

// Thread-safe, with one caller at a time for Await and Deliver.
class OutsideNode {
 public:
  // Returns which node this process would be, with these settings and in this environment.
  static absl::StatusOr<NodeIdentity> Identify(const std::map<std::string, std::string>& settings);

  // Joins a run. Settings are by name, as for MakeExperiment; "config" names a file of settings.
  // Variables of the environment count where a setting is not given. Without "out" the files of the
  // run last as long as this object. Returns once the settings are checked, before the other nodes
  // are present. Errors are those of `grapevine node`; kUsage for what only a model of Grapevine's
  // own can do.
  static absl::StatusOr<std::unique_ptr<OutsideNode>> Join(
      const std::map<std::string, std::string>& settings, OutsideModel model);
  // Ends a run that is not over, for the other nodes too. Waits for its threads.
  ~OutsideNode();
  // Destroys `node`, but waits for a few seconds at most if its disk does not answer. The node is
  // then left to a thread, for as long as its end takes.
  static void Release(std::unique_ptr<OutsideNode> node);

  const Experiment& experiment() const { return *experiment_; }
  Rank rank() const { return rank_; }
  // Returns a setting of the experiment by name, as text; empty if it has no value. kUsage if no
  // setting has this name.
  absl::StatusOr<std::string> SettingOf(std::string_view name) const;

  // See GradientDesk::Await. A parameter server gets only the end of the run.
  absl::StatusOr<std::optional<GradientDesk::Task>> Await(
      std::chrono::steady_clock::time_point deadline);
  absl::Status Deliver(double loss) { return desk_->Deliver(loss); }
  // Delivers the gradient of a caller with an update rule of its own that has turned the task's
  // replica into `weights`, of replica.size() elements: writes the gradient with which a step makes
  // this change. In the section of buffers, `weights` are the moving averages after the batch.
  // kUsage unless a step takes a gradient as it is (TakesUpdates).
  absl::Status DeliverWeights(const GradientDesk::Task& task, const float* weights, double loss);
  // Says, in an open-ended run, that no gradient follows. Await gives the end once all nodes'
  // programs have said so; until then the node averages on. With `all`, the other programs are to
  // say so after the gradient that they compute. kUsage in other runs.
  absl::Status Retire(bool all = false);
  // Waits until all nodes are done and the files are written. Returns how the run ended; absent at
  // the deadline.
  std::optional<absl::Status> AwaitEnd(std::chrono::steady_clock::time_point deadline);
  // Ends the run with the error `why`, unless the run is over.
  void Interrupt(absl::Status why);

  // The last averaged model. The mean of the workers' models, taken after a round that --eval-every
  // names and at the end, is the same on all workers. Servers' weights are known only to the node
  // that has rank 0's role. Absent elsewhere, and before the first averaged model.
  struct Average {
    Round round = 0;
    std::vector<float> model;
    std::optional<double> consensus_distance;  // exact
  };
  std::optional<Average> average();
  // Returns the last measurement of the run, if this node has rank 0's role; absent elsewhere, and
  // before the first measurement.
  std::optional<RunMetrics> latest();
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
  // Contains folder_; null if the files of the run stay.
  const std::unique_ptr<const TemporaryFolder> temporary_;
  RunReservation folder_;
  const std::unique_ptr<const HttpServer> dashboard_;  // serves folder_; null without --dashboard
  const std::shared_ptr<GradientDesk> desk_ = std::make_shared<GradientDesk>();
  Rank rank_ = 0;

  Mutex mutex_;
  Condition changed_;
  std::optional<absl::Status> end_ ABSL_GUARDED_BY(mutex_);
  // The error of a disk that does not answer; may be set before end_ or after it.
  std::optional<absl::Status> stalled_ ABSL_GUARDED_BY(mutex_);
  std::optional<RunMetrics> latest_ ABSL_GUARDED_BY(mutex_);
  std::optional<Average> average_ ABSL_GUARDED_BY(mutex_);

  std::unique_ptr<NodeRun> run_;
  std::thread thread_;  // calls run_->Run
};

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_REAL_OUTSIDE_NODE_H_

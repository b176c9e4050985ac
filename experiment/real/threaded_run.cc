#include "experiment/real/threaded_run.h"

#include <chrono>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/status.h"
#include "experiment/real/node_run.h"
#include "run/config/token_source.h"
#include "run/records/run_directory.h"
#include "system/mutex.h"

namespace grapevine {
namespace {

constexpr char kHost[] = "127.0.0.1";

// The nodes, and what their threads tell each other.
class ThreadedRun {
 public:
  ThreadedRun(const Experiment& experiment, const ThreadedRunOptions& options,
              const RunToken& token, const GrpcCredentials& credentials) {
    for (Rank rank = 0; rank < experiment.config().nodes(); ++rank) {
      NodeRunOptions node{.rank = rank,
                          .local_rank = rank,
                          .run_directory = options.run_directory,
                          .on_metrics = options.on_metrics};
      node.session.run_id = options.run_directory;
      node.session.coordinator = {kHost, 0};  // the port once it is known
      node.session.bind = {kHost, 0};
      node.session.credentials = credentials;
      node.session.token = token;
      node.on_listening = [this, rank](const HostAddress& address) {
        if (rank == 0) Tell(address);
        return absl::OkStatus();
      };
      nodes_.push_back({.experiment = &experiment, .options = std::move(node)});
    }
  }

  absl::Status Run() {
    std::vector<std::thread> threads;
    for (Node& node : nodes_) threads.emplace_back([this, &node] { Run(node); });
    for (std::thread& thread : threads) thread.join();
    MutexLock lock(mutex_);
    return status_;
  }

 private:
  struct Node {
    const Experiment* experiment;
    NodeRunOptions options;
    std::unique_ptr<NodeRun> run = nullptr;
  };

  void Run(Node& node) {
    if (node.options.rank != 0) {
      const std::optional<HostAddress> coordinator = AwaitCoordinator();
      if (!coordinator) return;
      node.options.session.coordinator = *coordinator;
    }
    NodeRun* run = Begin(node);
    if (run == nullptr) return;
    if (absl::Status status = run->Run(); !status.ok()) End(status);
  }

  void Tell(const HostAddress& address) {
    MutexLock lock(mutex_);
    coordinator_ = address;
    changed_.NotifyAll();
  }

  // Waits for rank 0's address; absent if a node has failed.
  std::optional<HostAddress> AwaitCoordinator() {
    MutexLock lock(mutex_);
    while (!coordinator_ && status_.ok()) {
      // Notified; the deadline bounds a lost wake-up.
      changed_.WaitUntil(mutex_, std::chrono::steady_clock::now() + std::chrono::seconds(1));
    }
    return status_.ok() ? coordinator_ : std::nullopt;
  }

  // Makes the run of a node; null if another node has failed.
  NodeRun* Begin(Node& node) {
    MutexLock lock(mutex_);
    if (!status_.ok()) return nullptr;
    node.run = std::make_unique<NodeRun>(node.experiment, node.options);
    return node.run.get();
  }

  // Ends all nodes with the first error: they may be waiting for the node that failed, and rank 0
  // may not know yet.
  void End(const absl::Status& why) {
    MutexLock lock(mutex_);
    if (!status_.ok()) return;
    status_ = why;
    changed_.NotifyAll();
    for (Node& node : nodes_) {
      if (node.run != nullptr) node.run->Interrupt(why);
    }
  }

  Mutex mutex_;
  Condition changed_;
  std::optional<HostAddress> coordinator_ ABSL_GUARDED_BY(mutex_);
  absl::Status status_ ABSL_GUARDED_BY(mutex_);  // the first error
  std::vector<Node> nodes_;                      // the `run` of each is guarded by mutex_
};

}  // namespace

absl::StatusOr<Summary> RunInThreads(const Experiment& experiment, ThreadedRunOptions options) {
  ASSIGN_OR_RETURN(std::string token, DrawToken());
  ASSIGN_OR_RETURN(const GrpcCredentials credentials, GrpcCredentials::Load({.insecure = true}));
  {
    ThreadedRun run(experiment, options, RunToken(std::move(token)), credentials);
    RETURN_IF_ERROR(run.Run());
  }
  return ReadSummary(options.run_directory);
}

}  // namespace grapevine

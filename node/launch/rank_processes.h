// RankProcesses runs the nodes of a run on this machine, as children of this process.
#ifndef GRAPEVINE_NODE_LAUNCH_RANK_PROCESSES_H_
#define GRAPEVINE_NODE_LAUNCH_RANK_PROCESSES_H_

#include <poll.h>

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "node/launch/rank_host.h"
#include "system/child_process.h"
#include "system/file_descriptor.h"

namespace grapevine {

// No child outlives the RankProcesses, nor the thread that uses it.
class RankProcesses : public RankHost {
 public:
  // `watcher` must outlive the result. With `pin_cpus`, rank r runs on the r-th core only, modulo
  // the number of cores.
  static absl::StatusOr<std::unique_ptr<RankProcesses>> Open(std::string executable, bool pin_cpus,
                                                             RankWatcher* watcher);

  void Start(const RankStart& start) override;
  void Signal(Rank rank, int signal) override;
  void AddTo(std::vector<pollfd>* polled) const override;
  void Look(Time now) override;

  // Returns the ranks that have been started and have not ended.
  std::vector<Rank> Running() const;

 private:
  // A pipe whose write end nodes inherit.
  struct Channel {
    UniqueDescriptor read, write;
    LineReader reader;
  };
  struct Child {
    std::unique_ptr<ChildProcess> process;
    LineReader output, errors;
    bool ended = false, held = false;
  };

  RankProcesses(std::string executable, std::vector<int> cpus, RankWatcher* watcher);

  static absl::Status OpenChannel(Channel* channel);
  absl::StatusOr<std::unique_ptr<ChildProcess>> StartProcess(const RankStart& start);
  void ReadChannels();
  static void ReadLines(Child& child);
  void LookAt(Rank rank, Child& child);

  const std::string executable_;
  const std::vector<int> cpus_;  // the cores to pin ranks to; empty: ranks are not pinned
  RankWatcher& watcher_;
  Channel port_, progress_, words_;
  std::map<Rank, Child> children_;
};

// Returns the environment of this process, without GRAPEVINE_*.
std::map<std::string, std::string> InheritedEnvironment();
// Returns the environment as exec takes it: "NAME=value".
std::vector<std::string> EnvironmentLines(const std::map<std::string, std::string>& environment);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_RANK_PROCESSES_H_

// ProbeDesk is the part of an agent that answers its launcher before a run: it says what its host
// is like, opens doors at the ports of its nodes, and calls at the doors of other hosts.
//
// Each request that may take time has a thread of its own; at most kMostJobs threads run.
#ifndef GRAPEVINE_NODE_PROBE_PROBE_DESK_H_
#define GRAPEVINE_NODE_PROBE_PROBE_DESK_H_

#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"
#include "node/identity/authentication.h"
#include "node/probe/probe.pb.h"
#include "node/probe/probe_door.h"
#include "system/file_descriptor.h"
#include "system/mutex.h"

namespace grapevine {

// Thread-compatible.
class ProbeDesk {
 public:
  static absl::StatusOr<std::unique_ptr<ProbeDesk>> Open();
  // Ends the requests that are under way.
  ~ProbeDesk();
  ProbeDesk(const ProbeDesk&) = delete;
  ProbeDesk& operator=(const ProbeDesk&) = delete;

  // Takes a request, whose answer comes out of Answers. A request beyond kMostJobs gets no answer.
  void Take(const probe::Request& request);
  // Returns a descriptor that is readable when answers are present.
  int descriptor() const { return ready_.get(); }
  // Returns the answers that have come since the last call.
  std::vector<probe::Answer> Answers();

  static constexpr size_t kMostJobs = 1024;

 private:
  // A thread, and whether it is done.
  struct Job {
    std::thread thread;
    bool done = false;
  };

  ProbeDesk(UniqueDescriptor ready, UniqueDescriptor stop)
      : ready_(std::move(ready)), stop_(std::move(stop)) {}
  void OpenDoor(const probe::Open& open, probe::Answer answer);
  void Begin(probe::Answer answer, std::function<void(probe::Answer*)> work);
  void Tell(probe::Answer answer);
  void Reap();

  const UniqueDescriptor ready_, stop_;  // eventfds
  RunToken token_;
  std::unique_ptr<ProbeDoor> door_;
  std::list<Job> jobs_;  // Job::done is guarded by mutex_
  Mutex mutex_;
  std::vector<probe::Answer> answers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_PROBE_DESK_H_

// What an agent does before a run, as its launcher asks: says what its host is like, opens the
// doors of its nodes' ports, calls at those of others.
//
// Whatever may take time has a thread of its own; at most kMostJobs of them.
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
  // Ends what is under way.
  ~ProbeDesk();
  ProbeDesk(const ProbeDesk&) = delete;
  ProbeDesk& operator=(const ProbeDesk&) = delete;

  // Its answer comes out of Answers; one that is asked too much gets none.
  void Take(const probe::Request& request);
  // Readable when there are some.
  int descriptor() const { return ready_.get(); }
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
  std::list<Job> jobs_;  // `done` under the lock
  Mutex mutex_;
  std::vector<probe::Answer> answers_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_PROBE_PROBE_DESK_H_

// A machine on which a launcher starts nodes: its own (rank_processes.h), or another one
// (remote_host.h).
#ifndef GRAPEVINE_NODE_LAUNCH_RANK_HOST_H_
#define GRAPEVINE_NODE_LAUNCH_RANK_HOST_H_

#include <poll.h>
#include <sys/types.h>

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"

namespace grapevine {

// A node as it is to be started.
struct RankStart {
  Rank rank = 0;
  std::vector<std::string> arguments = {};  // with the program's name first
  // Added to the machine's own, from which GRAPEVINE_* are removed: the arguments already reflect
  // them.
  std::map<std::string, std::string> environment = {};
  // Of the descriptors that launch_variables.h names, those that it has.
  bool tells_port = false, tells_progress = false, tells_launcher = false;
};

// What the nodes of a machine do, and say; lines are without their breaks, and untrusted.
class RankWatcher {
 public:
  virtual ~RankWatcher() = default;
  // After a Start, one of these.
  virtual void OnRunning(Rank rank, pid_t process) = 0;
  virtual void OnNotStarted(Rank rank, const absl::Status& why) = 0;
  virtual void OnLine(Rank rank, bool errors, std::string_view line) = 0;
  // By way of the descriptors that launch_variables.h names.
  virtual void OnPort(std::string_view line) = 0;
  virtual void OnProgress(std::string_view line) = 0;
  virtual void OnWords(std::string_view line) = 0;
  // A signal (SIGSTOP) has stopped it, or it goes on.
  virtual void OnHeld(Rank rank, bool held) = 0;
  // With waitpid's status; nothing more comes of it.
  virtual void OnEnded(Rank rank, int wait_status) = 0;
  // Of every rank that had not ended when its machine could not be reached any more ("cannot be
  // reached"): it ends by itself.
  virtual void OnLost(Rank rank, std::string_view why) = 0;
  // What the machine itself says, for people: a warning of ssh.
  virtual void OnRemark(std::string_view text) = 0;
};

// Thread-compatible. What is asked of it comes to nothing once the machine is lost.
class RankHost {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Time kNever = Time::max();

  virtual ~RankHost() = default;
  // Of a rank that has not been started, or has ended.
  virtual void Start(const RankStart& start) = 0;
  virtual void Signal(Rank rank, int signal) = 0;
  // What wakes it, besides SIGCHLD.
  virtual void AddTo(std::vector<pollfd>* polled) const = 0;
  // Tells its watcher what has happened, and does what is due.
  virtual void Look(Time now) = 0;
  // When to look again if nothing happens before.
  virtual Time deadline() const { return kNever; }
};

// Waits until one of `polled` is ready or `due` is over; a second at most, should a signal get
// lost.
void AwaitAny(std::vector<pollfd>* polled, RankHost::Time due);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_RANK_HOST_H_

// A RankHost is a machine on which a launcher starts nodes: its own (rank_processes.h), or another
// one (remote_host.h).
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

// The settings with which a node is to be started.
struct RankStart {
  Rank rank = 0;
  std::vector<std::string> arguments = {};  // with the program's name first
  // Variables that are added to the machine's environment, from which GRAPEVINE_* are removed: the
  // arguments already reflect them.
  std::map<std::string, std::string> environment = {};
  // Whether the node has each of the descriptors that launch_variables.h names.
  bool tells_port = false, tells_progress = false, tells_launcher = false;
};

// Hears what the nodes of a machine do and say. Lines come without their line breaks, and are
// untrusted.
class RankWatcher {
 public:
  virtual ~RankWatcher() = default;
  // Start leads to one of these two calls.
  virtual void OnRunning(Rank rank, pid_t process) = 0;
  virtual void OnNotStarted(Rank rank, const absl::Status& why) = 0;
  virtual void OnLine(Rank rank, bool errors, std::string_view line) = 0;
  // Called with lines that come over the descriptors that launch_variables.h names.
  virtual void OnPort(std::string_view line) = 0;
  virtual void OnProgress(std::string_view line) = 0;
  virtual void OnWords(std::string_view line) = 0;
  // A signal (SIGSTOP) has stopped the node, or the node goes on.
  virtual void OnHeld(Rank rank, bool held) = 0;
  // The node has ended, with waitpid's status; no other call about it follows.
  virtual void OnEnded(Rank rank, int wait_status) = 0;
  // The node's machine cannot be reached any more; `why` is phrased as "cannot be reached". Called
  // for every rank that had not ended; the nodes end by themselves.
  virtual void OnLost(Rank rank, std::string_view why) = 0;
  // The machine itself has said something, for people: a warning of ssh.
  virtual void OnRemark(std::string_view text) = 0;
};

// Thread-compatible. Calls have no effect once the machine is lost.
class RankHost {
 public:
  using Time = std::chrono::steady_clock::time_point;
  static constexpr Time kNever = Time::max();

  virtual ~RankHost() = default;
  // Starts a rank that has not been started, or has ended.
  virtual void Start(const RankStart& start) = 0;
  virtual void Signal(Rank rank, int signal) = 0;
  // Adds the descriptors that make a Look due; SIGCHLD does so, too.
  virtual void AddTo(std::vector<pollfd>* polled) const = 0;
  // Tells the watcher what has happened, and does what is due.
  virtual void Look(Time now) = 0;
  // Returns when to call Look again if nothing happens before.
  virtual Time deadline() const { return kNever; }
};

// Waits until one of `polled` is ready or `due` has passed; a second at most, should a signal get
// lost.
void AwaitAny(std::vector<pollfd>* polled, RankHost::Time due);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_RANK_HOST_H_

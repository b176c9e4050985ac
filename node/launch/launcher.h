// Launch runs all nodes of a run as processes, on this machine or on several.
//
// Rank 0 starts first, binds a port that the system chooses and writes the port to the descriptor
// that GRAPEVINE_PORT_FD names; the others then start with this port as their MASTER_PORT: no port
// is guessed. Rank 0 may write JSON lines about its progress to the descriptor in
// GRAPEVINE_PROGRESS_FD.
//
// No child outlives the launch. When one fails, the others have a grace period to say why they end;
// then they are terminated, then killed (at once if they are stopped). SIGINT, SIGTERM and SIGHUP
// (unless it was ignored when this process started, as under nohup) are passed on; children that
// have not ended after the grace period, or at a second signal, are killed. When this process
// itself is killed, the kernel kills the children, and agents kill those on other hosts.
// node/launch/launch_plan makes these decisions.
#ifndef GRAPEVINE_NODE_LAUNCH_LAUNCHER_H_
#define GRAPEVINE_NODE_LAUNCH_LAUNCHER_H_

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "base/ids.h"
#include "node/identity/host_address.h"
#include "node/launch/launch_plan.h"
#include "node/launch/remote_hosts.h"

namespace grapevine {

struct LaunchOptions {
  LaunchPlanOptions plan;
  // The program of nodes on this machine.
  std::string executable = "/proc/self/exe";
  std::vector<std::string> arguments;  // arguments of every node, with the program's name first
  // Arguments that are added for a child that is started in the place of a lost one.
  std::vector<std::string> join_arguments = {};
  // Variables that are added to this process's environment, from which GRAPEVINE_* are removed: the
  // arguments already reflect them.
  std::map<std::string, std::string> environment;
  // Whether rank r runs on the r-th core only, modulo the number of cores. Off by default: the
  // kernel knows better, unless there are as many cores as nodes and nothing else runs.
  bool pin_cpus = false;
  // Whether nodes say when they have come into the run, and may ask to be stopped (SIGSTOP) for a
  // while and to go on afterwards (SIGCONT), or to be started again.
  bool hears_nodes = false;
  // The machines of all nodes; null: this machine. Outlives the launch.
  RemoteHosts* hosts = nullptr;
};

struct LaunchSinks {
  // Called with a line of a child's output or errors, without its line break.
  std::function<void(Rank rank, bool errors, std::string_view line)> on_line;
  // Called with a line that the node with rank 0's role wrote about its progress; untrusted.
  std::function<void(std::string_view line)> on_progress;
  // Called when this process was told to end, and is about to tell the children. May be absent.
  std::function<void()> on_interrupt = {};
  // Called with what this process does unexpectedly, such as killing a child. May be absent.
  std::function<void(std::string_view notice)> on_notice = {};
};

// Runs until every child has ended; returns OK if all ended with 0. Otherwise the error names the
// child that caused the failure; an exit code of base/status.h is the failure's class, and a child
// killed by a signal is kPeerLost. kInterrupted or kTerminated if a signal ended the run.
//
// To be called on the main thread, before other threads exist (see SignalDescriptor). Sinks are
// called on this thread.
absl::Status Launch(const LaunchOptions& options, const LaunchSinks& sinks);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_LAUNCHER_H_

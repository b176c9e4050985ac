// The launcher's other half on another host: starts nodes there, passes on what they do and say,
// and sees to it that none outlives the launch.
//
// Started by the launcher, by way of ssh or the like, and told what to do over its standard input.
// When that ends, or nothing has come over it for too long, or it is told to end by a signal, the
// launcher is lost: the nodes get SIGTERM, then SIGKILL. When this process is killed, the kernel
// kills them.
#ifndef GRAPEVINE_NODE_LAUNCH_AGENT_H_
#define GRAPEVINE_NODE_LAUNCH_AGENT_H_

#include <unistd.h>

#include <chrono>
#include <string>

#include "absl/status/status.h"

namespace grapevine {

// The first thing that it says, followed by its build.
inline constexpr char kAgentGreeting[] = "grapevine-agent ";
// The command of the program that runs it.
inline constexpr char kAgentCommand[] = "agent";

// From one word to the next, of both sides, where there is nothing to say.
inline constexpr std::chrono::milliseconds kAgentBeat{1000};

struct AgentOptions {
  std::string build;  // version and revision
  std::string executable = "/proc/self/exe";
  int input = STDIN_FILENO;
  int output = STDOUT_FILENO;
};

// Runs until the launcher has let go of it and every node has ended. To be called on the main
// thread, before others exist. Closes the descriptors.
absl::Status RunAgent(const AgentOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_AGENT_H_

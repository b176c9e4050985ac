// An agent is the launcher's other half on another host: it starts nodes there, passes on what they
// do and say, and sees to it that no node outlives the launch.
//
// The launcher starts the agent, by way of ssh or the like, and tells it what to do over the
// agent's standard input. When the input ends, or nothing has come over it for too long, or a
// signal tells the agent to end, the launcher is lost: the nodes get SIGTERM, then SIGKILL. When
// the agent itself is killed, the kernel kills the nodes.
#ifndef GRAPEVINE_NODE_LAUNCH_AGENT_H_
#define GRAPEVINE_NODE_LAUNCH_AGENT_H_

#include <unistd.h>

#include <chrono>
#include <string>

#include "absl/status/status.h"

namespace grapevine {

// The first words of an agent, followed by its build.
inline constexpr char kAgentGreeting[] = "grapevine-agent ";
// The command of the program that runs an agent.
inline constexpr char kAgentCommand[] = "agent";

// The time from one message to the next, on both sides, while there is nothing to say.
inline constexpr std::chrono::milliseconds kAgentBeat{1000};

struct AgentOptions {
  std::string build;  // version and revision
  std::string executable = "/proc/self/exe";
  int input = STDIN_FILENO;
  int output = STDOUT_FILENO;
};

// Runs until the launcher has let go of the agent and every node has ended. To be called on the
// main thread, before other threads exist. Closes the descriptors.
absl::Status RunAgent(const AgentOptions& options);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_AGENT_H_

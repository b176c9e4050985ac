// Environment variables by which a launcher and its nodes know of each other.
#ifndef GRAPEVINE_NODE_LAUNCH_LAUNCH_VARIABLES_H_
#define GRAPEVINE_NODE_LAUNCH_LAUNCH_VARIABLES_H_

namespace grapevine {

// Set in the environment of a node by the launcher, which speaks for it.
inline constexpr char kLaunchedVariable[] = "GRAPEVINE_LAUNCHED";
// For rank 0: the descriptors to which it writes its port and its progress. Where rank 0's role
// moves (LaunchPlanOptions), every node has the descriptor for progress.
inline constexpr char kPortDescriptorVariable[] = "GRAPEVINE_PORT_FD";
inline constexpr char kProgressDescriptorVariable[] = "GRAPEVINE_PROGRESS_FD";
// For every node, where the launcher hears nodes (LaunchOptions::hears_nodes): the descriptor to
// which a node writes lines. "in RANK" says that the node has come into the run, which has begun or
// is under way; "RANK NANOSECONDS" asks to be stopped for a while; "back RANK NANOSECONDS", before
// the node kills itself, asks to be started again after a while.
inline constexpr char kLauncherDescriptorVariable[] = "GRAPEVINE_LAUNCHER_FD";

// For every node, if set: the folder in which rank 0's role is kept.
inline constexpr char kRoleVariable[] = "GRAPEVINE_ROLE_FOLDER";

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_LAUNCH_VARIABLES_H_

// Environment variables by which a launcher and its nodes know of each other.
#ifndef GRAPEVINE_NODE_LAUNCH_LAUNCH_VARIABLES_H_
#define GRAPEVINE_NODE_LAUNCH_LAUNCH_VARIABLES_H_

namespace grapevine {

// Set in the environment of a node by the launcher, which speaks for it.
inline constexpr char kLaunchedVariable[] = "GRAPEVINE_LAUNCHED";
// For rank 0: the descriptors to which it writes its port and its progress. Where its role moves
// (LaunchPlanOptions), every node has the latter.
inline constexpr char kPortDescriptorVariable[] = "GRAPEVINE_PORT_FD";
inline constexpr char kProgressDescriptorVariable[] = "GRAPEVINE_PROGRESS_FD";
// For every node, where the launcher hears it (LaunchOptions::hears_nodes): it says that it has
// come into the run, which has begun or is under way, in a line "in RANK"; asks to be stopped for a
// while, "RANK NANOSECONDS"; or, before it kills itself, to be started again after a while, "back
// RANK NANOSECONDS".
inline constexpr char kLauncherDescriptorVariable[] = "GRAPEVINE_LAUNCHER_FD";

// For every node, where it is set: the folder in which rank 0's role is kept.
inline constexpr char kRoleVariable[] = "GRAPEVINE_ROLE_FOLDER";

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_LAUNCH_LAUNCH_VARIABLES_H_

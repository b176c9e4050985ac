// What waitpid says of a child.
#ifndef GRAPEVINE_TESTS_NODE_LAUNCH_WAIT_STATUS_H_
#define GRAPEVINE_TESTS_NODE_LAUNCH_WAIT_STATUS_H_

namespace grapevine {

constexpr int Exited(int code) { return code << 8; }
constexpr int Killed(int signal) { return signal; }

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_NODE_LAUNCH_WAIT_STATUS_H_

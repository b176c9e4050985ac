// The time that rank 0 and the nodes judge silence and deadlines by; a test makes its own.
#ifndef GRAPEVINE_NODE_CONTROL_STEADY_TIME_H_
#define GRAPEVINE_NODE_CONTROL_STEADY_TIME_H_

#include <chrono>

namespace grapevine {

using SteadyTime = std::chrono::steady_clock::time_point;

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_STEADY_TIME_H_

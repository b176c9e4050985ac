// Deadlines of the steps of something that has a deadline of its own.
#ifndef GRAPEVINE_SYSTEM_SOON_H_
#define GRAPEVINE_SYSTEM_SOON_H_

#include <algorithm>
#include <chrono>

namespace grapevine {

// `most` from now, or `deadline` if that is sooner.
inline std::chrono::steady_clock::time_point Soon(std::chrono::steady_clock::time_point deadline,
                                                  std::chrono::milliseconds most) {
  return std::min(deadline, std::chrono::steady_clock::now() + most);
}

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_SOON_H_

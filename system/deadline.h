// Bounds the wait for system calls that may never return: for a file on a server that is gone, or a
// name that no name server answers for.
#ifndef GRAPEVINE_SYSTEM_DEADLINE_H_
#define GRAPEVINE_SYSTEM_DEADLINE_H_

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>

namespace grapevine {

// Returns the time `most` from now, or `deadline` if that is sooner.
inline std::chrono::steady_clock::time_point Soon(std::chrono::steady_clock::time_point deadline,
                                                  std::chrono::milliseconds most) {
  return std::min(deadline, std::chrono::steady_clock::now() + most);
}

// Makes one call at a time and waits for it until a deadline. Thread-safe.
class BoundedCall {
 public:
  BoundedCall();
  ~BoundedCall();
  BoundedCall(const BoundedCall&) = delete;
  BoundedCall& operator=(const BoundedCall&) = delete;

  // Runs `call` on a thread of its own and waits for it. Returns false if it has not returned by
  // `deadline`; the call is then abandoned together with what it holds, and may still take effect.
  // The next call begins after the abandoned one has returned, so that at most one thread hangs.
  bool Run(std::function<void()> call, std::chrono::steady_clock::time_point deadline);

 private:
  struct Turns;
  const std::shared_ptr<Turns> turns_;  // shared with the threads
};

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_DEADLINE_H_

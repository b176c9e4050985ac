// Calls into the system that may never return: a file on a server that has gone, a name that no
// name server answers for.
#ifndef GRAPEVINE_SYSTEM_DEADLINE_H_
#define GRAPEVINE_SYSTEM_DEADLINE_H_

#include <algorithm>
#include <chrono>
#include <functional>
#include <memory>

namespace grapevine {

// `most` from now, or `deadline` if that is sooner.
inline std::chrono::steady_clock::time_point Soon(std::chrono::steady_clock::time_point deadline,
                                                  std::chrono::milliseconds most) {
  return std::min(deadline, std::chrono::steady_clock::now() + most);
}

// Thread-safe.
class BoundedCall {
 public:
  BoundedCall();
  ~BoundedCall();
  BoundedCall(const BoundedCall&) = delete;
  BoundedCall& operator=(const BoundedCall&) = delete;

  // Runs `call` on a thread of its own and waits for it. False if that has not returned by
  // `deadline`: it is then abandoned with what it holds, and may still take effect. The next call
  // begins once it has returned, so that one thread at most hangs.
  bool Run(std::function<void()> call, std::chrono::steady_clock::time_point deadline);

 private:
  struct Turns;
  const std::shared_ptr<Turns> turns_;  // the threads', too
};

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_DEADLINE_H_

// The end of a program that has failed, whatever its threads still wait for. A thread that a disk
// or a device does not answer never returns, and joining it would keep the process for ever.
#ifndef GRAPEVINE_CLI_TERMINAL_SURE_END_H_
#define GRAPEVINE_CLI_TERMINAL_SURE_END_H_

#include <chrono>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "system/mutex.h"

namespace grapevine {

class SureEnd {
 public:
  // Longer than the parts of a failed node wait for their files to take what is left to write.
  static constexpr std::chrono::seconds kPatience{8};

  // If this object still lives after `patience`, writes "PROGRAM: why" to standard error and ends
  // the process at once, with the exit code of `why`.
  SureEnd(std::string program, absl::Status why, std::chrono::nanoseconds patience = kPatience);
  ~SureEnd();
  SureEnd(const SureEnd&) = delete;
  SureEnd& operator=(const SureEnd&) = delete;

 private:
  void Watch(std::chrono::steady_clock::time_point deadline);

  const std::string program_;
  const absl::Status why_;
  Mutex mutex_;
  Condition changed_;
  bool over_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_SURE_END_H_

#include "node/transport/edge/dial_attempts.h"

#include <utility>

#include "absl/strings/str_format.h"

namespace grapevine {

void DialAttempts::Failed(const absl::Status& why) {
  MutexLock lock(mutex_);
  last_error_ = why;
  retry_ = true;
}

absl::StatusOr<bool> DialAttempts::Tick(std::chrono::milliseconds tick) {
  MutexLock lock(mutex_);
  trying_ += tick;
  if (trying_ < timeout_) return std::exchange(retry_, false);
  return absl::UnavailableError(
      absl::StrFormat("rank %d (%s) could not be reached within %.1f s (--rendezvous-timeout): %s; "
                      "is its port open "
                      "to this host?",
                      peer_, address_, static_cast<double>(timeout_.count()) / 1000,
                      last_error_.ok() ? "no answer" : std::string(last_error_.message())));
}

bool DialAttempts::TakeRetry() {
  MutexLock lock(mutex_);
  return std::exchange(retry_, false);
}

std::string DialAttempts::Describe() {
  MutexLock lock(mutex_);
  return absl::StrFormat("rank %d (%s: %s)", peer_, address_,
                         last_error_.ok() ? "no answer yet" : std::string(last_error_.message()));
}

}  // namespace grapevine

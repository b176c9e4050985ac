#include "node/transport/edge/reconnection.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"

namespace grapevine {

void EdgeInterruption::Begin(const absl::Status& why) {
  if (lasts()) return;
  why_ = why;
  again_ = lasted_.count() > 0;
}

void EdgeInterruption::End() {
  why_ = absl::OkStatus();
  last_attempt_ = absl::OkStatus();
}

void EdgeInterruption::Failed(const absl::Status& how) {
  if (lasts()) last_attempt_ = how;
}

absl::Status EdgeInterruption::Tick(std::chrono::milliseconds tick,
                                    std::chrono::milliseconds timeout) {
  if (!lasts()) return absl::OkStatus();
  lasted_ += tick;
  if (lasted_ < timeout) return absl::OkStatus();
  const double seconds = static_cast<double>(timeout.count()) / 1000;
  return Describe(
      again_
          ? absl::StrFormat("connected again and again, it got no further in %.1f s without a "
                            "connection (--peer-timeout)",
                            seconds)
          : absl::StrFormat("it was not connected again within %.1f s (--peer-timeout)", seconds));
}

absl::Status EdgeInterruption::Describe(const std::string& ending) const {
  const std::string attempt =
      last_attempt_.ok() ? "" : absl::StrCat(": ", std::string(last_attempt_.message()));
  return absl::Status(why_.code(),
                      absl::StrCat(std::string(why_.message()), "; ", ending, attempt));
}

void DialAttempts::Failed(const absl::Status& why) {
  MutexLock lock(mutex_);
  last_error_ = why;
  retry_ = true;
}

absl::StatusOr<bool> DialAttempts::Tick(std::chrono::milliseconds tick) {
  MutexLock lock(mutex_);
  trying_ += tick;
  if (trying_ < timeout_) return std::exchange(retry_, false);
  return WithFailure(
      absl::UnavailableError(absl::StrFormat(
          "rank %d (%s) could not be reached within %.1f s (--rendezvous-timeout): %s; is its port "
          "open to this host?",
          peer_, address_, static_cast<double>(timeout_.count()) / 1000,
          last_error_.ok() ? "no answer" : std::string(last_error_.message()))),
      Failure::kRendezvous);
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

#include "node/transport/edge/edge_interruption.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

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

}  // namespace grapevine

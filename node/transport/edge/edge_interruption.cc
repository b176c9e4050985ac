#include "node/transport/edge/edge_interruption.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace grapevine {

void EdgeInterruption::Begin(const absl::Status& why) {
  if (!lasts()) why_ = why;
}

void EdgeInterruption::Failed(const absl::Status& how) {
  if (lasts()) last_attempt_ = how;
}

absl::Status EdgeInterruption::Tick(std::chrono::milliseconds tick,
                                    std::chrono::milliseconds timeout) {
  if (!lasts()) return absl::OkStatus();
  lasted_ += tick;
  if (lasted_ < timeout) return absl::OkStatus();
  return Describe(absl::StrFormat("it was not connected again within %.1f s (--peer-timeout)",
                                  static_cast<double>(timeout.count()) / 1000));
}

absl::Status EdgeInterruption::Describe(const std::string& ending) const {
  const std::string attempt =
      last_attempt_.ok() ? "" : absl::StrCat(": ", std::string(last_attempt_.message()));
  return absl::Status(why_.code(),
                      absl::StrCat(std::string(why_.message()), "; ", ending, attempt));
}

}  // namespace grapevine

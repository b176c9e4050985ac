#include "node/store/store.h"

#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/units.h"

namespace grapevine {

absl::Status CheckStoreKey(std::string_view key) {
  if (!key.empty() && key.size() <= Store::kMaxKey) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a key of ", key.size(), " bytes; it may have 1 to ", Store::kMaxKey));
}

absl::Status CheckStoreValue(std::string_view value) {
  if (value.size() <= Store::kMaxValue) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a value of ", value.size(), " bytes; it may have ", Store::kMaxValue));
}

absl::Status CheckTimeToLive(std::chrono::milliseconds time_to_live) {
  if (time_to_live >= Store::kMinTimeToLive && time_to_live <= Store::kMaxTimeToLive) {
    return absl::OkStatus();
  }
  return absl::InvalidArgumentError(absl::StrCat(
      "a lease of ", FormatDuration(time_to_live), "; it may have ",
      FormatDuration(Store::kMinTimeToLive), " to ", FormatDuration(Store::kMaxTimeToLive)));
}

absl::Status StoreAway(const std::string& name, std::chrono::nanoseconds asked,
                       std::string_view why, std::string_view remedy) {
  constexpr size_t kMostWhy = 300;
  return absl::UnavailableError(absl::StrCat(name, " did not answer within ", HumanSeconds(asked),
                                             ": ", Printable(why, kMostWhy), "; ",
                                             std::string(remedy)));
}

}  // namespace grapevine

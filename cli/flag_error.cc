#include "cli/flag_error.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "run/failure.h"

namespace grapevine {

absl::Status NamingFlag(std::string_view flag, std::string_view value, absl::Status status) {
  const std::string message(status.message());
  if (FailureOf(status) != Failure::kUsage || message.starts_with("--")) return status;
  const std::string culprit(value);
  const bool named = message.starts_with(culprit + ":");
  return WithFailure(
      absl::Status(status.code(),
                   absl::StrCat(std::string(flag), "=", named ? "" : culprit + ": ", message)),
      Failure::kUsage);
}

}  // namespace grapevine

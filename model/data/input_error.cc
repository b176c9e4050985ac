#include "model/data/input_error.h"

#include <cstddef>

#include "absl/strings/str_cat.h"
#include "base/failure.h"

namespace grapevine {

absl::Status InputError(std::string_view path, std::string_view message) {
  return WithFailure(
      absl::InvalidArgumentError(absl::StrCat(std::string(path), ": ", std::string(message))),
      Failure::kInput);
}

absl::Status InputSystemError(std::string_view path, std::string_view message, int error) {
  return WithFailure(
      absl::ErrnoToStatus(error, absl::StrCat(std::string(path), ": ", std::string(message))),
      Failure::kInput);
}

absl::Status CheckLabels(std::string_view path, std::span<const uint16_t> labels, int64_t classes) {
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= classes) {
      return InputError(path, absl::StrCat("sample ", i, ": expected a label below ", classes,
                                           ", found ", labels[i]));
    }
  }
  return absl::OkStatus();
}

}  // namespace grapevine

// Errors about files that a user gave: "FILE: what was expected and found", with
// Failure::kInput.
#ifndef GRAPEVINE_MODEL_DATA_INPUT_ERROR_H_
#define GRAPEVINE_MODEL_DATA_INPUT_ERROR_H_

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace grapevine {

absl::Status InputError(std::string_view path, std::string_view message);

// `error` is an errno; the message ends with the system's reason.
absl::Status InputSystemError(std::string_view path, std::string_view message, int error);

// Refuses a label that is not below `classes`, by its position in the file.
absl::Status CheckLabels(std::string_view path, std::span<const uint16_t> labels, int64_t classes);

}  // namespace grapevine

#endif  // GRAPEVINE_MODEL_DATA_INPUT_ERROR_H_

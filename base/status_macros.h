// Errors passed on to the caller: RETURN_IF_ERROR and ASSIGN_OR_RETURN.
//
//   absl::StatusOr<Shards> Load(const std::string& path) {
//     ASSIGN_OR_RETURN(const Dataset data, ReadDataset(path));
//     RETURN_IF_ERROR(Check(data));
//     return Split(data);
//   }
//
// For functions that return absl::Status or absl::StatusOr, and for errors that need no
// context. In .cc files only: macros have no namespace.
#ifndef GRAPEVINE_BASE_STATUS_MACROS_H_
#define GRAPEVINE_BASE_STATUS_MACROS_H_

#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

// Returns the value of the expression, an absl::Status, unless it is OK. Variadic, because a
// comma between braces or angle brackets separates macro arguments.
#define RETURN_IF_ERROR(...)                                                                  \
  do {                                                                                        \
    if (absl::Status grapevine_status = (__VA_ARGS__); !grapevine_status.ok()) [[unlikely]] { \
      return grapevine_status;                                                                \
    }                                                                                         \
  } while (false)

// Declares (or assigns to) `lhs` the value of the expression, an absl::StatusOr, or returns
// its error. More than one statement: not for the body of an `if` without braces.
#define ASSIGN_OR_RETURN(lhs, ...) \
  GRAPEVINE_ASSIGN_OR_RETURN(GRAPEVINE_JOINED(grapevine_status_or_, __LINE__), lhs, __VA_ARGS__)

#define GRAPEVINE_ASSIGN_OR_RETURN(status_or, lhs, ...) \
  auto status_or = (__VA_ARGS__);                       \
  if (!status_or.ok()) [[unlikely]] {                   \
    return std::move(status_or).status();               \
  }                                                     \
  lhs = *std::move(status_or)
#define GRAPEVINE_JOINED(left, right) GRAPEVINE_JOINED_EXPANDED(left, right)
#define GRAPEVINE_JOINED_EXPANDED(left, right) left##right

#endif  // GRAPEVINE_BASE_STATUS_MACROS_H_

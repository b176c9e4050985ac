// Classes of errors, and macros that pass errors on to the caller.
//
// A Status may carry a Failure, which becomes the command's exit code and tells scripts what
// happened without parsing text. README.md has the same table.
#ifndef GRAPEVINE_BASE_STATUS_H_
#define GRAPEVINE_BASE_STATUS_H_

#include <cstdint>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grapevine {

enum class Failure : int {
  kNone = 0,
  kOther = 1,          // anything not listed below: a bug, or a failure of the system
  kUsage = 2,          // a wrong flag or configuration, or an impossible combination
  kInput = 3,          // a data, model or graph file is missing or broken
  kOutput = 4,         // the run directory or a file in it cannot be written
  kRendezvous = 5,     // nodes did not find each other, or differ in settings, data or build
  kPeerLost = 6,       // a peer fell silent, died or broke the protocol
  kDiverged = 7,       // numbers became NaN or infinite, or exceed --max-norm
  kDevice = 8,         // no usable GPU, too little memory on it, or it failed
  kInterrupted = 130,  // SIGINT
  kTerminated = 143,   // SIGTERM
};

// Attaches `failure` to a non-OK status (replacing an earlier one).
absl::Status WithFailure(absl::Status status, Failure failure);

// Return errors with the Failure of their name attached. A `path` is the file at fault and begins
// the message: "PATH: WHAT". An `error` is an errno: it determines the status code, and its
// description ends the message.
absl::Status UsageError(std::string_view message);
absl::Status InputError(std::string_view message);
absl::Status InputError(std::string_view path, std::string_view what);
absl::Status InputError(std::string_view path, std::string_view what, int error);
absl::Status OutputError(std::string_view message);
absl::Status OutputError(std::string_view message, int error);
absl::Status InterruptedError(std::string_view message);

// Returns the failure attached to `status`: kNone for OK, kOther if none was attached.
Failure FailureOf(const absl::Status& status);

// Returns the failure that a number from outside (a peer, a child process) stands for, or kOther if
// the number is not in the enumeration. Unknown numbers must not become exit codes: an exit code
// has eight bits, so that 256 would end a failed run with 0.
Failure FailureFromNumber(int64_t number);

// Whether `failure` may happen to one node of a run without affecting the others: the node died,
// was told to end, or its device failed. Failures of a node's numbers, settings or files would not
// be confined to that node.
bool IsOfOneNode(Failure failure);

inline int ExitCode(const absl::Status& status) { return static_cast<int>(FailureOf(status)); }

}  // namespace grapevine

// RETURN_IF_ERROR and ASSIGN_OR_RETURN pass errors on to the caller.
//
//   absl::StatusOr<Shards> Load(const std::string& path) {
//     ASSIGN_OR_RETURN(const Dataset data, ReadDataset(path));
//     RETURN_IF_ERROR(Check(data));
//     return Split(data);
//   }
//
// They are for functions that return absl::Status or absl::StatusOr, and for errors that need no
// more context. Use them in .cc files only, because macros have no namespace.

// Returns the value of the expression, an absl::Status, unless it is OK. The macro is variadic,
// because a comma between braces or angle brackets separates macro arguments.
#define RETURN_IF_ERROR(...)                                                                  \
  do {                                                                                        \
    if (absl::Status grapevine_status = (__VA_ARGS__); !grapevine_status.ok()) [[unlikely]] { \
      return grapevine_status;                                                                \
    }                                                                                         \
  } while (false)

// Declares `lhs` with (or assigns to it) the value of the expression, an absl::StatusOr, or returns
// its error. Expands to several statements, so that it must not be the body of an `if` without
// braces.
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

#endif  // GRAPEVINE_BASE_STATUS_H_

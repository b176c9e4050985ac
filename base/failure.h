// Why a command failed, as its exit code: a Status that carries a Failure tells
// scripts what happened without parsing text. README.md has the same table.
#ifndef GRAPEVINE_BASE_FAILURE_H_
#define GRAPEVINE_BASE_FAILURE_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"

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

// Errors with their class attached. `path` is the culprit: "PATH: WHAT"; `error` is an errno,
// whose reason ends the message and chooses the code.
absl::Status UsageError(std::string_view message);
absl::Status InputError(std::string_view message);
absl::Status InputError(std::string_view path, std::string_view what);
absl::Status InputError(std::string_view path, std::string_view what, int error);
absl::Status OutputError(std::string_view message);
absl::Status OutputError(std::string_view message, int error);
absl::Status InterruptedError(std::string_view message);

// The attached failure; kNone for OK, kOther where none was attached.
Failure FailureOf(const absl::Status& status);

// The failure that a number from elsewhere (a peer, a child) stands for; kOther unless it is in
// the list above: an exit code has eight bits, so that 256 would end a failed run with 0.
Failure FailureFromNumber(int64_t number);

// Whether it may befall one node of a run and leave the others as they are: it died, was told to
// end, or its device failed. What befalls one node's numbers, settings or files would not stop
// there.
bool IsOfOneNode(Failure failure);

inline int ExitCode(const absl::Status& status) { return static_cast<int>(FailureOf(status)); }

}  // namespace grapevine

#endif  // GRAPEVINE_BASE_FAILURE_H_

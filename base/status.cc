#include "base/status.h"

#include <cerrno>
#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

constexpr char kPayload[] = "grapevine/failure";

std::string Naming(std::string_view path, std::string_view what) {
  return absl::StrCat(std::string(path), ": ", std::string(what));
}

// Returns an error even for errno 0, which a library that fails may leave behind.
absl::Status FromErrno(int error, std::string_view message) {
  return absl::ErrnoToStatus(error == 0 ? EIO : error, std::string(message));
}

}  // namespace

absl::Status WithFailure(absl::Status status, Failure failure) {
  status.SetPayload(kPayload, absl::Cord(absl::StrCat(static_cast<int>(failure))));
  return status;
}

absl::Status UsageError(std::string_view message) {
  return WithFailure(absl::InvalidArgumentError(std::string(message)), Failure::kUsage);
}

absl::Status InputError(std::string_view message) {
  return WithFailure(absl::InvalidArgumentError(std::string(message)), Failure::kInput);
}

absl::Status InputError(std::string_view path, std::string_view what) {
  return InputError(Naming(path, what));
}

absl::Status InputError(std::string_view path, std::string_view what, int error) {
  return WithFailure(FromErrno(error, Naming(path, what)), Failure::kInput);
}

absl::Status OutputError(std::string_view message) {
  return WithFailure(absl::FailedPreconditionError(std::string(message)), Failure::kOutput);
}

absl::Status OutputError(std::string_view message, int error) {
  return WithFailure(FromErrno(error, message), Failure::kOutput);
}

absl::Status InterruptedError(std::string_view message) {
  return WithFailure(absl::CancelledError(std::string(message)), Failure::kInterrupted);
}

Failure FailureOf(const absl::Status& status) {
  if (status.ok()) return Failure::kNone;
  const auto payload = status.GetPayload(kPayload);
  int code = 0;
  if (!payload || !absl::SimpleAtoi(std::string(*payload), &code)) return Failure::kOther;
  return static_cast<Failure>(code);
}

bool IsOfOneNode(Failure failure) {
  return failure == Failure::kPeerLost || failure == Failure::kDevice ||
         failure == Failure::kInterrupted || failure == Failure::kTerminated;
}

Failure FailureFromNumber(int64_t number) {
  for (const Failure failure : {Failure::kUsage, Failure::kInput, Failure::kOutput,
                                Failure::kRendezvous, Failure::kPeerLost, Failure::kDiverged,
                                Failure::kDevice, Failure::kInterrupted, Failure::kTerminated}) {
    if (static_cast<int>(failure) == number) return failure;
  }
  return Failure::kOther;
}

}  // namespace grapevine

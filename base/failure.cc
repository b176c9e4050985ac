#include "base/failure.h"

#include <string>

#include "absl/strings/cord.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {
constexpr char kPayload[] = "grapevine/failure";
}  // namespace

absl::Status WithFailure(absl::Status status, Failure failure) {
  status.SetPayload(kPayload, absl::Cord(absl::StrCat(static_cast<int>(failure))));
  return status;
}

Failure FailureOf(const absl::Status& status) {
  if (status.ok()) return Failure::kNone;
  const auto payload = status.GetPayload(kPayload);
  int code = 0;
  if (!payload || !absl::SimpleAtoi(std::string(*payload), &code)) return Failure::kOther;
  return static_cast<Failure>(code);
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

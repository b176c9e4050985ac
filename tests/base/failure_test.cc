#include <gtest/gtest.h>

#include <cerrno>
#include <string>

#include "absl/status/status.h"
#include "base/status.h"

namespace grapevine {
namespace {

void ExpectIs(const absl::Status& status, Failure failure, absl::StatusCode code,
              const std::string& message) {
  EXPECT_EQ(FailureOf(status), failure) << status;
  EXPECT_EQ(status.code(), code) << status;
  EXPECT_EQ(std::string(status.message()), message);
}

TEST(Failure, ErrorsAreBornWithTheirClass) {
  using enum absl::StatusCode;
  ExpectIs(UsageError("--nodes=0: must be positive"), Failure::kUsage, kInvalidArgument,
           "--nodes=0: must be positive");
  ExpectIs(InputError("cannot read runs"), Failure::kInput, kInvalidArgument, "cannot read runs");
  ExpectIs(OutputError("runs exists"), Failure::kOutput, kFailedPrecondition, "runs exists");
  ExpectIs(InterruptedError("interrupted"), Failure::kInterrupted, kCancelled, "interrupted");
}

TEST(Failure, ErrorsAboutAFileNameItFirst) {
  ExpectIs(InputError("ring.dot", "not DOT"), Failure::kInput, absl::StatusCode::kInvalidArgument,
           "ring.dot: not DOT");
}

TEST(Failure, ErrorsOfTheSystemEndWithItsReason) {
  ExpectIs(InputError("mnist", "cannot open it", ENOENT), Failure::kInput,
           absl::StatusCode::kNotFound, "mnist: cannot open it: No such file or directory");
  ExpectIs(OutputError("cannot write runs", EACCES), Failure::kOutput,
           absl::StatusCode::kPermissionDenied, "cannot write runs: Permission denied");
}

TEST(Failure, ErrorsOfTheSystemAreErrorsWithoutAReasonToo) {
  ExpectIs(InputError("mnist", "cannot open it", 0), Failure::kInput, absl::StatusCode::kUnknown,
           "mnist: cannot open it: Input/output error");
  ExpectIs(OutputError("cannot write runs", 0), Failure::kOutput, absl::StatusCode::kUnknown,
           "cannot write runs: Input/output error");
}

}  // namespace
}  // namespace grapevine

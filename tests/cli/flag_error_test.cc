#include "cli/flag_error.h"

#include <gtest/gtest.h>

#include "run/failure.h"

namespace grapevine {
namespace {

absl::Status Refused(const char* message, Failure failure = Failure::kUsage) {
  return WithFailure(absl::InvalidArgumentError(message), failure);
}

TEST(NamingFlag, NamesTheFlagAndTheValueOnce) {
  for (const char* message :
       {"unknown network", "lenet6: unknown network", "'lenet6': unknown network"}) {
    const absl::Status status = NamingFlag("--model", "lenet6", Refused(message));
    EXPECT_EQ(status.message(), "--model=lenet6: unknown network");
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(FailureOf(status), Failure::kUsage);
  }
  EXPECT_EQ(NamingFlag("--data", "mnist", Refused("mnist:DIR is how it is written")).message(),
            "--data=mnist: mnist:DIR is how it is written");
}

TEST(NamingFlag, LeavesOthersAlone) {
  EXPECT_TRUE(NamingFlag("--model", "mlp", absl::OkStatus()).ok());
  const absl::Status file = Refused("dir/labels: expected 10 labels", Failure::kInput);
  EXPECT_EQ(NamingFlag("--data", "mnist:dir", file), file);
  const absl::Status named = Refused("--slow=9:2: there is no rank 9");
  EXPECT_EQ(NamingFlag("--model", "mlp", named), named);
}

}  // namespace
}  // namespace grapevine

#include <gtest/gtest.h>

#include "base/status.h"
#include "run/config/resolved_config.h"

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

ResolvedConfig Resolved() {
  ResolvedConfig resolved;
  resolved.origins["model"] = {Source::kEnvironment, "GRAPEVINE_MODEL"};
  resolved.origins["peer_timeout"] = {Source::kFile, "ring.textproto:3"};
  resolved.origins["batch"] = {Source::kCommandLine, "--batch"};
  return resolved;
}

TEST(NamingOrigin, PutsThePlaceOfTheValueForItsFlag) {
  const auto named = [](const char* message) {
    const absl::Status status = NamingOrigin(Resolved(), Refused(message));
    EXPECT_EQ(FailureOf(status), Failure::kUsage);
    return std::string(status.message());
  };
  EXPECT_EQ(named("--model=mlp:depth=3: unknown option"),
            "GRAPEVINE_MODEL=mlp:depth=3: unknown option");
  EXPECT_EQ(named("--peer-timeout: is too short"), "ring.textproto:3: peer_timeout: is too short");
  // From the command line, from a default, no setting at all, and a flag whose name goes on.
  for (const char* message :
       {"--batch=0: must be positive", "--lr=2: too much", "--advise is about one cluster",
        "--models=3: unknown", "the model is unknown", "--", ""}) {
    EXPECT_EQ(named(message), message);
  }
}

TEST(NamingOrigin, LeavesOthersAlone) {
  EXPECT_TRUE(NamingOrigin(Resolved(), absl::OkStatus()).ok());
  const absl::Status file = Refused("--model=x: cannot be read", Failure::kInput);
  EXPECT_EQ(NamingOrigin(Resolved(), file), file);
}

}  // namespace
}  // namespace grapevine

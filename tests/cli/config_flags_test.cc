#include "cli/flags/config_flags.h"

#include <gtest/gtest.h>

#include "base/status.h"

namespace grapevine {
namespace {

std::string ErrorOf(const std::string& name) {
  const absl::Status status = CheckVariables({{"GRAPEVINE_LR", "1"}, {name, "1"}});
  if (status.ok()) return "no error";
  EXPECT_EQ(FailureOf(status), Failure::kUsage);
  return std::string(status.message());
}

TEST(CheckVariables, ThoseThatSomebodyReadsAreKnown) {
  for (const char* name : {"GRAPEVINE_BATCH", "GRAPEVINE_PEER_TIMEOUT", "GRAPEVINE_VERSION",
                           "GRAPEVINE_TOKEN", "GRAPEVINE_PORT_FD", "GRAPEVINE_PROGRESS_FD",
                           "GRAPEVINE_LAUNCHER_FD", "GRAPEVINE_DATA", "GRAPEVINE_CUDA"}) {
    EXPECT_EQ(ErrorOf(name), "no error") << name;
  }
}

TEST(CheckVariables, OthersAreAnsweredWithTheNearest) {
  EXPECT_EQ(ErrorOf("GRAPEVINE_TOPOLGY"),
            "unknown variable GRAPEVINE_TOPOLGY; did you mean GRAPEVINE_TOPOLOGY?");
  EXPECT_EQ(ErrorOf("GRAPEVINE_LEARNING_RATE"),
            "unknown variable GRAPEVINE_LEARNING_RATE; did you mean GRAPEVINE_LR?");
  EXPECT_EQ(ErrorOf("GRAPEVINE_WOBBLE_WOBBLE"),
            "unknown variable GRAPEVINE_WOBBLE_WOBBLE; unset it; every flag has one "
            "(--peer-timeout: GRAPEVINE_PEER_TIMEOUT)");
}

}  // namespace
}  // namespace grapevine

#include "capi/setting_names.h"

#include <gtest/gtest.h>

namespace grapevine {
namespace {

TEST(SettingNames, StandInPlaceOfFlags) {
  EXPECT_EQ(WithSettingNames("choose another port with --bind, rank 0's with --master-port"),
            "choose another port with bind, rank 0's with master_port");
  EXPECT_EQ(WithSettingNames("--topology=rong: did you mean ring?"),
            "topology=rong: did you mean ring?");
  EXPECT_EQ(WithSettingNames("(half of --step-timeout=10s)"), "(half of step_timeout=10s)");
}

TEST(SettingNames, LeaveOtherDashesAlone) {
  for (const char* message :
       {"", "-", "--", "a -- b", "one--two", "/tmp/--x/a--b", "rank --1", "--Model",
        "`grapevine train --record=FILE` writes one", "start them with grapevine node --join"}) {
    EXPECT_EQ(WithSettingNames(message), message);
  }
}

}  // namespace
}  // namespace grapevine

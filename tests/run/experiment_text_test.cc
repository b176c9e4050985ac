#include <gtest/gtest.h>

#include "run/config/config_field.h"
#include "run/config/config_file.h"

namespace grapevine {
namespace {

TEST(ExperimentText, CountsADefaultLikeItsValue) {
  Config explicitly;
  explicitly.set_topology("ring");
  EXPECT_EQ(ExperimentText(explicitly), ExperimentText(Config()));
}

TEST(ExperimentText, IgnoresWhatIsThisProcessesOwn) {
  Config config;
  config.set_rank(3);
  config.set_out("elsewhere");
  config.set_peer_timeout("5s");
  config.set_revision("abc");
  EXPECT_EQ(ExperimentText(config), ExperimentText(Config()));
}

TEST(ExperimentText, SeesEveryFieldOfTheExperiment) {
  for (const ConfigField* field : ConfigFields()) {
    if (InfoOf(*field).section() != EXPERIMENT) continue;
    Config config;
    const char* text = field->cpp_type() == ConfigField::CPPTYPE_STRING
                           ? (InfoOf(*field).kind() == DURATION ? "7ms" : "other")
                           : "1";
    ASSERT_TRUE(SetField(*field, IsSwitch(*field) ? "true" : text, &config).ok()) << field->name();
    const bool is_default = FieldText(*field, config) == FieldText(*field, Config());
    EXPECT_EQ(ExperimentText(config) == ExperimentText(Config()), is_default) << field->name();
  }
}

TEST(ExperimentText, ForgetsEpochsOfARunInRounds) {
  Config one, other;
  one.set_rounds(10);
  other.set_rounds(10);
  other.set_epochs(7);
  EXPECT_EQ(ExperimentText(one), ExperimentText(other));
}

}  // namespace
}  // namespace grapevine

#include "run/config_hash.h"

#include <gtest/gtest.h>

#include "run/config_field.h"

namespace grapevine {
namespace {

TEST(ConfigHash, CountsADefaultLikeItsValue) {
  Config explicitly;
  explicitly.set_topology("ring");
  EXPECT_EQ(ConfigHash(explicitly), ConfigHash(Config()));
}

TEST(ConfigHash, IgnoresWhatIsThisProcessesOwn) {
  Config config;
  config.set_rank(3);
  config.set_out("elsewhere");
  config.set_peer_timeout("5s");
  config.set_revision("abc");
  EXPECT_EQ(ConfigHash(config), ConfigHash(Config()));
}

TEST(ConfigHash, SeesEveryFieldOfTheExperiment) {
  for (const ConfigField* field : ConfigFields()) {
    if (InfoOf(*field).section() != EXPERIMENT) continue;
    Config config;
    const char* text = field->cpp_type() == ConfigField::CPPTYPE_STRING
                           ? (InfoOf(*field).kind() == DURATION ? "7ms" : "other")
                           : "1";
    ASSERT_TRUE(SetField(*field, IsSwitch(*field) ? "true" : text, &config).ok()) << field->name();
    const bool is_default = FieldText(*field, config) == FieldText(*field, Config());
    EXPECT_EQ(ConfigHash(config) == ConfigHash(Config()), is_default) << field->name();
  }
}

TEST(ConfigHash, ForgetsEpochsOfARunInRounds) {
  Config one, other;
  one.set_rounds(10);
  other.set_rounds(10);
  other.set_epochs(7);
  EXPECT_EQ(ConfigHash(one), ConfigHash(other));
}

TEST(ExperimentDifference, NamesBothValues) {
  Config here, there;
  there.set_topology("torus");
  there.set_rounds(10);
  EXPECT_EQ(ExperimentDifference(ExperimentText(here), ExperimentText(there)),
            "epochs is 3 here, not set there; rounds is not set here, 10 there; "
            "topology is ring here, torus there");
  EXPECT_EQ(ExperimentDifference(ExperimentText(here), ExperimentText(here)), "");
}

TEST(ExperimentDifference, SurvivesRubbish) {
  const std::string here = ExperimentText(Config());
  EXPECT_EQ(ExperimentDifference(here, here + "evil=\x1b[2J\n"),
            "the other node knows other settings");
  const std::string difference =
      ExperimentDifference("topology=ring\n", "topology=\x1b[2J" + std::string(1000, 'x'));
  EXPECT_EQ(difference.find('\x1b'), std::string::npos);
  EXPECT_LT(difference.size(), 200u);
}

}  // namespace
}  // namespace grapevine

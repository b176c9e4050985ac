#include "run/config/config_field.h"

#include <gtest/gtest.h>

#include <set>

namespace grapevine {
namespace {

TEST(ConfigFields, AreDescribed) {
  std::set<std::string> letters;
  for (const ConfigField* field : ConfigFields()) {
    const FieldInfo& info = InfoOf(*field);
    EXPECT_FALSE(info.help().empty()) << field->name();
    EXPECT_EQ(info.group().empty(), info.section() == RECORD) << field->name();
    EXPECT_TRUE(IsSwitch(*field) || info.section() == RECORD || !info.placeholder().empty())
        << field->name();
    if (info.has_short_flag()) {
      EXPECT_TRUE(letters.insert(info.short_flag()).second) << field->name();
    }
  }
}

TEST(ConfigFields, HaveCanonicalDefaults) {
  for (const ConfigField* field : ConfigFields()) {
    if (!field->has_default_value()) continue;
    Config config;
    const std::string text = FieldText(*field, config);
    ASSERT_TRUE(SetField(*field, text, &config).ok()) << field->name();
    EXPECT_EQ(FieldText(*field, config), text) << field->name();
  }
}

TEST(ConfigFields, HaveNamesForFlagsAndVariables) {
  const ConfigField& field = ConfigFieldNamed("peer_timeout");
  EXPECT_EQ(FlagName(field), "--peer-timeout");
  EXPECT_EQ(VariableName(field), "GRAPEVINE_PEER_TIMEOUT");
}

TEST(SetField, StoresTheCanonicalForm) {
  Config config;
  ASSERT_TRUE(SetField(ConfigFieldNamed("peer_timeout"), "5000ms", &config).ok());
  EXPECT_EQ(config.peer_timeout(), "5s");
  ASSERT_TRUE(SetField(ConfigFieldNamed("target_accuracy"), "98.5%", &config).ok());
  EXPECT_EQ(config.target_accuracy(), 0.985);
  ASSERT_TRUE(SetField(ConfigFieldNamed("slow"), "1:2,3:4", &config).ok());
  ASSERT_EQ(config.slow_size(), 2);
  EXPECT_EQ(config.slow(1), "3:4");
  ASSERT_TRUE(SetField(ConfigFieldNamed("compute"), "0.01s", &config).ok());
  EXPECT_EQ(config.compute(), "10ms");
  ASSERT_TRUE(SetField(ConfigFieldNamed("compute"), "exponential:mean=10ms", &config).ok());
  EXPECT_EQ(config.compute(), "exponential:mean=10ms");
  ASSERT_TRUE(SetField(ConfigFieldNamed("overwrite"), "yes", &config).ok());
  EXPECT_TRUE(config.overwrite());
}

TEST(SetField, SaysWhatIsWrong) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"batch", "abc", "\"abc\" is not a whole number of 32 bits"},
      {"batch", "3000000000", "\"3000000000\" is not a whole number of 32 bits"},
      {"seed", "-1", "\"-1\" is not a non-negative whole number of 64 bits"},
      {"lr", "fast", "\"fast\" is not a number"},
      {"overwrite", "perhaps", "\"perhaps\" is not true or false"},
      {"topology", "", "the value is empty"},
      {"slow", "1:2,", "the value is empty"},
      {"compute", "10",
       "\"10\" is not a duration: it has no unit; write for example 500us, 5ms, 30s, "
       "15min, 1h"},
  };
  for (const auto& [name, text, why] : cases) {
    Config config;
    EXPECT_EQ(SetField(ConfigFieldNamed(name), text, &config).message(), why);
  }
}

TEST(FieldText, GivesTheShortestNumber) {
  Config config;
  config.set_lr(0.1);
  EXPECT_EQ(FieldText(ConfigFieldNamed("lr"), config), "0.1");
  EXPECT_EQ(FieldText(ConfigFieldNamed("rounds"), config), "");
}

}  // namespace
}  // namespace grapevine

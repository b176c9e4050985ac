// What every setting of config.proto gives its user, whatever it sets: a flag, a variable, a
// place in files, a line of help, and errors that say where a bad value came from.
//
// The fields come from the message itself: a new one is under contract without a word here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "run/config/config_field.h"
#include "run/config/config_file.h"
#include "run/config/config_resolve.h"
#include "tests/model/scratch_folder.h"
#include "tests/process/grapevine_process.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

std::vector<std::string> EveryName() {
  std::vector<std::string> names;
  for (const ConfigField* field : ConfigFields()) {
    if (InfoOf(*field).section() != RECORD) names.push_back(field->name());
  }
  return names;
}

class ConfigContractTest : public ::testing::TestWithParam<std::string> {
 protected:
  const ConfigField& field() const { return ConfigFieldNamed(GetParam()); }
  bool IsText() const { return field().cpp_type() == ConfigField::CPPTYPE_STRING; }

  // What this setting is nothing without.
  std::map<std::string, std::string> Companions() const {
    std::map<std::string, std::string> companions;
    if (GetParam() == "planned_nodes") companions["resume"] = "run";
    const bool for_etcd = GetParam().starts_with("etcd_");
    if (for_etcd) companions["coordinator"] = "etcd:127.0.0.1:2379/run";
    if (!for_etcd && !GetParam().starts_with("tls_")) return companions;
    for (const char* name : {"ca", "cert", "key"}) {
      const std::string file = absl::StrCat(for_etcd ? "etcd_" : "tls_", name);
      if (GetParam() != file) companions[file] = "file.pem";
    }
    return companions;
  }
  std::map<std::string, std::string> Flags(const std::string& text) const {
    std::map<std::string, std::string> flags = Companions();
    flags[GetParam()] = text;
    return flags;
  }

  // A value that a run may have.
  std::string Sample() const {
    for (const std::string& text :
         {FieldText(field(), Config()), std::string("1"), std::string("0.5"), std::string("10ms"),
          std::string("1Gbit"), std::string("1:2"), std::string("127.0.0.1:0")}) {
      Config config;
      if (!text.empty() && SetField(field(), text, &config).ok() &&
          ResolveConfig({.flags = Flags(text)}).ok()) {
        return text;
      }
    }
    ADD_FAILURE() << "no value is known that a run may have";
    return "";
  }

  std::string Line(const std::string& text) const {
    return absl::StrCat(GetParam(), ": ", IsText() ? absl::StrCat("\"", text, "\"") : text);
  }

  void ExpectFrom(const ConfigSources& sources, const std::string& where,
                  const std::string& text) const {
    const auto resolved = ResolveConfig(sources);
    ASSERT_TRUE(resolved.ok()) << resolved.status();
    EXPECT_EQ(resolved->OriginOf(GetParam()).where, where);
    EXPECT_EQ(FieldText(field(), resolved->config), text);
  }

  void ExpectRefused(const ConfigSources& sources, const std::string& where) const {
    const auto resolved = ResolveConfig(sources);
    EXPECT_EQ(FailureOf(resolved.status()), Failure::kUsage) << resolved.status();
    EXPECT_THAT(std::string(resolved.status().message()), StartsWith(where));
  }

  const ScratchFolder folder_;
};

TEST_P(ConfigContractTest, ComesFromAFlagAVariableOrAFile) {
  const std::string text = Sample();
  ExpectFrom({.flags = Flags(text)}, FlagName(field()), text);
  ExpectFrom({.flags = Companions(), .environment = {{VariableName(field()), text}}},
             VariableName(field()), text);
  const std::string file = folder_.Write("config.textproto", "\n" + Line(text));
  ExpectFrom({.flags = Companions(), .file = file}, file + ":2", text);
}

TEST_P(ConfigContractTest, ABadValueIsRefusedByTheNameOfWhereItCameFrom) {
  const std::string bad = IsText() ? "" : "neither";
  ExpectRefused({.flags = {{GetParam(), bad}}}, FlagName(field()));
  // A variable without a value is none.
  if (!IsText())
    ExpectRefused({.environment = {{VariableName(field()), bad}}}, VariableName(field()));
  const std::string file = folder_.Write("bad.textproto", "\n" + Line(bad));
  ExpectRefused({.file = file}, file + ":2");
}

TEST_P(ConfigContractTest, IsKeptInTheRunDirectoryUnlessItIsOfThisProcessAlone) {
  Config config;
  ASSERT_TRUE(SetField(field(), Sample(), &config).ok());
  const std::string text = ConfigFileText(config);
  if (InfoOf(field()).section() == CLUSTER) {
    EXPECT_EQ(text.find(GetParam() + ":"), std::string::npos) << text;
    return;
  }
  const auto read = ReadConfigFile(folder_.Write("kept.textproto", text));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(FieldText(field(), read->config), FieldText(field(), config));
}

// The help of all commands that take settings.
const std::string& Help() {
  static const std::string* const help = [] {
    auto* const texts = new std::string;
    for (const char* command : {"train", "node", "sim"}) {
      *texts += testing::RunGrapevine({command, "--help=all"}).output;
    }
    return texts;
  }();
  return *help;
}

TEST_P(ConfigContractTest, HasALineOfHelp) {
  EXPECT_FALSE(InfoOf(field()).help().empty());
  // A switch and its opposite, or a value.
  EXPECT_THAT(Help(), HasSubstr(FlagName(field()) + (IsSwitch(field()) ? "," : " ")));
}

// Whose names config.proto does not know.
TEST(ConfigHelp, ListsWhatIsRegistered) {
  for (const char* name : {"one-peer-exponential", "dpsgd", "metropolis", "quadratic", "cosine",
                           "cifar10", "fat-tree[:k=4]"}) {
    EXPECT_THAT(Help(), HasSubstr(name));
  }
}

INSTANTIATE_TEST_SUITE_P(Fields, ConfigContractTest, ::testing::ValuesIn(EveryName()),
                         [](const auto& info) { return info.param; });

}  // namespace
}  // namespace grapevine

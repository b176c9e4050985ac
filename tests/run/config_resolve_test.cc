#include "run/config/config_resolve.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <utility>

#include "base/status.h"
#include "run/config/config_file.h"
#include "run/config/resolved_config.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string FileWith(const std::string& name, const std::string& text) {
  const std::string path = ::testing::TempDir() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

std::string ErrorOf(const ConfigSources& sources) {
  const absl::StatusOr<ResolvedConfig> resolved = ResolveConfig(sources);
  if (resolved.ok()) return "no error";
  EXPECT_EQ(FailureOf(resolved.status()), Failure::kUsage);
  return std::string(resolved.status().message());
}

TEST(ResolveConfig, FillsDefaultsThatMakeSenseAlone) {
  const auto resolved = ResolveConfig({});
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_TRUE(resolved->config.has_topology());
  EXPECT_EQ(resolved->config.topology(), "ring");
  EXPECT_EQ(resolved->config.epochs(), 3);
  EXPECT_FALSE(resolved->config.has_rounds());
  EXPECT_FALSE(resolved->config.has_out());
  EXPECT_EQ(resolved->OriginOf("topology").where, "default");
}

TEST(ResolveConfig, ObeysPrecedence) {
  ConfigSources sources;
  sources.file = FileWith("precedence.textproto", "batch: 1\nlr: 0.1\n\nseed: 11\n");
  sources.environment = {{"GRAPEVINE_BATCH", "2"}, {"GRAPEVINE_LR", "0.2"}, {"GRAPEVINE_OUT", ""}};
  sources.flags = {{"batch", "3"}};
  const auto resolved = ResolveConfig(sources);
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->config.batch(), 3);
  EXPECT_EQ(resolved->OriginOf("batch").where, "--batch");
  EXPECT_EQ(resolved->config.lr(), 0.2);
  EXPECT_EQ(resolved->OriginOf("lr").where, "GRAPEVINE_LR");
  EXPECT_EQ(resolved->config.seed(), 11u);
  EXPECT_EQ(resolved->OriginOf("seed").where, *sources.file + ":4");
  EXPECT_FALSE(resolved->config.has_out());
}

TEST(ResolveConfig, LetsRoundsOverrideEpochsOfAWeakerSource) {
  ConfigSources sources;
  sources.file = FileWith("epochs.textproto", "epochs: 5");
  sources.flags = {{"rounds", "100"}};
  const auto resolved = ResolveConfig(sources);
  ASSERT_TRUE(resolved.ok()) << resolved.status();
  EXPECT_EQ(resolved->config.rounds(), 100);
  EXPECT_FALSE(resolved->config.has_epochs());
}

TEST(ResolveConfig, RefusesRoundsAndEpochsTogether) {
  EXPECT_EQ(ErrorOf({.flags = {{"rounds", "100"}, {"epochs", "2"}}}),
            "--epochs and --rounds both say how long to train; keep one of them");
}

TEST(ResolveConfig, NobodyComesIntoARunThatEndsWithTheFirstLoss) {
  for (const auto& [flag, value] :
       {std::pair("min_nodes", "2"), {"max_restarts", "3"}, {"join", "true"}}) {
    std::string spelled = flag;
    std::ranges::replace(spelled, '_', '-');
    EXPECT_THAT(ErrorOf({.flags = {{flag, value}, {"on_failure", "end"}}}),
                AllOf(StartsWith("--" + spelled),
                      HasSubstr("with --on-failure=end no run goes on with fewer nodes, nor takes "
                                "others in; add --on-failure=shrink")));
    const auto resolved = ResolveConfig({.flags = {{flag, value}, {"on_failure", "shrink"}}});
    EXPECT_TRUE(resolved.ok()) << resolved.status();
  }
  EXPECT_THAT(ErrorOf({.flags = {{"max_restarts", "-1"}, {"on_failure", "shrink"}}}),
              StartsWith("--max-restarts"));
}

TEST(ResolveConfig, NamesFileAndLine) {
  const std::string unknown = FileWith("unknown.textproto", "nodes: 4\nbathc: 32\n");
  EXPECT_THAT(ErrorOf({.file = unknown}), StartsWith(unknown + ":2: "));
  EXPECT_THAT(ErrorOf({.file = unknown}), HasSubstr("bathc"));
  const std::string duration = FileWith("duration.textproto", "\n\npeer_timeout: \"30\"\n");
  EXPECT_THAT(ErrorOf({.file = duration}),
              StartsWith(duration + ":3: peer_timeout: \"30\" is not a duration"));
  const std::string type = FileWith("type.textproto", "nodes: \"four\"");
  EXPECT_THAT(ErrorOf({.file = type}), StartsWith(type + ":1: "));
  const std::string twice = FileWith("twice.textproto", "nodes: 4\nnodes: 5");
  EXPECT_THAT(ErrorOf({.file = twice}), StartsWith(twice + ":2: "));
  const std::string range = FileWith("range.textproto", "\nbatch: -1");
  EXPECT_EQ(ErrorOf({.file = range}), range + ":2: batch=-1: must be positive");
  const std::string binary = FileWith("binary.textproto", std::string("\0\xff\x01{{{", 6));
  EXPECT_THAT(ErrorOf({.file = binary}), StartsWith(binary + ":1: "));
}

TEST(ResolveConfig, NamesAMissingFile) {
  const auto resolved = ResolveConfig({.file = "/no/such/file"});
  EXPECT_THAT(resolved.status().message(), HasSubstr("/no/such/file"));
  EXPECT_EQ(FailureOf(resolved.status()), Failure::kInput);
}

TEST(ResolveConfig, NamesTheVariable) {
  EXPECT_EQ(ErrorOf({.environment = {{"GRAPEVINE_BATCH", "many"}}}),
            "GRAPEVINE_BATCH: \"many\" is not a whole number of 32 bits");
  EXPECT_EQ(ErrorOf({.environment = {{"GRAPEVINE_LR", "nan"}}}),
            "GRAPEVINE_LR=nan: must be positive");
}

TEST(ResolveConfig, RefusesWhatMakesNoSense) {
  using Flags = std::map<std::string, std::string>;
  const std::pair<Flags, const char*> cases[] = {
      {{{"nodes", "0"}}, "--nodes=0: must be positive"},
      {{{"batch", "-3"}}, "--batch=-3: must be positive"},
      {{{"lr", "0"}}, "--lr=0: must be positive"},
      {{{"lr", "inf"}}, "--lr=inf: must be positive"},
      {{{"epochs", "-1"}}, "--epochs=-1: must be positive"},
      {{{"momentum", "1"}}, "--momentum=1: must be at least 0 and below 1"},
      {{{"weight_decay", "-0.1"}}, "--weight-decay=-0.1: must not be negative"},
      {{{"device", "tpu"}}, "--device=tpu: must be one of cpu, cuda"},
      {{{"device", "cuda:-1"}},
       "--device=cuda:-1: must be one of cpu, cuda, cuda:INDEX, cuda:auto"},
      {{{"device", "cuda:x"}}, "--device=cuda:x: must be one of cpu"},
      {{{"precision", "fp8"}}, "--precision=fp8: must be one of fp32, tf32, bf16, fp16"},
      {{{"precision", "bf16"}}, "--precision=bf16: needs --device=cuda"},
      {{{"log_format", "xml"}}, "--log-format=xml: must be one of text, json"},
      {{{"peer_timeout", "0"}}, "--peer-timeout=0s: must be between 100ms and 8760h"},
      {{{"peer_timeout", "1ns"}}, "--peer-timeout=1ns: must be between 100ms and 8760h"},
      {{{"rendezvous_timeout", "99ms"}}, "--rendezvous-timeout=99ms: must be between 100ms and"},
      {{{"step_timeout", "8761h"}}, "--step-timeout=8761h: must be between 100ms and 8760h"},
      {{{"profile", ""}}, "--profile: the value is empty"},
      {{{"hostfile", "h"}, {"hosts", "a:1"}}, "both list the nodes"},
      {{{"rank", "4"}, {"world_size", "4"}}, "--rank=4: ranks count from 0 to 3"},
      {{{"nodes", "3"}, {"world_size", "4"}}, "--world-size=4 and --nodes=3 differ"},
      {{{"master_port", "65536"}}, "--master-port=65536: must be a port"},
      {{{"tls_ca", "ca.pem"}}, "give all three"},
      {{{"tls_ca", "a"}, {"tls_cert", "b"}, {"tls_key", "c"}, {"insecure", "true"}},
       "--insecure=true: contradicts --tls-ca"},
      {{{"overwrite", "true"}}, "--overwrite=true: needs --out=DIR"},
      {{{"slow", "1"}}, "--slow=1: must be RANK:FACTOR"},
      {{{"slow", "4:2"}}, "--slow=4:2: there is no rank 4 among 4 nodes"},
      {{{"straggler", "rank=4:factor=2"}}, "--straggler=rank=4:factor=2: there is no rank 4"},
  };
  for (const auto& [flags, why] : cases) EXPECT_THAT(ErrorOf({.flags = flags}), HasSubstr(why));
}

TEST(ConfigFileText, ReadsBackWithoutThePlaceOfThisProcess) {
  ConfigSources sources;
  sources.flags = {{"out", "/somewhere"}, {"rank", "2"}, {"slow", "0:2"}, {"peer_timeout", "9s"}};
  ResolvedConfig resolved = *ResolveConfig(sources);
  resolved.config.set_revision("abc");
  const std::string path = FileWith("config.textproto", ConfigFileText(resolved.config));
  const auto read = ReadConfigFile(path);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_FALSE(read->config.has_out());
  EXPECT_FALSE(read->config.has_rank());
  EXPECT_EQ(read->config.peer_timeout(), "9s");
  EXPECT_EQ(read->config.slow(0), "0:2");
  EXPECT_EQ(read->config.revision(), "abc");
  // A new run from it is its own run.
  const auto again = ResolveConfig({.file = path});
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_FALSE(again->config.has_revision());
  EXPECT_EQ(again->config.peer_timeout(), "9s");
}

TEST(PrintResolved, ShowsValuesAndOrigins) {
  const std::string text = PrintResolved(*ResolveConfig({.flags = {{"batch", "64"}}}));
  EXPECT_THAT(text, ::testing::ContainsRegex("Training:\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("  batch +64 +--batch\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("  topology +ring +default\n"));
  EXPECT_THAT(text, ::testing::Not(HasSubstr("hostfile")));
}

TEST(PrintResolved, SaysWhatHasNoEffect) {
  const std::string text = PrintResolved(*ResolveConfig({.flags = {}}), {"topology"});
  EXPECT_THAT(text, ::testing::ContainsRegex("  topology +ring +default, without effect here\n"));
  EXPECT_THAT(text, ::testing::ContainsRegex("  mixing +metropolis +default\n"));
}

// A profile is of the device, not of what was made up.
TEST(ResolveConfig, MeasuresNothingThatIsMadeUp) {
  using Flags = std::map<std::string, std::string>;
  for (const Flags& flags : {Flags{{"slow", "1:2"}}, Flags{{"straggler", "rank=1:factor=2"}},
                             Flags{{"model", "quadratic"}, {"rounds", "9"}, {"compute", "5ms"}}}) {
    Flags all = flags;
    all["profile"] = "p.textproto";
    const absl::StatusOr<ResolvedConfig> resolved = ResolveConfig({.flags = all});
    ASSERT_TRUE(resolved.ok()) << resolved.status();
    EXPECT_THAT(std::string(ValidateForRealNodes(*resolved).message()),
                HasSubstr("--profile=p.textproto: --compute, --slow and --straggler change"));
  }
}

// A simulation, which waits in no real time, has the one and not the other.
TEST(ResolveConfig, OnlyRealNodesWaitForAStepAsLongAsForAPeer) {
  const auto slow = ResolveConfig({.flags = {{"peer_timeout", "20min"}}});
  ASSERT_TRUE(slow.ok()) << slow.status();
  EXPECT_THAT(std::string(ValidateForRealNodes(*slow).message()),
              HasSubstr("--step-timeout=15min: is below --peer-timeout=20min"));
  EXPECT_TRUE(ValidateForSimulation(*slow).ok());
}

}  // namespace
}  // namespace grapevine

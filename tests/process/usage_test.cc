// Mistakes on the command line and in files, as users make them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/model/scratch_folder.h"
#include "tests/process/exit_codes.h"
#include "tests/process/grapevine_process.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

// How the program answers `arguments`.
void ExpectRefused(const std::vector<std::string>& arguments, int exit_code,
                   const ::testing::Matcher<std::string>& message) {
  const Ended ended = RunGrapevine(arguments);
  SCOPED_TRACE(::testing::PrintToString(arguments));
  EXPECT_EQ(ended.exit_code, exit_code);
  EXPECT_THAT(ended.output, message);
}

TEST(Usage, UnknownNamesBringASuggestion) {
  ExpectRefused({"trian"}, kUsage, HasSubstr("did you mean train?"));
  ExpectRefused({"train", "--topolgy=ring"}, kUsage,
                HasSubstr("unknown flag --topolgy; did you mean --topology?"));
  ExpectRefused({"node", "--wrold-size=2"}, kUsage, HasSubstr("did you mean --world-size?"));
  ExpectRefused({"train", "--topology=rng"}, kUsage, AllOf(HasSubstr("rng"), HasSubstr("ring")));
  ExpectRefused({"train", "--model=lenet"}, kUsage, AllOf(HasSubstr("lenet"), HasSubstr("lenet5")));
  ExpectRefused({}, kUsage,
                AllOf(HasSubstr("Commands:"), HasSubstr("train with all nodes"),
                      HasSubstr("grapevine: a command is missing")));
}

// How the program answers `arguments`, which it takes.
std::string AnswerTo(const std::vector<std::string>& arguments) {
  const Ended ended = RunGrapevine(arguments);
  SCOPED_TRACE(::testing::PrintToString(arguments));
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  return ended.output;
}

TEST(Usage, HelpIsACommandToo) {
  EXPECT_EQ(AnswerTo({"help"}), AnswerTo({"--help"}));
  EXPECT_EQ(AnswerTo({"help", "train"}), AnswerTo({"train", "--help"}));
  EXPECT_EQ(AnswerTo({"help", "train", "all"}), AnswerTo({"train", "--help=all"}));
  ExpectRefused({"help", "trian"}, kUsage,
                HasSubstr("grapevine help: unknown command trian; did you mean train?"));
}

TEST(Usage, TheHelpIsShortAndEverythingIsAWordAway) {
  const std::string brief = AnswerTo({"train", "--help"});
  EXPECT_LT(std::ranges::count(brief, '\n'), 90);
  EXPECT_THAT(brief, AllOf(HasSubstr("--algorithm SPEC"), HasSubstr("mnist:DIR"),
                           HasSubstr("--help=all"), Not(HasSubstr("--peer-timeout"))));
  EXPECT_THAT(AnswerTo({"train", "--help=all"}), HasSubstr("--peer-timeout"));
  EXPECT_THAT(AnswerTo({"sim", "--help"}), HasSubstr("--bandwidth"));
  EXPECT_THAT(AnswerTo({"node", "--help"}), HasSubstr("--rank"));
  EXPECT_THAT(AnswerTo({"topology", "--help"}), HasSubstr("--mixing"));
  for (const char* topic : {"algorithm", "--algorithm", "-algorithm"}) {
    EXPECT_THAT(AnswerTo({"train", absl::StrCat("--help=", topic)}),
                AllOf(HasSubstr("grapevine train --algorithm SPEC\n"), HasSubstr("\n  dpsgd[")));
  }
  EXPECT_EQ(AnswerTo({"train", "--help=eval_every"}), AnswerTo({"help", "train", "eval-every"}));
  EXPECT_EQ(AnswerTo({"train", "--help=learning-rate"}), AnswerTo({"train", "--help=lr"}));
  EXPECT_EQ(AnswerTo({"train", "--help=n"}), AnswerTo({"train", "--help=nodes"}));
  ExpectRefused({"train", "--help=algorthm"}, kUsage,
                HasSubstr("grapevine train: unknown flag --algorthm; did you mean --algorithm?"));
  ExpectRefused({"topology", "--help=peer-timeout"}, kUsage,
                HasSubstr("it is a flag of grapevine doctor, grapevine node, grapevine sim"));
  ExpectRefused({"train", "--help="}, kUsage, HasSubstr("--help=: the value is empty"));
}

TEST(Usage, FlagsAsOtherProgramsHaveThemAreTaken) {
  const auto settings = [](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {"train", "--dry-run", "--data=synthetic:train=64:test=20"});
    return AnswerTo(flags);
  };
  EXPECT_THAT(settings({"-n=4"}), ::testing::ContainsRegex("nodes +4 +--nodes"));
  EXPECT_THAT(settings({"--world-size=2"}), ::testing::ContainsRegex("nodes +2 +--nodes"));
  EXPECT_THAT(settings({"--learning-rate=0.1"}), ::testing::ContainsRegex("lr +0.1 +--lr"));
  EXPECT_THAT(settings({"--batch-size=8"}), ::testing::ContainsRegex("batch +8 +--batch"));
  EXPECT_THAT(settings({"--target=90%"}),
              ::testing::ContainsRegex("target-accuracy +0.9 +--target-accuracy"));
  EXPECT_THAT(AnswerTo({"topology", "-n=4", "--topology=ring"}), HasSubstr("ring"));
  for (const char* alias : {"--learning-rate", "--batch-size", "--world-size", "--output"}) {
    EXPECT_THAT(AnswerTo({"train", "--help=all"}), Not(HasSubstr(alias)));
  }
}

TEST(Usage, ALongFlagWithOneSignBringsTheOneWithTwo) {
  ExpectRefused({"train", "-nodes=4"}, kUsage,
                HasSubstr("grapevine train: unknown flag -nodes=4; did you mean --nodes=4?"));
  ExpectRefused({"topology", "-topology", "ring"}, kUsage,
                HasSubstr("unknown flag -topology; did you mean --topology?"));
  EXPECT_THAT(AnswerTo({"topology", "-n4", "--topology=ring"}), HasSubstr("ring"));
}

TEST(Usage, AFlagOfAnotherCommandNamesThatCommand) {
  ExpectRefused({"train", "--latency"}, kUsage,
                HasSubstr("unknown flag --latency; it is a flag of grapevine sim"));
  ExpectRefused({"train", "--latency=5ms"}, kUsage,
                HasSubstr("unknown flag --latency; it is a flag of grapevine sim"));
}

TEST(Usage, AnAbbreviatedFlagBringsTheWholeOne) {
  ExpectRefused({"sim", "--net-model=nic"}, kUsage,
                HasSubstr("unknown flag --net-model; did you mean --network-model?"));
  ExpectRefused({"train", "--bat=3"}, kUsage,
                HasSubstr("unknown flag --bat; did you mean --batch?"));
}

TEST(Usage, SpecsThatLackAWordBringTheWholeOne) {
  ExpectRefused({"train", "--split=dirichlet:0.1", "--data=synthetic:train=64:test=20"}, kUsage,
                HasSubstr("--split=dirichlet:0.1: unexpected '0.1'; did you mean alpha=0.1?"));
  ExpectRefused({"train", "--data=DIR/mnist"}, kUsage,
                HasSubstr("--data=DIR/mnist: unknown data set 'DIR/mnist'; did you mean "
                          "mnist:DIR/mnist? known: "));
}

TEST(Usage, ANodeTakesTheNumberOfNodesAsTrainDoes) {
  ExpectRefused({"node", "-n", "2"}, kUsage,
                HasSubstr("this node's rank is not known: give --rank (0 to 1), or set RANK"));
  ExpectRefused({"node", "-n", "2", "--rank=2", "--out=x"}, kUsage,
                HasSubstr("rank 2 (--rank) does not exist among 2 nodes (--nodes)"));
}

TEST(Usage, AFlagWithoutAValueTrainsIntoNoFolder) {
  ExpectRefused({"train", "--out=", "--epochs=0.1"}, kUsage,
                HasSubstr("grapevine train: --out=: the value is empty"));
  ExpectRefused({"sim", "--out", "--epochs=0.1"}, kUsage,
                HasSubstr("grapevine sim: --out: needs a value, and --epochs=0.1 is a flag"));
  EXPECT_FALSE(std::filesystem::exists("--epochs=0.1"));
}

TEST(Usage, ImpossibleTopologiesNameTheNearestNodes) {
  ExpectRefused({"train", "-n", "6", "--topology=hypercube"}, kUsage,
                AllOf(HasSubstr("hypercube"), HasSubstr("not for 6 nodes"),
                      HasSubstr("nearest is n = 4 or 8")));
  ExpectRefused({"train", "-n", "7", "--topology=random:d=3"}, kUsage,
                HasSubstr("nearest is n = 6 or 8"));
}

TEST(Usage, ValuesThatMakeNoSenseNameTheFlag) {
  ExpectRefused({"train", "--peer-timeout=2"}, kUsage,
                AllOf(HasSubstr("--peer-timeout"), HasSubstr("no unit"), HasSubstr("30s")));
  ExpectRefused({"train", "--lr=fast"}, kUsage, AllOf(HasSubstr("--lr"), HasSubstr("fast")));
  ExpectRefused({"train", "--epochs=1", "--rounds=1"}, kUsage,
                AllOf(HasSubstr("--epochs and --rounds"), HasSubstr("keep one")));
  ExpectRefused({"train", "--model=phantom:1MB"}, kUsage, HasSubstr("--compute=TIME"));
  ExpectRefused({"train", "--model=phantom:1MB", "--compute=5ms"}, kUsage,
                HasSubstr("use --rounds=R"));
}

// A node would see a sample twice in one batch.
TEST(Usage, ABatchLargerThanANodesShardIsRefused) {
  for (const char* command : {"train", "sim"}) {
    ExpectRefused({command, "-n", "3", "--batch=22", "--data=synthetic:train=64:test=20"}, kUsage,
                  HasSubstr("--batch=22: node 0 has only 21 of the 64 samples; lower it, or take "
                            "fewer nodes or another --split"));
  }
}

TEST(Usage, TimesOfGradientsAndStragglersThatMakeNoSense) {
  const std::vector<std::string> phantom = {"train", "--model=phantom:1MB", "--rounds=3"};
  const auto with = [&phantom](std::vector<std::string> flags) {
    flags.insert(flags.begin(), phantom.begin(), phantom.end());
    return flags;
  };
  ExpectRefused(with({"--compute=normal:mean=5ms"}), kUsage,
                HasSubstr("--compute=normal:mean=5ms: needs sd=TIME"));
  ExpectRefused(with({"--compute=gauss"}), kUsage, HasSubstr("must be a time such as 10ms"));
  ExpectRefused(with({"--compute=5ms", "--straggler=rank=4:factor=2"}), kUsage,
                HasSubstr("there is no rank 4 among 4 nodes"));
}

TEST(Usage, SpecsThatAreNotUnderstoodNameTheFlag) {
  for (const char* flag : {"--topology=nosuch", "--mixing=nosuch", "--algorithm=nosuch",
                           "--model=nosuch", "--data=nosuch", "--split=nosuch",
                           "--optimizer=nosuch", "--schedule=nosuch", "--model=mlp:depth=3"}) {
    for (const char* command : {"train", "sim"}) {
      ExpectRefused({command, flag, "--data=synthetic:train=64:test=20", flag}, kUsage,
                    HasSubstr(std::string("grapevine ") + command + ": " + flag + ": "));
    }
  }
  ExpectRefused({"topology", "--topology=ring,nosuch"}, kUsage, HasSubstr("--topology=nosuch: "));
  ExpectRefused({"train", "--model=phantom:1", "--compute=5ms", "--rounds=1"}, kUsage,
                HasSubstr("--model=phantom:1: "));
  ExpectRefused({"sim", "--model=phantom:1000000TB", "--compute=5ms", "--rounds=1"}, kUsage,
                HasSubstr("phantom:1000000TB: a replica has at most 1 PB"));
}

TEST(Usage, WhatAnAlgorithmCannotUseBringsWhatItCan) {
  const std::string edges = ::testing::TempDir() + "/one_way.edges";
  std::ofstream(edges) << "0 -> 1\n1 -> 2\n2 -> 3\n3 -> 0\n";
  for (const char* command : {"train", "sim"}) {
    const auto with = [command](std::vector<std::string> flags) {
      flags.insert(flags.begin(), {command, "-n", "4", "--model=quadratic", "--rounds=1"});
      return flags;
    };
    ExpectRefused(with({"--algorithm=adpsgd:every=0"}), kUsage,
                  HasSubstr("--algorithm=adpsgd:every=0: option every: 0 is less than 1"));
    ExpectRefused(with({"--algorithm=adpsgd", "--topology=file:" + edges}), kUsage,
                  AllOf(HasSubstr("--algorithm=adpsgd: needs a graph whose edges go both ways"),
                        HasSubstr("take ring")));
    ExpectRefused(with({"--algorithm=adpsgd", "--topology=random-matching"}), kUsage,
                  AllOf(HasSubstr("random-matching changes with the round"),
                        HasSubstr("take ring or another --topology that stays the same")));
    ExpectRefused(with({"--algorithm=adpsgd", "--window=2"}), kUsage,
                  HasSubstr("--window=2: the nodes of --algorithm=adpsgd go through no rounds "
                            "together; drop --window"));
  }
}

TEST(Usage, DataFilesThatAreMissingOrBroken) {
  const ScratchFolder folder;
  ExpectRefused({"train", "--data=mnist:" + folder.File("none")}, kInput,
                AllOf(HasSubstr(folder.File("none")), HasSubstr("train-images-idx3-ubyte")));
  folder.Write("train-images-idx3-ubyte", "no images at all");
  folder.Write("train-labels-idx1-ubyte", "");
  ExpectRefused({"train", "--data=mnist:" + folder.path()}, kInput,
                HasSubstr(folder.File("train-")));
}

TEST(Usage, ConfigFilesAreBlamedByLine) {
  const ScratchFolder folder;
  const std::string unknown = folder.Write("unknown.textproto", "nodes: 2\ntopolgy: \"ring\"\n");
  ExpectRefused({"train", "--config=" + unknown}, kUsage,
                AllOf(HasSubstr(unknown + ":2"), HasSubstr("topolgy")));
  const std::string invalid = folder.Write("invalid.textproto", "nodes: 2\n\nepochs: -1\n");
  ExpectRefused({"train", "--config=" + invalid}, kUsage,
                AllOf(HasSubstr(invalid + ":3"), HasSubstr("must be positive")));
  ExpectRefused({"train", "--config=" + folder.File("none")}, kInput,
                HasSubstr(folder.File("none")));
}

// A pipe would be waited for, for ever.
TEST(Usage, APipeInThePlaceOfARunsFileIsRefused) {
  const ScratchFolder folder;
  const std::string run = folder.File("run");
  AnswerTo({"sim", "-n", "2", "--model=quadratic", "--rounds=2", "--compute=1ms", "--out=" + run});
  const auto refuse = [&](const std::string& name, const std::vector<std::string>& commands,
                          const std::string& why) {
    const std::string file = run + "/" + name;
    std::filesystem::rename(file, file + ".kept");
    ASSERT_EQ(mkfifo(file.c_str(), 0600), 0);
    for (const std::string& command : commands) {
      ExpectRefused({command, run, "-o", folder.File("page.svg")}, kInput, HasSubstr(why));
    }
    std::filesystem::remove(file);
    std::filesystem::rename(file + ".kept", file);
  };
  refuse("metrics.jsonl", {"report", "plot", "compare"}, "metrics.jsonl is not a regular file");
  refuse("summary.json", {"compare"}, "summary.json is not a regular file");
  refuse("config.textproto", {"report", "plot", "compare"}, "there is no config.textproto");
  // A page is written without what lacks.
  const std::string statistics = run + "/statistics.json";
  std::filesystem::remove(statistics);
  ASSERT_EQ(mkfifo(statistics.c_str(), 0600), 0);
  AnswerTo({"report", run, "-o", folder.File("page.html")});
  std::ostringstream page;
  page << std::ifstream(folder.File("page.html")).rdbuf();
  EXPECT_THAT(page.str(), HasSubstr("statistics.json is not a regular file"));
}

// A terminal obeys what follows ESC.
TEST(Usage, NothingInAFileSteersTheTerminal) {
  const ScratchFolder folder;
  const std::string config = folder.Write("escape.textproto", "topology: \"\\033[2Jring\"\n");
  ExpectRefused({"train", "--config=" + config}, kUsage,
                AllOf(HasSubstr("escape.textproto:1: topology: has a control character: "
                                "\\x1b[2Jring"),
                      Not(HasSubstr("\033"))));
  const std::string run = folder.File("run");
  std::filesystem::create_directory(run);
  std::filesystem::copy(config, run + "/config.textproto");
  std::ofstream(run + "/metrics.jsonl") << "";
  ExpectRefused({"compare", run}, kUsage, Not(HasSubstr("\033")));
  const std::string header = "{\"__metadata__\":{\"model\":\"\\u001b[2Jlenet5\"}}";
  std::string length(8, '\0');
  length[0] = static_cast<char>(header.size());
  const std::string model = folder.Write("model.safetensors", length + header);
  ExpectRefused({"eval", model, "--data=synthetic:train=64:test=20"}, kUsage,
                AllOf(HasSubstr("\\x1b[2Jlenet5"), Not(HasSubstr("\033"))));
}

TEST(Usage, WhatIsMadeForEachRoundOfTheWindowIsBounded) {
  const ScratchFolder folder;
  const std::string config = folder.Write("window.textproto", "window: 1000000000\n");
  for (const char* command : {"train", "sim"}) {
    ExpectRefused(
        {command, "--config=" + config}, kUsage,
        HasSubstr("window.textproto:1: window=1000000000: must be at least 0 and at most 1000"));
    ExpectRefused({command, "--window=1000000000"}, kUsage,
                  HasSubstr("--window=1000000000: must be at least 0 and at most 1000"));
  }
}

TEST(Usage, WhatIsMadeForEachNodeIsBounded) {
  const auto many = HasSubstr("not for 2000000000 nodes: there can be at most 16777216");
  ExpectRefused({"topology", "-n", "2000000000"}, kUsage, many);
  for (const char* command : {"train", "sim"}) {
    ExpectRefused({command, "--nodes=2000000000", "--model=quadratic", "--rounds=1"}, kUsage, many);
  }
}

TEST(Usage, AnExistingOutIsNeverWrittenInto) {
  const ScratchFolder folder;
  const std::string file = folder.Write("thesis", "irreplaceable");
  ExpectRefused({"train", "--out=" + file}, kOutput,
                AllOf(HasSubstr(file), HasSubstr("another --out")));
  ExpectRefused({"train", "--overwrite", "--out=" + folder.path()}, kOutput,
                AllOf(HasSubstr(folder.path()), HasSubstr("not a run directory")));
}

TEST(Usage, WeightsOfAnotherModelAreRefused) {
  const ScratchFolder folder;
  ASSERT_EQ(RunGrapevine({"train", "-n", "1", "--model=softmax", "--rounds=1", "--out",
                          folder.File("run"), "--data=synthetic:train=64:test=20"})
                .exit_code,
            0);
  const std::string weights = folder.File("run/model.safetensors");
  ExpectRefused({"train", "--model=lenet5", "--data=synthetic:train=64:test=20",
                 "--init-from=" + weights, "--out=" + folder.File("other")},
                kInput, AllOf(HasSubstr(weights), HasSubstr("conv")));
  EXPECT_FALSE(std::filesystem::exists(folder.File("other")));
}

TEST(Usage, ANodeMustKnowWhichItIs) {
  ExpectRefused({"node"}, kUsage,
                AllOf(HasSubstr("--world-size"), HasSubstr("RANK"), HasSubstr("grapevine train")));
  ExpectRefused({"node", "--rank=2", "--world-size=2", "--out=x"}, kUsage,
                AllOf(HasSubstr("--rank=2"), HasSubstr("from 0 to 1")));
}

TEST(Usage, WorldSizesMustAgree) {
  const ScratchFolder folder;
  const std::string hosts = folder.Write("hosts", "localhost slots=3\n");
  const Ended ended = RunGrapevine({"node", "--hostfile=" + hosts, "--out=x"},
                                   {.environment = {{"RANK", "0"}, {"WORLD_SIZE", "4"}}});
  EXPECT_EQ(ended.exit_code, kUsage);
  EXPECT_THAT(ended.output, HasSubstr("WORLD_SIZE says 4 nodes and --hostfile says 3; unset one"));
}

TEST(Usage, ADryRunTellsOriginsAndStartsNothing) {
  const ScratchFolder folder;
  const std::string config = folder.Write("ring.textproto", "batch: 8\nlr: 0.01\n");
  const std::string out = folder.File("run");
  GrapevineProcess dry_run(
      {"train", "--dry-run", "--config=" + config, "--nodes=3", "--out=" + out},
      {.environment = {{"GRAPEVINE_LR", "0.02"}}});
  EXPECT_EQ(dry_run.Await(), 0);
  EXPECT_THAT(dry_run.output(), ::testing::ContainsRegex("nodes +3 +--nodes"));
  EXPECT_THAT(dry_run.output(), ::testing::ContainsRegex("lr +0.02 +GRAPEVINE_LR"));
  EXPECT_THAT(dry_run.output(), ::testing::ContainsRegex("batch +8 +.*ring.textproto:1"));
  EXPECT_THAT(dry_run.output(), ::testing::ContainsRegex("topology +ring +default"));
  EXPECT_THAT(dry_run.output(), Not(HasSubstr("round 1/")));
  EXPECT_FALSE(std::filesystem::exists(out));
}

TEST(Usage, ASettingWithoutEffectIsRefused) {
  const std::string why = "has no effect: --optimizer=";
  for (const std::vector<std::string>& command :
       {std::vector<std::string>{"train"},
        {"sim"},
        {"node", "--rank=0", "--world-size=4", "--master-addr=127.0.0.1"}}) {
    const auto with = [&command](const std::vector<std::string>& flags) {
      std::vector<std::string> arguments = command;
      arguments.insert(arguments.end(), {"--dry-run", "--out=unwritten", "--rounds=1"});
      arguments.insert(arguments.end(), flags.begin(), flags.end());
      return arguments;
    };
    ExpectRefused(with({"--optimizer=adam", "--momentum=0.5"}), kUsage,
                  HasSubstr("--momentum=0.5: " + why + "adam has nothing of the kind"));
    ExpectRefused(with({"--optimizer=sgd:weight_decay=0.1", "--weight-decay=0.2"}), kUsage,
                  HasSubstr("--weight-decay=0.2: " + why + "sgd:weight_decay=0.1"));
    ExpectRefused(with({"--optimizer=adom", "--momentum=0.5"}), kUsage,
                  HasSubstr("--optimizer=adom"));
  }
  // One cell of the sweep uses the momentum.
  EXPECT_EQ(RunGrapevine({"train", "--dry-run", "--out=unwritten", "--rounds=1",
                          "--optimizer=adam,sgd", "--momentum=0.5"})
                .exit_code,
            0);
}

TEST(Usage, AGraphThatNobodyUsesIsNotShown) {
  for (const auto& [command, nodes] : {std::pair{"train", "4 nodes, allreduce"},
                                       std::pair{"sim", "4 simulated nodes, allreduce"}}) {
    for (const char* mixing : {"--mixing=metropolis", "--mixing=uniform"}) {
      const Ended ended =
          RunGrapevine({command, "-n", "4", "--algorithm=allreduce", "--topology=star", mixing,
                        "--model=phantom:1MB", "--compute=1ms", "--rounds=5", "--dry-run"});
      EXPECT_EQ(ended.exit_code, 0) << ended.output;
      EXPECT_THAT(ended.output, AllOf(StartsWith(nodes), Not(HasSubstr(" weights, "))));
    }
  }
}

TEST(Usage, FarMoreNodesThanCoresAreSaidToTakeTurns) {
  const auto header = [](const std::string& nodes) {
    return RunGrapevine({"train", "-n", nodes, "--model=softmax", "--rounds=1", "--dry-run",
                         "--data=synthetic:train=16000:test=20"})
        .output;
  };
  EXPECT_THAT(header("2"), Not(HasSubstr("take turns")));
  EXPECT_THAT(header("1000"), HasSubstr("1000 nodes take turns on "));
}

TEST(Usage, AGraphThatNobodyUsesNeedNotFit) {
  const auto run = [](const std::string& algorithm, const std::string& topology) {
    return RunGrapevine({"sim", "-n", "6", "--algorithm=" + algorithm, "--topology=" + topology,
                         "--model=phantom:1MB", "--compute=1ms", "--rounds=5", "--dry-run"});
  };
  const Ended ended = run("allreduce", "hypercube");
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(ended.output, HasSubstr("--topology, without effect here\n"));
  EXPECT_EQ(run("allreduce", "hypercub").exit_code, kUsage) << "there is none of that name";
  EXPECT_EQ(run("dpsgd", "hypercube").exit_code, kUsage);
  EXPECT_THAT(run("dpsgd,allreduce", "ring").output, Not(HasSubstr("without effect")));
}

TEST(Usage, RelativeDataAreSaidToBeRelativeToWhat) {
  const std::string here = std::filesystem::current_path().string();
  for (const std::string data : {"mnist:nowhere", "cifar10:nowhere", "npz:nowhere.npz"}) {
    ExpectRefused({"train", "-n", "2", "--model=softmax", "--dry-run", "--data=" + data}, kInput,
                  HasSubstr("; --data=" + data + " is relative to the current folder, " + here));
  }
  ExpectRefused({"train", "-n", "2", "--model=softmax", "--dry-run", "--data=mnist:/nowhere"},
                kInput, Not(HasSubstr("relative to")));
}

TEST(Usage, AModelOfNanIsNotEvaluated) {
  const ScratchFolder folder;
  const std::string model = folder.File("run/model.safetensors");
  ASSERT_EQ(
      RunGrapevine({"train", "-n", "2", "--model=softmax", "--data=synthetic:train=64:test=20",
                    "--rounds=2", "--out=" + folder.File("run")})
          .exit_code,
      0);
  std::fstream file(model, std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(-4, std::ios::end).write("\0\0\xc0\x7f", 4);
  file.close();
  for (const char* mode : {"--train", "--json"}) {
    ExpectRefused({"eval", model, "--data=synthetic:train=64:test=20", mode}, kDiverged,
                  HasSubstr(model + ": the model has NaN or infinite elements"));
  }
}

}  // namespace
}  // namespace grapevine::testing

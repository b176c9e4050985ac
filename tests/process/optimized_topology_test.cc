// `grapevine topology --optimize` as its users meet it: what it predicts is what the simulator says
// of the files that it writes, and real nodes read them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tests/model/scratch_folder.h"
#include "tests/process/documentation.h"
#include "tests/process/exit_codes.h"
#include "tests/process/grapevine_process.h"
#include "tests/testing/file_text.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

// `flags` after those of a small search.
std::vector<std::string> Optimize(std::vector<std::string> flags) {
  const std::vector<std::string> common = {
      "topology",   "--optimize", "-n", "6", "--network=wan-3-sites", "--model=phantom:10MB",
      "--budget=50"};
  flags.insert(flags.begin(), common.begin(), common.end());
  return flags;
}

// The JSON behind progress and warnings.
nlohmann::json JsonBehind(const std::string& output) {
  return JsonOf(output.substr(output.find('{')));
}

// Simulated seconds of so many rounds on a graph.
double Simulated(const ScratchFolder& folder, const std::string& topology,
                 const std::string& mixing, int64_t rounds) {
  const std::string out = folder.File("run");
  const Ended ended =
      RunGrapevine({"sim", "-n", "6", "--network=wan-3-sites", "--model=phantom:10MB",
                    "--compute=0s", "--topology=" + topology, "--mixing=" + mixing,
                    "--rounds=" + std::to_string(rounds), "--overwrite", "--out=" + out});
  EXPECT_EQ(ended.exit_code, 0) << ended.output;
  return SummaryOf(out)["simulated_time_s"];
}

TEST(OptimizedTopology, TakesTheTimeThatIsPredicted) {
  const ScratchFolder folder;
  const std::string graph = folder.File("wan.edges");
  const Ended ended = RunGrapevine(Optimize({"--json", "--out=" + graph}));
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  const nlohmann::json found = JsonBehind(ended.output);
  const nlohmann::json& best = found["best"];
  EXPECT_NEAR(Simulated(folder, "file:" + graph, "file:" + graph + ".mixing", best["rounds"]),
              best["seconds"], 1e-9);
  for (const nlohmann::json& family : found["families"]) {
    EXPECT_GE(family["seconds"], best["seconds"]);
    const std::string name = family["topology"];
    EXPECT_NEAR(Simulated(folder, name, "metropolis", family["rounds"]), family["seconds"], 1e-9)
        << name;
  }
  // And its properties are those of any graph.
  const Ended shown = RunGrapevine({"topology", "-n", "6", "--json", "--topology=file:" + graph,
                                    "--mixing=file:" + graph + ".mixing"});
  ASSERT_EQ(shown.exit_code, 0) << shown.output;
  EXPECT_EQ(JsonOf(shown.output)["period"], best["period"]);
}

// A documented command without the program's name, its files in `folder`.
std::vector<std::string> Documented(const std::string& line, const ScratchFolder& folder) {
  std::istringstream words(line.substr(line.find("grapevine ") + std::string("grapevine ").size()));
  std::vector<std::string> arguments;
  for (std::string word; words >> word;) {
    const size_t file = word.find("wan.edges");
    if (file != std::string::npos) word.insert(file, folder.File(""));
    arguments.push_back(word);
  }
  return arguments;
}

// To the digit: simulated time is the same on every machine.
TEST(OptimizedTopology, IsWhatTheDocumentationShows) {
  const ScratchFolder folder;
  const std::vector<std::string> blocks =
      Blocks("docs/topologies.md", "## The best graph for a network", "");
  ASSERT_EQ(blocks.size(), 2u);
  const size_t end = blocks[0].find('\n');
  const Ended found = RunGrapevine(Documented(blocks[0].substr(0, end), folder));
  ASSERT_EQ(found.exit_code, 0) << found.output;
  EXPECT_THAT(found.output, HasSubstr(blocks[0].substr(end + 1)));
  std::istringstream lines(blocks[1]);
  std::string simulate, train;
  ASSERT_TRUE(std::getline(lines, simulate) && std::getline(lines, train));
  std::vector<std::string> simulation = Documented(simulate, folder);
  simulation.push_back("--out=" + folder.File("simulated"));
  const Ended simulated = RunGrapevine(simulation);
  ASSERT_EQ(simulated.exit_code, 0) << simulated.output;
  EXPECT_NEAR(SummaryOf(folder.File("simulated"))["simulated_time_s"], 5.19, 0.005);
  std::vector<std::string> training = Documented(train, folder);
  for (const char* shorter : {"--model=quadratic", "--rounds=12"}) training.push_back(shorter);
  training.push_back("--out=" + folder.File("trained"));
  const Ended trained = RunGrapevine(training);
  EXPECT_EQ(trained.exit_code, 0) << trained.output;
}

TEST(OptimizedTopology, IsATableForPeople) {
  const Ended ended = RunGrapevine(Optimize({}));
  ASSERT_EQ(ended.exit_code, 0) << ended.output;
  EXPECT_THAT(ended.output,
              AllOf(HasSubstr("take the "), HasSubstr("times as fast as"), HasSubstr("\nring "),
                    HasSubstr("network: sites:"), HasSubstr("graphs simulated: ")));
}

TEST(OptimizedTopology, IsAFixedGraphInOtherFormats) {
  const ScratchFolder folder;
  for (const char* name : {"wan.graphml", "wan.dot"}) {
    const std::string graph = folder.File(name);
    const Ended refused = RunGrapevine(Optimize({"--out=" + graph}));
    EXPECT_EQ(refused.exit_code, kUsage);
    EXPECT_THAT(refused.output, HasSubstr("--out=" + graph + ": this format has no schedules"));
    EXPECT_FALSE(std::filesystem::exists(graph));
    const Ended fixed = RunGrapevine(Optimize({"--fixed", "--json", "--out=" + graph}));
    ASSERT_EQ(fixed.exit_code, 0) << fixed.output;
    const nlohmann::json best = JsonBehind(fixed.output)["best"];
    EXPECT_EQ(best["period"], 1);
    EXPECT_NEAR(Simulated(folder, "file:" + graph, "file:" + graph + ".mixing", best["rounds"]),
                best["seconds"], 1e-9);
  }
}

TEST(OptimizedTopology, MistakesNameTheFlag) {
  const auto refused = [](const std::vector<std::string>& arguments, int code,
                          const std::string& message) {
    const Ended ended = RunGrapevine(arguments);
    EXPECT_EQ(ended.exit_code, code) << ::testing::PrintToString(arguments);
    EXPECT_THAT(ended.output, HasSubstr(message));
  };
  refused({"topology", "--network=wan-3-sites"}, kUsage, "--optimize");
  refused({"topology", "--degree=3"}, kUsage, "--optimize");
  refused(Optimize({"--topology=ring"}), kUsage, "--topology");
  refused(Optimize({"--degree=6"}), kUsage, "--degree=6: a node has 1 to 5 neighbours");
  refused(Optimize({"--compute=soon"}), kUsage, "--compute=soon");
  refused(Optimize({"--bandwidth=fast"}), kUsage, "--bandwidth");
  refused(Optimize({"--out=/nowhere/graph.edges"}), kOutput, "/nowhere/graph.edges");
  refused({"topology", "--optimize", "--network=file:/nowhere/net.textproto"}, kInput,
          "/nowhere/net.textproto");
  refused({"topology", "--optimize", "-n", "4", "--network=swich"}, kUsage, "--network=swich");
}

TEST(OptimizedTopology, IsInterrupted) {
  const ScratchFolder folder;
  const std::string graph = folder.File("wan.edges");
  GrapevineProcess process({"topology", "--optimize", "-n", "64", "--network=wan-3-sites",
                            "--model=phantom:10MB", "--budget=1000000", "--out=" + graph});
  EXPECT_TRUE(process.AwaitOutput("graphs simulated")) << process.output();
  process.Signal(SIGINT);
  EXPECT_EQ(process.Await(), kInterrupted) << process.output();
  EXPECT_FALSE(std::filesystem::exists(graph));
}

}  // namespace
}  // namespace grapevine::testing

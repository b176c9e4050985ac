#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/commands/commands.h"
#include "tests/testing/file_text.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using Json = nlohmann::json;

struct Result {
  int exit_code;
  std::string out;
  std::string err;
};

// `grapevine topology ARGUMENTS -o FILE`, and what is in the file.
Result Grapevine(std::vector<std::string> arguments) {
  const std::string path = ::testing::TempDir() + "/topology.out";
  std::remove(path.c_str());
  arguments.insert(arguments.begin(), {"grapevine", "topology"});
  arguments.insert(arguments.end(), {"-o", path});
  std::vector<char*> argv;
  for (std::string& argument : arguments) argv.push_back(argument.data());
  CommandLine line("grapevine", "");
  AddTopologyCommand(line);
  Result result{};
  ::testing::internal::CaptureStderr();
  result.exit_code = line.Run(static_cast<int>(argv.size()), argv.data());
  result.err = ::testing::internal::GetCapturedStderr();
  result.out = testing::FileText(path);
  return result;
}

Json GrapevineJson(std::vector<std::string> arguments) {
  arguments.push_back("--json");
  const Result result = Grapevine(arguments);
  EXPECT_EQ(result.exit_code, 0) << result.err;
  return Json::parse(result.out);
}

TEST(TopologyCommandTest, JsonOfAFixedGraph) {
  const Json json = GrapevineJson({"--topology=ring", "-n", "4"});
  EXPECT_EQ(json["topology"], "ring");
  EXPECT_EQ(json["mixing"], "metropolis");
  EXPECT_EQ(json["nodes"], 4);
  EXPECT_EQ(json["edges"], Json::parse("[[0,1],[0,3],[1,2],[2,3]]"));
  EXPECT_EQ(json["degree"], 2);
  EXPECT_EQ(json["directed"], false);
  EXPECT_EQ(json["period"], 1);
  EXPECT_NEAR(json["rho"], 1.0 / 3, 1e-15);
  EXPECT_NEAR(json["spectral_gap"], 2.0 / 3, 1e-15);
  ASSERT_EQ(json["eigenvalues"].size(), 4u);
  EXPECT_EQ(json["eigenvalues"][0], 1.0);
  EXPECT_FALSE(json.contains("period_product"));
}

TEST(TopologyCommandTest, JsonOfADirectedGraphHasComplexEigenvalues) {
  const Json json = GrapevineJson({"--topology=exponential", "-n", "7"});
  EXPECT_EQ(json["directed"], true);
  EXPECT_EQ(json["edges"].size(), 21u);
  EXPECT_EQ(json["edges"][0], Json::parse("[0,1]"));
  EXPECT_NEAR(json["rho"], .3536, 5e-5);
  ASSERT_EQ(json["eigenvalues"][1].size(), 2u);
  EXPECT_NEAR(json["eigenvalues"][1][0], 0.125, 1e-12);
}

TEST(TopologyCommandTest, JsonOfAScheduleHasItsPeriodProduct) {
  const Json json = GrapevineJson({"--topology=one-peer-exponential", "-n", "8", "--round=1"});
  EXPECT_EQ(json["period"], 3);
  EXPECT_EQ(json["round"], 1);
  EXPECT_EQ(json["degree"], 1);
  EXPECT_EQ(json["edges"][0], Json::parse("[0,2]"));
  EXPECT_EQ(json["rho_by_round"].size(), 3u);
  EXPECT_EQ(json["period_product"]["rho"], 0.0);
  EXPECT_EQ(json["period_product"]["eigenvalues"].size(), 8u);
  EXPECT_EQ(json["exact"], true);
  EXPECT_EQ(json["rounds_to_tenth"], 3);
}

TEST(TopologyCommandTest, JsonOfMatchingsHasTheExpectedContraction) {
  const Json json = GrapevineJson({"--topology=random-matching", "-n", "8"});
  EXPECT_EQ(json["period"], 0);
  EXPECT_NEAR(json["expected_contraction"], 3.0 / 7, 1e-12);
}

TEST(TopologyCommandTest, JsonBeyondTheWholeSpectrumSaysHow) {
  const Json json = GrapevineJson({"--topology=random", "-n", "3000"});
  EXPECT_TRUE(json["eigenvalues"].is_null());
  EXPECT_EQ(json["method"], "lanczos");
  EXPECT_LT(json["residual"], 1e-6);
}

TEST(TopologyCommandTest, TextForPeople) {
  const Result result = Grapevine({"--topology=torus:4x4", "-n", "16", "--mixing=lazy"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_EQ(result.out,
            "torus:4x4, 16 nodes\n"
            "  mixing           lazy:metropolis\n"
            "  schedule         the same graph in every round\n"
            "  edges            32\n"
            "  degree           4\n"
            "  sent per round   4 M a node (M: one replica)\n"
            "  rho              0.8 (closed form)\n"
            "  spectral gap     0.2\n"
            "  eigenvalues      1, 0.8 (4), 0.6 (6), 0.4 (4), 0.2\n"
            "  disagreement     a tenth after 11 rounds\n");
}

// One of its eigenvalues is -1: values go back and forth for ever. Rounding makes rho a
// little less than 1.
TEST(TopologyCommandTest, WhatNeverAgreesIsSaid) {
  constexpr int kNodes = 8;
  const std::string path = ::testing::TempDir() + "/swap.txt";
  std::ofstream file(path);
  for (int i = 0; i < kNodes * kNodes; ++i) {
    const int apart = (i / kNodes - i % kNodes + kNodes) % kNodes;
    file << (apart == 1 || apart == kNodes - 1 ? "0.5" : "0") << (i % kNodes == 7 ? "\n" : " ");
  }
  file.close();
  const std::vector<std::string> flags = {"--topology=ring", "-n", "8", "--mixing=file:" + path};
  EXPECT_THAT(Grapevine(flags).out,
              AllOf(HasSubstr("never vanishes: rho is 1: the weights are bipartite"),
                    HasSubstr("--mixing=lazy")));
  EXPECT_TRUE(GrapevineJson(flags)["rounds_to_tenth"].is_null());
}

TEST(TopologyCommandTest, SeveralTopologiesMakeATable) {
  const Result result = Grapevine({"--topology=ring,one-peer-exponential,random-matching", "-n8"});
  EXPECT_EQ(result.exit_code, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("ring                       8         8       2        1"));
  EXPECT_THAT(result.out, HasSubstr("endless"));
  const Result lines = Grapevine({"--topology=ring,star", "--json"});
  std::istringstream stream(lines.out);
  std::string first, second;
  std::getline(stream, first);
  std::getline(stream, second);
  EXPECT_EQ(Json::parse(first)["topology"], "ring");
  EXPECT_EQ(Json::parse(second)["topology"], "star");
}

TEST(TopologyCommandTest, WritesTheGraph) {
  EXPECT_EQ(Grapevine({"--topology=path", "-n3", "--format=edges"}).out,
            "# path, 3 nodes\n0 1\n1 2\n");
  EXPECT_EQ(Grapevine({"--topology=exponential", "-n4", "--format=dot"}).out.substr(0, 10),
            "digraph {\n");
  EXPECT_EQ(Grapevine({"--topology=path", "-n2", "--format=graphml"}).out,
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
            "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\">\n"
            "<graph edgedefault=\"undirected\">\n<node id=\"0\"/>\n<node id=\"1\"/>\n"
            "<edge source=\"0\" target=\"1\"/>\n</graph>\n</graphml>\n");
}

TEST(TopologyCommandTest, ErrorsNameTheRemedyAndLeaveNoFile) {
  const auto expect = [](std::vector<std::string> arguments, int exit_code,
                         const std::string& message) {
    const Result result = Grapevine(std::move(arguments));
    EXPECT_EQ(result.exit_code, exit_code);
    EXPECT_EQ(result.err, "grapevine topology: " + message + "\n");
    EXPECT_EQ(result.out, "");
  };
  expect({"--topology=hypercube", "-n", "12"}, 2,
         "--topology=hypercube: not for 12 nodes: n must be a power of two; the nearest is n = 8 "
         "or 16");
  expect({"--format=png"}, 2, "--format=png: must be one of edges, graphml, dot");
  expect({"--format=dot", "--topology=ring,star"}, 2,
         "ring,star: --format writes one graph, not a list");
  expect({"--round=-1"}, 2, "--round=-1: rounds begin at 0");
  expect({"--topology=file:/nowhere"}, 3, "cannot open /nowhere: No such file or directory");
  expect({"--topology=ring,,star"}, 2,
         "--topology=ring,,star: empty entry in a comma-separated list");
}

}  // namespace
}  // namespace grapevine

// Graphs from files: what is read, and what hostile files get to hear.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "system/file.h"
#include "topology/files/graph_formats.h"
#include "topology/files/parser_limits.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Write(const std::string& name, std::string_view text) {
  const std::string path = ::testing::TempDir() + "/" + name;
  const absl::Status status = WriteFileAtomically(path, text);
  EXPECT_TRUE(status.ok()) << status;
  return path;
}

std::shared_ptr<const Topology> Load(const std::string& path, Rank n) {
  const auto topology = MakeTopology("file:" + path, n, 1);
  EXPECT_TRUE(topology.ok()) << topology.status();
  return *topology;
}

std::vector<Rank> NeighboursIn(const Topology& topology, Rank rank) {
  std::vector<Rank> neighbours;
  topology.InNeighbours(rank, 0, &neighbours);
  return neighbours;
}

std::vector<Rank> OutNeighbours(const Topology& topology, Rank rank) {
  std::vector<Rank> neighbours;
  topology.OutNeighbours(rank, 0, &neighbours);
  return neighbours;
}

// The message about a file with `text`, without its folder.
std::string Error(const std::string& name, std::string_view text, Rank n = 2,
                  Failure failure = Failure::kInput) {
  const auto topology = MakeTopology("file:" + Write(name, text), n, 1);
  EXPECT_FALSE(topology.ok()) << name;
  EXPECT_EQ(FailureOf(topology.status()), failure) << topology.status();
  std::string message(topology.status().message());
  const std::string folder = ::testing::TempDir() + "/";
  for (size_t at; (at = message.find(folder)) != std::string::npos;) {
    message.erase(at, folder.size());
  }
  return message;
}

std::string Text(const Topology& topology, GraphFormat format) {
  std::string text;
  const absl::Status status = WriteGraph(topology, 0, format, [&](std::string_view piece) {
    text += piece;
    return absl::OkStatus();
  });
  EXPECT_TRUE(status.ok()) << status;
  return text;
}

TEST(GraphFileTest, EveryFormatReadsBackWhatWasWritten) {
  const auto original = *MakeTopology("small-world", 30, 1);
  const std::pair<const char*, GraphFormat> formats[] = {{"g.edges", GraphFormat::kEdges},
                                                         {"g.graphml", GraphFormat::kGraphml},
                                                         {"g.dot", GraphFormat::kDot}};
  for (const auto& [name, format] : formats) {
    const auto copy = Load(Write(name, Text(*original, format)), 30);
    EXPECT_EQ(copy->name(), "file:" + ::testing::TempDir() + "/" + name);
    EXPECT_EQ(copy->period(), 1);
    EXPECT_FALSE(copy->directed());
    for (Rank rank = 0; rank < 30; ++rank) {
      EXPECT_EQ(NeighboursIn(*copy, rank), NeighboursIn(*original, rank)) << name << " " << rank;
    }
  }
}

TEST(GraphFileTest, EveryFormatReadsBackADirectedGraph) {
  const auto original = *MakeTopology("exponential", 11, 1);
  const std::pair<const char*, GraphFormat> formats[] = {{"e.edges", GraphFormat::kEdges},
                                                         {"e.graphml", GraphFormat::kGraphml},
                                                         {"e.gv", GraphFormat::kDot}};
  for (const auto& [name, format] : formats) {
    const auto copy = Load(Write(name, Text(*original, format)), 11);
    EXPECT_TRUE(copy->directed()) << name;
    for (Rank rank = 0; rank < 11; ++rank) {
      EXPECT_EQ(NeighboursIn(*copy, rank), NeighboursIn(*original, rank)) << name << " " << rank;
      EXPECT_EQ(OutNeighbours(*copy, rank), OutNeighbours(*original, rank)) << name << " " << rank;
    }
  }
}

TEST(GraphFileTest, ArrowsAreOneWay) {
  const auto topology =
      Load(Write("w.edges", "0 -> 1\n0 -> 1\n1 --> 2 {'weight': 2}\n2 -> 0\n2 3\n"), 4);
  EXPECT_TRUE(topology->directed());
  EXPECT_THAT(NeighboursIn(*topology, 1), ElementsAre(0));
  EXPECT_THAT(OutNeighbours(*topology, 1), ElementsAre(2));
  EXPECT_THAT(NeighboursIn(*topology, 2), ElementsAre(1, 3));
  EXPECT_THAT(OutNeighbours(*topology, 2), ElementsAre(0, 3));
  EXPECT_EQ(topology->Degree(3, 0), 1);
  EXPECT_EQ(topology->OutDegree(2, 0), 2);
}

TEST(GraphFileTest, ArrowsBothWaysAreAnUndirectedGraph) {
  const auto topology = Load(Write("u.edges", "1 -> 0\n0 -> 1\n1 -> 2\n2 -> 1\n"), 3);
  EXPECT_FALSE(topology->directed());
  EXPECT_THAT(NeighboursIn(*topology, 1), ElementsAre(0, 2));
}

TEST(GraphFileTest, EdgeListsMayHaveCommentsBlanksAndEdgesTwice) {
  const auto topology = Load(Write("x.edges", "# a path\n\n0 1 {}\r\n1,0\n% more\n 2\t1 # end"), 3);
  EXPECT_THAT(NeighboursIn(*topology, 0), ElementsAre(1));
  EXPECT_THAT(NeighboursIn(*topology, 1), ElementsAre(0, 2));
  EXPECT_EQ(topology->Degree(2, 0), 1);
}

// The lines are those of NetworkX 3: write_edgelist of a graph with attributes.
TEST(GraphFileTest, AttributesOfEdgesArePassedOver) {
  const auto topology = Load(Write("data.edges",
                                   "0 1 {'weight': 0.5, 'color': '#ff, 0'}\n"
                                   "1 2 {'weight': 0.5}\n"
                                   "2 3 {}\n"),
                             4);
  EXPECT_THAT(NeighboursIn(*topology, 1), ElementsAre(0, 2));
  EXPECT_THAT(NeighboursIn(*topology, 2), ElementsAre(1, 3));
}

// Boost's reader would need minutes and more for each of these.
TEST(GraphFileTest, DotThatTakesTheSquareOfItsLengthIsRefused) {
  std::string quotes;
  for (int i = 0; i < 5'000'000; ++i) quotes += "\\\"";
  EXPECT_EQ(Error("q.dot", "graph { a [label=\"" + quotes + "\"]; a -- b }"),
            "q.dot: a string of more than 16384 bytes");
  std::string attributes = "x=1", edges;
  for (int i = 0; i < 20'000; ++i) {
    absl::StrAppend(&attributes, ",x", i, "=1");
    edges += "a -- b; ";
  }
  EXPECT_EQ(Error("d.dot", "graph { Edge [" + attributes + "]; " + edges + "}"),
            "d.dot: more than 250 default attributes");
  EXPECT_EQ(Error("a.dot", "graph { a -- b [" + attributes + "]; }"),
            "a.dot: more than 250 attributes of one edge or node");
  std::string statements = "graph { ";
  for (int i = 0; i < 300; ++i) absl::StrAppend(&statements, "edge [x", i, "=1]; ");
  EXPECT_EQ(Error("s.dot", statements + edges + "}"), "s.dot: more than 250 default attributes");
}

TEST(GraphFileTest, DotMayHaveLabelsCommentsAndDefaults) {
  const std::string label(1000, 'x');
  const auto topology = Load(
      Write("l.dot", "graph \"a { graph\" { // { [\n node [shape=circle, label=\"" + label +
                         "\\\"\"]; edge [len=2]\n# {\n a -- b [label=\"}[\"]; b -- c /* [ */ }"),
      3);
  EXPECT_THAT(NeighboursIn(*topology, 1), ElementsAre(0, 2));
}

TEST(GraphFileTest, DotNodesAreRankedByNameWithNumbersAsNumbers) {
  const auto topology = Load(Write("n.dot", "graph { n10 -- n2; n2 -- n1; n1 -- m }"), 4);
  // m, n1, n2, n10.
  EXPECT_THAT(NeighboursIn(*topology, 1), ElementsAre(0, 2));
  EXPECT_THAT(NeighboursIn(*topology, 3), ElementsAre(2));
}

TEST(GraphFileTest, GraphmlNodesAreRankedByAppearance) {
  const auto topology =
      Load(Write("n.xml",
                 "<graphml><key id=\"w\" for=\"edge\" attr.name=\"w\" attr.type=\"double\"/>"
                 "<graph edgedefault=\"undirected\"><node id=\"z\"/><node id=\"a>b\"/>"
                 "<node id=\"m\"/><edge source=\"z\" target=\"m\"><data key=\"w\">0.5</data>"
                 "</edge><edge source=\"m\" target=\"a>b\"/></graph></graphml>"),
           3);
  EXPECT_THAT(NeighboursIn(*topology, 2), ElementsAre(0, 1));
}

TEST(GraphFileTest, RefusesEdgeListsByLine) {
  EXPECT_EQ(Error("a.edges", "0 1\n1 x\n"), "a.edges:2: 'x' is not a rank; ranks are 0, 1, 2, ...");
  EXPECT_EQ(Error("a.edges", "0 -1"), "a.edges:1: '-1' is not a rank; ranks are 0, 1, 2, ...");
  EXPECT_EQ(Error("a.edges", "0 99999999999"),
            "a.edges:1: '99999999999' is not a rank; ranks are 0, 1, 2, ...");
  EXPECT_EQ(Error("a.edges", "0 1\n\n0 1 2.5\n"),
            "a.edges:3: expected two ranks, fields found: 3 (weights come from --mixing)");
  EXPECT_EQ(Error("a.edges", "0 {}\n"), "a.edges:1: '{}' is not a rank; ranks are 0, 1, 2, ...");
  EXPECT_EQ(Error("a.edges", "0 1\n1 1\n"),
            "a.edges:2: an edge from 1 to itself; every node averages itself anyway, remove it");
  EXPECT_EQ(Error("a.edges", "0 1\n1 -> 1\n"),
            "a.edges:2: an edge from 1 to itself; every node averages itself anyway, remove it");
  EXPECT_EQ(Error("a.edges", "0 ->\n"),
            "a.edges:1: expected two ranks, fields found: 2 (weights come from --mixing)");
  EXPECT_EQ(Error("a.edges", "1 2\n2 3\n"),
            "a.edges:2: the lowest rank up to here is 1; ranks begin at 0, subtract 1");
  EXPECT_EQ(
      Error("a.edges", std::string(100, '\0') + " 1"), "a.edges:1: '" + [] {
        std::string zeros;
        for (int i = 0; i < 40; ++i) zeros += "\\x00";
        return zeros;
      }() + "...' is not a rank; ranks are 0, 1, 2, ...");
  EXPECT_EQ(Error("a.edges", ""), "a.edges: a graph without nodes");
}

TEST(GraphFileTest, RefusesWhatIsNotConnectedOrNotThere) {
  EXPECT_EQ(Error("d.edges", "0 1\n2 3\n", 4),
            "d.edges: not connected: no path from node 0 to node 2");
  EXPECT_EQ(Error("d.edges", "0 1\n1 2\n", 4, Failure::kUsage),
            "file:d.edges: not for 4 nodes: the file has 3 nodes; the nearest is n = 3");
  const auto missing = MakeTopology("file:/nowhere/g.edges", 2, 1);
  EXPECT_EQ(missing.status().message(), "cannot open /nowhere/g.edges: No such file or directory");
  EXPECT_EQ(FailureOf(missing.status()), Failure::kInput);
  EXPECT_EQ(MakeTopology("file:", 2, 1).status().message(), "file:: a path is missing");
}

TEST(GraphFileTest, RefusesDirectedGraphsThatAreNotStronglyConnected) {
  EXPECT_EQ(Error("d.dot", "digraph { a -> b; b -> c; a -> c; b -> a }", 3),
            "d.dot: not strongly connected: no path from node 2 to node 0");
  EXPECT_EQ(Error("d.edges", "1 -> 0\n1 -> 2\n2 -> 1\n", 3),
            "d.edges: not strongly connected: no path from node 0 to node 1");
  EXPECT_EQ(Error("d.graphml",
                  "<graphml><graph edgedefault=\"directed\"><node id=\"0\"/><node id=\"1\"/>"
                  "<edge source=\"0\" target=\"1\"/></graph></graphml>"),
            "d.graphml: not strongly connected: no path from node 1 to node 0");
}

TEST(GraphFileTest, RefusesBrokenGraphmlAndDot) {
  EXPECT_EQ(Error("b.graphml", "<graphml>\n<graph edgedefault=\"undirected\">\n<node id="),
            "b.graphml:3: not GraphML: expected ' or \"");
  EXPECT_EQ(Error("b.graphml", "<html/>"), "b.graphml: not GraphML: No such node (graphml)");
  EXPECT_THAT(Error("b.dot", "graph { a -- "), HasSubstr("b.dot: not DOT: "));
  EXPECT_THAT(Error("b.dot", ""), HasSubstr("b.dot: not DOT: "));
  EXPECT_EQ(Error("b.dot", "graph { a -- a; a -- b }"),
            "b.dot: an edge from node 0 to itself; every node averages itself anyway, remove it");
}

// Boost's readers recurse: such files would overflow the stack.
TEST(GraphFileTest, RefusesDeepNesting) {
  std::string deep = "graph ";
  for (int i = 0; i < 1000000; ++i) deep += '{';
  EXPECT_EQ(Error("deep.dot", deep), "deep.dot: more than 250 '{'");
  deep = "<graphml>";
  for (int i = 0; i < 1000000; ++i) deep += "<a>";
  EXPECT_EQ(Error("deep.graphml", deep),
            "deep.graphml: not GraphML: elements nested more than 250 deep, or a document type "
            "with declarations");
}

TEST(XmlDepthTest, CountsElementsWithinElements) {
  EXPECT_TRUE(XmlIsShallow("<a><b/><b x='1'></b></a><!-- c -->", 2));
  EXPECT_FALSE(XmlIsShallow("<a><b/><b></b></a>", 1));
  EXPECT_TRUE(XmlIsShallow("", 0));
  EXPECT_TRUE(XmlIsShallow("<a x=\"<<<>>>\"/><a y='/>'></a>", 1));
}

TEST(XmlDepthTest, IsNotFooledByWhatOnlyLooksLikeAnEndTag) {
  for (const char* piece : {"<b c=\"</b>\">", "<b><!-- </b> -->", "<b><?x </b> ?>",
                            "<b><![CDATA[</b>]]>", "<b'>", "<b='>", "<b c = '></b>' >"}) {
    std::string text;
    for (int i = 0; i < 10; ++i) text += piece;
    EXPECT_FALSE(XmlIsShallow(text, 5)) << piece;
  }
  EXPECT_FALSE(XmlIsShallow("<!DOCTYPE g [ </a></a> ]><a/>", 5));
  EXPECT_TRUE(XmlIsShallow("<!DOCTYPE g SYSTEM \"g.dtd\"><a/>", 1));
}

}  // namespace
}  // namespace grapevine

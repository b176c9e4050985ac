// Graphs from files: what is read, and what hostile files get to hear.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "system/file.h"
#include "topology/files/graph_formats.h"
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

TEST(GraphFileTest, AByteOrderMarkBeforeAnEdgeListIsSkipped) {
  EXPECT_THAT(NeighboursIn(*Load(Write("bom.edges",
                                       "\xEF\xBB\xBF"
                                       "0 1\n"),
                                 2),
                           0),
              ElementsAre(1));
  EXPECT_EQ(Error("bom.edges",
                  "0 1\n\xEF\xBB\xBF"
                  "1 0\n"),
            "bom.edges:2: '\\xef\\xbb\\xbf\\x31' is not a rank; ranks are 0, 1, 2, ...");
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

TEST(GraphFileTest, DotSetsOfNodesNeedNoSubgraph) {
  for (const char* text :
       {"graph { 0 -- {1 2} }", "graph { {1 2} -- 0 }", "graph { 0 -- subgraph {1 2} }",
        "graph { 0 -- subgraph s {1; 2} }", "graph { 0 -- Subgraph \"{\" /* { */ {1 2} }",
        "graph g { { 0; { 1 } } 0 -- { {1} 2 } }"}) {
    const auto topology = Load(Write("set.dot", text), 3);
    EXPECT_THAT(NeighboursIn(*topology, 0), ElementsAre(1, 2)) << text;
    EXPECT_THAT(NeighboursIn(*topology, 1), ElementsAre(0)) << text;
  }
  const auto topology = Load(Write("set.gv", "digraph { 0 -> {1 2} -> 0 }"), 3);
  EXPECT_THAT(OutNeighbours(*topology, 1), ElementsAre(0));
}

TEST(GraphFileTest, DotMayHaveHtmlAndNamesBeyondAscii) {
  for (const char* text :
       {"graph { a [label=<<b>x</b>>]; a -- b }", "graph { a [label=<b>]; a -- b }",
        "graph { a [label=<say \"a \\\" -- z&quot;>, x=<>]; a -- b }", "graph { <a> -- <b> }",
        "graph { \xC3\xA9 -- b }", "graph { M\xC3\xBCnchen -- \"K\xC3\xB6ln\" }",
        "\xEF\xBB\xBFgraph { a -- b }"}) {
    EXPECT_THAT(NeighboursIn(*Load(Write("html.dot", text), 2), 0), ElementsAre(1)) << text;
  }
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

// The header and data are those of NetworkX: booleans are Python's.
TEST(GraphFileTest, GraphmlOfOtherProgramsIsRead) {
  const auto file = [](const std::string& keys, const std::string& data) {
    return absl::StrCat(
        "<graphml xmlns=\"http://graphml.graphdrawing.org/xmlns\" "
        "xmlns:y=\"http://www.yworks.com/xml/graphml\">",
        keys, "<graph edgedefault=\"undirected\"><node id=\"a\">", data,
        "</node><node id=\"b\"/><edge source=\"a\" target=\"b\"/></graph></graphml>");
  };
  const std::string texts[] = {
      // NetworkX
      file("<key id=\"d0\" for=\"node\" attr.name=\"up\" attr.type=\"boolean\"/>",
           "<data key=\"d0\">True</data>"),
      file("<key id=\"d0\" for=\"node\" attr.name=\"up\" attr.type=\"boolean\"/>",
           "<data key=\"d0\">False</data>"),
      // graph-tool
      file("<key id=\"key0\" for=\"node\" attr.name=\"pos\" attr.type=\"vector_double\"/>",
           "<data key=\"key0\">0x1.8p+0, 0x1p-1</data>"),
      file("<key id=\"key0\" for=\"node\" attr.name=\"x\" attr.type=\"double\"/>",
           "<data key=\"key0\">0x1.5555555555555p-2</data>"),
      // yEd
      file("<key for=\"node\" id=\"d6\" yfiles.type=\"nodegraphics\"/>",
           "<data key=\"d6\"><y:ShapeNode><y:Geometry height=\"30.0\" width=\"30.0\"/>"
           "<y:NodeLabel>a<y:LabelModel/></y:NodeLabel></y:ShapeNode></data>"),
      file("<key for=\"port\" id=\"d0\" yfiles.type=\"portgraphics\"/>"
           "<key attr.name=\"url\" attr.type=\"string\" for=\"node\" id=\"d4\"/>",
           "<data key=\"d4\"><![CDATA[<node id=\"c\"/>]]></data><port name=\"north\"/>"),
      // pygraphml
      file("<key id=\"label\" attr.name=\"label\" attr.type=\"string\"/>",
           "<data key=\"label\">a</data>"),
      // Maltego
      file("<key for=\"node\" id=\"d0\" attr.name=\"MaltegoEntity\"/>",
           "<data key=\"d0\">7</data>"),
      // ElementTree
      "<ns0:graphml xmlns:ns0=\"http://graphml.graphdrawing.org/xmlns\">"
      "<ns0:graph edgedefault=\"undirected\"><ns0:node id=\"a\" /><ns0:node id=\"b\" />"
      "<ns0:edge source=\"a\" target=\"b\" /></ns0:graph></ns0:graphml>",
      "\xEF\xBB\xBF" + file("", ""),
  };
  for (const std::string& text : texts) {
    const auto topology = Load(Write("other.graphml", text), 2);
    EXPECT_FALSE(topology->directed()) << text;
    EXPECT_THAT(NeighboursIn(*topology, 0), ElementsAre(1)) << text;
  }
}

TEST(GraphFileTest, GraphmlEdgesSayTheirDirectionAsXsdBooleans) {
  const auto graph = [](const std::string& standard, const std::string& own) {
    return absl::StrCat("<graphml><graph edgedefault=\"", standard,
                        "\"><node id=\"a\"/><node id=\"b\"/><node id=\"c\"/>"
                        "<edge source=\"a\" target=\"b\" ",
                        own, "/><edge source=\"b\" target=\"c\" ", own,
                        "/><edge source=\"c\" target=\"a\" ", own, "/></graph></graphml>");
  };
  for (const char* own : {"directed=\"1\"", "directed=\"true\"", "directed=\" 1 \""}) {
    const auto topology = Load(Write("one.graphml", graph("undirected", own)), 3);
    EXPECT_TRUE(topology->directed()) << own;
    EXPECT_THAT(NeighboursIn(*topology, 1), ElementsAre(0)) << own;
  }
  for (const char* own : {"directed=\"0\"", "directed=\"false\""}) {
    const auto topology = Load(Write("zero.graphml", graph("directed", own)), 3);
    EXPECT_FALSE(topology->directed()) << own;
    EXPECT_THAT(NeighboursIn(*topology, 1), ElementsAre(0, 2)) << own;
  }
  EXPECT_EQ(Error("d.graphml", graph("directed", "directed=\"yes\""), 3),
            "d.graphml: edge 1 (a - b): directed is 'yes'; write true or false");
  EXPECT_EQ(Error("d.graphml", graph("both", ""), 3),
            "d.graphml: edgedefault is 'both'; write directed or undirected");
}

TEST(GraphFileTest, AGraphmlEdgeBothWaysInADirectedGraphIsOneEachWay) {
  const auto topology = Load(
      Write("mixed.graphml",
            "<graphml><graph edgedefault=\"directed\"><node id=\"a\"/><node id=\"b\"/>"
            "<node id=\"c\"/><edge source=\"a\" target=\"b\"/><edge source=\"b\" target=\"c\"/>"
            "<edge source=\"c\" target=\"a\"/><edge source=\"a\" target=\"c\" directed=\"0\"/>"
            "</graph></graphml>"),
      3);
  EXPECT_TRUE(topology->directed());
  EXPECT_THAT(OutNeighbours(*topology, 0), ElementsAre(1, 2));
  EXPECT_THAT(OutNeighbours(*topology, 1), ElementsAre(2));
}

TEST(GraphFileTest, GraphmlIdsThatAreTheRanksAreTheRanks) {
  const auto star = [](const std::string& a, const std::string& b, const std::string& c) {
    return absl::StrCat("<graphml><graph edgedefault=\"undirected\"><node id=\"", a,
                        "\"/><node id=\"", b, "\"/><node id=\"", c, "\"/><edge source=\"", a,
                        "\" target=\"", b, "\"/><edge source=\"", c, "\" target=\"", a,
                        "\"/></graph></graphml>");
  };
  EXPECT_EQ(Load(Write("ranks.graphml", star("2", "0", "1")), 3)->Degree(2, 0), 2);
  for (const char* other : {"3", "01", "-1", "x"}) {
    EXPECT_EQ(Load(Write("names.graphml", star("2", "0", other)), 3)->Degree(0, 0), 2) << other;
  }
}

TEST(GraphFileTest, RefusesGraphmlThatIsNoFlatGraph) {
  const auto graph = [](const std::string& more) {
    return absl::StrCat(
        "<graphml><graph edgedefault=\"undirected\"><node id=\"a\"/>"
        "<node id=\"b\"/><edge source=\"a\" target=\"b\"/>",
        more, "</graph></graphml>");
  };
  EXPECT_EQ(Error("g.graphml", graph("<hyperedge><endpoint node=\"a\"/><endpoint node=\"b\"/>"
                                     "</hyperedge>")),
            "g.graphml: has a hyperedge; write edges between two nodes");
  EXPECT_EQ(Error("g.graphml", graph("<node id=\"c\"><graph edgedefault=\"directed\"/></node>")),
            "g.graphml: node 3 (c) has a graph inside; write one flat graph");
  EXPECT_EQ(Error("g.graphml", graph("<node id=\"a\"/>")),
            "g.graphml: node 3 (a): an earlier node has the same id; give it another");
  EXPECT_EQ(Error("g.graphml", graph("<node/>")),
            "g.graphml: node 3: no id; give every node one of its own");
  EXPECT_EQ(Error("g.graphml", graph("<edge source=\"a\" target=\"c\"/>")),
            "g.graphml: edge 2 (a - c): no node has the id 'c'; add it or correct the id");
  EXPECT_EQ(Error("g.graphml", graph("<edge source=\"a\"/>")),
            "g.graphml: edge 2 (a - ): no target; write the ids of both nodes");
  EXPECT_EQ(Error("g.graphml", graph("</graph><graph edgedefault=\"directed\">")),
            "g.graphml: has a second graph; write one a file");
}

TEST(GraphFileTest, RefusesGraphmlThatDeclaresOrNeverEnds) {
  const std::string laughs =
      "<!DOCTYPE graphml [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;&a;&a;&a;\">]>\n"
      "<graphml>&b;</graphml>";
  EXPECT_EQ(Error("l.graphml", laughs),
            "l.graphml:1: not GraphML: a document type with declarations; remove them");
  EXPECT_EQ(Error("x.graphml",
                  "<!DOCTYPE graphml [<!ENTITY x SYSTEM \"file:///etc/passwd\">]>"
                  "<graphml>&x;</graphml>"),
            "x.graphml:1: not GraphML: a document type with declarations; remove them");
  EXPECT_EQ(Error("e.graphml", "<graphml>\n&x;</graphml>"),
            "e.graphml:2: not GraphML: undefined entity");
  const auto known = Load(
      Write("t.graphml",
            "<!DOCTYPE graphml SYSTEM \"http://graphml.graphdrawing.org/dtds/1.0rc/graphml.dtd\">"
            "<graphml><graph edgedefault=\"undirected\"><node id=\"a\"/><node id=\"b\"/>"
            "<edge source=\"a\" target=\"b\"/></graph></graphml>"),
      2);
  EXPECT_EQ(known->size(), 2);
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
            "b.graphml:3: not GraphML: unclosed token");
  EXPECT_EQ(Error("b.graphml", "<html/>"), "b.graphml: not GraphML: there is no element graphml");
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
            "deep.graphml:1: not GraphML: elements nested more than 250 deep");
}

}  // namespace
}  // namespace grapevine

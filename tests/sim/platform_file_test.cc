// A user's own networks: what is read, which ways messages take, and what hostile
// files get to hear.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "sim/platform/platform.h"
#include "sim/platform/platform_request.h"
#include "system/file.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string Write(const std::string& name, std::string_view text) {
  const std::string path = ::testing::TempDir() + "/" + name;
  const absl::Status status = WriteFileAtomically(path, text);
  EXPECT_TRUE(status.ok()) << status;
  return path;
}

std::shared_ptr<const Platform> Load(const std::string& name, std::string_view text) {
  const auto platform = LoadPlatformFile(Write(name, text));
  EXPECT_TRUE(platform.ok()) << platform.status();
  return *platform;
}

// The message about a file with `text`, without its folder.
std::string Error(const std::string& name, std::string_view text) {
  const auto platform = LoadPlatformFile(Write(name, text));
  EXPECT_FALSE(platform.ok()) << text;
  EXPECT_EQ(FailureOf(platform.status()), Failure::kInput) << platform.status();
  std::string message(platform.status().message());
  const std::string folder = ::testing::TempDir() + "/";
  for (size_t at; (at = message.find(folder)) != std::string::npos;) {
    message.erase(at, folder.size());
  }
  return message;
}

std::vector<std::string> RouteNames(const Platform& platform, std::string_view from,
                                    std::string_view to) {
  const auto router = platform.MakeRouter();
  std::vector<std::string> names;
  const Route route = router->Find(*platform.FindHost(from), *platform.FindHost(to));
  Nanoseconds latency = 0;
  for (const LinkId link : route.links) {
    names.push_back(platform.LinkName(link));
    latency += platform.links()[link].latency;
  }
  EXPECT_EQ(route.latency, latency);
  return names;
}

constexpr std::string_view kTwoHosts = R"(# two hosts
host { name: "a" }
host { name: "b" }
switch { name: "s" }
link { a: "a" b: "s" bandwidth: "10Gbit" latency: "5us" }
link { a: "s" b: "b" bandwidth: "1Gbit" latency: "2us" duplex: HALF }
loopback: "16Gbit"
)";

TEST(PlatformFileTest, ReadsATextproto) {
  const auto platform = Load("two.textproto", kTwoHosts);
  EXPECT_EQ(platform->hosts(), 2);
  EXPECT_EQ(platform->HostName(1), "b");
  EXPECT_EQ(platform->FindHost("s"), std::nullopt);
  EXPECT_EQ(platform->loopback(), 2);
  ASSERT_EQ(platform->links().size(), 3);
  EXPECT_EQ(platform->links()[0].capacity, 1.25);
  EXPECT_EQ(platform->links()[2].capacity, 0.125);
  EXPECT_THAT(RouteNames(*platform, "a", "b"), ElementsAre("a->s", "s--b"));
  EXPECT_THAT(RouteNames(*platform, "b", "a"), ElementsAre("s--b", "s->a"));
  EXPECT_EQ(platform->MakeRouter()->Find(0, 1).latency, 7000);
  EXPECT_TRUE(platform->MakeRouter()->Find(1, 1).links.empty());
  EXPECT_FALSE(platform->interfaces());
  EXPECT_TRUE(platform->CheckConnected(std::vector<HostId>{0, 1}).ok());
}

TEST(PlatformFileTest, TwoHostsOnOneCable) {
  const auto platform = Load("cable.textproto", R"(
host { name: "a" } host { name: "b" }
link { a: "a" b: "b" bandwidth: "1Gbit" latency: "0" })");
  EXPECT_THAT(RouteNames(*platform, "a", "b"), ElementsAre("a->b"));
  EXPECT_THAT(RouteNames(*platform, "b", "a"), ElementsAre("b->a"));
}

TEST(PlatformFileTest, RoutesTakeTheFewestNanosecondsThenTheFewestLinks) {
  const auto platform = Load("routes.textproto", R"(
host { name: "a" } host { name: "b" } host { name: "c" }
switch { name: "s" } switch { name: "t" }
link { a: "a" b: "b" bandwidth: "1Gbit" latency: "10us" }
link { a: "a" b: "s" bandwidth: "1Gbit" latency: "3us" }
link { a: "s" b: "b" bandwidth: "1Gbit" latency: "6us" }
link { a: "a" b: "t" bandwidth: "1Gbit" latency: "1us" }
link { a: "t" b: "s" bandwidth: "1Gbit" latency: "2us" }
link { a: "b" b: "c" bandwidth: "1Gbit" latency: "0s" }
link { a: "s" b: "c" bandwidth: "1Gbit" latency: "6us" duplex: ONE_WAY }
)");
  // Nine over s, and not over t, which is as fast but longer.
  EXPECT_THAT(RouteNames(*platform, "a", "b"), ElementsAre("a->s", "s->b"));
  // Straight to c, rather than through b without latency.
  EXPECT_THAT(RouteNames(*platform, "a", "c"), ElementsAre("a->s", "s->c"));
  EXPECT_THAT(RouteNames(*platform, "c", "a"), ElementsAre("c->b", "b->s", "s->a"));
}

// k-ary: hosts h0... on edge switches that are joined by `spines` others.
std::string LeafAndSpine(int leaves, int hosts_per_leaf, int spines) {
  std::string text;
  for (int leaf = 0; leaf < leaves; ++leaf) {
    absl::StrAppend(&text, "switch { name: 'leaf", leaf, "' }\n");
    for (int i = 0; i < hosts_per_leaf; ++i) {
      const int host = leaf * hosts_per_leaf + i;
      absl::StrAppend(&text, "host { name: 'h", host, "' }\nlink { a: 'h", host, "' b: 'leaf", leaf,
                      "' bandwidth: '10Gbit' latency: '1us' }\n");
    }
    for (int spine = 0; spine < spines; ++spine) {
      absl::StrAppend(&text, "link { a: 'leaf", leaf, "' b: 'spine", spine,
                      "' bandwidth: '10Gbit' latency: '1us' }\n");
    }
  }
  for (int spine = 0; spine < spines; ++spine) {
    absl::StrAppend(&text, "switch { name: 'spine", spine, "' }\n");
  }
  return text;
}

TEST(PlatformFileTest, EqualWaysAreSpreadOverAndAlwaysTheSame) {
  const auto platform = Load("spine.textproto", LeafAndSpine(4, 16, 8));
  const auto router = platform->MakeRouter(), again = platform->MakeRouter();
  std::map<LinkId, int> up;
  for (HostId from = 0; from < 16; ++from) {
    for (HostId to = 16; to < 64; ++to) {
      const Route route = router->Find(from, to);
      ASSERT_EQ(route.links.size(), 4);
      EXPECT_EQ(route.latency, 4000);
      ++up[route.links[1]];
    }
  }
  ASSERT_EQ(up.size(), 8);
  // 768 routes over 8 uplinks: 96 each, give or take four deviations.
  for (const auto& [link, routes] : up) EXPECT_NEAR(routes, 96, 37);
  // Another router, asked backwards, finds the same.
  for (HostId from = 63; from >= 0; --from) {
    for (HostId to = 63; to >= 0; --to) {
      const Route other = again->Find(from, to);
      const std::vector<LinkId> expected(other.links.begin(), other.links.end());
      const Route route = router->Find(from, to);
      EXPECT_EQ(std::vector<LinkId>(route.links.begin(), route.links.end()), expected);
    }
  }
}

TEST(PlatformFileTest, ThousandsOfHostsAreRoutedQuickly) {
  const auto platform = Load("large.textproto", LeafAndSpine(128, 64, 4));
  EXPECT_EQ(platform->hosts(), 8192);
  const auto router = platform->MakeRouter();
  for (HostId from = 0; from < 8192; ++from) {
    for (const int step : {1, 1000, 8191}) {
      EXPECT_LE(router->Find(from, (from + step) % 8192).links.size(), 4);
    }
  }
}

constexpr std::string_view kGraphml = R"(<?xml version="1.0"?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
  <key id="k" for="node" attr.name="kind" attr.type="string"/>
  <key id="n" for="node" attr.name="name" attr.type="string"/>
  <key id="b" for="edge" attr.name="bandwidth" attr.type="string"><default>1Gbit</default></key>
  <key id="l" for="edge" attr.name="latency" attr.type="string"/>
  <key id="d" for="edge" attr.name="duplex" attr.type="string"/>
  <graph edgedefault="undirected">
    <node id="n0"/>
    <node id="n1"><data key="k">switch</data></node>
    <node id="n2"><data key="k">host</data><data key="n">gpu-box</data></node>
    <edge source="n0" target="n1"><data key="l">5us</data><data key="b">10Gbit</data></edge>
    <edge source="n1" target="n2"><data key="l">1us</data><data key="d">half</data></edge>
    <edge source="n0" target="n2" directed="true"><data key="l">1us</data></edge>
  </graph>
</graphml>)";

TEST(PlatformFileTest, ReadsGraphml) {
  const auto platform = Load("net.graphml", kGraphml);
  EXPECT_EQ(platform->hosts(), 2);
  EXPECT_EQ(platform->HostName(0), "n0");
  EXPECT_EQ(platform->HostName(1), "gpu-box");
  EXPECT_EQ(platform->links()[0].capacity, 1.25);
  EXPECT_EQ(platform->links()[2].capacity, 0.125);
  EXPECT_THAT(RouteNames(*platform, "n0", "gpu-box"), ElementsAre("n0->gpu-box"));
  EXPECT_THAT(RouteNames(*platform, "gpu-box", "n0"), ElementsAre("n1--gpu-box", "n1->n0"));
}

// Attributes that nobody asks for are those of NetworkX, graph-tool and yEd.
TEST(PlatformFileTest, GraphmlEdgesSayTheirDirectionAsXsdBooleans) {
  const auto routes = [](const std::string& standard, const std::string& own) {
    const auto platform =
        Load("direction.graphml", R"(<graphml>
<key id="l" attr.name="latency"><default>1us</default></key>
<key id="b" for="edge" attr.name="bandwidth" attr.type="string"/>
<key id="u" for="edge" attr.name="up" attr.type="boolean"/>
<key id="p" for="node" attr.name="pos" attr.type="vector_double"/>
<key id="g" for="node" yfiles.type="nodegraphics"/>
<graph edgedefault=")" + standard + R"(">
<node id="a"><data key="p">0x1.8p+0, 0x1p-1</data><data key="g"><name>b</name></data></node>
<node id="b"/>
<edge source="a" target="b" )" + own +
                                      R"(><data key="b">1Gbit</data><data key="u">True</data></edge>
</graph></graphml>)");
    return platform->links().size();
  };
  EXPECT_EQ(routes("undirected", ""), 2);
  EXPECT_EQ(routes("directed", ""), 1);
  EXPECT_EQ(routes("undirected", R"(directed="1")"), 1);
  EXPECT_EQ(routes("undirected", R"(directed="true")"), 1);
  EXPECT_EQ(routes("directed", R"(directed="0")"), 2);
  EXPECT_EQ(routes("directed", R"(directed="false")"), 2);
}

// Every node has a copy of it.
TEST(PlatformFileTest, ALongDefaultInGraphmlIsRefused) {
  const auto file = [](size_t size) {
    return absl::StrCat("<graphml><key id='k' for='node' attr.name='kind'><default>",
                        std::string(size, 'x'), "</default></key><key id='o' for='node' ",
                        "attr.name='notes'><default>", std::string(1000, 'x'),
                        "</default></key><graph><node id='a'/></graph></graphml>");
  };
  EXPECT_EQ(Error("default.graphml", file(257)),
            "default.graphml: the default of 'kind' has 257 bytes, more than 256");
  EXPECT_THAT(Error("default.graphml", file(256)), HasSubstr("node 1 (a): kind is \"xxx"));
}

TEST(PlatformFileTest, AGraphmlKeyBehindTheGraphIsRefused) {
  EXPECT_EQ(Error("late.graphml", R"(<graphml><graph edgedefault="directed"><node id="a"/></graph>
<key id="d" for="edge" attr.name="duplex" attr.type="string"/></graphml>)"),
            "late.graphml: the key of 'duplex' stands behind the graph; write it before");
}

std::string Replaced(std::string_view text, const std::string& from, const std::string& to) {
  std::string result(text);
  const size_t at = result.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  result.replace(at, from.size(), to);
  return result;
}

TEST(PlatformFileTest, BadTextprotosAreToldTheLine) {
  const auto error = [](const std::string& from, const std::string& to) {
    return Error("bad.textproto", Replaced(kTwoHosts, from, to));
  };
  EXPECT_THAT(error("\"b\" bandwidth", "\"c\" bandwidth"),
              StartsWith("bad.textproto:6: link: no host or switch is named \"c\"; add it"));
  EXPECT_THAT(error("1Gbit", "-1Gbit"),
              StartsWith("bad.textproto:6: link: bandwidth: \"-1Gbit\" is not a bandwidth: it is "
                         "negative"));
  EXPECT_THAT(error("1Gbit", "1Gbps"), HasSubstr(":6: link: bandwidth: \"1Gbps\""));
  EXPECT_THAT(error("1Gbit", "0bit"), HasSubstr("nothing would ever arrive"));
  EXPECT_THAT(error("10Gbit", "99999999999Tbit"), HasSubstr(":5: link: bandwidth:"));
  EXPECT_THAT(error("5us", "5"), HasSubstr(":5: link: latency: \"5\""));
  EXPECT_THAT(error("latency: \"5us\"", ""),
              StartsWith("bad.textproto:5: link: no latency; give one, for example \"5us\""));
  EXPECT_THAT(error("bandwidth: \"10Gbit\"", ""), HasSubstr(":5: link: no bandwidth"));
  EXPECT_THAT(error("name: \"b\"", "name: \"a\""),
              StartsWith("bad.textproto:3: host: the name \"a\" is taken by an earlier host"));
  EXPECT_THAT(error("name: \"s\"", "name: \"a\""),
              HasSubstr(":4: switch: the name \"a\" is taken"));
  EXPECT_THAT(error("name: \"a\"", ""), HasSubstr(":2: host: no name"));
  EXPECT_THAT(error("b: \"s\"", ""), HasSubstr(":5: link: one of its two ends has no name"));
  EXPECT_THAT(error("b: \"s\"", "b: \"a\""),
              HasSubstr(":5: link: joins \"a\" to itself; remove it"));
  EXPECT_THAT(error("duplex: HALF", "duplex: SOME"), StartsWith("bad.textproto:6: "));
  EXPECT_THAT(error("switch {", "swich {"), StartsWith("bad.textproto:4: "));
  EXPECT_THAT(error("16Gbit", "fast"), StartsWith("bad.textproto:7: loopback: "));
  EXPECT_THAT(Error("empty.textproto", ""), HasSubstr("empty.textproto: has no host"));
  EXPECT_THAT(Error("bytes.textproto", std::string("\0\xff\x01{", 4)),
              StartsWith("bytes.textproto:1: "));
  EXPECT_THAT(Error("deep.textproto", std::string(100'000, '{')), StartsWith("deep.textproto:1: "));
}

TEST(PlatformFileTest, BadGraphmlIsToldTheElement) {
  const auto error = [](const std::string& from, const std::string& to) {
    return Error("bad.graphml", Replaced(kGraphml, from, to));
  };
  EXPECT_THAT(error("target=\"n2\"", "target=\"n9\""),
              StartsWith("bad.graphml: edge 2 (n1 - n9): no node has the id 'n9'; add it"));
  EXPECT_THAT(error("<data key=\"l\">5us</data>", ""),
              StartsWith("bad.graphml: edge 1 (n0 - n1): no latency"));
  EXPECT_THAT(error("10Gbit", "-10Gbit"), HasSubstr("edge 1 (n0 - n1): bandwidth: \"-10Gbit\""));
  EXPECT_THAT(error("switch", "router"),
              StartsWith("bad.graphml: node 2 (n1): kind is \"router\"; write host or switch"));
  EXPECT_THAT(error("id=\"n2\"", "id=\"n0\""),
              HasSubstr("node 3 (n0): an earlier node has the same id"));
  EXPECT_THAT(error("id=\"n2\"", ""), HasSubstr("node 3: no id"));
  EXPECT_THAT(error("gpu-box", "n0"), HasSubstr("node 3 (n2): the name \"n0\" is taken"));
  EXPECT_THAT(error("half", "some"), HasSubstr("edge 2 (n1 - n2): duplex is \"some\""));
  EXPECT_THAT(error("<node id=\"n0\"/>", "<node id=\"n0\"><graph/></node>"),
              HasSubstr("node 1 (n0) has a graph inside"));
  EXPECT_THAT(error("<node id=\"n0\"/>", "<hyperedge/>"), HasSubstr("has a hyperedge"));
  EXPECT_THAT(error("</graph>", ""), StartsWith("bad.graphml:16: not GraphML: mismatched tag"));
  EXPECT_THAT(Error("list.graphml", "<a/>"), HasSubstr("there is no element graphml"));
  EXPECT_THAT(Error("hollow.graphml", "<graphml/>"), HasSubstr("there is no element graph"));
  EXPECT_THAT(Error("none.graphml", "<graphml><graph/></graphml>"), HasSubstr("has no host"));
  std::string deep = "<graphml>";
  for (int i = 0; i < 100'000; ++i) deep += "<a>";
  EXPECT_THAT(Error("deep.graphml", deep), HasSubstr("nested more than 250 deep"));
}

TEST(PlatformFileTest, HugeFilesAreRefusedBeforeTheyAreParsed) {
  EXPECT_THAT(Error("huge.graphml", std::string((size_t{16} << 20) + 1, ' ')),
              HasSubstr("has 16777217 bytes; GraphML is read up to 16777216"));
  EXPECT_THAT(Error("huge.textproto", std::string((size_t{64} << 20) + 1, ' ')),
              HasSubstr("has 67108865 bytes, more than 67108864"));
}

TEST(PlatformFileTest, AMissingFileIsNamed) {
  for (const char* name : {"missing.textproto", "missing.graphml"}) {
    const auto platform = LoadPlatformFile(::testing::TempDir() + "/" + name);
    EXPECT_EQ(FailureOf(platform.status()), Failure::kInput);
    EXPECT_THAT(std::string(platform.status().message()), HasSubstr(name));
  }
}

TEST(PlatformFileTest, HostsWithoutAWayBetweenThemAreNamed) {
  const auto platform = Load("split.textproto", R"(
host { name: "a" } host { name: "b" } host { name: "c" } host { name: "d" }
link { a: "a" b: "b" bandwidth: "1Gbit" latency: "1us" }
link { a: "b" b: "c" bandwidth: "1Gbit" latency: "1us" duplex: ONE_WAY })");
  EXPECT_TRUE(platform->CheckConnected(std::vector<HostId>{0, 1}).ok());
  EXPECT_TRUE(platform->CheckConnected(std::vector<HostId>{3}).ok());
  const absl::Status one_way = platform->CheckConnected(std::vector<HostId>{0, 1, 2});
  EXPECT_EQ(FailureOf(one_way), Failure::kInput);
  EXPECT_THAT(std::string(one_way.message()),
              HasSubstr("no path from host \"a\" to host \"c\" and back; add a link"));
  EXPECT_FALSE(platform->CheckConnected(std::vector<HostId>{3, 0}).ok());
}

}  // namespace
}  // namespace grapevine

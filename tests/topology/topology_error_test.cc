// What a user reads who asks for a topology that does not exist.
#include <gtest/gtest.h>

#include "base/status.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

std::string Error(const std::string& spec, Rank n) {
  const auto topology = MakeTopology(spec, n, 1);
  EXPECT_FALSE(topology.ok()) << spec << " " << n;
  EXPECT_EQ(FailureOf(topology.status()), Failure::kUsage) << topology.status();
  return std::string(topology.status().message());
}

TEST(TopologyErrorTest, UnknownNames) {
  EXPECT_EQ(Error("rnig", 8),
            "rnig: unknown topology 'rnig'; did you mean ring? known: complete, "
            "erdos-renyi[:p=0.2], exponential, file:PATH, hypercube, one-peer-exponential, path, "
            "random[:d=3], random-matching, ring, small-world[:k=4][:p=0.1], star, torus[:4x8]");
  EXPECT_EQ(Error("", 8), "'': a name is missing");
}

TEST(TopologyErrorTest, UnknownOptions) {
  EXPECT_EQ(Error("ring:k=3", 8), "ring:k=3: unknown option 'k'; ring takes none");
  EXPECT_EQ(Error("random:k=3", 8), "random:k=3: unknown option 'k'; random knows d");
  EXPECT_EQ(Error("complete:4", 8), "complete:4: unexpected '4'");
  EXPECT_EQ(Error("torus:4x2:2", 8), "torus:4x2:2: unexpected '2'");
}

TEST(TopologyErrorTest, NoNodes) {
  EXPECT_EQ(Error("ring", 0), "ring: not for 0 nodes: there must be at least 1");
  EXPECT_EQ(Error("file:x", -1), "file:x: not for -1 nodes: there must be at least 1");
}

TEST(TopologyErrorTest, TorusSides) {
  EXPECT_EQ(Error("torus:4x8", 30),
            "torus:4x8: not for 30 nodes: the product of the sides is another number; "
            "the nearest is n = 32");
  EXPECT_EQ(Error("torus:4x", 8), "torus:4x: '' is not the length of a side; write 4x8");
  EXPECT_EQ(Error("torus:0x4", 8), "torus:0x4: '0' is not the length of a side; write 4x8");
  EXPECT_EQ(Error("torus:99999x99999", 8), "torus:99999x99999: more nodes than fit 31 bits");
}

TEST(TopologyErrorTest, HypercubeSizes) {
  EXPECT_EQ(Error("hypercube", 7),
            "hypercube: not for 7 nodes: n must be a power of two; the nearest is n = 8");
  EXPECT_EQ(Error("hypercube", 12),
            "hypercube: not for 12 nodes: n must be a power of two; the nearest is n = 8 or 16");
}

TEST(TopologyErrorTest, RegularSizes) {
  EXPECT_EQ(Error("random", 7),
            "random: not for 7 nodes: n must be above d = 3 and n * d even; "
            "the nearest is n = 6 or 8");
  EXPECT_EQ(Error("random:d=1", 4),
            "random:d=1: not for 4 nodes: a connected graph of degree 1 has 2 nodes; "
            "the nearest is n = 2");
  // At once: not by trying every size up to there.
  EXPECT_EQ(Error("random:d=2147483646", 8),
            "random:d=2147483646: not for 8 nodes: n must be above d = 2147483646 and n * d even; "
            "the nearest is n = 2147483647");
  EXPECT_EQ(Error("random:d=0", 4), "random:d=0: option d: 0 is less than 1");
  EXPECT_EQ(Error("random:d=99999", 100000),
            "random:d=99999: about 4.99995e+09 edges, more than the 100000000 that are stored; "
            "take a sparser graph");
}

TEST(TopologyErrorTest, SmallWorldOptions) {
  EXPECT_EQ(Error("small-world", 4),
            "small-world: not for 4 nodes: n must be above k = 4; the nearest is n = 5");
  EXPECT_EQ(Error("small-world:k=3", 8), "small-world:k=3: option k: 3 is odd");
  EXPECT_EQ(Error("small-world:p=2", 8), "small-world:p=2: option p: 2 is more than 1");
}

TEST(TopologyErrorTest, ErdosRenyiThatFallsApart) {
  EXPECT_EQ(Error("erdos-renyi:p=0", 3),
            "erdos-renyi:p=0: none of 100 draws over 3 nodes is connected; raise p: most are "
            "connected from p = ln(n) / n = 0.366204 on");
  EXPECT_TRUE(MakeTopology("erdos-renyi:p=0", 1, 1).ok());
}

}  // namespace
}  // namespace grapevine

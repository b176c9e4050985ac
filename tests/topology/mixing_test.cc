// Weights: values, explicit matrices, and what is refused.
#include "topology/weights/mixing.h"

#include <gtest/gtest.h>

#include "base/status.h"
#include "system/file.h"
#include "topology/spectrum/spectrum.h"
#include "topology/weights/matrix_writer.h"

namespace grapevine {
namespace {

std::shared_ptr<const Topology> Graph(const std::string& spec, Rank n) {
  const auto topology = MakeTopology(spec, n, 1);
  EXPECT_TRUE(topology.ok()) << topology.status();
  return *topology;
}

MixingRow Row(const Mixing& mixing, Rank rank, Round round = 0) {
  MixingRow row;
  mixing.Row(rank, round, &row);
  return row;
}

// Directed, of three nodes: node 0 sends to both others, which send to one each.
std::shared_ptr<const Topology> Uneven() {
  const std::string path = ::testing::TempDir() + "/uneven.edges";
  const absl::Status status = WriteFileAtomically(path, "0 -> 1\n0 -> 2\n1 -> 2\n2 -> 0\n");
  EXPECT_TRUE(status.ok()) << status;
  return Graph("file:" + path, 3);
}

std::string Path() { return ::testing::TempDir() + "/w.txt"; }

// The mixing of file:PATH with `text` as the file.
absl::StatusOr<std::shared_ptr<const Mixing>> FromFile(std::string_view text,
                                                       const std::string& topology, Rank n) {
  const absl::Status status = WriteFileAtomically(Path(), text);
  EXPECT_TRUE(status.ok()) << status;
  return MakeMixing("file:" + Path(), Graph(topology, n));
}

std::string FileError(std::string_view text, const std::string& topology, Rank n) {
  const auto mixing = FromFile(text, topology, n);
  EXPECT_FALSE(mixing.ok());
  EXPECT_EQ(FailureOf(mixing.status()), Failure::kInput) << mixing.status();
  std::string message(mixing.status().message());
  EXPECT_EQ(message.rfind(Path(), 0), 0u) << message;
  return message.substr(Path().size());
}

TEST(MixingTest, MetropolisTakesTheLargerDegree) {
  const auto mixing = MakeMixing("metropolis", Graph("star", 5));
  ASSERT_TRUE(mixing.ok()) << mixing.status();
  EXPECT_EQ((*mixing)->name(), "metropolis");
  EXPECT_NEAR(Row(**mixing, 0).self, 0.2, 1e-15);
  EXPECT_EQ(Row(**mixing, 3).in[0].weight, 0.2);
  EXPECT_EQ(Row(**mixing, 3).in[0].rank, 0);
  EXPECT_EQ(Row(**mixing, 3).self, 0.8);
}

TEST(MixingTest, OnePeerSchedulesWeighHalf) {
  for (const char* weights : {"metropolis", "uniform"}) {
    for (const char* topology : {"one-peer-exponential", "random-matching"}) {
      const auto mixing = MakeMixing(weights, Graph(topology, 7));
      ASSERT_TRUE(mixing.ok()) << mixing.status();
      for (Rank rank = 0; rank < 7; ++rank) {
        for (Round round = 0; round < 6; ++round) {
          const MixingRow row = Row(**mixing, rank, round);
          EXPECT_EQ(row.self, row.in.empty() ? 1 : 0.5);
          for (const auto& [neighbour, weight] : row.in) EXPECT_EQ(weight, 0.5);
        }
      }
    }
  }
}

TEST(MixingTest, ExponentialWeighsOneOverTauPlusOne) {
  const auto mixing = MakeMixing("uniform", Graph("exponential", 9));
  ASSERT_TRUE(mixing.ok()) << mixing.status();
  const MixingRow row = Row(**mixing, 0);
  ASSERT_EQ(row.in.size(), 4u);
  for (const auto& [rank, weight] : row.in) EXPECT_EQ(weight, 0.2);
  // Node i sends to i + 1, 2, 4, 8, so that 0 hears 8, 7, 5, 1.
  EXPECT_EQ(row.in[0].rank, 1);
  EXPECT_EQ(row.in[1].rank, 5);
}

TEST(MixingTest, LazyKeepsHalfOfItself) {
  const auto lazy = MakeMixing("lazy", Graph("ring", 8));
  ASSERT_TRUE(lazy.ok()) << lazy.status();
  EXPECT_EQ((*lazy)->name(), "lazy:metropolis");
  EXPECT_NEAR(Row(**lazy, 2).self, 2.0 / 3, 1e-15);
  EXPECT_NEAR(Row(**lazy, 2).in[1].weight, 1.0 / 6, 1e-15);
  const auto twice = MakeMixing("lazy:lazy:uniform", Graph("ring", 8));
  ASSERT_TRUE(twice.ok()) << twice.status();
  EXPECT_EQ((*twice)->name(), "lazy:lazy:uniform");
  EXPECT_NEAR(Row(**twice, 2).in[1].weight, 1.0 / 12, 1e-15);
}

TEST(MixingTest, RefusesUnknownRules) {
  EXPECT_EQ(MakeMixing("best", Graph("ring", 4)).status().message(),
            "best: unknown mixing 'best'; known: file:PATH, lazy[:MIXING], metropolis, out-degree, "
            "uniform");
  EXPECT_EQ(FailureOf(MakeMixing("lazy:", Graph("ring", 4)).status()), Failure::kUsage);
}

TEST(MixingTest, UniformNeedsEqualDegrees) {
  EXPECT_EQ(MakeMixing("uniform", Graph("path", 4)).status().message(),
            "uniform: on path node 0 has degree 1 and its neighbour 1 has 2: columns would not "
            "sum to 1; use metropolis");
  EXPECT_TRUE(MakeMixing("uniform", Graph("complete", 100000)).ok());
}

TEST(MixingTest, OutDegreeSharesEquallyAmongThoseThatANodeSendsTo) {
  const auto star = MakeMixing("out-degree", Graph("star", 5));
  ASSERT_TRUE(star.ok()) << star.status();
  EXPECT_EQ((*star)->name(), "out-degree");
  EXPECT_EQ((*star)->stochastic(), Stochastic::kColumns);
  EXPECT_FALSE((*star)->symmetric());
  EXPECT_EQ(Row(**star, 0).self, 0.2);
  EXPECT_EQ(Row(**star, 0).in[0].weight, 0.5);
  EXPECT_EQ(Row(**star, 3).self, 0.5);
  EXPECT_EQ(Row(**star, 3).in[0].weight, 0.2);
  const auto uneven = MakeMixing("lazy:out-degree", Uneven());
  ASSERT_TRUE(uneven.ok()) << uneven.status();
  EXPECT_EQ((*uneven)->stochastic(), Stochastic::kColumns);
  EXPECT_NEAR(Row(**uneven, 2).in[0].weight, 1.0 / 6, 1e-15);
  EXPECT_NEAR(Row(**uneven, 2).in[1].weight, 1.0 / 4, 1e-15);
}

TEST(MixingTest, OutDegreeIsDoublyStochasticWhereDegreesAreEqual) {
  for (const char* graph :
       {"ring", "complete", "exponential", "one-peer-exponential", "random-matching"}) {
    const auto mixing = MakeMixing("out-degree", Graph(graph, 7));
    ASSERT_TRUE(mixing.ok()) << mixing.status();
    EXPECT_EQ((*mixing)->stochastic(), Stochastic::kDoubly) << graph;
  }
}

TEST(MixingTest, WeightsByDegreeNeedEqualDegreesOnADirectedGraph) {
  for (const std::string weights : {"metropolis", "uniform"}) {
    EXPECT_EQ(MakeMixing(weights, Uneven()).status().message(),
              weights + ": on " + Uneven()->name() +
                  ", a directed graph, node 2 has 2 in- and 1 out-neighbours, and node 0, to which "
                  "it sends, 1 and 2: the mean of the replicas would drift; use out-degree, with "
                  "--algorithm=sgp");
    EXPECT_TRUE(MakeMixing(weights, Graph("exponential", 100)).ok());
  }
}

TEST(MatrixFileTest, TakesColumnsThatSumToOne) {
  const auto uneven = FromFile("1/3 0 1\n1/3 1/2 0\n1/3 1/2 0\n", Uneven()->name(), 3);
  ASSERT_TRUE(uneven.ok()) << uneven.status();
  EXPECT_EQ((*uneven)->stochastic(), Stochastic::kColumns);
  const auto spectrum = RoundSpectrum(**uneven, 0);
  ASSERT_TRUE(spectrum.ok()) << spectrum.status();
  EXPECT_NEAR(std::abs(spectrum->eigenvalues[0]), 1, 1e-12);
  EXPECT_LT(spectrum->rho, 0.9);
  const auto star = FromFile("1/2 1/2 1/3\n1/4 1/2 0\n1/4 0 2/3\n", "star", 3);
  ASSERT_TRUE(star.ok()) << star.status();
  EXPECT_FALSE((*star)->symmetric());
  EXPECT_EQ((*FromFile("1/2 1/2\n1/2 1/2\n", "ring", 2))->stochastic(), Stochastic::kDoubly);
}

TEST(MatrixFileTest, RefusesWhatPushSumCannotUseEither) {
  const std::string graph = Uneven()->name();
  EXPECT_EQ(FileError("1/2 0 1/2\n1/2 1/2 0\n1/3 1/3 1/3\n", graph, 3),
            ": column 0 sums to 1.33333, not 1: the mean of the replicas would drift");
  EXPECT_EQ(FileError("1/3 0 0\n1/3 1/2 0\n1/3 1/2 1\n", graph, 3),
            ": the weights above 0 do not join node 1 to node 0");
}

TEST(MatrixFileTest, ReadsDecimalsFractionsAndComments) {
  const auto mixing =
      FromFile("# weights\n1/2, 1/4, 1/4\n.25 .5 0.25 % row 1\n\n0.25 25e-2 1/2\n", "ring", 3);
  ASSERT_TRUE(mixing.ok()) << mixing.status();
  EXPECT_EQ((*mixing)->name(), "file:" + Path());
  EXPECT_EQ(Row(**mixing, 1).self, 0.5);
  EXPECT_EQ(Row(**mixing, 1).in[1].rank, 2);
  EXPECT_EQ(Row(**mixing, 1).in[1].weight, 0.25);
  const auto spectrum = RoundSpectrum(**mixing, 0);
  ASSERT_TRUE(spectrum.ok()) << spectrum.status();
  EXPECT_NEAR(spectrum->rho, 0.25, 1e-15);
}

TEST(MatrixFileTest, KeepsNeighboursOfWeightZero) {
  const auto mixing = FromFile("1/2 1/2 0\n1/2 0 1/2\n0 1/2 1/2\n", "ring", 3);
  ASSERT_TRUE(mixing.ok()) << mixing.status();
  ASSERT_EQ(Row(**mixing, 0).in.size(), 2u);
  EXPECT_EQ(Row(**mixing, 0).in[1].weight, 0);
}

TEST(MatrixFileTest, MayBeAsymmetricOnADirectedGraph) {
  const auto mixing =
      FromFile("1/2 0 1/4 1/4\n1/4 1/2 0 1/4\n1/4 1/4 1/2 0\n0 1/4 1/4 1/2\n", "exponential", 4);
  ASSERT_TRUE(mixing.ok()) << mixing.status();
  const auto spectrum = RoundSpectrum(**mixing, 0);
  ASSERT_TRUE(spectrum.ok()) << spectrum.status();
  // 1/2 + (i^k + (-1)^k)/4 for k = 1 .. 3.
  EXPECT_NEAR(spectrum->rho, 0.5, 1e-12);
  EXPECT_NEAR(std::abs(spectrum->eigenvalues[2].imag()), 0.25, 1e-12);
}

TEST(MatrixFileTest, RefusesByLineAndEntry) {
  EXPECT_EQ(FileError("1/2 1/2\n1/2 1/2 0\n", "ring", 2), ":2: row 1 has 3 entries, not 2");
  EXPECT_EQ(FileError("1/2 1/2\n", "ring", 2), ":1: ends after 1 of 2 rows");
  EXPECT_EQ(FileError("1 0\n0 1\n0 0\n", "ring", 2), ":3: more than the 2 rows of 2 nodes");
  const std::string rule = "; weights are decimals or fractions between 0 and 1";
  EXPECT_EQ(FileError("1/2 x\n", "ring", 2), ":1: W[0][1] is 'x'" + rule);
  EXPECT_EQ(FileError("3/2 -1/2\n", "ring", 2), ":1: W[0][0] is '3/2'" + rule);
  EXPECT_EQ(FileError("nan 1\n", "ring", 2), ":1: W[0][0] is 'nan'" + rule);
  EXPECT_EQ(FileError("1/0 0\n", "ring", 2), ":1: W[0][0] is '1/0'" + rule);
  EXPECT_EQ(FileError("0/0 1\n", "ring", 2), ":1: W[0][0] is '0/0'" + rule);
  EXPECT_EQ(FileError("1/2 1/2\n0.333 0.666\n", "ring", 2),
            ":2: row 1 sums to 0.999, not 1; write fractions such as 1/3");
  EXPECT_EQ(FileError("1/2 0 1/2\n", "path", 3),
            ":1: W[0][2] is 0.5, but path has no edge from 2 to 0");
}

TEST(MatrixFileTest, RefusesWhatNoLineShows) {
  EXPECT_EQ(FileError("1/2 1/2\n1/4 3/4\n", "ring", 2),
            ": W[0][1] is 0.5 and W[1][0] is 0.25; on an undirected graph W is symmetric, "
            "take (W + W')/2");
  EXPECT_EQ(
      FileError("1/2 0 1/4 1/4\n1/4 1/2 0 1/4\n1/4 1/4 1/2 0\n0 1/4 1/2 1/4\n", "exponential", 4),
      ": column 2 sums to 1.25, not 1: the mean of the replicas would drift");
  EXPECT_EQ(FileError("1 0 0\n0 1/2 1/2\n0 1/2 1/2\n", "ring", 3),
            ": the weights above 0 do not join node 0 to node 1");
}

// A schedule's rounds, one after the other.
TEST(MatrixFileTest, HasAMatrixForEachRoundOfASchedule) {
  const std::string halves = "1/2 0 0 1/2\n1/2 1/2 0 0\n0 1/2 1/2 0\n0 0 1/2 1/2\n";
  const std::string shift = "1/4 0 3/4 0\n0 1/4 0 3/4\n3/4 0 1/4 0\n0 3/4 0 1/4\n";
  const auto mixing = FromFile(halves + "# then\n" + shift, "one-peer-exponential", 4);
  ASSERT_TRUE(mixing.ok()) << mixing.status();
  EXPECT_EQ((*mixing)->stochastic(), Stochastic::kDoubly);
  EXPECT_EQ(Row(**mixing, 1, 0).in[0].rank, 0);
  EXPECT_EQ(Row(**mixing, 1, 0).in[0].weight, 0.5);
  EXPECT_EQ(Row(**mixing, 1, 1).in[0].rank, 3);
  EXPECT_EQ(Row(**mixing, 1, 1).in[0].weight, 0.75);
  EXPECT_EQ(Row(**mixing, 1, 2).in[0].rank, 0);
  EXPECT_EQ(FileError(halves, "one-peer-exponential", 4), ":4: ends after 4 of 8 rows");
  EXPECT_EQ(FileError(halves + halves, "one-peer-exponential", 4),
            ":5: round 1: W[0][3] is 0.5, but one-peer-exponential has no edge from 3 to 0");
  EXPECT_EQ(FileError(halves + shift + shift, "one-peer-exponential", 4),
            ":9: more than the 8 rows of 4 nodes in 2 rounds");
  EXPECT_EQ(FileError(halves + "1/4 0 3/4 0\n0 1/4 0 3/4\n1/2 0 1/4 0\n0 3/4 0 1/4\n",
                      "one-peer-exponential", 4),
            ":7: round 1: row 2 sums to 0.75, not 1; write fractions such as 1/3");
}

TEST(MatrixFileTest, ReadsBackWhatIsWritten) {
  for (const char* spec : {"small-world", "exponential", "one-peer-exponential"}) {
    const std::shared_ptr<const Topology> graph = Graph(spec, 12);
    const auto original = *MakeMixing("metropolis", graph);
    std::string text;
    const absl::Status status = WriteMatrices(*original, [&](std::string_view piece) {
      text += piece;
      return absl::OkStatus();
    });
    ASSERT_TRUE(status.ok()) << status;
    const auto copy = FromFile(text, spec, 12);
    ASSERT_TRUE(copy.ok()) << copy.status();
    for (Round round = 0; round < graph->period(); ++round) {
      for (Rank rank = 0; rank < 12; ++rank) {
        const MixingRow before = Row(*original, rank, round), after = Row(**copy, rank, round);
        EXPECT_EQ(before.self, after.self);
        ASSERT_EQ(before.in.size(), after.in.size());
        for (size_t i = 0; i < before.in.size(); ++i) {
          EXPECT_EQ(before.in[i].rank, after.in[i].rank);
          EXPECT_EQ(before.in[i].weight, after.in[i].weight);
        }
      }
    }
  }
}

TEST(MatrixFileTest, RefusesEndlessSchedulesAndMissingFiles) {
  const auto schedule = FromFile("", "random-matching", 8);
  EXPECT_EQ(schedule.status().message(),
            "file:" + Path() +
                ": no file has the matrices of random-matching, which never repeats; "
                "use metropolis");
  EXPECT_EQ(FailureOf(schedule.status()), Failure::kUsage);
  EXPECT_EQ(MakeMixing("file:/nowhere/w", Graph("ring", 2)).status().message(),
            "cannot open /nowhere/w: No such file or directory");
}

}  // namespace
}  // namespace grapevine

// Schedules from edge lists.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "system/file.h"
#include "topology/files/graph_formats.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

absl::StatusOr<std::shared_ptr<const Topology>> FromText(std::string_view text, Rank n) {
  const std::string path = ::testing::TempDir() + "/schedule.edges";
  const absl::Status status = WriteFileAtomically(path, text);
  EXPECT_TRUE(status.ok()) << status;
  return MakeTopology("file:" + path, n, 1);
}

// What is wrong, after the name of the file.
std::string ScheduleError(std::string_view text, Rank n) {
  const auto topology = FromText(text, n);
  EXPECT_EQ(FailureOf(topology.status()), Failure::kInput) << topology.status();
  return std::string(topology.status().message())
      .substr((::testing::TempDir() + "/schedule.edges").size());
}

std::vector<Rank> In(const Topology& topology, Rank rank, Round round) {
  std::vector<Rank> neighbours;
  topology.InNeighbours(rank, round, &neighbours);
  return neighbours;
}

TEST(ScheduleFile, HasItsRoundsInTurn) {
  const auto topology = FromText("# two matchings\nround 0\n0 1\n2 3\nround 1\n1 2\nround 2\n", 4);
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ((*topology)->period(), 3);
  EXPECT_FALSE((*topology)->directed());
  EXPECT_THAT(In(**topology, 1, 0), ElementsAre(0));
  EXPECT_THAT(In(**topology, 1, 1), ElementsAre(2));
  EXPECT_THAT(In(**topology, 1, 2), IsEmpty());
  EXPECT_THAT(In(**topology, 1, 3), ElementsAre(0));
  EXPECT_EQ((*topology)->Degree(0, 1), 0);
}

TEST(ScheduleFile, MayHaveArrows) {
  const auto topology = FromText("round 0\n0 -> 1\n1 -> 2\n2 -> 0\nround 1\n0 1\n", 3);
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_TRUE((*topology)->directed());
  EXPECT_THAT(In(**topology, 1, 0), ElementsAre(0));
  EXPECT_THAT(In(**topology, 0, 1), ElementsAre(1));
  EXPECT_EQ((*topology)->OutDegree(2, 0), 1);
  EXPECT_EQ((*topology)->OutDegree(2, 1), 0);
}

TEST(ScheduleFile, OfOneRoundIsThatGraph) {
  const auto topology = FromText("round 0\n0 1\n", 2);
  ASSERT_TRUE(topology.ok()) << topology.status();
  EXPECT_EQ((*topology)->period(), 1);
}

TEST(ScheduleFile, ReadsBackWhatIsWritten) {
  for (const char* spec : {"one-peer-exponential", "ring"}) {
    const auto original = *MakeTopology(spec, 11, 1);
    std::string text;
    const absl::Status status = WriteSchedule(*original, [&](std::string_view piece) {
      text += piece;
      return absl::OkStatus();
    });
    ASSERT_TRUE(status.ok()) << status;
    const auto copy = FromText(text, 11);
    ASSERT_TRUE(copy.ok()) << copy.status();
    ASSERT_EQ((*copy)->period(), original->period());
    for (Round round = 0; round < original->period(); ++round) {
      for (Rank rank = 0; rank < 11; ++rank) {
        EXPECT_EQ(In(**copy, rank, round), In(*original, rank, round)) << round << " " << rank;
      }
    }
  }
}

TEST(ScheduleFile, IsRefusedByLine) {
  EXPECT_EQ(ScheduleError("0 1\nround 0\n1 2\n", 3),
            ":2: edges stand before the first round; begin with the line \"round 0\"");
  EXPECT_EQ(ScheduleError("round 1\n0 1\n", 2),
            ":1: expected \"round 0\": rounds are 0, 1, 2, ..., each once");
  EXPECT_EQ(ScheduleError("round 0\n0 1\nround 0\n", 2),
            ":3: expected \"round 1\": rounds are 0, 1, 2, ..., each once");
  EXPECT_EQ(ScheduleError("round\n", 2),
            ":1: expected \"round 0\": rounds are 0, 1, 2, ..., each once");
  EXPECT_EQ(ScheduleError("round 0\n0 1\nround 1\n2 3\n", 4),
            ": not connected: no path from node 0 to node 2");
  EXPECT_EQ(ScheduleError("round 0\n0 -> 1\nround 1\n0 -> 1\n", 2),
            ": not strongly connected: no path from node 1 to node 0");
  EXPECT_EQ(ScheduleError("round 0\nround 1\n", 2), ": a graph without nodes");
}

}  // namespace
}  // namespace grapevine

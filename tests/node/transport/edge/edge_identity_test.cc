#include "node/transport/edge/edge_identity.h"

#include <string>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

EdgeIdentity Node(Rank rank, Rank listener) {
  return {.run_id = "run",
          .rank = rank,
          .world_size = 2,
          .schema = "x",
          .topology = "ring",
          .algorithm = "dpsgd",
          .listener = listener};
}

std::string Objection(const EdgeIdentity& peer) {
  const absl::Status status = CheckSameRun(Node(0, 1), peer);
  EXPECT_EQ(FailureOf(status), Failure::kRendezvous);
  return std::string(status.message());
}

TEST(EdgeIdentity, NodesOfOneRunFit) { EXPECT_TRUE(CheckSameRun(Node(0, 1), Node(1, 0)).ok()); }

TEST(EdgeIdentity, EveryDifferenceIsNamedWithBothValues) {
  EdgeIdentity peer = Node(1, 0);
  peer.world_size = 3;
  peer.topology = "torus";
  EXPECT_THAT(Objection(peer), AllOf(HasSubstr("world size: 2 at rank 0, 3 at rank 1"),
                                     HasSubstr("topology: 'ring' at rank 0, 'torus' at rank 1")));
}

// What a network has heard opens no further connection.
TEST(EdgeIdentity, AProofHoldsForOneCallOfOneProcess) {
  const RunToken token("the token of this run");
  const EdgeIdentity said = Proven(Node(1, 0), 0, EdgeEnd::kCaller, token);
  EXPECT_TRUE(IsProven(said, EdgeEnd::kCaller, token));
  EdgeIdentity later = said, other = said;
  ++later.call.number;
  ++other.call.process;
  EXPECT_FALSE(IsProven(later, EdgeEnd::kCaller, token));
  EXPECT_FALSE(IsProven(other, EdgeEnd::kCaller, token));
}

// It ends in logs and on terminals.
TEST(EdgeIdentity, TextOfACallerIsQuotedPrintable) {
  EdgeIdentity peer = Node(1, 0);
  peer.topology = "\x1b[2J\nrank 0: all is well";
  peer.algorithm = std::string(1000, 'a');
  EXPECT_THAT(Objection(peer), AllOf(HasSubstr("'\\x1b[2J\\x0arank 0: all is well' at rank 1"),
                                     HasSubstr(std::string(80, 'a') + "...' at rank 1"),
                                     Not(HasSubstr(std::string(81, 'a')))));
}

}  // namespace
}  // namespace grapevine

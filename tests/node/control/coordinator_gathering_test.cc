// How a coordinator gathers the nodes: registrations, the roster, refusals.
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/node/control/coordinator_run.h"
#include "tests/node/control/packed_lists.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using CoordinatorGathering = CoordinatorRun;

TEST_F(CoordinatorGathering, HandsTheRosterToAllOnceTheLastIsThere) {
  Begin(3);
  Register(0, RegistrationOf(0, 3));
  Register(2, RegistrationOf(2, 3));
  EXPECT_THAT(directives_, IsEmpty());
  Register(1, RegistrationOf(1, 3));
  for (SessionId session = 0; session < 3; ++session) {
    ASSERT_EQ(directives_[session].size(), 1u);
    const control::Roster& roster = directives_[session][0].roster();
    EXPECT_EQ(roster.run_id(), "run-1");
    EXPECT_EQ(roster.round_limit(), 100);
    EXPECT_THAT(AddressesIn(roster),
                ElementsAre("10.0.0.1:7000", "10.0.0.2:7000", "10.0.0.3:7000"));
  }
}

class CoordinatorGatheringEnough : public CoordinatorRun {
 protected:
  CoordinatorGatheringEnough() {
    resilient_ = true;
    begin_nodes_ = 3;
  }
};

TEST_F(CoordinatorGatheringEnough, BeginsWithoutWhoHasNotCome) {
  Begin(4);
  for (const Rank rank : {0, 1, 3}) Register(rank, RegistrationOf(rank, 4));
  const auto beat = [&] {
    for (const Rank rank : {0, 1, 3}) Beat(rank, 0);
  };
  Pass(milliseconds(19900), beat);
  EXPECT_THAT(directives_, IsEmpty()) << "rank 2 may come yet";
  Pass(milliseconds(200), beat);
  for (const SessionId session : {0, 1, 3}) {
    ASSERT_EQ(directives_[session].size(), 2u);
    EXPECT_THAT(AddressesIn(directives_[session][0].roster()),
                ElementsAre("10.0.0.1:7000", "10.0.0.2:7000", "", "10.0.0.4:7000"));
    EXPECT_TRUE(directives_[session][1].has_prepare());
  }
  EXPECT_THAT(lost_, ElementsAre(2));
  EXPECT_THAT(notices_, Contains("begins with 3 of 4 nodes, at least --min-nodes=3: rank 2 is "
                                 "missing"));
  for (const Rank rank : {0, 1, 3}) Promise(rank, 1, 0);
  EXPECT_THAT(MembersIn(Last(0).view()), ElementsAre(0, 1, 3));
  Register(2, RegistrationOf(2, 4));
  EXPECT_THAT(Last(2).abort().message(),
              HasSubstr("the run has begun without it: rank 2 did not come within "
                        "--rendezvous-timeout=20s; with --join it may come in"));
  control::Registration late = RegistrationOf(2, 4);
  late.set_joins(true);
  Register(20, late);
  for (const Rank rank : {0, 1, 3}) Promise(rank, 2, 9);
  EXPECT_THAT(MembersIn(Last(0).view()), ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(AddressesIn(Last(20).roster()), Contains("10.0.0.3:7000"));
}

TEST_F(CoordinatorGatheringEnough, DoesNotBeginWithFewer) {
  Begin(4);
  for (const Rank rank : {0, 3}) Register(rank, RegistrationOf(rank, 4));
  Pass(milliseconds(20100));
  EXPECT_THAT(Message(),
              HasSubstr("not all of 4 nodes came within 20.0 s: ranks 1, 2 are missing"));
}

TEST_F(CoordinatorGatheringEnough, DoesNotBeginWithoutAServer) {
  workers_ = 3;
  Begin(4);
  for (const Rank rank : {0, 1, 2}) Register(rank, RegistrationOf(rank, 4));
  Pass(milliseconds(20100));
  EXPECT_THAT(Message(), HasSubstr("rank 3 is missing"));
}

TEST_F(CoordinatorGathering, RefusesWhatDoesNotFitWithBothValues) {
  const struct {
    std::function<void(control::Registration&)> spoil;
    std::vector<std::string> message;
  } cases[] = {
      {[](auto& r) { r.set_protocol_version(kControlProtocolVersion + 1); },
       {"version is " + std::to_string(kControlProtocolVersion + 1) + " there and " +
        std::to_string(kControlProtocolVersion) + " on rank 0"}},
      {[](auto& r) { r.set_build("0.2.0 (1a2b3c)"); },
       {"the build of grapevine is 0.2.0 (1a2b3c) there and 0.3.0 (4d5e6f) on rank 0",
        "run the same grapevine on every host"}},
      {[](auto& r) { r.clear_build(); }, {"not given there and 0.3.0 (4d5e6f) on rank 0"}},
      {[](auto& r) { r.set_world_size(4); }, {"number of nodes is 4 there and 3 on rank 0"}},
      {[](auto& r) { r.set_rank(3); }, {"rank 3 does not exist among 3 nodes"}},
      {[](auto& r) { r.set_rank(-1); }, {"rank -1 does not exist"}},
      {[](auto& r) { r.set_address("nonsense"); }, {"nonsense", "HOST:PORT"}},
      {[](auto& r) { r.set_address("host:0"); }, {"host:0", "--advertise"}},
      {[](auto& r) { r.set_address("0.0.0.0:7000"); }, {"0.0.0.0:7000", "--advertise"}},
      {[](auto& r) {
         r.set_address("127.0.0.1:7000");
         r.set_seen_from("10.0.0.2");
       },
       {"127.0.0.1:7000", "comes from 10.0.0.2", "--bind", "--advertise"}},
      {[](auto& r) { r.mutable_agreements(0)->set_value("torus:2x4"); },
       {"topology is \"torus:2x4\" there and \"ring\" on rank 0", "same configuration"}},
      {[](auto& r) { r.mutable_agreements()->RemoveLast(); },
       {"lr is not given there and \"0.1\""}},
      {[](auto& r) { r.add_agreements()->set_name("momentum"); },
       {"momentum is \"\" there and not given on rank 0"}},
  };
  for (const auto& c : cases) {
    Begin(3);
    directives_.clear();
    ended_.clear();
    control::Registration registration = RegistrationOf(1, 3);
    c.spoil(registration);
    Register(7, registration);
    ASSERT_EQ(directives_[7].size(), 1u) << c.message[0];
    const control::Abort& abort = directives_[7][0].abort();
    EXPECT_EQ(abort.failure(), static_cast<int>(Failure::kRendezvous));
    for (const std::string& part : c.message) EXPECT_THAT(abort.message(), HasSubstr(part));
    EXPECT_THAT(ended_, ElementsAre(7));
    EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kGathering);
  }
}

// Who has the run's token is of this run: without the rank that it comes for nothing begins.
TEST_F(CoordinatorGathering, AProvenMisfitEndsTheGatheringForAll) {
  Begin(4, milliseconds(4000), true);
  Register(1, RegistrationOf(1, 4));
  control::Registration misfit = RegistrationOf(2, 4);
  misfit.mutable_agreements(0)->set_value("star");
  Register(9, misfit);
  EXPECT_TRUE(coordinator_->AwaitsLatecomers()) << "rank 3 has yet to hear it";
  EXPECT_EQ(Class(), Failure::kRendezvous);
  EXPECT_EQ(Message(),
            "rank 0 refuses rank 2 at 10.0.0.3:7000: topology is \"star\" there and \"ring\" on "
            "rank 0; start every rank with the same configuration and the same files");
  Register(3, RegistrationOf(3, 4));  // comes later
  for (const SessionId session : {1, 9, 3}) {
    ASSERT_EQ(directives_[session].size(), 1u) << session;
    EXPECT_EQ(directives_[session][0].abort().message(), Message());
    EXPECT_EQ(directives_[session][0].abort().culprit(), 2);
  }
  EXPECT_THAT(ended_, ElementsAre(1, 9, 3));
  EXPECT_FALSE(coordinator_->AwaitsLatecomers());
}

TEST_F(CoordinatorGathering, AMisfitWhoseRankNobodyWaitsForIsRefusedAlone) {
  Begin(3, milliseconds(4000), true);
  Register(1, RegistrationOf(1, 3));
  control::Registration surplus = RegistrationOf(3, 4), second = RegistrationOf(1, 3);
  second.set_nonce(77);
  second.mutable_agreements(0)->set_value("star");
  Register(8, surplus);
  Register(9, second);
  EXPECT_THAT(ended_, ElementsAre(8, 9));
  EXPECT_THAT(directives_[9][0].abort().message(), HasSubstr("topology is \"star\""));
  Register(0, RegistrationOf(0, 3));
  Register(2, RegistrationOf(2, 3));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning) << Message();
}

// A roster with that address would be refused by all.
TEST_F(CoordinatorGathering, RefusesAnAddressThatNoRosterHasRoomFor) {
  Begin(2);
  Register(0, RegistrationOf(0, 2));
  control::Registration long_name = RegistrationOf(1, 2);
  long_name.set_address(std::string(5000, 'x') + ":7000");
  Register(1, long_name);
  EXPECT_THAT(Last(1).abort().message(), HasSubstr("5005 bytes"));
  Register(11, RegistrationOf(1, 2));
  EXPECT_EQ(AddressesIn(Last(11).roster()).size(), 2u);
}

// Rank 0 knows no host of its own where it listens on every address; each of
// the others knows one.
TEST_F(CoordinatorGathering, LeavesOutTheHostOfRankZerosMachine) {
  Begin(2);
  control::Registration zero = RegistrationOf(0, 2);
  zero.set_address(":7000");
  Register(0, zero);
  control::Registration beside = RegistrationOf(1, 2);
  beside.set_address("127.0.0.1:7001");
  beside.set_seen_from("127.0.0.1");
  Register(1, beside);
  ASSERT_EQ(directives_[1].size(), 1u);
  EXPECT_THAT(AddressesIn(directives_[1][0].roster()), ElementsAre(":7000", "127.0.0.1:7001"))
      << directives_[1][0].abort().message();
}

TEST_F(CoordinatorGathering, RefusesASecondProcessWithTheSameRank) {
  Begin(3);
  Register(1, RegistrationOf(1, 3));
  control::Registration other = RegistrationOf(1, 3);
  other.set_nonce(77);
  other.set_address("10.0.0.9:1");
  Register(2, other);
  ASSERT_EQ(directives_[2].size(), 1u);
  EXPECT_THAT(directives_[2][0].abort().message(),
              HasSubstr("rank 1 is already taken by the process at 10.0.0.2:7000"));
}

TEST_F(CoordinatorGathering, TakesTheSameProcessAgainOnANewConnection) {
  Begin(2);
  Register(1, RegistrationOf(1, 2));
  Register(4, RegistrationOf(1, 2));  // heard on the way, and said again
  EXPECT_THAT(directives_[4].back().abort().message(), HasSubstr("with a later call"));
  replaced_.clear();
  control::Registration again = RegistrationOf(1, 2);
  again.set_call(1);
  Register(5, again);
  EXPECT_THAT(replaced_, ElementsAre(1));
  coordinator_->OnClosed(1, "", now_);  // the old connection's end says nothing
  Register(0, RegistrationOf(0, 2));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  EXPECT_EQ(directives_.count(1), 0u);
  EXPECT_TRUE(directives_[5][0].has_roster());
}

TEST_F(CoordinatorGathering, AfterTheTimeoutNamesMissingRanksAndWhyOneWasRefused) {
  Begin(4);
  Register(0, RegistrationOf(0, 4));
  control::Registration misfit = RegistrationOf(2, 4);
  misfit.mutable_agreements(0)->set_value("star");
  Register(9, misfit);
  Register(1, RegistrationOf(1, 4));
  coordinator_->OnClosed(1, "", now_);  // came and went
  Pass(milliseconds(20000));
  EXPECT_EQ(Class(), Failure::kRendezvous);
  EXPECT_THAT(Message(), AllOf(HasSubstr("not all of 4 nodes came within 20.0 s"),
                               HasSubstr("ranks 1, 2, 3 are missing"),
                               HasSubstr("rank 2 was refused: topology is \"star\""),
                               HasSubstr("--rendezvous-timeout")));
  EXPECT_TRUE(directives_[0].back().has_abort());
  EXPECT_THAT(notices_, ::testing::Contains(HasSubstr("waiting for 3 of 4 nodes: ranks 1, 2, 3")));
}

// It may come again, so nothing ends with it.
TEST_F(CoordinatorGathering, AMemberThatSaysWhyItLeavesWhileNodesGatherIsMissedWithItsWords) {
  Begin(3);
  Register(1, RegistrationOf(1, 3));
  Fail(1, 1, "terminated\n(SIGTERM)", Failure::kTerminated);
  coordinator_->OnLeft(1, now_);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kGathering);
  Pass(milliseconds(10000));
  EXPECT_THAT(notices_, ::testing::Contains(HasSubstr(
                            "; rank 1 left: rank 1 at 10.0.0.2:7000: terminated\\x0a(SIGTERM)")));
  Register(5, RegistrationOf(1, 3));
  Register(0, RegistrationOf(0, 3));
  Register(2, RegistrationOf(2, 3));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

TEST_F(CoordinatorGathering, AMemberThatSaysThatItLeavesIsNoneWhenTheLastOneComes) {
  Begin(3);
  Register(0, RegistrationOf(0, 3));
  Register(1, RegistrationOf(1, 3));
  Fail(1, 1, "terminated (SIGTERM)", Failure::kTerminated);
  Register(2, RegistrationOf(2, 3));
  coordinator_->OnLeft(1, now_);
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kGathering);
  Register(5, RegistrationOf(1, 3));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

TEST_F(CoordinatorGathering, AFloodOfRefusalsIsCountedNotListed) {
  BeginRunning(2);
  for (SessionId session = 10; session < 1010; ++session) Register(session, RegistrationOf(1, 2));
  EXPECT_LE(notices_.size(), 10u);
  const size_t listed = notices_.size();
  EXPECT_EQ(directives_.size(), 1000u) << "each of them hears why";
  Pass(milliseconds(20000), [&] { Beat(0, 1), Beat(1, 1); });
  ASSERT_EQ(notices_.size(), listed + 1);
  EXPECT_THAT(notices_.back(), HasSubstr(std::to_string(1000 - listed) + " more"));
}

TEST_F(CoordinatorGathering, AConnectionThatRegistersTwiceLeavesNoGhost) {
  Begin(3);
  Register(1, RegistrationOf(1, 3));
  Register(1, RegistrationOf(2, 3));
  ASSERT_EQ(directives_[1].size(), 1u);
  EXPECT_THAT(directives_[1][0].abort().message(),
              HasSubstr("its connection has registered rank 1 already"));
  EXPECT_THAT(ended_, ElementsAre(1));
  coordinator_->OnClosed(1, "", now_);
  // Both ranks are as free as before.
  Register(0, RegistrationOf(0, 3));
  Register(5, RegistrationOf(1, 3));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kGathering);
  Register(6, RegistrationOf(2, 3));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

TEST_F(CoordinatorGathering, RankZerosEndWhileNodesGatherIsToldToAllWhoComeAndWillCome) {
  Begin(3);
  Register(1, RegistrationOf(1, 3));
  coordinator_->End(
      WithFailure(absl::CancelledError("terminated (SIGTERM)"), Failure::kTerminated));
  Collect();
  Register(2, RegistrationOf(2, 3));
  for (const SessionId session : {1, 2}) {
    ASSERT_EQ(directives_[session].size(), 1u) << session;
    EXPECT_EQ(directives_[session][0].abort().message(), "rank 0: terminated (SIGTERM)");
    EXPECT_EQ(directives_[session][0].abort().failure(), static_cast<int>(Failure::kTerminated));
  }
  EXPECT_THAT(ended_, ElementsAre(1, 2));
  EXPECT_THAT(notices_, IsEmpty()) << "nobody was refused";
}

control::SavedPart SavedAt(Round round, uint32_t checksum) {
  control::SavedPart part;
  part.set_round(round);
  part.set_bytes(10);
  part.set_checksum(checksum);
  return part;
}

// Of the checkpoint of round 20, and of an earlier one.
control::Registration GoingOn(Rank rank, uint32_t checksum) {
  control::Registration registration = RegistrationOf(rank, 2);
  *registration.add_parts() = SavedAt(10, 99);
  *registration.add_parts() = SavedAt(20, checksum);
  return registration;
}

CoordinatorOptions GoingOnFrom20() {
  control::Resumed resumed;
  resumed.set_round(20);
  for (const uint32_t checksum : {100, 101}) *resumed.add_parts() = SavedAt(20, checksum);
  return {.own = RegistrationOf(0, 2), .proven = true, .round_limit = 100, .resumed = resumed};
}

TEST_F(CoordinatorGathering, TellsAllFromWhereTheRunGoesOn) {
  coordinator_.emplace(GoingOnFrom20(), now_);
  Register(0, GoingOn(0, 100));
  Register(1, GoingOn(1, 101));
  ASSERT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
  EXPECT_EQ(directives_[1].back().roster().resumed().round(), 20);
  coordinator_->OnCheckpoint(30);
  Collect();
  EXPECT_EQ(directives_[1].back().checkpoint_done().round(), 30);
}

TEST_F(CoordinatorGathering, RefusesANodeWithoutTheMeanAtWhichAllBegin) {
  CoordinatorOptions options = GoingOnFrom20();
  options.resumed->set_from_mean(true);
  options.resumed->mutable_parts(1)->set_checksum(100);
  coordinator_.emplace(options, now_);
  Register(1, GoingOn(1, 101));
  EXPECT_THAT(std::string(coordinator_->verdict().message()),
              AllOf(HasSubstr("refuses rank 1"),
                    HasSubstr("the run goes on from the mean of the models in the checkpoint of "
                              "round 20, which had other nodes, and it does not have that; give it "
                              "a --resume=DIR with the same checkpoints/round-20 as rank 0's")));
  coordinator_.emplace(options, now_);
  Register(0, GoingOn(0, 100));
  Register(1, GoingOn(1, 100));
  EXPECT_EQ(coordinator_->phase(), Coordinator::Phase::kRunning);
}

TEST_F(CoordinatorGathering, RefusesANodeWithoutItsPartOfTheCheckpoint) {
  coordinator_.emplace(GoingOnFrom20(), now_);
  Register(1, GoingOn(1, 100));
  EXPECT_THAT(std::string(coordinator_->verdict().message()),
              AllOf(HasSubstr("refuses rank 1"), HasSubstr("is not the one that was written")));
  coordinator_.emplace(GoingOnFrom20(), now_);
  control::Registration without = GoingOn(1, 101);
  without.mutable_parts()->RemoveLast();
  Register(1, without);
  EXPECT_THAT(std::string(coordinator_->verdict().message()),
              HasSubstr("it has no part of the checkpoint of round 20 (it has those of rounds 10); "
                        "give it the --resume=DIR whose checkpoints/round-20 has "
                        "node-1.safetensors"));
}

}  // namespace
}  // namespace grapevine

// How rank 0 is found, without a network: who answers where is up to the test.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/status.h"
#include "node/discovery/dns_discovery.h"
#include "node/discovery/role_lease.h"
#include "node/discovery/store_discovery.h"
#include "node/store/file_store.h"
#include "system/mutex.h"
#include "tests/model/scratch_folder.h"
#include "tests/testing/slowness.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::minutes;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::HasSubstr;

using Deadline = Discovery::Deadline;

// Of a lease that is kept alive.
const milliseconds kTimeToLive = testing::Patient(seconds(1));

Deadline Within(milliseconds time) { return steady_clock::now() + time; }
Deadline InTime() { return Within(testing::Patient(minutes(1))); }
absl::Status GoOn() { return absl::OkStatus(); }

// Which health services are offered at which address.
class Listeners {
 public:
  void Add(const std::string& address, const std::string& service) {
    MutexLock lock(mutex_);
    offered_[address] = service;
  }
  CoordinatorProbe Probe() {
    return [this](const ProbeQuestion& question, Deadline) {
      MutexLock lock(mutex_);
      asked_for_ = question.rank;
      for (const HostAddress& address : question.addresses) {
        if (offered_[FormatHostAddress(address)] == question.service) {
          return ProbeAnswer{address, ""};
        }
      }
      return ProbeAnswer{std::nullopt, "refused"};
    };
  }
  // Whose certificate was demanded last.
  Rank asked_for() {
    MutexLock lock(mutex_);
    return asked_for_;
  }

 private:
  Mutex mutex_;
  std::map<std::string, std::string> offered_ ABSL_GUARDED_BY(mutex_);
  Rank asked_for_ ABSL_GUARDED_BY(mutex_) = -1;
};

void ExpectNotFound(const absl::StatusOr<FoundCoordinator>& found,
                    const ::testing::Matcher<std::string>& message) {
  EXPECT_EQ(FailureOf(found.status()), Failure::kRendezvous) << found.status();
  EXPECT_THAT(std::string(found.status().message()),
              AllOf(HasSubstr("cannot join the run"), HasSubstr("--rendezvous-timeout"), message));
}

class InFolder : public ::testing::Test {
 protected:
  std::unique_ptr<StoreDiscovery> Node(RunToken token = {}) {
    return std::make_unique<StoreDiscovery>(
        store_, StoreDiscoveryOptions{.key = "coordinator",
                                      .time_to_live = kTimeToLive,
                                      .token = std::move(token),
                                      .probe = listeners_.Probe(),
                                      .own_names = {"node1", "10.0.0.1"}});
  }
  // What a rank 0 that was killed leaves behind, for as long as its lease lives.
  void LeaveBehind(const CoordinatorAnnouncement& announcement, milliseconds time_to_live) {
    const auto lease = store_->Grant(time_to_live, InTime());
    ASSERT_TRUE(lease.ok()) << lease.status();
    const auto put =
        store_->Put("coordinator", EncodeAnnouncement(announcement, {}), *lease, InTime());
    ASSERT_TRUE(put.ok()) << put.status();
  }

  const ScratchFolder folder_;
  const std::shared_ptr<Store> store_ = std::make_shared<FileStore>(folder_.File("store"));
  Listeners listeners_;
};

TEST_F(InFolder, RankZeroIsFoundWhereItAnswers) {
  const auto zero = Node(), one = Node();
  listeners_.Add("10.0.0.1:7", ServiceOfRun("17"));
  ASSERT_TRUE(zero->Announce({.run_id = "17", .advertised = {"", 7}}, InTime(), GoOn).ok());
  const auto found = one->Find(InTime(), GoOn);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->address, (HostAddress{"10.0.0.1", 7}));
  zero->Withdraw();
  ExpectNotFound(one->Find(Within(milliseconds(100)), GoOn),
                 AllOf(HasSubstr(store_->name() + ", key coordinator"),
                       HasSubstr("nothing is announced there")));
}

TEST_F(InFolder, WhoComesFirstWaitsForRankZero) {
  listeners_.Add("node1:7", ServiceOfRun("17"));
  const auto zero = Node(), one = Node();
  std::thread later([&] {
    EXPECT_TRUE(zero->Announce({.run_id = "17", .advertised = {"", 7}}, InTime(), GoOn).ok());
  });
  const auto found = one->Find(InTime(), GoOn);
  later.join();
  EXPECT_TRUE(found.ok()) << found.status();
}

// Its address may even have another's node by now.
TEST_F(InFolder, WhatAnEarlierRunLeftIsNotUsed) {
  LeaveBehind({.run_id = "16", .addresses = {{"node1", 7}}, .since = 1795451020}, minutes(10));
  listeners_.Add("node1:7", ServiceOfRun("17"));
  ExpectNotFound(Node()->Find(Within(milliseconds(300)), GoOn),
                 AllOf(HasSubstr("announced at node1:7 (since 2026-11-23 16:23:40 UTC)"),
                       HasSubstr("does not answer (refused)")));
}

TEST_F(InFolder, WhoeverHasTheRoleIsAskedUnderItsOwnRank) {
  LeaveBehind({.run_id = "17", .addresses = {{"node1", 7}}, .since = 0, .rank = 2}, minutes(10));
  listeners_.Add("node1:7", ServiceOfRun("17"));
  const auto found = Node()->Find(InTime(), GoOn);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->rank, 2);
  EXPECT_EQ(listeners_.asked_for(), 2);
}

TEST_F(InFolder, ANewRankZeroTakesThePlaceOfADeadOne) {
  LeaveBehind({.run_id = "16", .addresses = {{"node1", 6}}, .since = 0}, seconds(1));
  listeners_.Add("node1:7", ServiceOfRun("17"));
  const auto zero = Node();
  const absl::Status announced =
      zero->Announce({.run_id = "17", .advertised = {"", 7}}, InTime(), GoOn);
  ASSERT_TRUE(announced.ok()) << announced;
  EXPECT_EQ(Node()->Find(InTime(), GoOn)->address.port, 7);
}

TEST_F(InFolder, ASecondRankZeroIsToldOfTheFirst) {
  const auto first = Node(), second = Node();
  ASSERT_TRUE(first->Announce({.run_id = "17", .advertised = {"", 7}}, InTime(), GoOn).ok());
  const absl::Status refused =
      second->Announce({.run_id = "18", .advertised = {"", 8}}, InTime(), GoOn);
  EXPECT_EQ(FailureOf(refused), Failure::kRendezvous) << refused;
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("has a rank 0 already, at node1:7, 10.0.0.1:7 (since "),
                    HasSubstr(folder_.File("store"))));
}

TEST_F(InFolder, WhatStrangersWriteIsNotBelieved) {
  LeaveBehind({.run_id = "17", .addresses = {{"evil", 7}}, .since = 0}, minutes(10));
  listeners_.Add("evil:7", ServiceOfRun("17"));
  ExpectNotFound(Node(RunToken("0123456789abcdef"))->Find(Within(milliseconds(100)), GoOn),
                 HasSubstr("does not show the run's token"));
  ASSERT_TRUE(store_->Put("coordinator", "garbage", 0, InTime()).ok());
  ExpectNotFound(Node()->Find(Within(milliseconds(100)), GoOn),
                 HasSubstr("is no announcement of a rank 0"));
  const absl::Status refused =
      Node()->Announce({.run_id = "17", .advertised = {"", 7}}, InTime(), GoOn);
  EXPECT_THAT(std::string(refused.message()),
              AllOf(HasSubstr("cannot announce itself"), HasSubstr("remove it")));
}

TEST_F(InFolder, AStoreThatIsAwayIsNamed) {
  const auto away = std::make_shared<FileStore>(folder_.File("no/store"));
  StoreDiscovery discovery(away, {.key = "coordinator", .probe = listeners_.Probe()});
  ExpectNotFound(discovery.Find(Within(milliseconds(600)), GoOn),
                 AllOf(HasSubstr("the folder " + folder_.File("no/store") + " did not answer"),
                       HasSubstr("is it on a disk that all nodes share")));
  const absl::Status announced =
      discovery.Announce({.run_id = "17", .advertised = {"", 7}}, Within(milliseconds(600)), GoOn);
  EXPECT_EQ(FailureOf(announced), Failure::kRendezvous) << announced;
  EXPECT_THAT(std::string(announced.message()), HasSubstr("did not answer"));
}

TEST_F(InFolder, WaitingIsInterrupted) {
  const absl::Status enough = absl::CancelledError("enough");
  EXPECT_EQ(Node()->Find(InTime(), [&] { return enough; }).status(), enough);
}

// A store to which the way can be cut.
class CutStore : public Store {
 public:
  explicit CutStore(std::shared_ptr<Store> store) : store_(std::move(store)) {}
  std::atomic<bool> away = false;

  const std::string& name() const override { return store_->name(); }
  absl::StatusOr<std::optional<StoredValue>> Get(std::string_view key,
                                                 StoreDeadline deadline) override {
    RETURN_IF_ERROR(Way());
    return store_->Get(key, deadline);
  }
  absl::StatusOr<StoreRevision> Put(std::string_view key, std::string_view value, LeaseId lease,
                                    StoreDeadline deadline) override {
    RETURN_IF_ERROR(Way());
    return store_->Put(key, value, lease, deadline);
  }
  absl::StatusOr<std::optional<StoreRevision>> CompareAndSwap(std::string_view key,
                                                              StoreRevision expected,
                                                              std::string_view value, LeaseId lease,
                                                              StoreDeadline deadline) override {
    RETURN_IF_ERROR(Way());
    return store_->CompareAndSwap(key, expected, value, lease, deadline);
  }
  absl::StatusOr<bool> Delete(std::string_view key, StoreDeadline deadline) override {
    RETURN_IF_ERROR(Way());
    return store_->Delete(key, deadline);
  }
  absl::StatusOr<LeaseId> Grant(milliseconds time_to_live, StoreDeadline deadline) override {
    RETURN_IF_ERROR(Way());
    return store_->Grant(time_to_live, deadline);
  }
  absl::Status KeepAlive(LeaseId lease, StoreDeadline deadline) override {
    RETURN_IF_ERROR(Way());
    return store_->KeepAlive(lease, deadline);
  }
  absl::Status Revoke(LeaseId lease, StoreDeadline deadline) override {
    RETURN_IF_ERROR(Way());
    return store_->Revoke(lease, deadline);
  }
  absl::StatusOr<std::optional<StoredValue>> AwaitChange(std::string_view key, StoreRevision known,
                                                         StoreDeadline deadline) override {
    RETURN_IF_ERROR(Way());
    return store_->AwaitChange(key, known, deadline);
  }

 private:
  absl::Status Way() const {
    return away ? absl::UnavailableError("the network is down") : absl::OkStatus();
  }

  const std::shared_ptr<Store> store_;
};

// A store whose answer to the first claim of the role is lost, and the request after it.
class StoreThatIsNotHeard final : public CutStore {
 public:
  using CutStore::CutStore;

  absl::StatusOr<std::optional<StoreRevision>> CompareAndSwap(std::string_view key,
                                                              StoreRevision expected,
                                                              std::string_view value, LeaseId lease,
                                                              StoreDeadline deadline) override {
    auto answer = CutStore::CompareAndSwap(key, expected, value, lease, deadline);
    if (key != "coordinator-last" || std::exchange(lost_, true)) return answer;
    away = true;
    return absl::UnavailableError("the answer was lost");
  }
  absl::Status Revoke(LeaseId lease, StoreDeadline deadline) override {
    absl::Status status = CutStore::Revoke(lease, deadline);
    away = false;
    return status;
  }

 private:
  bool lost_ = false;
};

// A store whose caller stands still once, before it asks for its first lease, for as long as `halt`
// takes.
class HaltingStore final : public CutStore {
 public:
  using CutStore::CutStore;
  std::function<void()> halt;

  absl::StatusOr<LeaseId> Grant(milliseconds time_to_live, StoreDeadline deadline) override {
    if (const auto standing = std::exchange(halt, nullptr)) standing();
    return CutStore::Grant(time_to_live, deadline);
  }
};

// Whose role it is, of nodes that share a folder and have lost rank 0.
class RoleInFolder : public InFolder {
 protected:
  StoreDiscoveryOptions OptionsOfMembers() {
    return {.key = "coordinator",
            .time_to_live = kTimeToLive,
            .probe = listeners_.Probe(),
            .own_names = {"node1"},
            .role_moves = true};
  }
  std::unique_ptr<StoreDiscovery> Member() {
    return std::make_unique<StoreDiscovery>(store_, OptionsOfMembers());
  }
  static MovingRole::Candidate Candidate(Rank rank, Rank lost) {
    return {.run_id = "17", .rank = rank, .advertised = {"", 7}, .lost = lost};
  }
  // Rank 0 of run 17.
  std::unique_ptr<StoreDiscovery> Begun() {
    auto zero = Member();
    EXPECT_TRUE(zero->Announce({.run_id = "17", .advertised = {"", 7}}, InTime(), GoOn).ok());
    return zero;
  }
  static MovingRole::Holder HolderIn(const absl::StatusOr<MovingRole::Settled>& settled) {
    EXPECT_TRUE(settled.ok()) << settled.status();
    const auto* holder = settled.ok() ? std::get_if<MovingRole::Holder>(&*settled) : nullptr;
    return holder == nullptr ? MovingRole::Holder{-1} : *holder;
  }
};

TEST_F(RoleInFolder, StaysWithWhoHasIt) {
  const auto zero = Begun(), one = Member();
  const auto settled = one->Settle(Candidate(1, 0), Within(2 * kTimeToLive), GoOn);
  EXPECT_TRUE(absl::IsUnavailable(settled.status()));
  EXPECT_THAT(std::string(settled.status().message()), HasSubstr("its role is still taken"));
}

// Nobody withdraws it: the lease of a process that is gone is given up by those it leaves behind.
TEST_F(RoleInFolder, OfAProcessThatIsGoneIsTakenBeforeItsLeaseLapses) {
  StoreDiscovery zero(store_, {.key = "coordinator",
                               .time_to_live = std::chrono::hours(1),
                               .probe = listeners_.Probe(),
                               .own_names = {"node1"}});
  ASSERT_TRUE(zero.Announce({.run_id = "17", .advertised = {"127.0.0.1", 7}}, InTime(), GoOn).ok());
  const auto one = Member(), two = Member();
  MovingRole::Candidate first = Candidate(1, 0), second = Candidate(2, 0);
  first.gone = second.gone = true;
  EXPECT_TRUE(HolderIn(one->Settle(first, InTime(), GoOn)).own);
  // Nor is that of its successor given up for it.
  const MovingRole::Holder found = HolderIn(two->Settle(second, InTime(), GoOn));
  EXPECT_EQ(found.rank, 1);
  EXPECT_FALSE(found.own);
}

// What refuses connections may be a firewall between two machines.
TEST_F(RoleInFolder, OfAProcessOnAnotherMachineIsNotTakenBeforeItsLeaseLapses) {
  const auto zero = Begun(), one = Member();
  MovingRole::Candidate candidate = Candidate(1, 0);
  candidate.gone = true;
  const auto settled = one->Settle(candidate, Within(2 * kTimeToLive), GoOn);
  EXPECT_TRUE(absl::IsUnavailable(settled.status())) << settled.status();
  EXPECT_TRUE(zero->lease()->Check().ok());
}

TEST_F(RoleInFolder, GoesToOneOfSeveralAndFromThereToAnother) {
  std::vector<std::unique_ptr<StoreDiscovery>> members;
  for (int i = 0; i < 4; ++i) members.push_back(Member());
  ASSERT_TRUE(members[0]->Announce({.run_id = "17", .advertised = {"", 7}}, InTime(), GoOn).ok());
  for (Rank lost = 0, round = 0; round < 2; ++round) {
    members[lost]->Withdraw();
    std::vector<std::future<absl::StatusOr<MovingRole::Settled>>> answers;
    std::vector<Rank> ranks;
    for (Rank rank = 1; rank < 4; ++rank) {
      if (rank == lost) continue;
      ranks.push_back(rank);
      answers.push_back(std::async(std::launch::async, [&, rank] {
        return members[rank]->Settle(Candidate(rank, lost), InTime(), GoOn);
      }));
    }
    std::vector<MovingRole::Holder> holders;
    for (auto& answer : answers) holders.push_back(HolderIn(answer.get()));
    int own = 0;
    for (size_t i = 0; i < holders.size(); ++i) {
      EXPECT_EQ(holders[i].rank, holders[0].rank);
      EXPECT_EQ(holders[i].own, ranks[i] == holders[0].rank);
      own += holders[i].own;
    }
    EXPECT_EQ(own, 1);
    lost = holders[0].rank;
  }
}

TEST_F(RoleInFolder, HowTheRunHasEndedIsKnownToWhoComesForIt) {
  const auto zero = Begun(), one = Member();
  EXPECT_TRUE(
      zero->EndRun("17", WithFailure(absl::AbortedError("rank 3 diverged"), Failure::kDiverged))
          .ok());
  zero->Withdraw();
  const auto settled = one->Settle(Candidate(1, 0), InTime(), GoOn);
  ASSERT_TRUE(settled.ok()) << settled.status();
  const auto* over = std::get_if<MovingRole::Over>(&*settled);
  ASSERT_NE(over, nullptr);
  EXPECT_EQ(FailureOf(over->how), Failure::kDiverged);
  EXPECT_EQ(over->how.message(), "rank 3 diverged");
  // That of another run says nothing.
  EXPECT_TRUE(zero->EndRun("16", absl::OkStatus()).ok());
  EXPECT_TRUE(HolderIn(one->Settle(Candidate(1, 0), InTime(), GoOn)).own);
}

// Who had it before has stood still in the middle of saying so.
TEST_F(RoleInFolder, TheEndThatIsToldByWhoHasLostTheRoleIsVoid) {
  const auto zero = Begun(), one = Member(), two = Member();
  const auto found = store_->Get("coordinator", InTime());
  ASSERT_TRUE(found.ok() && *found);
  ASSERT_TRUE(store_->Revoke((*found)->lease, InTime()).ok());
  while (!HolderIn(one->Settle(Candidate(1, 0), InTime(), GoOn)).own) {
    // Rank 0 was faster, and is lost again.
    ASSERT_TRUE(store_->Revoke((*store_->Get("coordinator", InTime()))->lease, InTime()).ok());
  }
  EXPECT_TRUE(zero->EndRun("17", absl::OkStatus()).ok());
  one->Withdraw();
  EXPECT_TRUE(HolderIn(two->Settle(Candidate(2, 1), InTime(), GoOn)).own);
}

// A process that stands still takes the role by what it saw before: meanwhile another node has had
// it, has come to the end with all others, and has gone.
TEST_F(RoleInFolder, WhoStandsStillBeforeItTakesItTakesNoRoleOfARunThatIsOver) {
  Begun()->Withdraw();
  const auto slow = std::make_shared<HaltingStore>(store_);
  StoreDiscovery one(slow, OptionsOfMembers());
  const auto two = Member();
  slow->halt = [&] {
    EXPECT_TRUE(HolderIn(two->Settle(Candidate(2, 0), InTime(), GoOn)).own);
    EXPECT_TRUE(two->EndRun("17", absl::OkStatus()).ok());
    two->Withdraw();
  };
  const auto settled = one.Settle(Candidate(1, 0), InTime(), GoOn);
  ASSERT_TRUE(settled.ok()) << settled.status();
  EXPECT_TRUE(std::holds_alternative<MovingRole::Over>(*settled));
  EXPECT_EQ(slow->halt, nullptr) << "it has stood still";
  EXPECT_FALSE(store_->Get("coordinator", InTime())->has_value());
}

TEST_F(RoleInFolder, WhoDoesNotHearThatItHasItTakesItAnew) {
  Begun()->Withdraw();
  StoreDiscovery one(std::make_shared<StoreThatIsNotHeard>(store_), OptionsOfMembers());
  EXPECT_TRUE(HolderIn(one.Settle(Candidate(1, 0), InTime(), GoOn)).own);
  EXPECT_TRUE(one.lease()->Check().ok());
}

// As when the store was away, or the process stood still.
TEST_F(RoleInFolder, WhoLosesItTakesItAgainUnlessAnotherHasIt) {
  const auto zero = Begun(), one = Member();
  std::promise<absl::Status> superseded;
  zero->OnSuperseded([&](const absl::Status& why) { superseded.set_value(why); });
  const auto lose = [this] {
    const auto found = store_->Get("coordinator", InTime());
    ASSERT_TRUE(found.ok() && *found);
    ASSERT_TRUE(store_->Revoke((*found)->lease, InTime()).ok());
  };
  lose();
  std::optional<StoredValue> found;
  for (const Deadline end = InTime(); !found && steady_clock::now() < end;) {
    found = *store_->AwaitChange("coordinator", 0, InTime());
  }
  EXPECT_TRUE(found.has_value()) << "taken again";
  EXPECT_TRUE(zero->lease()->Await(testing::Patient(minutes(1))).ok());
  lose();
  EXPECT_TRUE(HolderIn(one->Settle(Candidate(1, 0), InTime(), GoOn)).own);
  auto told = superseded.get_future();
  ASSERT_EQ(told.wait_for(testing::Patient(minutes(1))), std::future_status::ready);
  const absl::Status why = told.get();
  EXPECT_THAT(std::string(why.message()), HasSubstr("another node has its role by now"));
  EXPECT_EQ(zero->lease()->Check(), why);
  EXPECT_EQ(zero->lease()->Await(testing::Patient(minutes(1))), why) << "at once";
  EXPECT_TRUE(one->lease()->Check().ok());
}

// The other one has ended meanwhile, and its key is gone: whoever held the role before would find
// it free, and write its old model over the one that the run has ended with.
TEST_F(RoleInFolder, IsNotTakenAgainOnceAnotherHadIt) {
  const auto cut = std::make_shared<CutStore>(store_);
  StoreDiscovery zero(cut, OptionsOfMembers());
  ASSERT_TRUE(zero.Announce({.run_id = "17", .advertised = {"", 7}}, InTime(), GoOn).ok());
  EXPECT_TRUE(zero.lease()->Check().ok());
  cut->away = true;
  const auto one = Member();
  EXPECT_TRUE(HolderIn(one->Settle(Candidate(1, 0), InTime(), GoOn)).own);
  const absl::Status lapsed = zero.lease()->Check();
  EXPECT_EQ(FailureOf(lapsed), Failure::kPeerLost) << "as soon as another can have it";
  EXPECT_THAT(std::string(lapsed.message()),
              AllOf(HasSubstr("another node may have rank 0's role by now"),
                    HasSubstr(folder_.File("store")), HasSubstr("start the run again")));
  EXPECT_TRUE(one->EndRun("17", absl::OkStatus()).ok());
  one->Withdraw();
  EXPECT_THAT(std::string(one->lease()->Check().message()),
              HasSubstr("has given rank 0's role up"));
  cut->away = false;
  EXPECT_THAT(std::string(zero.lease()->Await(testing::Patient(minutes(1))).message()),
              HasSubstr("another node has its role by now"));
  EXPECT_FALSE(store_->Get("coordinator", InTime())->has_value());
}

// Its members number what they say to it: to begin anew on one side alone would break the run.
TEST_F(RoleInFolder, OfOneWhoTookItsLeaseAgainIsNoNewOne) {
  listeners_.Add("node1:7", ServiceOfRun("17"));
  const auto zero = Begun(), one = Member();
  ASSERT_TRUE(one->Find(InTime(), GoOn).ok());
  const auto found = store_->Get("coordinator", InTime());
  ASSERT_TRUE(found.ok() && *found);
  ASSERT_TRUE(store_->Revoke((*found)->lease, InTime()).ok());
  for (const Deadline end = InTime(); steady_clock::now() < end;) {
    const auto again = store_->AwaitChange("coordinator", 0, InTime());
    ASSERT_TRUE(again.ok()) << again.status();
    if (*again && (*again)->created > (*found)->created) break;
  }
  ASSERT_TRUE(zero->lease()->Await(testing::Patient(minutes(1))).ok());
  const auto settled = one->Settle(Candidate(1, 0), Within(2 * kTimeToLive), GoOn);
  EXPECT_TRUE(absl::IsUnavailable(settled.status())) << settled.status();
}

// A headless service whose pods come up one by one.
TEST(InDns, AllAddressesAreTriedUntilRankZeroIsThere) {
  Listeners listeners;
  auto looks = std::make_shared<int>(0);
  DnsDiscovery discovery(
      {"run", 7}, listeners.Probe(), [looks, &listeners](const std::string& name) {
        EXPECT_EQ(name, "run");
        switch (++*looks) {
          case 1:
            return absl::StatusOr<std::vector<std::string>>(
                absl::UnavailableError("Name or service not known"));
          case 2:
            return absl::StatusOr<std::vector<std::string>>({"10.0.0.1"});
          default:
            listeners.Add("10.0.0.2:7", kCoordinatorService);
            return absl::StatusOr<std::vector<std::string>>({"10.0.0.1", "10.0.0.2", "10.0.0.3"});
        }
      });
  const auto found = discovery.Find(InTime(), GoOn);
  ASSERT_TRUE(found.ok()) << found.status();
  EXPECT_EQ(found->address, (HostAddress{"10.0.0.2", 7}));
  EXPECT_EQ(found->certified_name, "run");
  EXPECT_EQ(*looks, 3);
}

TEST(InDns, ANameThatDoesNotResolveAndNobodyThereAreTold) {
  Listeners listeners;
  DnsDiscovery unknown({"run", 7}, listeners.Probe(), [](const std::string&) {
    return absl::StatusOr<std::vector<std::string>>(absl::UnavailableError("unknown"));
  });
  ExpectNotFound(unknown.Find(Within(milliseconds(100)), GoOn),
                 AllOf(HasSubstr("run does not resolve (unknown)"), HasSubstr("namespace")));
  DnsDiscovery nobody({"run", 7}, listeners.Probe(), [](const std::string&) {
    return absl::StatusOr<std::vector<std::string>>({"10.0.0.1", "10.0.0.2"});
  });
  ExpectNotFound(nobody.Find(Within(milliseconds(100)), GoOn),
                 HasSubstr("none of 2 answers as rank 0 (refused)"));
}

TEST(InDns, NameServersThatHangHoldNothingUp) {
  Listeners listeners;
  auto released = std::make_shared<std::promise<void>>();
  DnsDiscovery discovery({"run", 7}, listeners.Probe(), [released](const std::string&) {
    released->get_future().wait_for(testing::Patient(minutes(1)));
    return absl::StatusOr<std::vector<std::string>>({"10.0.0.1"});
  });
  ExpectNotFound(discovery.Find(Within(milliseconds(100)), GoOn),
                 HasSubstr("the name servers do not answer"));
  released->set_value();
}

}  // namespace
}  // namespace grapevine

// Veterans and newcomers over hosts that hold numbers, whose messages arrive in any order.
#include "algorithm/membership/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/status.h"
#include "random/keyed_random.h"
#include "tests/testing/seeds.h"

namespace grapevine {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;

View Joining(std::vector<Member> members, std::vector<Member> newcomers) {
  return {.epoch = 3,
          .from = 20,
          .members = std::move(members),
          .ballot = 5,
          .newcomers = std::move(newcomers)};
}

TEST(AdmissionPieces, CoverTheReplicaWithoutOverlapAndEvenly) {
  for (Rank veterans = 1; veterans <= 9; ++veterans) {
    View view = FirstView(veterans + 1);
    view.newcomers = {veterans};
    const AdmissionPieces pieces(view);
    ASSERT_EQ(pieces.veterans().size(), static_cast<size_t>(veterans));
    for (const int64_t size : {0, 1, 2, 7, 8, 9, 10, 63, 64, 1000, 1001}) {
      SCOPED_TRACE(::testing::Message() << veterans << " veterans, " << size << " elements");
      int64_t end = 0;
      for (size_t i = 0; i < pieces.veterans().size(); ++i) {
        const ReplicaRange piece = pieces.Of(i, size);
        EXPECT_EQ(piece.offset, end);
        EXPECT_GE(piece.size, size / veterans);
        EXPECT_LE(piece.size, size / veterans + 1);
        end += piece.size;
      }
      EXPECT_EQ(end, size);
    }
  }
}

struct Message {
  Member from, to;
  Tag tag;
  SendId id;
  std::vector<double> numbers;
};

// One node's vectors, posts and sends.
class NumberHost final : public Host {
 public:
  NumberHost(Member self, int64_t size, std::vector<Message>* wire)
      : self_(self), size_(size), wire_(wire) {}

  int64_t replica_size() const override { return size_; }
  ReplicaRange parameters() const override { return whole_replica(); }
  Vec InitialReplica(ReplicaRange) override { return {}; }
  int64_t SizeOf(Vec vector) const override { return vectors_.at(vector.id).size(); }
  Vec New(int64_t size, const char*) override {
    vectors_[++last_].assign(size, 0);
    return {last_};
  }
  Vec NewOptimizerState(ReplicaRange) override { return {}; }
  void Drop(Vec vector) override { EXPECT_EQ(vectors_.erase(vector.id), 1u); }
  void Gradient(Vec, Vec, Round, std::span<const int64_t>) override {}
  void Combine(Part out, std::span<const Term> terms) override {
    std::vector<double> sum(out.size, 0);
    for (const Term& term : terms) {
      ASSERT_EQ(term.part.size, out.size);
      const double* const numbers = vectors_.at(term.part.vector.id).data() + term.part.offset;
      for (int64_t i = 0; i < out.size; ++i) sum[i] += term.weight * numbers[i];
    }
    std::ranges::copy(sum, vectors_.at(out.vector.id).begin() + out.offset);
  }
  void Clip(Part, double) override {}
  void Step(const StepRequest&) override {}
  SendId Send(Rank to, Tag tag, const Payload& payload, const Note&) override {
    const Part& part = std::get<Part>(payload);
    const auto begin = vectors_.at(part.vector.id).begin() + part.offset;
    const SendId id{++sends_};
    wire_->push_back({self_, to, tag, id, {begin, begin + part.size}});
    return id;
  }
  void Post(Rank from, Tag tag, const Payload& into, Round round, Credit) override {
    EXPECT_EQ(round, 20);
    EXPECT_TRUE(posts_.try_emplace({from, tag}, std::get<Part>(into)).second);
  }
  SendId Offer(Rank, Tag, const Payload&, const Note&) override { return {}; }
  void Decline(Rank, Tag) override {}
  void Withdraw(Rank, Tag) override {}
  void GradientApplied(int64_t) override {}
  void Boundary(Round, Vec) override {}
  void Rest(Vec) override {}

  Vec Fill(const std::vector<double>& numbers) {
    vectors_[++last_] = numbers;
    return {last_};
  }
  const std::vector<double>& At(Vec vector) const { return vectors_.at(vector.id); }
  // False if nothing is posted for it.
  bool Land(const Message& message) {
    const auto post = posts_.extract({message.from, message.tag});
    if (post.empty()) return false;
    const Part& into = post.mapped();
    EXPECT_EQ(into.size, static_cast<int64_t>(message.numbers.size()));
    std::ranges::copy(message.numbers, vectors_.at(into.vector.id).begin() + into.offset);
    return true;
  }
  std::vector<Tag> TakePostsOf(Member from) {
    std::vector<Tag> tags;
    for (const auto& [key, into] : posts_) {
      if (key.first == from) tags.push_back(key.second);
    }
    for (const Tag tag : tags) posts_.erase({from, tag});
    return tags;
  }
  size_t vectors() const { return vectors_.size(); }

 private:
  const Member self_;
  const int64_t size_;
  std::vector<Message>* const wire_;
  uint32_t last_ = 0;
  uint64_t sends_ = 0;
  std::map<uint32_t, std::vector<double>> vectors_;
  std::map<std::pair<Rank, Tag>, Part> posts_;
};

// All nodes of a view with newcomers.
class Admissions {
 public:
  Admissions(const View& view, int64_t size, uint64_t seed) : view_(view), random_(seed, kPurpose) {
    KeyedRandom numbers(7, kPurpose);
    for (const Member member : view.members) {
      hosts_[member] = std::make_unique<NumberHost>(member, size, &wire_);
      if (view.IsNewcomer(member)) continue;
      std::vector<double> replica(size);
      for (double& x : replica) x = numbers.Unit() - 0.5;
      replicas_[member] = std::move(replica);
      donations_.try_emplace(member, view, member);
    }
    for (const Member newcomer : view.newcomers) receptions_.try_emplace(newcomer, view);
  }

  void Begin() {
    for (auto& [member, donation] : donations_) {
      donation.Begin(hosts_[member]->Fill(replicas_[member]), *hosts_[member]);
    }
    for (auto& [newcomer, reception] : receptions_) reception.Begin(*hosts_[newcomer]);
  }
  // Nothing more comes of it, and what it has sent may not, either.
  void Lose(Member veteran) {
    donations_.erase(veteran);
    std::erase_if(wire_, [veteran](const Message& message) { return message.from == veteran; });
    for (auto& [member, donation] : donations_) {
      for (const Tag tag : hosts_[member]->TakePostsOf(veteran)) {
        EXPECT_TRUE(donation.On(Lost{veteran, tag}, *hosts_[member]).ok());
      }
    }
  }
  // One message after another arrives, in any order.
  void DeliverAll() {
    while (!wire_.empty()) {
      const auto at = static_cast<ptrdiff_t>(random_.Below(wire_.size()));
      const Message message = wire_[at];
      wire_.erase(wire_.begin() + at);
      Deliver(message);
    }
  }

  std::map<Member, Donation>& donations() { return donations_; }
  std::map<Member, Reception>& receptions() { return receptions_; }
  NumberHost& host(Member member) { return *hosts_.at(member); }
  const std::vector<double>& replica(Member member) { return replicas_.at(member); }
  std::vector<Message>& wire() { return wire_; }

 private:
  static constexpr Purpose kPurpose = Purpose::kTopology;

  void Deliver(const Message& message) {
    NumberHost& to = *hosts_.at(message.to);
    const Received received{.from = message.from, .tag = message.tag};
    if (const auto reception = receptions_.find(message.to); reception != receptions_.end()) {
      ASSERT_TRUE(to.Land(message));
      EXPECT_TRUE(reception->second.On(received).ok());
    } else if (const auto donation = donations_.find(message.to); donation != donations_.end()) {
      ASSERT_TRUE(to.Land(message));
      EXPECT_TRUE(donation->second.On(received, to).ok());
    }
    const auto sender = donations_.find(message.from);
    if (sender == donations_.end()) return;
    ASSERT_TRUE(sender->second.Sends(message.id));
    sender->second.On(Sent{message.id});
  }

  const View view_;
  KeyedRandom random_;
  std::vector<Message> wire_;
  std::map<Member, std::unique_ptr<NumberHost>> hosts_;
  std::map<Member, std::vector<double>> replicas_;
  std::map<Member, Donation> donations_;
  std::map<Member, Reception> receptions_;
};

std::vector<double> MeanOf(Admissions& admissions, const std::vector<Member>& veterans,
                           int64_t size) {
  std::vector<double> mean(size, 0);
  for (const Member veteran : veterans) {
    for (int64_t i = 0; i < size; ++i) mean[i] += admissions.replica(veteran)[i];
  }
  for (double& x : mean) x /= static_cast<double>(veterans.size());
  return mean;
}

TEST(AdmissionTest, ANewcomerBeginsAtTheMeanAndNothingIsLeftBehind) {
  for (const int64_t size : {1, 2, 3, 7, 100}) {
    for (const uint64_t seed : testing::Seeds(20)) {
      SCOPED_TRACE(::testing::Message() << size << " elements, seed " << seed);
      const View view = Joining({0, 1, 2, 4, 5}, {1, 4});
      Admissions admissions(view, size, seed);
      admissions.Begin();
      admissions.DeliverAll();
      const std::vector<double> mean = MeanOf(admissions, {0, 2, 5}, size);
      for (auto& [newcomer, reception] : admissions.receptions()) {
        ASSERT_TRUE(reception.complete());
        EXPECT_THAT(reception.waiting_for(), IsEmpty());
        const std::vector<double>& begins = admissions.host(newcomer).At(reception.Take());
        for (int64_t i = 0; i < size; ++i) EXPECT_NEAR(begins[i], mean[i], 1e-15);
      }
      for (auto& [member, donation] : admissions.donations()) {
        EXPECT_TRUE(donation.over());
        EXPECT_THAT(donation.waiting_for(), IsEmpty());
        EXPECT_EQ(admissions.host(member).vectors(), 1u) << "its replica";
      }
    }
  }
}

TEST(AdmissionTest, TheOrderOfArrivalLeavesNoTrace) {
  const auto bits = [](uint64_t seed) {
    Admissions admissions(Joining({0, 1, 2, 3, 4, 5, 6}, {3}), 50, seed);
    admissions.Begin();
    admissions.DeliverAll();
    std::vector<uint64_t> words;
    for (const double x : admissions.host(3).At(admissions.receptions().at(3).Take())) {
      words.push_back(std::bit_cast<uint64_t>(x));
    }
    return words;
  };
  const std::vector<uint64_t> first = bits(0);
  for (const uint64_t seed : testing::Seeds(49)) EXPECT_EQ(bits(seed), first) << "seed " << seed;
}

TEST(AdmissionTest, OneVeteranGivesAllOfItsReplica) {
  Admissions admissions(Joining({1, 3}, {3}), 10, 0);
  admissions.Begin();
  admissions.DeliverAll();
  EXPECT_EQ(admissions.host(3).At(admissions.receptions().at(3).Take()), admissions.replica(1));
}

// Where its own share has not come, the others' pieces are means of what is left.
TEST(AdmissionTest, AShareThatIsLostIsLeftOutOfTheMean) {
  const int64_t size = 9;
  Admissions admissions(Joining({0, 1, 2, 3}, {3}), size, 0);
  admissions.Begin();
  admissions.Lose(1);
  admissions.DeliverAll();
  Reception& reception = admissions.receptions().at(3);
  EXPECT_FALSE(reception.complete());
  ASSERT_EQ(reception.waiting_for().size(), 1u);
  EXPECT_EQ(reception.waiting_for()[0].peer, 1);
  const std::vector<double> mean = MeanOf(admissions, {0, 2}, size);
  const std::vector<double>& begins = admissions.host(3).At(reception.Take());
  for (int64_t i = 0; i < size; ++i) {
    if (i >= 3 && i < 6) continue;  // that of the lost one
    EXPECT_NEAR(begins[i], mean[i], 1e-15) << i;
  }
  for (auto& [member, donation] : admissions.donations()) EXPECT_TRUE(donation.over());
  const absl::Status failed = reception.On(Lost{1, reception.waiting_for()[0].tag});
  EXPECT_EQ(FailureOf(failed), Failure::kPeerLost);
  EXPECT_THAT(std::string(failed.message()),
              HasSubstr("cannot come in: rank 1, which was to send it a part of the model to begin "
                        "with in round 20, was lost; start this node again"));
}

TEST(AdmissionTest, ANewcomerThatALaterViewLeavesOutGetsNothing) {
  Admissions admissions(Joining({0, 1, 2, 3}, {2, 3}), 8, 0);
  for (auto& [member, donation] : admissions.donations()) {
    donation.OnView({.epoch = 4, .from = 20, .members = {0, 1, 3}, .ballot = 6});
  }
  admissions.Begin();
  admissions.DeliverAll();
  EXPECT_FALSE(admissions.receptions().at(2).complete());
  EXPECT_TRUE(admissions.receptions().at(3).complete());
}

TEST(AdmissionTest, WhatIsNotAwaitedIsAnError) {
  Admissions admissions(Joining({0, 1, 2}, {2}), 8, 0);
  admissions.Begin();
  ASSERT_FALSE(admissions.wire().empty());
  const Tag share = admissions.wire().front().tag;
  Donation& donation = admissions.donations().at(0);
  EXPECT_FALSE(donation.On(Received{.from = 2, .tag = share}, admissions.host(0)).ok());
  EXPECT_FALSE(donation.On(Lost{2, share}, admissions.host(0)).ok());
  EXPECT_FALSE(admissions.receptions().at(2).On(Received{.from = 0, .tag = share}).ok());
  admissions.DeliverAll();
  EXPECT_FALSE(donation.On(Received{.from = 1, .tag = share}, admissions.host(0)).ok()) << "again";
}

}  // namespace
}  // namespace grapevine

// A host that grants everything, does nothing and records the requests.
#ifndef GRAPEVINE_TESTS_ALGORITHM_IDLE_HOST_H_
#define GRAPEVINE_TESTS_ALGORITHM_IDLE_HOST_H_

#include <cstdint>
#include <span>
#include <vector>

#include "algorithm/algorithm.h"
#include "algorithm/host.h"

namespace grapevine::testing {

class IdleHost final : public Host {
 public:
  explicit IdleHost(int64_t replica_size) : replica_size_(replica_size) {}

  int64_t replica_size() const override { return replica_size_; }
  ReplicaRange parameters() const override { return whole_replica(); }
  Vec InitialReplica(ReplicaRange) override { return {1}; }
  int64_t SizeOf(Vec) const override { return 0; }
  Vec New(int64_t size, const char*) override {
    allocated += size;
    return {2};
  }
  Vec NewOptimizerState(ReplicaRange) override { return {3}; }
  void Drop(Vec) override {}
  void Gradient(Vec, Vec, Round, std::span<const int64_t> asked) override {
    cuts.assign(asked.begin(), asked.end());
  }
  void Combine(Part, std::span<const Term>) override {}
  void Clip(Part, double) override {}
  void Step(const StepRequest&) override {}
  SendId Send(Rank to, Tag tag, const Payload&, const Note& note) override {
    sent.push_back({to, tag});
    notes.push_back(note);
    return IdOf(sent.size() - 1);
  }
  SendId Offer(Rank to, Tag tag, const Payload& payload, const Note& note) override {
    offered.push_back({to, tag});
    return Send(to, tag, payload, note);
  }
  void Decline(Rank from, Tag tag) override { declined.push_back({from, tag}); }
  void Withdraw(Rank from, Tag tag) override { withdrawn.push_back({from, tag}); }
  void GradientApplied(int64_t of) override { staleness.push_back(of); }
  // The id of the i-th entry of `sent`.
  static SendId IdOf(size_t i) { return {i + 1}; }
  void Post(Rank from, Tag tag, const Payload&, Round, Credit credit) override {
    posted.push_back({from, tag});
    credits.push_back(credit);
  }
  void Boundary(Round, Vec) override {}
  void Rest(Vec) override { ++rests; }

  std::vector<Waiting> sent, posted;  // `sent`: offers, too
  std::vector<Waiting> offered, declined, withdrawn;
  std::vector<Note> notes;  // of `sent`
  std::vector<int64_t> staleness;
  std::vector<Credit> credits;  // of what was posted
  std::vector<int64_t> cuts;    // of the last gradient
  int64_t allocated = 0;        // elements
  int rests = 0;

 private:
  int64_t replica_size_;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_ALGORITHM_IDLE_HOST_H_

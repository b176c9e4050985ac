// An algorithm that uses all of the vocabulary at random, and checks that its driver keeps the
// rules (algorithm/host.h): for contract tests of drivers.
//
// Up to its limit, a node computes gradients, one a step. In each step it sends its successor a
// message that both foresee, and may offer others to anybody. It may post for offers ahead, and
// withdraw such a post; what it is offered it takes or declines, at once or at a later event. Of
// what it is sent it keeps a share: a message of worth k adds k times the initial replica to the
// model of its receiver, and takes it from that of its sender. So the sum of all models tells
// whether something was lost or counted twice.
#ifndef GRAPEVINE_TESTS_TESTING_RANDOM_TRADE_H_
#define GRAPEVINE_TESTS_TESTING_RANDOM_TRADE_H_

#include <cstdint>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "algorithm/algorithm.h"
#include "random/keyed_random.h"

namespace grapevine::testing {

// Thread-compatible.
class RandomTrade final : public Algorithm {
 public:
  // What has happened, over all nodes that share it.
  struct Tally {
    int64_t taken = 0, declined = 0, lost = 0;  // offers, offers, posts
    int64_t met = 0;                            // offers that a post was there for
  };

  // `tally` may be null; it outlives the machine. `on_rest` is called at the first rest: once all
  // nodes have called theirs, nothing is under way any more.
  RandomTrade(Rank rank, Rank nodes, uint64_t seed, Tally* tally,
              std::function<void()> on_rest = nullptr)
      : rank_(rank),
        nodes_(nodes),
        random_(seed, Purpose::kShuffle, static_cast<uint64_t>(rank)),
        tally_(tally),
        on_rest_(std::move(on_rest)) {}

  absl::Status On(const Event& event, Host& host) override;
  Round round() const override { return step_; }
  std::vector<Waiting> waiting_for() const override;
  std::vector<Rank> Peers(Round from, Round to) const override;

  // How much its model has grown, in initial replicas.
  int64_t gained() const { return gained_; }

 private:
  using Name = std::pair<Rank, Tag>;
  struct Outgoing {
    Name name;
    Vec vector;
    int64_t worth = 0;
    bool offered = false;
    bool left = false;
  };
  struct Post {
    Vec vector;
    bool answers = false;
    bool withdrawn = false;
  };

  absl::Status Handle(const Start& event, Host& host);
  absl::Status Handle(const Received& event, Host& host);
  absl::Status Handle(const Offered& event, Host& host);
  absl::Status Handle(const Lost& event, Host& host);
  absl::Status Handle(const GradientReady& event, Host& host);
  absl::Status Handle(const Left& event, Host& host);
  absl::Status Handle(const Sent& event, Host& host);
  absl::Status Handle(const RoundLimit& event, Host& host);
  absl::Status Handle(const Prepare& event, Host&) { return CheckForeseen(event); }
  absl::Status Handle(const ViewChanged& event, Host&) { return CheckForeseen(event); }

  bool done() const { return step_ >= limit_; }
  bool Chance(uint64_t of) { return random_.Below(of) == 0; }
  Rank Somebody();
  Part Whole(Vec vector, const Host& host) const { return {vector, 0, host.replica_size()}; }
  // The model changes by `worth` initial replicas.
  void Gain(Vec vector, int64_t worth, Host& host);
  void BeginStep(Host& host);
  void Dispatch(Rank to, Tag tag, bool offered, Host& host);
  void PostFor(const Name& name, Host& host);
  // Some of what it may do at any time; once it is done, all that has to be.
  void Trade(Host& host);
  void RestIfDone(Host& host);

  const Rank rank_;
  const Rank nodes_;
  KeyedRandom random_;
  Tally* const tally_;
  std::function<void()> on_rest_;  // until it is called

  Vec unit_, model_, gradient_;
  std::map<SendId, Outgoing> outgoing_;
  std::map<Name, Post> posts_;
  std::map<Name, Note> offers_;  // to be answered
  Round step_ = 0;
  Round limit_ = 0;
  int64_t gained_ = 0;
  bool started_ = false;
  bool computing_ = false;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_RANDOM_TRADE_H_

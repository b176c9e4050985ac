// The nodes' parts of something that exchanges messages, which the test carries in a shuffled
// order; those from one node to another stay in theirs.
//
// Thread-compatible.
#ifndef GRAPEVINE_TESTS_NODE_RUNNER_CARRIED_MESSAGES_H_
#define GRAPEVINE_TESTS_NODE_RUNNER_CARRIED_MESSAGES_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "node/transport/transport.h"
#include "random/keyed_random.h"

namespace grapevine::testing {

template <typename Part>
class CarriedMessages {
 public:
  using Make = std::function<std::unique_ptr<Part>(Rank rank, Transport* transport)>;

  CarriedMessages(Rank size, uint64_t order_seed, const Make& make)
      : order_(order_seed, Purpose::kShuffle) {
    for (Rank rank = 0; rank < size; ++rank) {
      ends_.push_back(std::make_unique<End>(*this, rank));
      parts_.push_back(make(rank, ends_.back().get()));
    }
  }

  Part& at(Rank rank) { return *parts_[rank]; }
  int64_t messages() const { return delivered_; }

  void RunToTheEnd() {
    const absl::Status end = RunToAnEnd();
    ASSERT_TRUE(end.ok()) << end;
  }
  // The same, or until a part says why it cannot go on.
  absl::Status RunToAnEnd() {
    while (true) {
      std::vector<std::pair<Rank, Rank>> ready;
      for (auto& [edge, queue] : queues_) {
        if (FirstPosted(edge, queue) != queue.end()) ready.push_back(edge);
      }
      if (ready.empty()) return absl::OkStatus();
      const absl::Status carried = Carry(ready[order_.Below(ready.size())]);
      if (!carried.ok()) return carried;
    }
  }

 private:
  using Edge = std::pair<Rank, Rank>;  // from, to

  class End final : public Transport {
   public:
    End(CarriedMessages& network, Rank rank) : network_(network), rank_(rank) {}
    void Dial(std::span<const Rank>) override {}
    absl::Status Send(Rank to, Tag tag, Outgoing message) override {
      network_.queues_[{rank_, to}].push_back({tag, std::move(message)});
      return absl::OkStatus();
    }
    absl::Status Post(Rank from, Tag tag, Incoming buffer) override {
      network_.posts_[{{from, rank_}, tag}] = buffer.into;
      return absl::OkStatus();
    }
    absl::Status Decline(Rank, Tag) override { return absl::UnimplementedError("offers"); }
    absl::Status Withdraw(Rank, Tag) override { return absl::UnimplementedError("withdrawals"); }
    void GiveUp(Rank, const absl::Status&) override {}
    TransportCounters counters() const override { return {}; }
    void Shutdown() override {}

   private:
    CarriedMessages& network_;
    const Rank rank_;
  };

  // A message without a post does not hold up a later one that has its own.
  using Queue = std::deque<std::pair<Tag, Outgoing>>;
  Queue::iterator FirstPosted(Edge edge, Queue& queue) const {
    return std::ranges::find_if(queue, [&](const auto& message) {
      return posts_.contains({edge, message.first});
    });
  }

  absl::Status Carry(Edge edge) {
    Queue& queue = queues_[edge];
    const auto next = FirstPosted(edge, queue);
    const auto [tag, message] = std::move(*next);
    queue.erase(next);
    const SharedBytes& bytes = message.bytes;
    const SharedBytes into = posts_.extract({edge, tag}).mapped();
    EXPECT_EQ(bytes.size, into.size);
    std::copy_n(bytes.begin, bytes.size, into.begin);
    ++delivered_;
    const absl::Status sent = at(edge.first).OnSent(edge.second, tag);
    if (!sent.ok()) return sent;
    return at(edge.second)
        .OnReceived({.from = edge.first, .tag = tag, .bytes = bytes.size, .note = message.note});
  }

  KeyedRandom order_;
  std::vector<std::unique_ptr<End>> ends_;
  std::vector<std::unique_ptr<Part>> parts_;
  std::map<Edge, Queue> queues_;
  std::map<std::pair<Edge, Tag>, SharedBytes> posts_;
  int64_t delivered_ = 0;
};

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_NODE_RUNNER_CARRIED_MESSAGES_H_

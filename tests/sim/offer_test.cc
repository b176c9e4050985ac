// What was not foreseen, in simulated time: offers and posts that are withdrawn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "sim/engine/simulation.h"
#include "sim/network/fluid_networks.h"
#include "tests/sim/timed_run.h"
#include "tests/testing/random_trade.h"
#include "tests/testing/sightings.h"

namespace grapevine::testing {
namespace {

constexpr Nanoseconds kLatency = kMillisecond;
constexpr int64_t kMegabyte = 250'000;  // 1 MB: 1 ms at 1 byte per nanosecond
constexpr Tag kFirst{.index = 2}, kTag{.index = 3};
constexpr double kInfinite = std::numeric_limits<double>::infinity();

using MakeNode = std::function<std::unique_ptr<Algorithm>(Rank)>;

std::unique_ptr<Simulation> Simulate(SimulationOptions options, VectorStore* vectors,
                                     const ComputeTime* compute, const MakeNode& make,
                                     SimObserver* observer = nullptr) {
  const Rank nodes = options.nodes;
  auto simulation = Simulation::Make(
      options, {.make_network =
                    [nodes](AlarmClock* clock) {
                      return std::make_unique<NicNetwork>(
                          nodes, NicOptions{.bandwidth = 1, .latency = kLatency}, clock);
                    },
                .make_algorithm = [&](Rank rank) -> absl::StatusOr<std::unique_ptr<Algorithm>> {
                  return make(rank);
                },
                .vectors = vectors,
                .compute = compute,
                .observer = observer});
  EXPECT_TRUE(simulation.ok()) << simulation.status();
  return *std::move(simulation);
}

TEST(Offers, EveryPostAndEverySendEndsOnceAtAnySpeed) {
  constexpr Rank kNodes = 4;
  PlaySeeds(60, 300, [&](uint64_t seed, Sightings& seen) {
    SCOPED_TRACE(::testing::Message() << "seed " << seed);
    // Nodes that are busy with passes and messages hear of things late.
    const SimulationOptions options{.nodes = kNodes,
                                    .memory_bandwidth = seed % 2 == 0 ? 1e9 : 0.5,
                                    .message_overhead = seed % 3 == 0 ? 0 : kMillisecond / 3};
    PhantomVectors vectors(seed % 5 == 0 ? 1 : kMegabyte, 0);
    const auto compute = *MakeComputeTime("exponential:mean=4ms", seed);
    RandomTrade::Tally tally;
    std::vector<RandomTrade*> trades;
    const auto simulation = Simulate(options, &vectors, compute.get(), [&](Rank rank) {
      auto trade = std::make_unique<RandomTrade>(rank, kNodes, seed, &tally);
      trades.push_back(trade.get());
      return trade;
    });
    const absl::Status status = simulation->Run(40);
    ASSERT_TRUE(status.ok()) << status;
    int64_t gained = 0;
    for (Rank rank = 0; rank < kNodes; ++rank) {
      gained += trades[rank]->gained();
      EXPECT_EQ(simulation->staleness(rank).gradients(), 40);
    }
    EXPECT_EQ(gained, 0) << "what is taken is given";
    seen.Count("taken", tally.taken);
    seen.Count("declined", tally.declined);
    seen.Count("met", tally.met);
    seen.Count("lost", tally.lost);
  });
}

// A node that does what a test says, and writes down when it hears of what.
class Scripted final : public Algorithm {
 public:
  using React = std::function<void(const Event&, Host&)>;
  Scripted(React react, std::function<Nanoseconds()> now, std::vector<std::string>* heard)
      : react_(std::move(react)), now_(std::move(now)), heard_(heard) {}

  absl::Status On(const Event& event, Host& host) override {
    const Nanoseconds now = now_();
    const auto say = [&](const std::string& what) {
      heard_->push_back(absl::StrCat(what, " at ", now / kMillisecond));
    };
    if (std::holds_alternative<Offered>(event)) say("offered");
    if (std::holds_alternative<Received>(event)) say("received");
    if (std::holds_alternative<Lost>(event)) say("lost");
    if (std::holds_alternative<Left>(event)) say("left");
    if (const auto* sent = std::get_if<Sent>(&event)) say(sent->delivered ? "sent" : "declined");
    react_(event, host);
    host.Rest(host.New(1, "a vector"));
    return absl::OkStatus();
  }
  Round round() const override { return 0; }
  std::vector<Waiting> waiting_for() const override { return {}; }
  std::vector<Rank> Peers(Round, Round) const override { return {}; }

 private:
  const React react_;
  const std::function<Nanoseconds()> now_;
  std::vector<std::string>* const heard_;
};

// What the sender and the receiver hear, with the times in milliseconds.
struct Heard {
  std::vector<std::string> sender, receiver;
};

Heard Play(Scripted::React sender, Scripted::React receiver, double memory_bandwidth = kInfinite) {
  Heard heard;
  PhantomVectors vectors(1, 0);
  const FixedComputeTime compute(0);
  std::unique_ptr<Simulation> simulation;
  const auto now = [&] { return simulation == nullptr ? 0 : simulation->now(); };
  const SimulationOptions options{.nodes = 2, .memory_bandwidth = memory_bandwidth};
  simulation = Simulate(options, &vectors, &compute, [&](Rank rank) {
    return rank == 0 ? std::make_unique<Scripted>(sender, now, &heard.sender)
                     : std::make_unique<Scripted>(receiver, now, &heard.receiver);
  });
  const absl::Status status = simulation->Run(1);
  EXPECT_TRUE(status.ok()) << status;
  return heard;
}

Part Megabyte(Host& host) { return {host.New(kMegabyte, "a vector"), 0, kMegabyte}; }

const Scripted::React kOffer = [](const Event& event, Host& host) {
  if (std::holds_alternative<Start>(event)) host.Offer(1, kTag, Megabyte(host));
};

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(Offers, AnOfferCostsARoundTripBeforeItsMessage) {
  const Heard heard = Play(kOffer, [](const Event& event, Host& host) {
    if (std::holds_alternative<Offered>(event)) host.Post(0, kTag, Megabyte(host), 0);
  });
  EXPECT_THAT(heard.receiver, ElementsAre("offered at 1", "received at 4"));
  EXPECT_THAT(heard.sender, ElementsAre("left at 3", "sent at 5"));
}

TEST(Offers, ADeclinedOneCostsARoundTrip) {
  const Heard heard = Play(kOffer, [](const Event& event, Host& host) {
    if (std::holds_alternative<Offered>(event)) host.Decline(0, kTag);
  });
  EXPECT_THAT(heard.receiver, ElementsAre("offered at 1"));
  EXPECT_THAT(heard.sender, ElementsAre("declined at 2"));
}

TEST(Offers, APostThatMeetsAnOfferSavesTheTrip) {
  const Heard heard = Play(kOffer, [](const Event& event, Host& host) {
    if (std::holds_alternative<Start>(event)) host.Post(0, kTag, Megabyte(host), 0);
  });
  EXPECT_THAT(heard.receiver, ElementsAre("received at 3"));
}

TEST(Offers, AWithdrawnPostIsLostARoundTripLater) {
  const Heard heard = Play([](const Event&, Host&) {},
                           [](const Event& event, Host& host) {
                             if (!std::holds_alternative<Start>(event)) return;
                             host.Post(0, kTag, Megabyte(host), 0);
                             host.Withdraw(0, kTag);
                           });
  EXPECT_THAT(heard.receiver, ElementsAre("lost at 2"));
  EXPECT_THAT(heard.sender, IsEmpty());
}

TEST(Offers, AWithdrawnPostIsFilledByWhatIsOnItsWay) {
  const Heard heard = Play(
      [](const Event& event, Host& host) {
        if (std::holds_alternative<Start>(event)) host.Send(1, kTag, Megabyte(host));
      },
      [](const Event& event, Host& host) {
        if (!std::holds_alternative<Start>(event)) return;
        host.Post(0, kTag, Megabyte(host), 0);
        host.Withdraw(0, kTag);
      });
  EXPECT_THAT(heard.receiver, ElementsAre("received at 3"));
  EXPECT_THAT(heard.sender, ElementsAre("left at 2", "sent at 4"));
}

Scripted::React AtTheGradient(const std::function<void(Host&)>& act) {
  return [act](const Event& event, Host& host) {
    const Vec vector = host.New(1, "a vector");
    if (std::holds_alternative<Start>(event)) host.Gradient(vector, vector, 0);
    if (std::holds_alternative<GradientReady>(event)) act(host);
  };
}

void BeBusy(Host& host) {
  const Part part = Megabyte(host);
  const Term terms[] = {{1, part}, {1, part}};
  host.Combine(part, terms);
}

// Who is busy withdraws late, and may have received the message and posted again by the time that
// its withdrawal arrives.
TEST(Offers, AWithdrawalTakesNoLaterPostBack) {
  const Heard heard = Play(
      AtTheGradient([](Host& host) { host.Send(1, kTag, Megabyte(host)); }),
      [](const Event& event, Host& host) {
        if (std::holds_alternative<Received>(event)) host.Post(0, kTag, Megabyte(host), 0);
        if (!std::holds_alternative<Start>(event)) return;
        host.Post(0, kTag, Megabyte(host), 0);
        BeBusy(host);
        host.Withdraw(0, kTag);
      },
      0.5);
  EXPECT_THAT(heard.receiver, ElementsAre("received at 6"));
}

// Until then its post is there, for an offer, too.
TEST(Offers, ABusyNodeIsNotOfferedWhatItHasYetToWithdraw) {
  const Heard heard = Play(
      AtTheGradient([](Host& host) {
        host.Send(1, kFirst, Megabyte(host));
        host.Offer(1, kTag, Megabyte(host));
      }),
      [](const Event& event, Host& host) {
        if (!std::holds_alternative<Start>(event)) return;
        host.Post(0, kFirst, Megabyte(host), 0, Credit::kInTurn);
        host.Post(0, kTag, Megabyte(host), 1, Credit::kInTurn);
        BeBusy(host);
        host.Withdraw(0, kTag);
      },
      0.5);
  EXPECT_THAT(heard.receiver, ElementsAre("received at 6", "received at 6"));
}

}  // namespace
}  // namespace grapevine::testing

#include "tests/node/whole_node/random_plan.h"

#include <algorithm>
#include <chrono>
#include <span>

#include "random/keyed_random.h"

namespace grapevine::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

class Draw {
 public:
  explicit Draw(uint64_t seed) : random_(seed, Purpose::kTopology) {}

  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_.Below(static_cast<uint64_t>(high - low + 1)));
  }
  nanoseconds Between(nanoseconds low, nanoseconds high) {
    return nanoseconds(Between(low.count(), high.count()));
  }
  bool OneIn(uint64_t n) { return random_.Below(n) == 0; }
  template <typename T, size_t n>
  T Of(const T (&choices)[n]) {
    return choices[random_.Below(n)];
  }
  Rank OtherThan(Rank rank, Rank nodes) {
    const Rank other = static_cast<Rank>(Between(0, nodes - 2));
    return other < rank ? other : other + 1;
  }

 private:
  KeyedRandom random_;
};

RunPlan Basics(uint64_t seed, Draw& draw) {
  RunPlan plan{.seed = seed, .token = seed % 2 == 0};
  // Above all pauses that a run must survive.
  if (seed % 3 == 0) plan.min_peer_timeout = plan.peer_timeout * 4 / 5;
  plan.nodes = static_cast<Rank>(draw.Between(2, 8));
  plan.algorithm = draw.Of<const char*>(
      {"dpsgd", "dpsgd", "dpsgd:order=atc", "dpsgd:local=2", "average:every=3", "noloco:every=2",
       "allreduce", "allreduce:buckets=2", "allreduce:halving-doubling", "allreduce:tree",
       "allreduce:hierarchical", "allreduce:recursive-doubling", "ps"});
  plan.topology = draw.Of<const char*>(
      {"ring", "ring", "complete", "path", "star", "one-peer-exponential", "random-matching"});
  plan.window = static_cast<int>(draw.Between(1, 3));
  plan.rounds = draw.Between(1, 8);
  plan.evaluate_every = draw.OneIn(2) ? draw.Between(1, 3) : 0;
  if (plan.evaluate_every > 0 && draw.OneIn(2)) {
    plan.target_met_in = draw.Between(0, plan.rounds + 1);
  }
  plan.latency = draw.Between(nanoseconds(0), milliseconds(5));
  plan.jitter = draw.Between(nanoseconds(0), milliseconds(10));
  plan.gradient = draw.Between(nanoseconds(0), milliseconds(10));
  plan.evaluation = draw.Between(nanoseconds(0), milliseconds(20));
  plan.last_evaluation = draw.Between(nanoseconds(0), milliseconds(20));
  return plan;
}

// In which nodes find the next coordinator, if nothing is amiss.
constexpr milliseconds kSearch{200};

// Some time in which a run of some rounds may be.
nanoseconds Moment(Draw& draw) { return draw.Between(milliseconds(200), milliseconds(600)); }

Fault Bump(Draw& draw, const RunPlan& plan) {
  const nanoseconds below = plan.peer_timeout / 3;
  using Kind = Fault::Kind;
  Fault fault{.kind = draw.Of<Kind>(
                  {Kind::kPause, Kind::kPartition, Kind::kCut, Kind::kReset, Kind::kCutControl}),
              .at = Moment(draw),
              .a = static_cast<Rank>(draw.Between(0, plan.nodes - 1)),
              .lasts = draw.Between(nanoseconds(0), below)};
  fault.b = draw.OtherThan(fault.a, plan.nodes);
  if (fault.kind != Kind::kCutControl) return fault;
  if (fault.a == 0) fault.a = fault.b;
  fault.lasts = fault.lasts * 3 / 2;  // two, one after the other, are still below it
  return fault;
}

}  // namespace

RunPlan HealthyPlan(uint64_t seed) {
  Draw draw(seed);
  return Basics(seed, draw);
}

RunPlan BumpyPlan(uint64_t seed) {
  Draw draw(seed);
  RunPlan plan = Basics(seed, draw);
  for (int64_t bumps = draw.Between(0, 2); bumps > 0; --bumps) {
    plan.faults.push_back(Bump(draw, plan));
  }
  if (draw.OneIn(3)) plan.gradient = draw.Between(milliseconds(10), milliseconds(1500));
  if (draw.OneIn(3)) plan.evaluation = draw.Between(milliseconds(10), 5 * plan.peer_timeout);
  if (draw.OneIn(3)) plan.last_evaluation = draw.Between(milliseconds(10), 5 * plan.peer_timeout);
  return plan;
}

RunPlan FatalPlan(uint64_t seed) {
  Draw draw(seed);
  RunPlan plan = Basics(seed, draw);
  using Kind = Fault::Kind;
  Fault fault{
      .kind = draw.Of<Kind>({Kind::kKill, Kind::kKill, Kind::kPause, Kind::kCutControl, Kind::kCut,
                             Kind::kPartition, Kind::kLostHost, Kind::kInterrupt, Kind::kNeverComes,
                             Kind::kMisfit, Kind::kDiverges}),
      .at = Moment(draw),
      .a = static_cast<Rank>(draw.Between(0, plan.nodes - 1)),
      .lasts = draw.Between(2 * plan.peer_timeout, 10 * plan.peer_timeout),
      .round = draw.Between(0, plan.rounds - 1)};
  // Rank 0 is the one whose configuration holds.
  if (fault.kind == Kind::kMisfit && fault.a == 0) fault.a = 1;
  if (fault.kind == Kind::kMisfit && plan.token && draw.OneIn(2)) fault.kind = Kind::kOtherToken;
  fault.b = draw.OtherThan(fault.a, plan.nodes);
  if (fault.kind == Kind::kCutControl && fault.a == 0) fault.a = fault.b;
  plan.faults.push_back(fault);
  return plan;
}

RunPlan MortalPlan(uint64_t seed) {
  Draw draw(seed);
  RunPlan plan = Basics(seed, draw);
  plan.resilient = true;
  plan.algorithm = draw.Of<const char*>(
      {"dpsgd", "dpsgd", "dpsgd:order=atc", "dpsgd:local=2", "noloco:every=2", "sgp",
       "sgp:overlap=2", "allreduce", "allreduce:buckets=2", "allreduce:halving-doubling",
       "allreduce:tree", "allreduce:hierarchical", "allreduce:recursive-doubling",
       "average:every=2", "easgd", "slowmo:every=3:tree"});
  plan.evaluate_every = draw.Between(1, 6);
  plan.rounds = plan.evaluate_every * draw.Between(1, 5);
  if (plan.target_met_in) plan.target_met_in = draw.Between(0, plan.rounds);
  return plan;
}

std::vector<Fault> Deaths(const RunPlan& plan) {
  Draw draw(~plan.seed);
  using Kind = Fault::Kind;
  std::vector<Fault> deaths;
  const nanoseconds most = plan.rounds * (plan.gradient + plan.latency + plan.jitter);
  for (Rank rank = 1; rank < plan.nodes; ++rank) {
    if (draw.OneIn(2)) continue;
    deaths.push_back(
        {.kind = draw.Of<Kind>({Kind::kKill, Kind::kKill, Kind::kPause, Kind::kLostHost,
                                Kind::kInterrupt, Kind::kCut, Kind::kCutControl}),
         .at = draw.Between(nanoseconds(0), draw.OneIn(2) ? most : 3 * most),
         .a = rank,
         .lasts = draw.Between(2 * plan.peer_timeout, 10 * plan.peer_timeout)});
  }
  // Rank 0, whom more than half have lost, would be to blame.
  size_t cuts = static_cast<size_t>(plan.nodes) - deaths.size();  // at most as many as are spared
  for (Fault& death : deaths) {
    if (death.kind != Kind::kCut) continue;
    if (cuts == 0) {
      death.kind = Kind::kKill;
    } else {
      --cuts;
      // Two that have not met yet do so afterwards, and the run has its rendezvous.
      death.lasts = plan.rendezvous_timeout - plan.peer_timeout / 4;
    }
  }
  std::ranges::sort(deaths, {}, &Fault::at);
  return deaths;
}

std::vector<Fault> DeathsOfAny(const RunPlan& plan) {
  std::vector<Fault> deaths = Deaths(plan);
  Draw draw(~plan.seed + 2);
  using Kind = Fault::Kind;
  // Who does not merely lose its edge to rank 0, or is cut off from it: that may be spared or not.
  const auto spared = static_cast<Rank>(draw.Between(1, plan.nodes - 1));
  std::erase_if(deaths, [spared](const Fault& death) { return death.a == spared; });
  const nanoseconds most = plan.rounds * (plan.gradient + plan.latency + plan.jitter);
  deaths.push_back({.kind = draw.Of<Kind>({Kind::kKill, Kind::kKill, Kind::kPause, Kind::kLostHost,
                                           Kind::kInterrupt}),
                    .at = draw.Between(nanoseconds(0), draw.OneIn(2) ? most : 3 * most),
                    .a = 0,
                    .lasts = draw.Between(2 * plan.peer_timeout, 10 * plan.peer_timeout)});
  // Some while another takes the role over.
  for (Fault& death : deaths) {
    if (draw.OneIn(3)) death.at += draw.Between(nanoseconds(0), 3 * nanoseconds(plan.peer_timeout));
  }
  std::ranges::sort(deaths, {}, &Fault::at);
  return deaths;
}

std::vector<Fault> BadNetwork(const RunPlan& plan) {
  Draw draw(~plan.seed + 4);
  const auto bad = static_cast<Rank>(draw.Between(1, plan.nodes - 1));
  std::vector<Rank> others;
  for (Rank rank = 1; rank < plan.nodes; ++rank) {
    if (rank != bad) others.push_back(rank);
  }
  while (others.size() > 2 && draw.OneIn(2)) {
    others.erase(others.begin() + draw.Between(0, std::ssize(others) - 1));
  }
  const Fault::Kind kind = draw.OneIn(2) ? Fault::Kind::kCut : Fault::Kind::kPartition;
  const nanoseconds most = plan.rounds * (plan.gradient + plan.latency + plan.jitter);
  const nanoseconds at = draw.Between(nanoseconds(0), most / 2);
  std::vector<Fault> cuts;
  for (const Rank other : others) {
    cuts.push_back({.kind = kind,
                    .at = at + draw.Between(nanoseconds(0), plan.peer_timeout / 16),
                    .a = bad,
                    .b = other,
                    .lasts = 20 * plan.peer_timeout});
  }
  std::ranges::sort(cuts, {}, &Fault::at);
  return cuts;
}

std::vector<Fault> Standstill(const RunPlan& plan) {
  Draw draw(~plan.seed + 5);
  // Who stands still, or goes on, first hears nobody meanwhile.
  const nanoseconds spread = plan.peer_timeout / 4;
  const nanoseconds most = plan.rounds * (plan.gradient + plan.latency + plan.jitter);
  const nanoseconds at = draw.Between(nanoseconds(0), most);
  const nanoseconds ends = at + draw.Between(5 * plan.peer_timeout / 4, 20 * plan.peer_timeout);
  std::vector<Fault> faults;
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    const nanoseconds begins = at + draw.Between(nanoseconds(0), spread);
    faults.push_back({.kind = Fault::Kind::kPause,
                      .at = begins,
                      .a = rank,
                      .lasts = ends + draw.Between(nanoseconds(0), spread) - begins});
  }
  std::ranges::sort(faults, {}, &Fault::at);
  return faults;
}

std::vector<Fault> StoreTroubles(const RunPlan& plan, nanoseconds longest,
                                 const std::vector<Fault>& deaths) {
  Draw draw(~plan.seed + 6);
  using Kind = Fault::Kind;
  const nanoseconds most = plan.rounds * (plan.gradient + plan.latency + plan.jitter);
  std::vector<Fault> troubles;
  for (int64_t times = draw.Between(1, 3); times > 0; --times) {
    const nanoseconds lasts = draw.Between(nanoseconds(0), longest);
    const nanoseconds at = draw.Between(nanoseconds(0), most);
    const auto death = static_cast<size_t>(draw.Between(0, std::ssize(deaths)));
    troubles.push_back({.kind = draw.Of<Kind>({Kind::kStoreAway, Kind::kStoreDown}),
                        .at = death < deaths.size()
                                  ? deaths[death].at + draw.Between(nanoseconds(0), kSearch)
                                  : at,
                        .a = static_cast<Rank>(draw.OneIn(2) ? 0 : draw.Between(0, plan.nodes - 1)),
                        .lasts = lasts});
  }
  std::ranges::sort(troubles, {}, &Fault::at);
  return troubles;
}

std::vector<Fault> SplitNetwork(const RunPlan& plan) {
  Draw draw(~plan.seed + 7);
  using Kind = Fault::Kind;
  const nanoseconds most = plan.rounds * (plan.gradient + plan.latency + plan.jitter);
  const nanoseconds at = draw.Between(nanoseconds(0), most);
  const auto some_time = [&] {
    return draw.Between(nanoseconds(0), draw.OneIn(2) ? plan.peer_timeout : 10 * plan.peer_timeout);
  };
  const auto soon = [&] { return at + draw.Between(nanoseconds(0), plan.peer_timeout / 2); };
  std::vector<bool> apart(plan.nodes);
  for (Rank rank = 0; rank < plan.nodes; ++rank) apart[rank] = draw.OneIn(2);
  const nanoseconds lasts = some_time();
  std::vector<Fault> faults;
  for (Rank a = 0; a < plan.nodes; ++a) {
    for (Rank b = a + 1; b < plan.nodes; ++b) {
      if (apart[a] == apart[b]) continue;
      faults.push_back({.kind = Kind::kPartition, .at = at, .a = a, .b = b, .lasts = lasts});
    }
  }
  const bool all = draw.OneIn(8);
  const bool those = draw.OneIn(2);
  const nanoseconds cut = soon();
  const nanoseconds away = some_time();
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    if (!all && apart[rank] != those) continue;
    faults.push_back({.kind = Kind::kStoreAway, .at = cut, .a = rank, .lasts = away});
  }
  if (draw.OneIn(4)) faults.push_back({.kind = Kind::kLeasesLost, .at = soon()});
  if (draw.OneIn(4)) {
    // Some stand still while they look for the next coordinator.
    const nanoseconds dies = soon();
    faults.push_back({.kind = Kind::kKill, .at = dies, .a = 0});
    for (Rank rank = 1; rank < plan.nodes; ++rank) {
      if (draw.OneIn(2)) continue;
      faults.push_back({.kind = Kind::kPause,
                        .at = dies + draw.Between(milliseconds(10), milliseconds(200)),
                        .a = rank,
                        .lasts = some_time()});
    }
  }
  std::ranges::sort(faults, {}, &Fault::at);
  return faults;
}

std::vector<Fault> Returns(const RunPlan& plan) {
  Draw draw(~plan.seed + 3);
  const auto spared = static_cast<Rank>(draw.Between(0, plan.nodes - 1));
  // Without them it ends after a third to all of that.
  const nanoseconds most =
      draw.Between(1, 3) * plan.rounds * (plan.gradient + plan.latency + plan.jitter);
  std::vector<Fault> returns;
  for (Rank rank = 0; rank < plan.nodes; ++rank) {
    if (rank == spared || draw.OneIn(3)) continue;
    nanoseconds at = draw.Between(nanoseconds(0), most);
    for (int times = 0; times < 3 && at < most; ++times) {
      const nanoseconds absent =
          draw.Between(nanoseconds(0), draw.OneIn(2) ? nanoseconds(plan.peer_timeout) : most / 4);
      returns.push_back({.kind = Fault::Kind::kKill, .at = at, .a = rank, .lasts = absent});
      at += absent + draw.Between(nanoseconds(1), most / 2);
    }
  }
  std::ranges::sort(returns, {}, &Fault::at);
  return returns;
}

std::vector<Fault> BrokenControl(const RunPlan& plan, const std::vector<Fault>& deaths) {
  Draw draw(~plan.seed + 1);
  std::vector<Fault> breaks;
  const nanoseconds most = plan.rounds * (plan.gradient + plan.latency + plan.jitter);
  for (Rank rank = 1; rank < plan.nodes; ++rank) {
    const bool dies = std::ranges::find(deaths, rank, &Fault::a) != deaths.end();
    if (draw.OneIn(2) || dies) continue;
    breaks.push_back({.kind = Fault::Kind::kCutControl,
                      .at = draw.Between(nanoseconds(0), 2 * most),
                      .a = rank,
                      .lasts = draw.Between(nanoseconds(0), plan.peer_timeout * 3 / 4)});
  }
  return breaks;
}

}  // namespace grapevine::testing

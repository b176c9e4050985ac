#include "experiment/graph_search/families.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "topology/stored_graph.h"
#include "topology/stored_schedule.h"
#include "topology/topology.h"
#include "topology/weights/stored_mixing.h"

namespace grapevine {
namespace {

using Messages = std::vector<Edge>;

std::vector<Messages> MessagesByRound(const Topology& topology) {
  std::vector<Messages> rounds(topology.period());
  std::vector<Rank> readers;
  for (Round round = 0; round < topology.period(); ++round) {
    for (Rank from = 0; from < topology.size(); ++from) {
      topology.OutNeighbours(from, round, &readers);
      for (const Rank to : readers) rounds[round].push_back({from, to});
    }
  }
  return rounds;
}

double SecondsAt(const std::vector<Messages>& rounds, std::span<const Rank> places,
                 const LinkLoads& loads) {
  double seconds = 0;
  for (Messages messages : rounds) {
    for (Edge& message : messages) message = {places[message.from], places[message.to]};
    seconds += loads.Seconds(messages);
  }
  return seconds;
}

// Exchanges pairs until none makes the estimate shorter, or for kPasses over all of them. Returns
// the estimate.
double Improve(const std::vector<Messages>& rounds, const LinkLoads& loads,
               std::vector<Rank>* places) {
  constexpr int kPasses = 4;
  double best = SecondsAt(rounds, *places, loads);
  bool better = true;
  for (int pass = 0; better && pass < kPasses; ++pass) {
    better = false;
    for (size_t i = 0; i < places->size(); ++i) {
      for (size_t j = i + 1; j < places->size(); ++j) {
        std::swap((*places)[i], (*places)[j]);
        const double seconds = SecondsAt(rounds, *places, loads);
        if (seconds < best) {
          best = seconds;
          better = true;
        } else {
          std::swap((*places)[i], (*places)[j]);
        }
      }
    }
  }
  return best;
}

}  // namespace

std::vector<std::shared_ptr<const Mixing>> Families(Rank n, uint64_t seed) {
  std::vector<std::shared_ptr<const Mixing>> families;
  for (const std::string& spec : AdvisedTopologies(n)) {
    absl::StatusOr<std::shared_ptr<const Topology>> topology = MakeTopology(spec, n, seed);
    if (!topology.ok() || (*topology)->period() == 0) continue;
    absl::StatusOr<std::shared_ptr<const Mixing>> mixing =
        MakeMixing("metropolis", *std::move(topology));
    if (mixing.ok()) families.push_back(*std::move(mixing));
  }
  return families;
}

std::vector<Rank> BestPlaces(const Topology& topology, const Group& nearness,
                             const LinkLoads& loads) {
  const std::vector<Messages> rounds = MessagesByRound(topology);
  std::vector<Rank> own(topology.size());
  std::iota(own.begin(), own.end(), 0);
  std::vector<Rank> near = MembersByPart(nearness);
  const double of_own = Improve(rounds, loads, &own);
  return Improve(rounds, loads, &near) < of_own ? near : own;
}

std::shared_ptr<const Mixing> Placed(const Mixing& mixing, std::span<const Rank> places) {
  const Topology& topology = mixing.topology();
  const std::string name = absl::StrCat(topology.name(), ", placed");
  std::vector<Messages> edges = MessagesByRound(topology);
  for (Messages& round : edges) {
    for (Edge& edge : round) edge = {places[edge.from], places[edge.to]};
  }
  std::vector<MixingRows> rounds;
  for (Round round = 0; round < topology.period(); ++round) {
    MixingRows rows(topology.size());
    for (Rank rank = 0; rank < topology.size(); ++rank) {
      MixingRow& row = rows[places[rank]];
      mixing.Row(rank, round, &row);
      for (Neighbour& in : row.in) in.rank = places[in.rank];
      std::ranges::sort(row.in, {}, &Neighbour::rank);
    }
    rounds.push_back(std::move(rows));
  }
  return MakeStoredMixing(
      name, MakeStoredSchedule(name, topology.size(), std::move(edges), topology.directed()),
      std::move(rounds), mixing.stochastic());
}

std::vector<WeightedRound> WeightedRoundsOf(const Mixing& mixing) {
  std::vector<WeightedRound> rounds(mixing.topology().period());
  MixingRow row;
  for (size_t round = 0; round < rounds.size(); ++round) {
    for (Rank rank = 0; rank < mixing.topology().size(); ++rank) {
      mixing.Row(rank, static_cast<Round>(round), &row);
      for (const auto& [other, weight] : row.in) {
        if (rank < other) rounds[round].push_back({rank, other, weight});
      }
    }
  }
  return rounds;
}

}  // namespace grapevine

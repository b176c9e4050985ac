#include "topology/weights/living_mixing.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "topology/stored_graph.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

constexpr std::string_view kLastResort = "ring";

// Converts between ranks of the whole graph and positions of the living nodes among themselves.
class Positions {
 public:
  static constexpr Rank kLost = -1;

  Positions(Rank nodes, std::span<const Rank> living)
      : members_(living.begin(), living.end()), positions_(nodes, kLost) {
    for (size_t i = 0; i < members_.size(); ++i) positions_[members_[i]] = static_cast<Rank>(i);
  }

  Rank size() const { return static_cast<Rank>(members_.size()); }
  Rank member(Rank position) const { return members_[position]; }
  // Returns the position of a living node; kLost for a lost node.
  Rank of(Rank member) const { return positions_[member]; }
  bool living(Rank member) const { return of(member) != kLost; }
  // Replaces members by their positions, and leaves out lost ones.
  void Translate(std::vector<Rank>* members) const {
    std::erase_if(*members, [this](Rank member) { return !living(member); });
    for (Rank& member : *members) member = of(member);
  }

 private:
  const std::vector<Rank> members_;
  std::vector<Rank> positions_;
};

class KeptGraph final : public Topology {
 public:
  KeptGraph(std::shared_ptr<const Mixing> whole, std::shared_ptr<const Positions> positions)
      : whole_(std::move(whole)), positions_(std::move(positions)) {}

  std::string name() const override {
    return absl::StrCat(graph().name(), " without ", graph().size() - size(), " of its nodes");
  }
  Rank size() const override { return positions_->size(); }
  Round period() const override { return graph().period(); }
  bool directed() const override { return graph().directed(); }
  void InNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const override {
    graph().InNeighbours(positions_->member(rank), round, neighbours);
    positions_->Translate(neighbours);
  }
  void OutNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const override {
    graph().OutNeighbours(positions_->member(rank), round, neighbours);
    positions_->Translate(neighbours);
  }

 private:
  const Topology& graph() const { return whole_->topology(); }

  const std::shared_ptr<const Mixing> whole_;
  const std::shared_ptr<const Positions> positions_;
};

class KeptMixing final : public Mixing {
 public:
  KeptMixing(std::shared_ptr<const Mixing> whole, std::shared_ptr<const Positions> positions)
      : whole_(std::move(whole)), positions_(std::move(positions)), graph_(whole_, positions_) {}

  std::string name() const override { return whole_->name(); }
  const Topology& topology() const override { return graph_; }
  // Where W is not symmetric, rows may no longer sum to 1.
  Stochastic stochastic() const override {
    return whole_->symmetric() ? Stochastic::kDoubly : Stochastic::kColumns;
  }
  void Row(Rank rank, Round round, MixingRow* row) const override {
    const Rank member = positions_->member(rank);
    whole_->Row(member, round, row);
    row->self += GivenToTheLost(member, round);
    std::erase_if(row->in, [this](const Neighbour& in) { return !positions_->living(in.rank); });
    for (Neighbour& in : row->in) in.rank = positions_->of(in.rank);
  }

 private:
  double GivenToTheLost(Rank member, Round round) const {
    std::vector<Rank> readers;
    whole_->topology().OutNeighbours(member, round, &readers);
    double given = 0;
    for (const Rank reader : readers) {
      if (positions_->living(reader)) continue;
      MixingRow lost;
      whole_->Row(reader, round, &lost);
      given += std::ranges::lower_bound(lost.in, member, {}, &Neighbour::rank)->weight;
    }
    return given;
  }

  const std::shared_ptr<const Mixing> whole_;
  const std::shared_ptr<const Positions> positions_;
  const KeptGraph graph_;
};

// Whether each node reaches every other node over the weights above 0 of all rounds.
bool Connected(const Mixing& mixing) {
  const Topology& graph = mixing.topology();
  std::vector<Edge> edges;
  MixingRow row;
  for (Round round = 0; round < graph.shown_rounds(); ++round) {
    for (Rank rank = 0; rank < graph.size(); ++rank) {
      mixing.Row(rank, round, &row);
      for (const auto& [from, weight] : row.in) {
        if (weight > 0) edges.push_back({from, rank});
      }
    }
  }
  return !MissingPath(graph.size(), edges);
}

bool IsUsable(const LivingMixingRequest& request, const Mixing& mixing) {
  return std::ranges::find(request.usable, mixing.stochastic()) != request.usable.end();
}

absl::StatusOr<std::shared_ptr<const Mixing>> Make(std::string_view topology,
                                                   std::string_view mixing, Rank nodes,
                                                   uint64_t seed) {
  ASSIGN_OR_RETURN(std::shared_ptr<const Topology> graph, MakeTopology(topology, nodes, seed));
  return MakeMixing(mixing, std::move(graph));
}

// Returns null if the graph has no formula, or no usable weights for this number of nodes.
std::shared_ptr<const Mixing> Remade(const LivingMixingRequest& request, Rank nodes) {
  const auto named = Topologies().Read(request.topology);
  if (!named.ok() || named->kind->drawn) return nullptr;
  absl::StatusOr<std::shared_ptr<const Mixing>> mixing =
      Make(request.topology, request.mixing, nodes, request.seed);
  return mixing.ok() && IsUsable(request, **mixing) ? *std::move(mixing) : nullptr;
}

// Returns null if what is left of the graph cannot be used.
std::shared_ptr<const Mixing> Kept(const LivingMixingRequest& request,
                                   std::span<const Rank> living) {
  const Rank nodes = request.whole->topology().size();
  auto mixing =
      std::make_shared<KeptMixing>(request.whole, std::make_shared<const Positions>(nodes, living));
  if (!IsUsable(request, *mixing) || !Connected(*mixing)) return nullptr;
  return mixing;
}

}  // namespace

absl::StatusOr<LivingMixing> MixingOfLiving(const LivingMixingRequest& request,
                                            std::span<const Rank> living) {
  const auto nodes = static_cast<Rank>(living.size());
  if (nodes == request.whole->topology().size()) {
    return LivingMixing{request.whole, LivingGraph::kWhole};
  }
  if (auto mixing = Remade(request, nodes)) {
    return LivingMixing{std::move(mixing), LivingGraph::kRemade};
  }
  if (auto mixing = Kept(request, living)) {
    return LivingMixing{std::move(mixing), LivingGraph::kKept};
  }
  ASSIGN_OR_RETURN(auto ring, Make(kLastResort, "metropolis", nodes, request.seed));
  return LivingMixing{std::move(ring), LivingGraph::kRing};
}

}  // namespace grapevine

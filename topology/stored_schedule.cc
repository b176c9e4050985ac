#include "topology/stored_schedule.h"

#include <algorithm>
#include <utility>

namespace grapevine {
namespace {

class StoredSchedule final : public Topology {
 public:
  StoredSchedule(std::string name, std::vector<std::shared_ptr<const Topology>> rounds)
      : name_(std::move(name)),
        rounds_(std::move(rounds)),
        directed_(
            std::ranges::any_of(rounds_, [](const auto& round) { return round->directed(); })) {}

  std::string name() const override { return name_; }
  Rank size() const override { return rounds_.front()->size(); }
  Round period() const override { return static_cast<Round>(rounds_.size()); }
  bool directed() const override { return directed_; }

  void InNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const override {
    At(round).InNeighbours(rank, 0, neighbours);
  }
  void OutNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const override {
    At(round).OutNeighbours(rank, 0, neighbours);
  }
  Rank Degree(Rank rank, Round round) const override { return At(round).Degree(rank, 0); }
  Rank OutDegree(Rank rank, Round round) const override { return At(round).OutDegree(rank, 0); }

 private:
  const Topology& At(Round round) const { return *rounds_[round % period()]; }

  const std::string name_;
  const std::vector<std::shared_ptr<const Topology>> rounds_;
  const bool directed_;
};

}  // namespace

std::shared_ptr<const Topology> MakeStoredSchedule(std::string name, Rank n,
                                                   std::vector<std::vector<Edge>> rounds,
                                                   bool directed) {
  const auto make = directed ? MakeDirectedGraph : MakeStoredGraph;
  if (rounds.size() == 1) return make(std::move(name), n, std::move(rounds.front()));
  std::vector<std::shared_ptr<const Topology>> graphs;
  graphs.reserve(rounds.size());
  for (std::vector<Edge>& edges : rounds) graphs.push_back(make(name, n, std::move(edges)));
  return std::make_shared<StoredSchedule>(std::move(name), std::move(graphs));
}

}  // namespace grapevine

// Graphs that look the same from every node: Cayley graphs of Z_a x Z_b x ...
//
// Ranks are the elements of a product of cyclic groups in row-major order, and a node sends to
// itself plus each of a few fixed offsets. Ring, torus, hypercube and exponential graphs are Cayley
// graphs for different groups and offsets. All have one spectrum formula (the characters of the
// group). Because the group is commutative, matrices of different rounds share their eigenvectors:
// a one-peer schedule is a Cayley graph whose offsets change.
//
// Thread-safety: immutable.
#ifndef GRAPEVINE_TOPOLOGY_GRAPHS_CAYLEY_GRAPH_H_
#define GRAPEVINE_TOPOLOGY_GRAPHS_CAYLEY_GRAPH_H_

#include <string>
#include <vector>

#include "topology/topology.h"

namespace grapevine {

class CayleyGraph final : public Topology {
 public:
  // One coordinate per side, in [0, side).
  using Element = std::vector<Rank>;
  using Offsets = std::vector<Element>;

  // `sides` are the orders of the cyclic groups; their product is the number of nodes and must fit
  // a Rank. offsets[r] are the offsets of the rounds r, r + period, ...; at least one round is
  // needed. Coordinates may have any value: they are reduced, and an offset that is zero or
  // coincides with another does not count.
  CayleyGraph(std::string name, std::vector<Rank> sides, std::vector<Offsets> offsets);

  std::string name() const override { return name_; }
  Rank size() const override { return size_; }
  Round period() const override { return static_cast<Round>(sends_.size()); }
  bool directed() const override { return directed_; }
  void InNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const override;
  void OutNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const override;
  Rank Degree(Rank rank, Round round) const override;
  Rank OutDegree(Rank rank, Round round) const override { return Degree(rank, round); }
  // Returns (1 + sum over offsets s of exp(2 pi i k.s)) / (1 + degree), where k is the element with
  // that rank, and k.s the sum of k_a s_a / side_a.
  std::optional<std::complex<double>> MetropolisEigenvalue(Rank k, Round round) const override;

 private:
  Element ElementOf(Rank rank) const;
  Rank RankOfSum(const Element& a, const Element& b) const;
  void Neighbours(Rank rank, const Offsets& offsets, std::vector<Rank>* neighbours) const;
  Offsets Reduced(const Offsets& offsets) const;
  Offsets Inverses(const Offsets& offsets) const;

  const std::string name_;
  const std::vector<Rank> sides_;
  Rank size_ = 1;
  bool directed_ = false;
  std::vector<Offsets> sends_;     // by round of the period
  std::vector<Offsets> receives_;  // the inverses of sends_
};

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_GRAPHS_CAYLEY_GRAPH_H_

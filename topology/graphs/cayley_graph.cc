#include "topology/graphs/cayley_graph.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <utility>

namespace grapevine {
namespace {

Rank Modulo(Rank value, Rank side) {
  const Rank remainder = value % side;
  return remainder < 0 ? remainder + side : remainder;
}

}  // namespace

CayleyGraph::CayleyGraph(std::string name, std::vector<Rank> sides, std::vector<Offsets> offsets)
    : name_(std::move(name)), sides_(std::move(sides)) {
  for (Rank side : sides_) size_ *= side;
  for (const Offsets& round : offsets) {
    sends_.push_back(Reduced(round));
    receives_.push_back(Inverses(sends_.back()));
    directed_ |= sends_.back() != receives_.back();
  }
}

void CayleyGraph::InNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const {
  Neighbours(rank, receives_[round % period()], neighbours);
}

void CayleyGraph::OutNeighbours(Rank rank, Round round, std::vector<Rank>* neighbours) const {
  Neighbours(rank, sends_[round % period()], neighbours);
}

Rank CayleyGraph::Degree(Rank, Round round) const {
  return static_cast<Rank>(sends_[round % period()].size());
}

std::optional<std::complex<double>> CayleyGraph::MetropolisEigenvalue(Rank k, Round round) const {
  const Element character = ElementOf(k);
  const Offsets& offsets = sends_[round % period()];
  std::complex<double> sum = 1;
  for (const Element& offset : offsets) {
    double turns = 0;
    for (size_t a = 0; a < sides_.size(); ++a) {
      turns += static_cast<double>(int64_t{character[a]} * offset[a] % sides_[a]) / sides_[a];
    }
    sum += std::polar(1.0, 2 * std::numbers::pi * turns);
  }
  // The imaginary parts of an offset and its inverse cancel.
  if (!directed_) sum = sum.real();
  return sum / static_cast<double>(offsets.size() + 1);
}

CayleyGraph::Element CayleyGraph::ElementOf(Rank rank) const {
  Element element(sides_.size());
  for (size_t a = sides_.size(); a-- > 0; rank /= sides_[a]) element[a] = rank % sides_[a];
  return element;
}

Rank CayleyGraph::RankOfSum(const Element& a, const Element& b) const {
  Rank rank = 0;
  for (size_t i = 0; i < sides_.size(); ++i) {
    rank = rank * sides_[i] + static_cast<Rank>((int64_t{a[i]} + b[i]) % sides_[i]);
  }
  return rank;
}

void CayleyGraph::Neighbours(Rank rank, const Offsets& offsets,
                             std::vector<Rank>* neighbours) const {
  const Element element = ElementOf(rank);
  neighbours->clear();
  for (const Element& offset : offsets) neighbours->push_back(RankOfSum(element, offset));
  std::sort(neighbours->begin(), neighbours->end());
}

CayleyGraph::Offsets CayleyGraph::Reduced(const Offsets& offsets) const {
  std::set<Element> distinct;
  for (Element offset : offsets) {
    for (size_t a = 0; a < sides_.size(); ++a) offset[a] = Modulo(offset[a], sides_[a]);
    distinct.insert(std::move(offset));
  }
  distinct.erase(Element(sides_.size(), 0));
  return {distinct.begin(), distinct.end()};
}

CayleyGraph::Offsets CayleyGraph::Inverses(const Offsets& offsets) const {
  Offsets inverses = offsets;
  for (Element& inverse : inverses) {
    for (Rank& coordinate : inverse) coordinate = -coordinate;
  }
  return Reduced(inverses);
}

}  // namespace grapevine

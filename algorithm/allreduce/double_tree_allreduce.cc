// Two binary trees, each of which carries half of the vector in K pieces that follow one another
// (Sanders, Speck and Träff 2009). A rank that has children in one tree is a leaf in the other, so
// that all interfaces are used. The cost is about 2 h (alpha + M/K beta) + 2 M beta for trees of
// height h: for many pieces, nearly the bytes of a ring in a number of latencies that grows with
// log2 n.
//
// The first tree is in order, with odd ranks as leaves, as in NCCL. The second tree is its mirror
// image for even n, and the first tree shifted by one rank for odd n.
#include <algorithm>
#include <bit>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/allreduce/allreduce_kind.h"

namespace grapevine {
namespace {

// The in-order binary tree of positions 0 .. size - 1, whose root, 0, has one child.
class InOrderTree {
 public:
  explicit InOrderTree(Rank size) : size_(size) {}

  Rank Parent(Rank position) const;
  std::vector<Rank> Children(Rank position) const;
  // Returns the level in which the first piece travels from a position to its parent; the other
  // pieces follow in every second level. A piece travels on when it has come from all children; the
  // pieces of two children come in turn.
  int FirstLevel(Rank position) const;

 private:
  const Rank size_;
};

Rank InOrderTree::Parent(Rank position) const {
  if (position == 0) return kNobody;
  const int64_t bit = position & -position;
  const int64_t up = (position ^ bit) | (bit << 1);
  return static_cast<Rank>(up < size_ ? up : position ^ bit);
}

std::vector<Rank> InOrderTree::Children(Rank position) const {
  if (position == 0) {
    if (size_ == 1) return {};
    return {static_cast<Rank>(std::bit_floor(static_cast<unsigned>(size_ - 1)))};
  }
  Rank distance = (position & -position) / 2;
  if (distance == 0) return {};
  std::vector<Rank> children = {position - distance};
  while (distance > 0 && distance >= size_ - position) distance /= 2;
  if (distance > 0) children.push_back(position + distance);
  return children;
}

int InOrderTree::FirstLevel(Rank position) const {
  int after = -1;
  for (const Rank child : Children(position)) after = std::max(after, FirstLevel(child));
  const bool odd = Children(Parent(position)).front() != position;
  const int level = after + 1;
  return level % 2 == (odd ? 1 : 0) ? level : level + 1;
}

class DoubleTreeAllreduce final : public AllreduceSchedule {
 public:
  // `mirrored` selects the second tree.
  DoubleTreeAllreduce(Rank rank, Rank size, bool mirrored, int pieces);

  std::string name() const override {
    return absl::StrCat("allreduce:double-tree:pieces=", pieces_);
  }
  int reduce_levels() const override { return reduce_levels_; }
  AllreduceStep ReduceStep(int level, int64_t elements) const override;

 private:
  struct Link {
    Rank peer;
    int first_level;
  };

  // Returns the piece that travels over a link in a level in which one does (Travels).
  AllreduceStep::Ranges Travelling(const Link& link, int level, int64_t elements) const;
  bool Travels(const Link& link, int level) const {
    const int since = level - link.first_level;
    return since >= 0 && since % 2 == 0 && since / 2 < pieces_;
  }

  const int pieces_;
  int reduce_levels_ = 0;
  std::vector<Link> up_;    // the link to the parent; none at the root
  std::vector<Link> down_;  // the links to the children
};

DoubleTreeAllreduce::DoubleTreeAllreduce(Rank rank, Rank size, bool mirrored, int pieces)
    : pieces_(pieces) {
  // The mirror image is its own inverse where n is even.
  const auto mirror = [&](Rank place, Rank shift) {
    if (!mirrored) return place;
    return size % 2 == 0 ? size - 1 - place : (place + shift) % size;
  };
  const auto rank_at = [&](Rank position) { return mirror(position, 1); };
  const InOrderTree tree(size);
  const Rank position = mirror(rank, size - 1);
  if (position != 0) up_.push_back({rank_at(tree.Parent(position)), tree.FirstLevel(position)});
  for (const Rank child : tree.Children(position)) {
    down_.push_back({rank_at(child), tree.FirstLevel(child)});
  }
  for (const Rank top : tree.Children(0)) reduce_levels_ = tree.FirstLevel(top) + 2 * pieces - 1;
}

AllreduceStep::Ranges DoubleTreeAllreduce::Travelling(const Link& link, int level,
                                                      int64_t elements) const {
  return {Piece({0, elements}, (level - link.first_level) / 2, pieces_)};
}

AllreduceStep DoubleTreeAllreduce::ReduceStep(int level, int64_t elements) const {
  AllreduceStep step;
  for (const Link& link : up_) {
    if (!Travels(link, level)) continue;
    step.to = link.peer;
    step.sent = Travelling(link, level, elements);
  }
  for (const Link& link : down_) {
    if (!Travels(link, level)) continue;
    step.from = link.peer;
    step.received = Travelling(link, level, elements);
  }
  return step;
}

constexpr int64_t kDefaultPieces = 8, kMaxPieces = 128;

absl::StatusOr<AllreduceFactory> ReadDoubleTree(const Spec&, SpecReader& reader, Rank size) {
  const auto pieces = static_cast<int>(reader.Integer("pieces", kDefaultPieces, 1, kMaxPieces));
  return [=](Rank rank) {
    AllreduceSchedules trees;
    for (const bool mirrored : {false, true}) {
      trees.push_back(std::make_unique<DoubleTreeAllreduce>(rank, size, mirrored, pieces));
    }
    return trees;
  };
}

const Registration kDoubleTreeAllreduce(
    Allreduces(), {.name = "double-tree",
                   .options = "[:pieces=8]",
                   .help = "each half of the vector up and down a tree of its own, in pieces",
                   .read = ReadDoubleTree});

}  // namespace
}  // namespace grapevine

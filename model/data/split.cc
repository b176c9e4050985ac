#include "model/data/split.h"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "base/status.h"
#include "random/keyed_random.h"

namespace grapevine {
namespace {

// Number of draws after which a Dirichlet split that leaves a node without samples is given up.
constexpr uint64_t kDirichletDraws = 100;

std::vector<int32_t> Shuffled(size_t samples, KeyedRandom& random) {
  std::vector<int32_t> order(samples);
  std::iota(order.begin(), order.end(), 0);
  random.Shuffle(std::span(order));
  return order;
}

// Returns where the piece of `node` begins and ends. Pieces are consecutive, and their sizes differ
// by at most one.
std::pair<int64_t, int64_t> Piece(int64_t samples, int64_t node, int64_t nodes) {
  return {node * samples / nodes, (node + 1) * samples / nodes};
}

Shards CutEvenly(std::span<const int32_t> order, int64_t nodes) {
  Shards shards;
  for (int64_t node = 0; node < nodes; ++node) {
    const auto [begin, end] = Piece(static_cast<int64_t>(order.size()), node, nodes);
    shards.emplace_back(order.begin() + begin, order.begin() + end);
  }
  return shards;
}

Shards IidSplit(size_t samples, int64_t nodes, uint64_t seed) {
  KeyedRandom random(seed, Purpose::kSplit);
  return CutEvenly(Shuffled(samples, random), nodes);
}

Shards LabelSplit(std::span<const uint16_t> labels, int64_t nodes, uint64_t seed) {
  KeyedRandom random(seed, Purpose::kSplit);
  std::vector<int32_t> order = Shuffled(labels.size(), random);
  std::ranges::stable_sort(order, {}, [&](int32_t sample) { return labels[sample]; });
  return CutEvenly(order, nodes);
}

// Returns the ends of the nodes' pieces of `samples` samples. Sizes are in proportion to
// Gamma(alpha) draws, which are a Dirichlet draw before normalization.
std::vector<int64_t> DirichletEnds(size_t samples, int64_t nodes, double alpha,
                                   KeyedRandom& random) {
  std::vector<double> upTo;
  double sum = 0;
  for (int64_t node = 0; node < nodes; ++node) upTo.push_back(sum += random.Gamma(alpha));
  std::vector<int64_t> ends;
  for (double end : upTo) {
    // With a tiny alpha all draws may underflow: the last node takes the class.
    const double share = sum > 0 ? end / sum : 0;
    ends.push_back(static_cast<int64_t>(share * static_cast<double>(samples)));
  }
  ends.back() = static_cast<int64_t>(samples);
  return ends;
}

Shards DirichletDraw(std::span<const uint16_t> labels, int64_t nodes, double alpha,
                     KeyedRandom& random) {
  const size_t classes = labels.empty() ? 0 : size_t{1} + *std::ranges::max_element(labels);
  std::vector<std::vector<int32_t>> by_class(classes);
  for (int32_t sample : Shuffled(labels.size(), random)) by_class[labels[sample]].push_back(sample);
  Shards shards(static_cast<size_t>(nodes));
  for (const std::vector<int32_t>& samples : by_class) {
    if (samples.empty()) continue;
    int64_t begin = 0;
    const std::vector<int64_t> ends = DirichletEnds(samples.size(), nodes, alpha, random);
    for (size_t node = 0; node < shards.size(); ++node) {
      shards[node].insert(shards[node].end(), samples.begin() + begin,
                          samples.begin() + ends[node]);
      begin = ends[node];
    }
  }
  return shards;
}

absl::StatusOr<Shards> DirichletSplit(const Spec& spec, std::span<const uint16_t> labels,
                                      int64_t nodes, double alpha, uint64_t seed) {
  for (uint64_t draw = 0; draw < kDirichletDraws; ++draw) {
    KeyedRandom random(seed, Purpose::kSplit, /*a=*/1, draw);
    Shards shards = DirichletDraw(labels, nodes, alpha, random);
    if (std::ranges::none_of(shards, [](const auto& shard) { return shard.empty(); })) {
      return shards;
    }
  }
  return SpecError(spec.text,
                   absl::StrCat("each of ", kDirichletDraws, " draws left some of the ", nodes,
                                " nodes without samples; use a larger alpha or fewer nodes"));
}

// Returns the samples of the lost nodes: the shards of all ranks that are not in `living`.
std::vector<int32_t> SamplesOfLost(std::span<const Rank> living, const Shards& shards) {
  std::vector<int32_t> samples;
  auto next = living.begin();
  for (size_t node = 0; node < shards.size(); ++node) {
    if (next != living.end() && *next == static_cast<Rank>(node)) {
      ++next;
    } else {
      samples.insert(samples.end(), shards[node].begin(), shards[node].end());
    }
  }
  return samples;
}

}  // namespace

std::vector<int32_t> ShardAmong(std::span<const Rank> living, Rank node, const Shards& shards) {
  const auto position = std::ranges::lower_bound(living, node) - living.begin();
  const std::vector<int32_t> lost = SamplesOfLost(living, shards);
  const auto [begin, end] =
      Piece(static_cast<int64_t>(lost.size()), position, static_cast<int64_t>(living.size()));
  std::vector<int32_t> shard = shards[static_cast<size_t>(node)];
  shard.insert(shard.end(), lost.begin() + begin, lost.begin() + end);
  return shard;
}

absl::StatusOr<Shards> SplitOverNodes(std::string_view text, std::span<const uint16_t> labels,
                                      int64_t nodes, uint64_t seed) {
  ASSIGN_OR_RETURN(const Spec spec, ParseSpec(text));
  SpecReader reader(spec);
  const double alpha = spec.name == "dirichlet" ? reader.Real("alpha", 0.1, 1e-6, 1e6) : 0;
  RETURN_IF_ERROR(reader.Finish());
  if (nodes < 1 || static_cast<size_t>(nodes) > labels.size()) {
    return SpecError(text, absl::StrCat(labels.size(), " samples cannot be divided among ", nodes,
                                        " nodes; every node needs at least one"));
  }
  if (spec.name == "iid") return IidSplit(labels.size(), nodes, seed);
  if (spec.name == "label") return LabelSplit(labels, nodes, seed);
  if (spec.name == "dirichlet") return DirichletSplit(spec, labels, nodes, alpha, seed);
  return SpecError(text, "unknown split; known: iid, dirichlet:alpha=A, label");
}

}  // namespace grapevine

// Fixed graphs drawn at random from (seed, spec, n), equal on every node.
//
// Each graph is connected: a draw that is not is thrown away and drawn again, and a spec whose
// draws keep falling apart is refused.
//
// Thread-safety: pure functions.
#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <functional>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "random/keyed_random.h"
#include "topology/stored_graph.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

// The set of undirected edges of a graph that is being drawn.
//
// Thread-safety: thread-compatible.
class EdgeSet {
 public:
  bool Contains(Rank a, Rank b) const { return keys_.contains(Key(a, b)); }
  // Returns false if the edge was present already.
  bool Insert(Rank a, Rank b) { return keys_.insert(Key(a, b)).second; }
  void Erase(Rank a, Rank b) { keys_.erase(Key(a, b)); }

  // Returns the edges in ascending order, so that the order of hashing shows nowhere.
  std::vector<Edge> Sorted() const {
    std::vector<Edge> edges;
    edges.reserve(keys_.size());
    for (uint64_t key : keys_) {
      edges.push_back({static_cast<Rank>(key >> 32), static_cast<Rank>(key & 0xffffffffu)});
    }
    std::sort(edges.begin(), edges.end());
    return edges;
  }

 private:
  static uint64_t Key(Rank a, Rank b) {
    return static_cast<uint64_t>(std::min(a, b)) << 32 | static_cast<uint32_t>(std::max(a, b));
  }
  absl::flat_hash_set<uint64_t> keys_;
};

constexpr int kDraws = 100;

using Draw = std::function<std::vector<Edge>(KeyedRandom&)>;

// Returns the first of kDraws draws that is connected.
absl::StatusOr<std::shared_ptr<const Topology>> DrawConnected(const Spec& spec, std::string name,
                                                              Rank n, uint64_t seed,
                                                              std::string_view advice,
                                                              const Draw& draw) {
  for (int attempt = 0; attempt < kDraws; ++attempt) {
    KeyedRandom random(seed, Purpose::kTopology, attempt, n);
    std::vector<Edge> edges = draw(random);
    if (!FirstUnreachable(n, edges)) return MakeStoredGraph(std::move(name), n, std::move(edges));
  }
  return SpecError(spec.text, absl::StrCat("none of ", kDraws, " draws over ", n,
                                           " nodes is connected; ", std::string(advice)));
}

absl::Status CheckStorable(const Spec& spec, double edges) {
  if (edges <= kMaxStoredEdges) return absl::OkStatus();
  return SpecError(spec.text,
                   absl::StrCat("about ", edges, " edges, more than the ", kMaxStoredEdges,
                                " that are stored; take a sparser graph"));
}

// Returns the shortest text that reads back as `value`.
std::string Shortest(double value) {
  char text[32];
  return std::string(text, std::to_chars(text, text + sizeof text, value).ptr);
}

// Joins the stubs pairwise at random; pairs that would be a loop or a repeated edge give back their
// stubs for the next pass. Returns false when no two of the stubs that are left can be joined
// (Steger and Wormald 1999).
bool JoinStubs(std::vector<Rank> stubs, KeyedRandom& random, EdgeSet* edges) {
  while (!stubs.empty()) {
    random.Shuffle(std::span(stubs));
    std::vector<Rank> left;
    for (size_t i = 0; i < stubs.size(); i += 2) {
      const Rank a = stubs[i], b = stubs[i + 1];
      if (a == b || !edges->Insert(a, b)) left.insert(left.end(), {a, b});
    }
    const auto joinable = [&](Rank a) {
      return std::any_of(left.begin(), left.end(),
                         [&](Rank b) { return a != b && !edges->Contains(a, b); });
    };
    if (left.size() == stubs.size() && std::none_of(left.begin(), left.end(), joinable)) {
      return false;
    }
    stubs = std::move(left);
  }
  return true;
}

EdgeSet DrawRegular(Rank n, Rank degree, KeyedRandom& random) {
  std::vector<Rank> stubs;
  for (Rank rank = 0; rank < n; ++rank) stubs.insert(stubs.end(), degree, rank);
  while (true) {
    EdgeSet edges;
    if (JoinStubs(stubs, random, &edges)) return edges;
  }
}

// Returns the pairs that are not edges.
std::vector<Edge> Complement(Rank n, const EdgeSet& edges) {
  std::vector<Edge> complement;
  for (Rank a = 0; a < n; ++a) {
    for (Rank b = a + 1; b < n; ++b) {
      if (!edges.Contains(a, b)) complement.push_back({a, b});
    }
  }
  return complement;
}

// A connected 2-regular graph is one cycle.
std::vector<Edge> DrawCycle(Rank n, KeyedRandom& random) {
  std::vector<Rank> order(n);
  std::iota(order.begin(), order.end(), 0);
  random.Shuffle(std::span(order));
  std::vector<Edge> edges;
  for (Rank i = 0; i < n; ++i) edges.push_back({order[i], order[(i + 1) % n]});
  return edges;
}

// Visits the pairs one after the other and jumps over those that are not drawn (Batagelj and
// Brandes 2005). Takes O(n + edges).
std::vector<Edge> DrawBernoulli(Rank n, double p, KeyedRandom& random) {
  std::vector<Edge> edges;
  const double log_miss = std::log1p(-p);
  int64_t high = 1, low = -1;
  while (p > 0) {
    const double jump = std::floor(std::log1p(-random.Unit()) / log_miss);
    if (jump >= 0.5 * n * n) break;
    low += 1 + static_cast<int64_t>(jump);
    while (low >= high && high < n) low -= high++;
    if (high >= n) break;
    edges.push_back({static_cast<Rank>(low), static_cast<Rank>(high)});
  }
  return edges;
}

std::vector<Edge> DrawSmallWorld(Rank n, Rank k, double p, KeyedRandom& random) {
  EdgeSet edges;
  std::vector<Rank> degree(n, k);
  for (Rank step = 1; step <= k / 2; ++step) {
    for (Rank a = 0; a < n; ++a) edges.Insert(a, static_cast<Rank>((int64_t{a} + step) % n));
  }
  for (Rank step = 1; step <= k / 2; ++step) {
    for (Rank a = 0; a < n; ++a) {
      if (random.Unit() >= p || degree[a] == n - 1) continue;
      Rank to;
      do {
        to = static_cast<Rank>(random.Below(n));
      } while (to == a || edges.Contains(a, to));
      const Rank from = static_cast<Rank>((int64_t{a} + step) % n);
      edges.Erase(a, from);
      edges.Insert(a, to);
      --degree[from];
      ++degree[to];
    }
  }
  return edges.Sorted();
}

// "random:d=3": every node has d neighbours. d < n, n * d even, and d >= 2
// from three nodes on.
absl::StatusOr<std::shared_ptr<const Topology>> MakeRandomRegular(const Spec& spec, Rank n,
                                                                  uint64_t seed) {
  SpecReader reader(spec);
  const Rank d = static_cast<Rank>(reader.Integer("d", 3, 1, std::numeric_limits<Rank>::max() - 1));
  RETURN_IF_ERROR(reader.Finish());
  const auto works = [d](int64_t size) {
    return size > d && size * d % 2 == 0 && (d > 1 || size == 2);
  };
  if (!works(n)) {
    return SizeError(spec.text, n,
                     d == 1 ? "a connected graph of degree 1 has 2 nodes"
                            : absl::StrCat("n must be above d = ", d, " and n * d even"),
                     works, int64_t{d} + 1);
  }
  RETURN_IF_ERROR(CheckStorable(spec, 0.5 * n * d));
  return DrawConnected(spec, absl::StrCat("random:d=", d), n, seed, "try another seed",
                       [&](KeyedRandom& random) {
                         if (d == 2) return DrawCycle(n, random);
                         if (d > (n - 1) / 2)
                           return Complement(n, DrawRegular(n, n - 1 - d, random));
                         return DrawRegular(n, d, random).Sorted();
                       });
}

// "erdos-renyi:p=0.2": every pair is joined with probability p (by default
// 2 ceil(log2 n) / n, which is nearly always connected).
absl::StatusOr<std::shared_ptr<const Topology>> MakeErdosRenyi(const Spec& spec, Rank n,
                                                               uint64_t seed) {
  const int log2_n = std::bit_width(static_cast<uint32_t>(n - 1));
  SpecReader reader(spec);
  const double p = reader.Real("p", std::min(1.0, 2.0 * log2_n / n), 0, 1);
  RETURN_IF_ERROR(reader.Finish());
  RETURN_IF_ERROR(CheckStorable(spec, 0.5 * p * n * (n - 1)));
  const std::string advice =
      absl::StrCat("raise p: most are connected from p = ln(n) / n = ", std::log(n) / n, " on");
  return DrawConnected(spec, absl::StrCat("erdos-renyi:p=", Shortest(p)), n, seed, advice,
                       [&](KeyedRandom& random) { return DrawBernoulli(n, p, random); });
}

// "small-world:k=4:p=0.1": a ring in which every node has k neighbours, k even and below n. One end
// of each edge then moves to a random node with probability p (Watts and Strogatz 1998).
absl::StatusOr<std::shared_ptr<const Topology>> MakeSmallWorld(const Spec& spec, Rank n,
                                                               uint64_t seed) {
  SpecReader reader(spec);
  const Rank k = static_cast<Rank>(reader.Integer("k", 4, 2, std::numeric_limits<Rank>::max() - 1));
  const double p = reader.Real("p", 0.1, 0, 1);
  RETURN_IF_ERROR(reader.Finish());
  if (k % 2 != 0) return SpecError(spec.text, absl::StrCat("option k: ", k, " is odd"));
  const auto works = [k](int64_t size) { return size > k; };
  if (!works(n))
    return SizeError(spec.text, n, absl::StrCat("n must be above k = ", k), works, int64_t{k} + 1);
  RETURN_IF_ERROR(CheckStorable(spec, 0.5 * n * k));
  return DrawConnected(spec, absl::StrCat("small-world:k=", k, ":p=", Shortest(p)), n, seed,
                       "raise k or lower p",
                       [&](KeyedRandom& random) { return DrawSmallWorld(n, k, p, random); });
}

// An odd number of nodes has no graph of odd degree.
std::vector<std::string> Advised(Rank n) { return {n % 2 == 0 ? "random:d=3" : "random:d=4"}; }

const Registration kRandom(Topologies(), {.name = "random",
                                          .options = "[:d=3]",
                                          .help = "a random graph in which all have d neighbours",
                                          .examples = {"random", "random:d=1", "random:d=2",
                                                       "random:d=4", "random:d=15"},
                                          .drawn = true,
                                          .make = MakeRandomRegular,
                                          .advised = Advised});

const Registration kErdosRenyi(Topologies(), {.name = "erdos-renyi",
                                              .options = "[:p=0.2]",
                                              .help = "every pair is joined with probability p",
                                              .examples = {"erdos-renyi", "erdos-renyi:p=1"},
                                              .drawn = true,
                                              .make = MakeErdosRenyi});

const Registration kSmallWorld(
    Topologies(), {.name = "small-world",
                   .options = "[:k=4][:p=0.1]",
                   .help = "a ring of k neighbours, each edge rewired with probability p",
                   .examples = {"small-world", "small-world:k=2:p=0", "small-world:k=6:p=1"},
                   .drawn = true,
                   .make = MakeSmallWorld});

}  // namespace
}  // namespace grapevine

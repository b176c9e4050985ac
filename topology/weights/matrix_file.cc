// file:PATH: an explicit mixing matrix, n lines of n entries W_i0 .. W_i(n-1). The file of a
// schedule has the matrices of all rounds of the period, one after the other. Entries are decimals
// or fractions such as 1/3, separated by blanks or commas; "#" and "%" begin comments.
//
// Thread-safety: pure function; the matrix is immutable.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "base/status.h"
#include "topology/files/field_reader.h"
#include "topology/stored_graph.h"
#include "topology/weights/mixing.h"
#include "topology/weights/stored_mixing.h"

namespace grapevine {
namespace {

// Row and column sums may differ from 1 by this much: more would shift the mean
// of the replicas in a long run.
constexpr double kSumTolerance = 1e-9;

// Parses "0.25" or "1/4". Returns nullopt for anything else, also outside [0, 1].
std::optional<double> ParseWeight(std::string_view field) {
  const size_t slash = field.find('/');
  double value = 0, divisor = 1;
  if (!absl::SimpleAtod(std::string(field.substr(0, slash)), &value)) return std::nullopt;
  if (slash != std::string_view::npos &&
      !absl::SimpleAtod(std::string(field.substr(slash + 1)), &divisor)) {
    return std::nullopt;
  }
  value /= divisor;
  if (!(value >= 0 && value <= 1)) return std::nullopt;
  return value;
}

// Returns "round 2: " if the topology has several rounds, otherwise "".
std::string When(const Topology& topology, Round round) {
  return topology.period() == 1 ? "" : absl::StrCat("round ", round, ": ");
}

// Parses the current line as row `rank` of a round.
absl::StatusOr<MixingRow> ParseRow(const FieldReader& line, Rank rank, Round round,
                                   const Topology& topology) {
  const std::string when = When(topology, round);
  if (line.fields().size() != static_cast<size_t>(topology.size())) {
    return line.Error(absl::StrCat(when, "row ", rank, " has ", line.fields().size(),
                                   " entries, not ", topology.size()));
  }
  std::vector<Rank> neighbours;
  topology.InNeighbours(rank, round, &neighbours);
  MixingRow row{.self = 0, .in = {}};
  auto neighbour = neighbours.begin();
  for (Rank column = 0; column < topology.size(); ++column) {
    const std::string_view field = line.fields()[column];
    const auto weight = ParseWeight(field);
    const auto entry = absl::StrCat(when, "W[", rank, "][", column, "]");
    if (!weight) {
      return line.Error(absl::StrCat(entry, " is ", Quoted(field),
                                     "; weights are decimals or fractions between 0 and 1"));
    }
    if (column == rank) {
      row.self = *weight;
    } else if (neighbour != neighbours.end() && *neighbour == column) {
      row.in.push_back({column, *weight});
      ++neighbour;
    } else if (*weight != 0) {
      return line.Error(absl::StrCat(entry, " is ", *weight, ", but ", topology.name(),
                                     " has no edge from ", column, " to ", rank));
    }
  }
  return row;
}

double Sum(const MixingRow& row) {
  double sum = row.self;
  for (const Neighbour& neighbour : row.in) sum += neighbour.weight;
  return sum;
}

struct Matrices {
  std::vector<MixingRows> rounds;
  absl::Status uneven_row;  // an error about the first row that does not sum to 1
};

absl::StatusOr<Matrices> ParseRows(const std::string& path, const Topology& topology) {
  ASSIGN_OR_RETURN(auto line, FieldReader::Open(path));
  const Rank n = topology.size();
  Matrices matrices;
  std::vector<MixingRows>& rounds = matrices.rounds;
  int64_t rows = 0;
  for (const int64_t all = n * topology.period(); line.Next(); ++rows) {
    if (rows == all) {
      return line.Error(absl::StrCat(
          "more than the ", all, " rows of ", n, " nodes",
          topology.period() == 1 ? "" : absl::StrCat(" in ", topology.period(), " rounds")));
    }
    const auto rank = static_cast<Rank>(rows % n);
    const Round round = rows / n;
    if (rank == 0) rounds.emplace_back();
    ASSIGN_OR_RETURN(auto row, ParseRow(line, rank, round, topology));
    if (const double sum = Sum(row); std::abs(sum - 1) > kSumTolerance) {
      matrices.uneven_row.Update(
          line.Error(absl::StrCat(When(topology, round), "row ", rank, " sums to ",
                                  absl::SixDigits(sum), ", not 1; write fractions such as 1/3")));
    }
    rounds.back().push_back(std::move(row));
  }
  if (rows < n * topology.period()) {
    return line.Error(absl::StrCat("ends after ", rows, " of ", n * topology.period(), " rows"));
  }
  return matrices;
}

double Entry(const MixingRow& row, Rank column) {
  const auto found =
      std::lower_bound(row.in.begin(), row.in.end(), column,
                       [](const Neighbour& neighbour, Rank rank) { return neighbour.rank < rank; });
  return found != row.in.end() && found->rank == column ? found->weight : 0;
}

// Describes an entry that breaks the symmetry; empty if none does.
std::string Asymmetry(const MixingRows& rows) {
  const Rank n = static_cast<Rank>(rows.size());
  for (Rank i = 0; i < n; ++i) {
    for (const auto& [j, weight] : rows[i].in) {
      if (std::abs(weight - Entry(rows[j], i)) > kSumTolerance) {
        return absl::StrCat("W[", i, "][", j, "] is ", weight, " and W[", j, "][", i, "] is ",
                            Entry(rows[j], i),
                            "; on an undirected graph W is symmetric, take (W + W')/2");
      }
    }
  }
  return "";
}

// Describes a column that does not sum to 1; empty if all do.
std::string UnevenColumn(const MixingRows& rows) {
  std::vector<double> sums(rows.size(), 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    sums[i] += rows[i].self;
    for (const auto& [j, weight] : rows[i].in) sums[j] += weight;
  }
  for (size_t j = 0; j < sums.size(); ++j) {
    if (std::abs(sums[j] - 1) > kSumTolerance) {
      return absl::StrCat("column ", j, " sums to ", absl::SixDigits(sums[j]),
                          ", not 1: the mean of the replicas would drift");
    }
  }
  return "";
}

// Names nodes that the weights above 0 do not join, over all rounds; empty if they join all nodes.
std::string Gap(const std::vector<MixingRows>& rounds) {
  const Rank n = static_cast<Rank>(rounds.front().size());
  std::vector<Edge> used;
  for (const MixingRows& rows : rounds) {
    for (Rank i = 0; i < n; ++i) {
      for (const auto& [j, weight] : rows[i].in) {
        if (weight > 0) used.push_back({j, i});
      }
    }
  }
  const auto missing = MissingPath(n, used);
  if (!missing) return "";
  return absl::StrCat("the weights above 0 do not join node ", missing->from, " to node ",
                      missing->to);
}

// Returns the first flaw of any round, with its round; empty if no round has a flaw.
std::string FirstFlaw(const Matrices& matrices, const Topology& topology,
                      std::string (*flaw_of)(const MixingRows&)) {
  for (size_t round = 0; round < matrices.rounds.size(); ++round) {
    const std::string flaw = flaw_of(matrices.rounds[round]);
    if (!flaw.empty()) return When(topology, static_cast<Round>(round)) + flaw;
  }
  return "";
}

// Returns which sums of the matrices are 1, or an error that says why the matrices are of no use.
absl::StatusOr<Stochastic> Check(const std::string& path, const Matrices& matrices,
                                 const Topology& topology) {
  const bool even_rows = matrices.uneven_row.ok();
  const std::string uneven_column = FirstFlaw(matrices, topology, UnevenColumn);
  if (!even_rows && !uneven_column.empty()) return matrices.uneven_row;
  std::string flaw;
  if (even_rows && !topology.directed()) flaw = FirstFlaw(matrices, topology, Asymmetry);
  if (flaw.empty()) flaw = uneven_column;
  if (flaw.empty()) flaw = Gap(matrices.rounds);
  if (!flaw.empty()) return InputError(path, flaw);
  return even_rows ? Stochastic::kDoubly : Stochastic::kColumns;
}

// Loads the weights. Refuses, by file, line and entry: a topology that never repeats, another size,
// entries outside [0, 1], weights between nodes that are not neighbours, columns that do not sum to
// 1, an asymmetric W on an undirected graph where rows sum to 1, too, and weights so sparse that
// some node never hears of another. Errors carry Failure::kInput.
absl::StatusOr<std::shared_ptr<const Mixing>> LoadMatrixFile(
    const Spec& spec, std::shared_ptr<const Topology> topology) {
  const std::string& name = spec.text;
  const std::string path = SpecReader(spec).Argument();
  if (path.empty()) return SpecError(name, "a path is missing");
  if (topology->period() == 0) {
    return SpecError(name, absl::StrCat("no file has the matrices of ", topology->name(),
                                        ", which never repeats; use metropolis"));
  }
  ASSIGN_OR_RETURN(auto matrices, ParseRows(path, *topology));
  ASSIGN_OR_RETURN(const auto stochastic, Check(path, matrices, *topology));
  return MakeStoredMixing(name, std::move(topology), std::move(matrices.rounds), stochastic);
}

const Registration kFile(Mixings(), {.name = "file",
                                     .options = ":PATH",
                                     .help = "a matrix of your own, or one for each round",
                                     .tail = true,
                                     .make = LoadMatrixFile});

}  // namespace
}  // namespace grapevine

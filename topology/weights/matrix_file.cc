// file:PATH: an explicit mixing matrix, n lines of n entries W_i0 .. W_i(n-1).
// Entries are decimals or fractions such as 1/3, separated by blanks or commas;
// "#" and "%" begin comments.
//
// Thread-safety: pure function; the matrix is immutable.
#include <algorithm>
#include <cmath>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/spec.h"
#include "base/status.h"
#include "topology/files/field_reader.h"
#include "topology/stored_graph.h"
#include "topology/weights/mixing.h"

namespace grapevine {
namespace {

// Row and column sums may differ from 1 by this much: more would shift the mean
// of the replicas in a long run.
constexpr double kSumTolerance = 1e-9;

class MatrixMixing final : public Mixing {
 public:
  MatrixMixing(std::string name, std::shared_ptr<const Topology> topology,
               std::vector<MixingRow> rows, Stochastic stochastic)
      : name_(std::move(name)),
        topology_(std::move(topology)),
        rows_(std::move(rows)),
        stochastic_(stochastic) {}

  std::string name() const override { return name_; }
  const Topology& topology() const override { return *topology_; }
  Stochastic stochastic() const override { return stochastic_; }
  void Row(Rank rank, Round, MixingRow* row) const override { *row = rows_[rank]; }

 private:
  const std::string name_;
  const std::shared_ptr<const Topology> topology_;
  const std::vector<MixingRow> rows_;
  const Stochastic stochastic_;
};

// "0.25" or "1/4"; nullopt for anything else, also outside [0, 1].
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

// The present line as row `rank`.
absl::StatusOr<MixingRow> ParseRow(const FieldReader& line, Rank rank, const Topology& topology) {
  if (line.fields().size() != static_cast<size_t>(topology.size())) {
    return line.Error(absl::StrCat("row ", rank, " has ", line.fields().size(), " entries, not ",
                                   topology.size()));
  }
  std::vector<Rank> neighbours;
  topology.InNeighbours(rank, 0, &neighbours);
  MixingRow row{.self = 0, .in = {}};
  auto neighbour = neighbours.begin();
  for (Rank column = 0; column < topology.size(); ++column) {
    const std::string_view field = line.fields()[column];
    const auto weight = ParseWeight(field);
    const auto entry = absl::StrCat("W[", rank, "][", column, "]");
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

struct Matrix {
  std::vector<MixingRow> rows;
  absl::Status uneven_row;  // the first that does not sum to 1
};

absl::StatusOr<Matrix> ParseRows(const std::string& path, const Topology& topology) {
  ASSIGN_OR_RETURN(auto line, FieldReader::Open(path));
  Matrix matrix;
  std::vector<MixingRow>& rows = matrix.rows;
  while (line.Next()) {
    const Rank rank = static_cast<Rank>(rows.size());
    if (rank == topology.size()) {
      return line.Error(absl::StrCat("more than the ", rank, " rows of ", rank, " nodes"));
    }
    ASSIGN_OR_RETURN(auto row, ParseRow(line, rank, topology));
    if (const double sum = Sum(row); std::abs(sum - 1) > kSumTolerance) {
      matrix.uneven_row.Update(
          line.Error(absl::StrCat("row ", rank, " sums to ", absl::SixDigits(sum),
                                  ", not 1; write fractions such as 1/3")));
    }
    rows.push_back(std::move(row));
  }
  if (rows.size() < static_cast<size_t>(topology.size())) {
    return line.Error(absl::StrCat("ends after ", rows.size(), " of ", topology.size(), " rows"));
  }
  return matrix;
}

double Entry(const MixingRow& row, Rank column) {
  const auto found =
      std::lower_bound(row.in.begin(), row.in.end(), column,
                       [](const Neighbour& neighbour, Rank rank) { return neighbour.rank < rank; });
  return found != row.in.end() && found->rank == column ? found->weight : 0;
}

// An entry that breaks the symmetry; empty if none does.
std::string Asymmetry(const std::vector<MixingRow>& rows) {
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

// A column that does not sum to 1; empty if all do.
std::string UnevenColumn(const std::vector<MixingRow>& rows) {
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

// Nodes that the weights above 0 do not join; empty if they join all.
std::string Gap(const std::vector<MixingRow>& rows) {
  const Rank n = static_cast<Rank>(rows.size());
  std::vector<Edge> used;
  for (Rank i = 0; i < n; ++i) {
    for (const auto& [j, weight] : rows[i].in) {
      if (weight > 0) used.push_back({j, i});
    }
  }
  const auto missing = MissingPath(n, used);
  if (!missing) return "";
  return absl::StrCat("the weights above 0 do not join node ", missing->from, " to node ",
                      missing->to);
}

// What the matrix is, or why it is of no use.
absl::StatusOr<Stochastic> Check(const std::string& path, const Matrix& matrix, bool directed) {
  const bool even_rows = matrix.uneven_row.ok();
  const std::string uneven_column = UnevenColumn(matrix.rows);
  if (!even_rows && !uneven_column.empty()) return matrix.uneven_row;
  std::string flaw;
  if (even_rows && !directed) flaw = Asymmetry(matrix.rows);
  if (flaw.empty()) flaw = uneven_column;
  if (flaw.empty()) flaw = Gap(matrix.rows);
  if (!flaw.empty()) return InputError(path, flaw);
  return even_rows ? Stochastic::kDoubly : Stochastic::kColumns;
}

// Refuses, by file, line and entry: a topology that changes with the round,
// another size, entries outside [0, 1], weight between nodes that are not
// neighbours, columns that do not sum to 1, an asymmetric W on an undirected
// graph where rows do too, and weights so sparse that some node never hears of
// another. Errors carry Failure::kInput.
absl::StatusOr<std::shared_ptr<const Mixing>> LoadMatrixFile(
    const Spec& spec, std::shared_ptr<const Topology> topology) {
  const std::string& name = spec.text;
  const std::string path = SpecReader(spec).Argument();
  if (path.empty()) return SpecError(name, "a path is missing");
  if (topology->period() != 1) {
    return SpecError(name, absl::StrCat("one matrix does not fit ", topology->name(),
                                        ", which changes with the round; use metropolis"));
  }
  ASSIGN_OR_RETURN(auto matrix, ParseRows(path, *topology));
  ASSIGN_OR_RETURN(const auto stochastic, Check(path, matrix, topology->directed()));
  return std::make_shared<MatrixMixing>(name, std::move(topology), std::move(matrix.rows),
                                        stochastic);
}

const Registration kFile(Mixings(), {.name = "file",
                                     .options = ":PATH",
                                     .help = "a matrix of your own",
                                     .tail = true,
                                     .make = LoadMatrixFile});

}  // namespace
}  // namespace grapevine

#include "topology/weights/matrix_writer.h"

#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

// Seventeen digits read back as the same number.
std::string RowText(const Mixing& mixing, Rank rank, Round round) {
  MixingRow row;
  mixing.Row(rank, round, &row);
  std::vector<std::string> entries(mixing.topology().size(), "0");
  entries[rank] = absl::StrFormat("%.17g", row.self);
  for (const auto& [from, weight] : row.in) entries[from] = absl::StrFormat("%.17g", weight);
  return absl::StrJoin(entries, " ") + "\n";
}

}  // namespace

absl::Status WriteMatrices(const Mixing& mixing, const TextSink& sink) {
  const Topology& topology = mixing.topology();
  absl::Status status = sink(absl::StrCat("# ", mixing.name(), ", ", topology.size(), " nodes\n"));
  for (Round round = 0; round < topology.period(); ++round) {
    if (topology.period() > 1) status.Update(sink(absl::StrCat("# round ", round, "\n")));
    for (Rank rank = 0; status.ok() && rank < topology.size(); ++rank) {
      status = sink(RowText(mixing, rank, round));
    }
    RETURN_IF_ERROR(status);
  }
  return status;
}

}  // namespace grapevine

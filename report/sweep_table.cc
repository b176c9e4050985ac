#include "report/sweep_table.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/units.h"
#include "report/table.h"

namespace grapevine {

std::optional<double> TimeOf(const Summary& summary) {
  return summary.simulated_time_s ? summary.simulated_time_s : summary.wall_time_s;
}

namespace {

using Cells = std::vector<std::string>;

template <typename T>
std::string Number(const std::optional<T>& value) {
  return value ? absl::StrCat(*value) : "";
}

std::optional<double> SecondsPerRound(const Summary& summary) {
  const std::optional<double> time = TimeOf(summary);
  if (!time || summary.rounds == 0) return std::nullopt;
  return *time / static_cast<double>(summary.rounds);
}

// Returns "round 469, 12.3 s", or "no".
std::string WhenMet(const TargetAccuracy& target) {
  if (!target.met) return "no";
  return absl::StrCat("round ", target.round.value_or(0), ", ",
                      HumanDuration(target.time_s.value_or(0)));
}

// Returns the columns of one cell after its coordinates.
Cells CsvValues(const SweepRow& row) {
  if (!row.summary.ok()) {
    Cells cells(12);
    cells.push_back(std::string(row.summary.status().message()));
    return cells;
  }
  const Summary& summary = *row.summary;
  const std::optional<TargetAccuracy>& target = summary.target;
  return {absl::StrCat(summary.rounds),
          absl::StrCat(summary.epochs),
          Number(summary.simulated_time_s),
          Number(summary.wall_time_s),
          Number(SecondsPerRound(summary)),
          Number(summary.bytes_sent_total),
          Number(summary.train_loss),
          Number(summary.test_accuracy),
          target ? (target->met ? "true" : "false") : "",
          target ? Number(target->round) : "",
          target ? Number(target->time_s) : "",
          Number(summary.consensus_distance),
          ""};
}

Cells TextValues(const SweepRow& row) {
  if (!row.summary.ok()) {
    Cells cells(8);
    cells.push_back(std::string(row.summary.status().message()));
    return cells;
  }
  const Summary& summary = *row.summary;
  const std::optional<double> time = TimeOf(summary), round = SecondsPerRound(summary);
  return {absl::StrCat(summary.rounds),
          time ? HumanDuration(*time) : "",
          round ? HumanDuration(*round) : "",
          summary.bytes_sent_total ? HumanSize(static_cast<double>(*summary.bytes_sent_total)) : "",
          summary.train_loss ? absl::StrFormat("%.4f", *summary.train_loss) : "",
          summary.test_accuracy ? absl::StrFormat("%.2f %%", 100 * *summary.test_accuracy) : "",
          summary.target ? WhenMet(*summary.target) : "",
          summary.consensus_distance ? absl::StrFormat("%.3g", *summary.consensus_distance) : "",
          ""};
}

// Returns the names of the coordinates, then those of the results; a coordinate with the name of a
// result is called by its flag.
Cells Header(const std::vector<SweepRow>& rows, const Cells& results) {
  Cells names;
  for (const auto& [name, value] : rows.front().coordinates) {
    const bool taken = std::ranges::find(results, name) != results.end();
    names.push_back(taken ? absl::StrCat("--", name) : name);
  }
  names.insert(names.end(), results.begin(), results.end());
  return names;
}

Cells WithCoordinates(const SweepRow& row, const Cells& values) {
  Cells cells;
  for (const auto& [name, value] : row.coordinates) cells.push_back(value);
  cells.insert(cells.end(), values.begin(), values.end());
  return cells;
}

Table TableOf(const std::vector<SweepRow>& rows, const Cells& names,
              Cells (*values)(const SweepRow&)) {
  Table table{Header(rows, names), {}};
  for (const SweepRow& row : rows) table.rows.push_back(WithCoordinates(row, values(row)));
  return table;
}

}  // namespace

std::string SweepCsv(const std::vector<SweepRow>& rows) {
  return TableText(
      TableOf(rows,
              {"rounds", "epochs", "simulated_time_s", "wall_time_s", "seconds_per_round",
               "bytes_sent_total", "train_loss", "test_accuracy", "target_met", "target_round",
               "target_time_s", "consensus_distance", "error"},
              &CsvValues),
      TableFormat::kCsv);
}

std::string SweepText(const std::vector<SweepRow>& rows) {
  return TableText(TableOf(rows,
                           {"rounds", "time", "a round", "sent", "train loss", "accuracy",
                            "target met", "consensus", "error"},
                           &TextValues),
                   TableFormat::kText);
}

}  // namespace grapevine

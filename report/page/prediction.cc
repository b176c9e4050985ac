// The section that sets simulated runs beside real ones.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "base/units.h"
#include "report/curve.h"
#include "report/page/node_work.h"
#include "report/page/sections.h"
#include "run/config/config_field.h"
#include "run/records/run_directory.h"

namespace grapevine {
namespace {

// Returns whether both are the same experiment. Ignores the time of a gradient, which a simulated
// run is given or measures.
bool SameExperiment(const Config& a, const Config& b) {
  for (const ConfigField* field : ConfigFields()) {
    if (InfoOf(*field).section() != EXPERIMENT || field->name() == "compute") continue;
    if (FieldText(*field, a) != FieldText(*field, b)) return false;
  }
  return true;
}

// The outcome of a run, as far as its files say.
struct Result {
  RunMetrics outcome;
  std::optional<double> rounds;
  std::optional<double> seconds;
};

absl::StatusOr<Result> ResultOf(const RecordedRun& run) {
  ASSIGN_OR_RETURN(const std::optional<Summary> summary, ReadSummaryIfFinished(run.path));
  const RunMetrics outcome = Outcome(run, summary);
  const RunMetrics& last = run.metrics.back();
  return Result{outcome, static_cast<double>(last.round), last.time_s};
}

// A quantity of a run, for people.
struct Quantity {
  const char* name;
  std::function<std::optional<double>(const Result&)> value;
  std::string (*text)(double);
};

std::string ThreeDigitsOf(double value) { return absl::StrFormat("%.3g", value); }
std::string PercentOf(double fraction) { return absl::StrFormat("%.2f %%", 100 * fraction); }

std::optional<double> SecondsOfARound(const Result& result) {
  if (!result.rounds || !result.seconds || *result.rounds <= 0) return std::nullopt;
  return *result.seconds / *result.rounds;
}

std::vector<Quantity> Quantities() {
  return {
      {"time of a round", &SecondsOfARound, &HumanDuration},
      {"time", [](const Result& r) { return r.seconds; }, &HumanDuration},
      {"sent by all nodes",
       [](const Result& r) -> std::optional<double> { return r.outcome.bytes_sent_total; },
       &HumanSize},
      {"training loss", [](const Result& r) { return r.outcome.train_loss; }, &ThreeDigitsOf},
      {"test accuracy", [](const Result& r) { return r.outcome.test_accuracy; }, &PercentOf},
      {"consensus distance", [](const Result& r) { return r.outcome.consensus_distance; },
       &ThreeDigitsOf},
  };
}

Table SideBySide(const Result& measured, const Result& simulated) {
  Table table{{"", "measured", "simulated", "simulated / measured"}, {}};
  for (const Quantity& quantity : Quantities()) {
    const std::optional<double> real = quantity.value(measured);
    const std::optional<double> predicted = quantity.value(simulated);
    if (!real || !predicted) continue;
    table.rows.push_back({quantity.name, quantity.text(*real), quantity.text(*predicted),
                          *real > 0 ? absl::StrFormat("%.3f", *predicted / *real) : ""});
  }
  return table;
}

// Returns what the average node did in a round, in milliseconds.
absl::StatusOr<PageBlock> RoundOf(const std::string& name, const RecordedRun& run) {
  ASSIGN_OR_RETURN(const std::vector<NodeWorkTimes> nodes, ReadNodeWork(run));
  NodeWorkTimes sum;
  for (const NodeWorkTimes& node : nodes) {
    sum.gradient_s += node.gradient_s;
    sum.mix_s += node.mix_s;
    sum.wait_s += node.wait_s;
  }
  const double rounds = static_cast<double>(std::max<int64_t>(1, run.metrics.back().round));
  const double scale = 1e3 / (rounds * static_cast<double>(nodes.size()));
  return PageBlock{{"name", name},
                   {"values",
                    {SixDigits(sum.gradient_s * scale), SixDigits(sum.mix_s * scale),
                     SixDigits(sum.wait_s * scale)}}};
}

absl::StatusOr<PageBlock> RoundsOf(const RecordedRun& real, const RecordedRun& simulated) {
  ASSIGN_OR_RETURN(PageBlock measured, RoundOf("measured", real));
  ASSIGN_OR_RETURN(PageBlock predicted, RoundOf("simulated", simulated));
  return PageBlock{{"kind", "shares"},
                   {"title", "What a node did in a round, on average"},
                   {"unit", "ms"},
                   {"parts", {"gradient", "mixing and stepping", "waiting"}},
                   {"rows", PageBlock::array({std::move(measured), std::move(predicted)})}};
}

absl::Status AddPair(const RecordedRun& real, const RecordedRun& simulated, PageBlocks* blocks) {
  ASSIGN_OR_RETURN(const Result measured, ResultOf(real));
  ASSIGN_OR_RETURN(const Result predicted, ResultOf(simulated));
  blocks->push_back(TableBlock(absl::StrCat(simulated.path, " beside ", real.path),
                               SideBySide(measured, predicted)));
  // A model without data leaves no metrics of nodes.
  absl::StatusOr<PageBlock> rounds = RoundsOf(real, simulated);
  if (rounds.ok()) blocks->push_back(*std::move(rounds));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<PageBlocks> PredictionBlocks(const std::vector<RecordedRun>& runs) {
  PageBlocks blocks;
  for (const RecordedRun& real : runs) {
    if (IsSimulated(real.config)) continue;
    for (const RecordedRun& simulated : runs) {
      if (!IsSimulated(simulated.config) || !SameExperiment(real.config, simulated.config)) {
        continue;
      }
      RETURN_IF_ERROR(AddPair(real, simulated, &blocks));
    }
  }
  if (blocks.empty()) {
    return InputError(
        "It takes a real and a simulated run with the same settings, that is the same flags of "
        "`grapevine train` and `grapevine sim`.");
  }
  return blocks;
}

}  // namespace grapevine

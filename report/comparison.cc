#include "report/comparison.h"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "base/units.h"
#include "model/problem/problem.h"
#include "report/curve.h"
#include "report/run_reader.h"
#include "report/sample.h"
#include "report/target.h"
#include "report/unit.h"
#include "run/config/config_field.h"
#include "run/config/sweep_cells.h"
#include "run/records/metrics.h"
#include "run/records/run_directory.h"

namespace grapevine {
namespace {

struct ComparedRun {
  std::string path;
  std::string method;
  std::string command;
  RunMetrics outcome;
  std::optional<double> best_accuracy;  // the best of all evaluations
  std::optional<double> seconds_to_target;
  std::optional<double> living;  // nodes at the end, if nodes were lost
  std::optional<double> staleness_mean;
  std::optional<double> staleness_max;
};

std::string Percent(double fraction) { return absl::StrFormat("%.2f %%", 100 * fraction); }
std::string Count(double value) { return absl::StrFormat("%g", value); }
std::string ThreeFigures(double value) { return absl::StrFormat("%.3g", value); }

Unit Percents(double) { return {"%", 0.01}; }
Unit Plain(double) { return {"", 1}; }

std::string Number(const std::optional<double>& value) {
  return value ? absl::StrFormat("%.12g", *value) : "";
}

// A number of a run, as a column of the table.
struct Column {
  const char* key;      // name for --sort
  const char* field;    // name in CSV
  std::string heading;  // name in other formats
  std::function<std::optional<double>(const ComparedRun&)> value;
  std::string (*text)(double);
  Unit (*unit)(double);  // unit of a mean like this, beside its deviation
  bool greatest_first;
  const char* absent = "";  // text for no value, outside of CSV
};

std::vector<Column> Columns(std::optional<double> target) {
  return {
      {"accuracy", "test_accuracy", "accuracy",
       [](const ComparedRun& run) { return run.outcome.test_accuracy; }, &Percent, &Percents, true},
      {"best", "best_test_accuracy", "best",
       [](const ComparedRun& run) { return run.best_accuracy; }, &Percent, &Percents, true},
      {"target", "target_time_s", absl::StrCat("time to ", target ? TargetName(*target) : "target"),
       [](const ComparedRun& run) { return run.seconds_to_target; }, &HumanDuration, &UnitOfSeconds,
       false, target ? "never" : ""},
      {"time", "time_s", "time", [](const ComparedRun& run) { return run.outcome.time_s; },
       &HumanDuration, &UnitOfSeconds, false},
      {"bytes", "bytes_sent_total", "sent",
       [](const ComparedRun& run) { return run.outcome.bytes_sent_total; }, &HumanSize,
       &UnitOfBytes, false},
      {"consensus", "consensus_distance", "consensus distance",
       [](const ComparedRun& run) { return run.outcome.consensus_distance; }, &ThreeFigures, &Plain,
       false},
      {"living", "living", "nodes at the end", [](const ComparedRun& run) { return run.living; },
       &Count, &Plain, true},
      {"staleness", "staleness_mean", "staleness",
       [](const ComparedRun& run) { return run.staleness_mean; }, &ThreeFigures, &Plain, false},
      {"greatest-staleness", "staleness_max", "greatest staleness",
       [](const ComparedRun& run) { return run.staleness_max; }, &ThreeFigures, &Plain, false},
  };
}

absl::StatusOr<ComparedRun> Compared(const RecordedRun& run, std::string method,
                                     std::optional<double> target) {
  ASSIGN_OR_RETURN(const std::optional<Summary> summary, ReadSummaryIfFinished(run.path));
  ComparedRun compared{.path = run.path,
                       .method = std::move(method),
                       .command = RepeatCommand(run.config),
                       .outcome = Outcome(run, summary)};
  if (summary) {
    compared.living = summary->living;
    compared.staleness_mean = summary->staleness_mean;
    compared.staleness_max = summary->staleness_max;
  }
  for (const RunMetrics& metrics : run.metrics) {
    if (!metrics.test_accuracy) continue;
    compared.best_accuracy = std::max(compared.best_accuracy.value_or(0), *metrics.test_accuracy);
  }
  if (!summary && !run.metrics.empty()) compared.living = run.metrics.back().living;
  const RunMetrics* const met = target ? FirstToMeet(*target, run.metrics) : nullptr;
  if (met != nullptr) compared.seconds_to_target = met->time_s;
  return compared;
}

// The runs of a method, which differ only in the seed.
struct ComparedMethod {
  std::string name;
  std::vector<ComparedRun> runs;
};

// Returns the sample of the runs that have a value.
std::optional<Sample> SampleOfMethod(const Column& column, const ComparedMethod& method) {
  std::vector<double> values;
  for (const ComparedRun& run : method.runs) {
    if (const std::optional<double> value = column.value(run)) values.push_back(*value);
  }
  return SampleOf(values);
}

// The values by which a line is sorted.
struct Standing {
  double share;  // share of its runs that have the value
  double mean;   // mean of these; 0 if none has it
};

Standing StandingOf(const Column& column, const ComparedRun& run) {
  const std::optional<double> value = column.value(run);
  return {value ? 1.0 : 0.0, value.value_or(0)};
}

Standing StandingOf(const Column& column, const ComparedMethod& method) {
  const std::optional<Sample> sample = SampleOfMethod(column, method);
  if (!sample) return {0, 0};
  return {static_cast<double>(sample->count) / static_cast<double>(method.runs.size()),
          sample->mean};
}

// Sorts by the share first: the mean of the runs that have the value says nothing of the others.
template <typename Line>
void Sort(const Column& column, std::vector<Line>* lines) {
  std::ranges::stable_sort(*lines, [&column](const Line& a, const Line& b) {
    const Standing left = StandingOf(column, a), right = StandingOf(column, b);
    if (left.share != right.share) return left.share > right.share;
    return column.greatest_first ? left.mean > right.mean : left.mean < right.mean;
  });
}

template <typename Line>
absl::Status SortBy(const std::string& key, const std::vector<Column>& columns,
                    std::vector<Line>* lines) {
  const auto by = [&columns](const std::string& name) {
    return std::ranges::find(columns, name, &Column::key);
  };
  if (by(key) == columns.end()) {
    return UsageError(
        absl::StrCat("--sort=", key, ": must be one of ", absl::StrJoin(ComparisonKeys(), ", ")));
  }
  Sort(*by("time"), lines);
  Sort(*by(key), lines);
  return absl::OkStatus();
}

Table TableOfRuns(const std::vector<ComparedRun>& runs, const std::vector<Column>& columns,
                  bool numbers) {
  Table table{{"run", "method"}, {}};
  for (const Column& column : columns) {
    table.header.push_back(numbers ? column.field : column.heading);
  }
  for (const ComparedRun& run : runs) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {run.path, run.method};
    for (const Column& column : columns) {
      const std::optional<double> value = column.value(run);
      row.push_back(numbers ? Number(value) : value ? column.text(*value) : column.absent);
    }
  }
  return table;
}

// Groups runs by method, in the order of each method's first run.
std::vector<ComparedMethod> ByMethod(std::vector<ComparedRun> runs) {
  std::vector<ComparedMethod> methods;
  for (ComparedRun& run : runs) {
    auto method = std::ranges::find(methods, run.method, &ComparedMethod::name);
    if (method == methods.end()) method = methods.insert(methods.end(), {run.method, {}});
    method->runs.push_back(std::move(run));
  }
  return methods;
}

std::string TextOver(const Column& column, const ComparedMethod& method) {
  const std::optional<Sample> sample = SampleOfMethod(column, method);
  if (!sample) return column.absent;
  const std::string text = sample->deviation ? SampleText(*sample, column.unit(sample->mean))
                                             : column.text(sample->mean);
  if (sample->count == method.runs.size()) return text;
  return absl::StrCat(text, " (", sample->count, " of ", method.runs.size(), ")");
}

Table TextsOverSeeds(const std::vector<ComparedMethod>& methods,
                     const std::vector<Column>& columns) {
  Table table{{"method", "runs"}, {}};
  for (const Column& column : columns) table.header.push_back(column.heading);
  for (const ComparedMethod& method : methods) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {method.name, absl::StrCat(method.runs.size())};
    for (const Column& column : columns) row.push_back(TextOver(column, method));
  }
  return table;
}

Table NumbersOverSeeds(const std::vector<ComparedMethod>& methods,
                       const std::vector<Column>& columns) {
  Table table{{"method", "runs"}, {}};
  for (const Column& column : columns) {
    for (const char* of : {"_mean", "_sd", "_runs"}) {
      table.header.push_back(absl::StrCat(column.field, of));
    }
  }
  for (const ComparedMethod& method : methods) {
    std::vector<std::string>& row = table.rows.emplace_back();
    row = {method.name, absl::StrCat(method.runs.size())};
    for (const Column& column : columns) {
      const std::optional<Sample> sample = SampleOfMethod(column, method);
      row.push_back(sample ? Number(sample->mean) : "");
      row.push_back(sample ? Number(sample->deviation) : "");
      row.push_back(absl::StrCat(sample ? sample->count : 0));
    }
  }
  return table;
}

Table TableOfCommands(const std::vector<std::string>& commands) {
  Table table{{"command that repeats each, in this order"}, {}};
  for (const std::string& command : commands) table.rows.push_back({command});
  return table;
}

}  // namespace

std::vector<std::string> ComparisonKeys() {
  std::vector<std::string> keys;
  for (const Column& column : Columns(std::nullopt)) keys.push_back(column.key);
  return keys;
}

namespace {

struct ComparedRuns {
  Table table;
  std::vector<std::string> commands;  // repeat the runs, in the order of the table's rows
};

struct MeasuredRuns {
  std::vector<ComparedRun> runs;  // in the order in which they were named
  std::vector<Column> columns;
};

absl::StatusOr<MeasuredRuns> Measure(const ComparisonOptions& options) {
  ASSIGN_OR_RETURN(const std::vector<RecordedRun> recorded, ReadRuns(options.runs));
  const std::vector<const Config*> configs = ConfigsOf(recorded);
  ASSIGN_OR_RETURN(const std::optional<double> target, TargetOf(options.target, configs));
  const std::vector<std::string> methods = CurveLabels(configs);
  MeasuredRuns measured{{}, Columns(target)};
  for (size_t i = 0; i < recorded.size(); ++i) {
    ASSIGN_OR_RETURN(ComparedRun run, Compared(recorded[i], methods[i], target));
    measured.runs.push_back(std::move(run));
  }
  return measured;
}

absl::StatusOr<ComparedRuns> Compare(const ComparisonOptions& options, bool numbers) {
  ASSIGN_OR_RETURN(MeasuredRuns measured, Measure(options));
  RETURN_IF_ERROR(SortBy(options.sort, measured.columns, &measured.runs));
  ComparedRuns comparison{TableOfRuns(measured.runs, measured.columns, numbers), {}};
  for (ComparedRun& run : measured.runs) comparison.commands.push_back(std::move(run.command));
  return comparison;
}

absl::StatusOr<Table> CompareOverSeeds(const ComparisonOptions& options) {
  ASSIGN_OR_RETURN(MeasuredRuns measured, Measure(options));
  std::vector<ComparedMethod> methods = ByMethod(std::move(measured.runs));
  RETURN_IF_ERROR(SortBy(options.sort, measured.columns, &methods));
  return options.format == TableFormat::kCsv ? NumbersOverSeeds(methods, measured.columns)
                                             : TextsOverSeeds(methods, measured.columns);
}

}  // namespace

absl::StatusOr<std::string> ComparisonText(const ComparisonOptions& options) {
  if (options.over_seeds) {
    ASSIGN_OR_RETURN(const Table table, CompareOverSeeds(options));
    return TableText(table, options.format);
  }
  ASSIGN_OR_RETURN(ComparedRuns comparison, Compare(options, options.format == TableFormat::kCsv));
  Table& table = comparison.table;
  if (options.format == TableFormat::kText) {
    return absl::StrCat(TableText(table, options.format), "\n",
                        TableText(TableOfCommands(comparison.commands), options.format));
  }
  table.header.push_back("command");
  for (size_t i = 0; i < table.rows.size(); ++i) {
    table.rows[i].push_back(std::move(comparison.commands[i]));
  }
  return TableText(table, options.format);
}

absl::StatusOr<Table> ComparisonTable(const ComparisonOptions& options) {
  ASSIGN_OR_RETURN(ComparedRuns comparison, Compare(options, /*numbers=*/false));
  return std::move(comparison.table);
}

namespace {

bool MeansTheSameToAShell(char c) {
  constexpr std::string_view kPlain = "@%+=:,./_-";
  return absl::ascii_isalnum(static_cast<unsigned char>(c)) || kPlain.find(c) != kPlain.npos;
}

std::string ShellQuoted(const std::string& text) {
  if (!text.empty() && std::ranges::all_of(text, MeansTheSameToAShell)) return text;
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

bool IsRepeated(const ConfigField& field, const Config& config) {
  const Section section = InfoOf(field).section();
  if (section != EXPERIMENT && section != RUNTIME && section != SIMULATION) return false;
  return HasField(field, config) && FieldText(field, config) != FieldText(field, Config());
}

std::string RepeatingFlag(const ConfigField& field, const Config& config) {
  const std::string flag = FlagName(field);
  if (IsSwitch(field)) return flag;
  return ShellQuoted(absl::StrCat(flag, "=", ListElement(FieldText(field, config))));
}

// Returns words for a setting that nobody has set, in a run that ends when its programs do; empty
// for all other settings.
std::string_view OfAnOpenEnd(const ConfigField& field, const Config& config) {
  if (config.rounds() != kOpenEndedRounds) return "";
  if (field.name() == "rounds") return "as many as its programs take";
  const bool once = config.eval_every() >= static_cast<double>(kOpenEndedRounds);
  return field.name() == "eval_every" && once ? "at the end alone" : "";
}

// Returns the variables that repeat a run whose program computed the gradients, and has the model.
std::string RepeatingVariables(const Config& config) {
  std::string variables;
  for (const ConfigField* field : ConfigFields()) {
    if (!IsRepeated(*field, config) || field->name() == "model") continue;
    if (!OfAnOpenEnd(*field, config).empty()) continue;
    absl::StrAppend(&variables, VariableName(*field), "=", ShellQuoted(FieldText(*field, config)),
                    " ");
  }
  return variables;
}

}  // namespace

std::string ReadableSetting(const ConfigField& field, const Config& config) {
  const std::string_view words = OfAnOpenEnd(field, config);
  return words.empty() ? FieldText(field, config) : std::string(words);
}

std::string RepeatCommand(const Config& config) {
  if (config.model() == kOutsideModel) return RepeatingVariables(config) + "PROGRAM";
  std::string command = IsSimulated(config) ? "grapevine sim" : "grapevine train";
  for (const ConfigField* field : ConfigFields()) {
    if (IsRepeated(*field, config)) absl::StrAppend(&command, " ", RepeatingFlag(*field, config));
  }
  return command;
}

}  // namespace grapevine

#include "report/sweep_winners.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/units.h"
#include "run/config/config_field.h"

namespace grapevine {
namespace {

// The most conditions to print; more would not be read.
constexpr size_t kMostLines = 12;

constexpr double kNever = std::numeric_limits<double>::infinity();

// Returns whether a setting is a condition that a user finds, as opposed to a choice.
bool IsCondition(const std::string& name) {
  constexpr std::string_view kGiven[] = {"nodes", "model", "data", "split", "compute", "straggler"};
  return InfoOf(ConfigFieldNamed(name)).section() == SIMULATION ||
         std::ranges::find(kGiven, name) != std::end(kGiven);
}

// The cells that differ only in the seed.
struct Choice {
  std::string name;
  std::vector<double> values;
  bool failed = false;

  double mean() const {
    double sum = 0;
    for (const double value : values) sum += value;
    return sum / static_cast<double>(values.size());
  }
};

struct Comparison {
  std::string conditions;
  std::vector<Choice> choices;
};

// Returns the entry of the wanted name, which it makes if it is new.
template <typename T>
T& Find(std::vector<T>* entries, std::string T::*name, const std::string& wanted) {
  const auto found = std::ranges::find(*entries, wanted, name);
  if (found != entries->end()) return *found;
  entries->emplace_back();
  entries->back().*name = wanted;
  return entries->back();
}

using Value = std::function<std::optional<double>(const Summary&)>;

std::vector<Comparison> Compare(const std::vector<SweepRow>& rows, const Value& value) {
  std::vector<Comparison> comparisons;
  for (const SweepRow& row : rows) {
    std::vector<std::string> conditions, choices;
    for (const auto& [name, text] : row.coordinates) {
      if (name == "seed") continue;
      if (IsCondition(name)) {
        conditions.push_back(absl::StrCat(name, "=", text));
      } else if (name == "topology" || name == "algorithm") {
        choices.push_back(text);
      } else {
        choices.push_back(absl::StrCat(name, "=", text));
      }
    }
    Comparison& comparison =
        Find(&comparisons, &Comparison::conditions, absl::StrJoin(conditions, ", "));
    Choice& choice = Find(&comparison.choices, &Choice::name, absl::StrJoin(choices, ", "));
    const std::optional<double> measured = row.summary.ok() ? value(*row.summary) : std::nullopt;
    if (measured) choice.values.push_back(*measured);
    choice.failed |= !measured;
  }
  for (Comparison& comparison : comparisons) {
    std::erase_if(comparison.choices, [](const Choice& choice) { return choice.failed; });
    std::ranges::stable_sort(comparison.choices, {}, &Choice::mean);
  }
  return comparisons;
}

// Returns one line for each comparison; `tell` says how the first two choices differ.
std::string Lines(const std::vector<Comparison>& comparisons, std::string_view what,
                  const std::function<std::string(const Choice&, const Choice&)>& tell) {
  std::string text;
  size_t lines = 0;
  for (const Comparison& comparison : comparisons) {
    if (comparison.choices.size() < 2 || std::isinf(comparison.choices.front().mean())) continue;
    if (++lines > kMostLines) continue;
    const Choice& best = comparison.choices[0];
    absl::StrAppend(&text, std::string(what), comparison.conditions.empty() ? "" : ", ",
                    comparison.conditions, ": ", best.name, ", ", tell(best, comparison.choices[1]),
                    "\n");
  }
  if (lines > kMostLines) {
    absl::StrAppend(&text, "... and under ", lines - kMostLines, " more conditions\n");
  }
  return text;
}

std::string TimeText(const Choice& best, const Choice& second) {
  const std::string time = HumanDuration(best.mean());
  if (std::isinf(second.mean())) return absl::StrCat(time, "; no other gets there");
  return absl::StrFormat("%s (%s: %s, %.2f ×)", time, second.name, HumanDuration(second.mean()),
                         second.mean() / best.mean());
}

std::string AccuracyText(const Choice& best, const Choice& second) {
  return absl::StrFormat("%.2f %% (%s: %.2f %%)", -100 * best.mean(), second.name,
                         -100 * second.mean());
}

}  // namespace

std::string SweepWinners(const std::vector<SweepRow>& rows) {
  const bool has_target = std::ranges::any_of(
      rows, [](const SweepRow& row) { return row.summary.ok() && row.summary->target; });
  const Value time = [has_target](const Summary& summary) -> std::optional<double> {
    if (!has_target) return TimeOf(summary);
    return summary.target && summary.target->met ? summary.target->time_s.value_or(0) : kNever;
  };
  // Negated: as with times, the least value is the best.
  const Value error = [](const Summary& summary) -> std::optional<double> {
    if (!summary.test_accuracy) return std::nullopt;
    return -*summary.test_accuracy;
  };
  return absl::StrCat(
      Lines(Compare(rows, time), has_target ? "first at the target" : "least time", &TimeText),
      Lines(Compare(rows, error), "best accuracy", &AccuracyText));
}

}  // namespace grapevine

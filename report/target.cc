#include "report/target.h"

#include <algorithm>
#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/units.h"

namespace grapevine {
namespace {

absl::StatusOr<double> Parsed(const std::string& text) {
  const absl::StatusOr<double> accuracy = ParseFraction(text);
  if (!accuracy.ok()) {
    return UsageError(
        absl::StrCat("--target-accuracy=", text, ": ", std::string(accuracy.status().message())));
  }
  if (*accuracy > 0) return accuracy;
  return UsageError(absl::StrCat("--target-accuracy=", text, ": every model has that accuracy"));
}

}  // namespace

absl::StatusOr<std::optional<double>> TargetOf(const std::string& given,
                                               std::span<const Config* const> configs) {
  if (!given.empty()) return Parsed(given);
  std::set<double> targets;
  for (const Config* config : configs) {
    if (config->has_target_accuracy()) targets.insert(config->target_accuracy());
  }
  if (targets.size() > 1) {
    const auto name = [](std::string* out, double target) {
      absl::StrAppend(out, TargetName(target));
    };
    return InputError(absl::StrCat("the runs have several target accuracies (",
                                   absl::StrJoin(targets, ", ", name),
                                   "); choose one with --target-accuracy"));
  }
  return targets.empty() ? std::nullopt : std::optional<double>(*targets.begin());
}

absl::StatusOr<double> RequiredTargetOf(const std::string& given,
                                        std::span<const Config* const> configs) {
  ASSIGN_OR_RETURN(const std::optional<double> target, TargetOf(given, configs));
  if (target) return *target;
  return UsageError(
      "the runs have no target accuracy: name one with --target-accuracy=97%, here or when they "
      "run");
}

absl::Status NobodyMet(double target) {
  return InputError(absl::StrCat("no evaluation of these runs reached ", TargetName(target),
                                 "; choose a lower --target-accuracy, or train longer (--epochs)"));
}

std::string TargetName(double accuracy) { return absl::StrCat(100 * accuracy, " %"); }

const RunMetrics* FirstToMeet(double accuracy, std::span<const RunMetrics> metrics) {
  const auto met = std::ranges::find_if(metrics, [accuracy](const RunMetrics& measured) {
    return measured.test_accuracy && *measured.test_accuracy >= accuracy;
  });
  return met == metrics.end() ? nullptr : &*met;
}

}  // namespace grapevine

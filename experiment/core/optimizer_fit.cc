#include "experiment/core/optimizer_fit.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "base/failure.h"
#include "base/spec.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

absl::StatusOr<const TensorView*> CutBy(const std::string& algorithm, Rank nodes,
                                        const Optimizer& optimizer, const ReplicaLayout& layout) {
  ASSIGN_OR_RETURN(const auto ranges, StepRanges(algorithm, nodes, layout.size));
  return CutTensor(optimizer, layout, ranges);
}

std::string TextOf(const Spec& spec) {
  std::string text = spec.name;
  for (const std::string& argument : spec.arguments) absl::StrAppend(&text, ":", argument);
  for (const auto& [key, value] : spec.options) absl::StrAppend(&text, ":", key, "=", value);
  return text;
}

// The algorithm with the largest smaller number in one of its options (of servers, say) with which
// no tensor is cut: "--algorithm=ps:servers=1, or ", or nothing.
std::string Remedy(const Config& config, const Optimizer& optimizer, const ReplicaLayout& layout) {
  const absl::StatusOr<Spec> spec = ParseSpec(config.algorithm());
  if (!spec.ok()) return "";
  for (const auto& [key, value] : spec->options) {
    int64_t number = 0;
    if (!absl::SimpleAtoi(value, &number)) continue;
    Spec other = *spec;
    while (--number >= 1) {
      other.options[key] = absl::StrCat(number);
      const auto cut = CutBy(TextOf(other), config.nodes(), optimizer, layout);
      if (cut.ok() && *cut == nullptr) return absl::StrCat("--algorithm=", TextOf(other), ", or ");
    }
  }
  return "";
}

absl::Status CheckWholeTensors(const Config& config, const Optimizer& optimizer,
                               const ReplicaLayout& layout) {
  ASSIGN_OR_RETURN(const TensorView* cut,
                   CutBy(config.algorithm(), config.nodes(), optimizer, layout));
  if (cut == nullptr) return absl::OkStatus();
  return UsageError(absl::StrCat(
      "--optimizer=", config.optimizer(),
      ": needs the norms of whole tensors, and a server of --algorithm=", config.algorithm(),
      " would hold a part of ", cut->name, "; take ", Remedy(config, optimizer, layout),
      "an optimizer without norms (--optimizer=adam, say)"));
}

absl::Status CheckOwnOptimizer(const Config& config) {
  ASSIGN_OR_RETURN(const auto algorithm, Algorithms().Read(config.algorithm()));
  ASSIGN_OR_RETURN(const Spec optimizer, ParseSpec(config.optimizer()));
  const std::string& own = algorithm.kind->optimizer;
  if (own.empty() || optimizer.name == own) return absl::OkStatus();
  return UsageError(absl::StrCat("--algorithm=", config.algorithm(),
                                 ": its local steps are those of ", own, ", not of ",
                                 config.optimizer(), "; add --optimizer=", own));
}

}  // namespace

absl::Status CheckOptimizerFits(const Config& config, const Optimizer& optimizer,
                                const ReplicaLayout& layout) {
  RETURN_IF_ERROR(CheckOwnOptimizer(config));
  return CheckWholeTensors(config, optimizer, layout);
}

}  // namespace grapevine

#include "experiment/core/setting_checks.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "algorithm/algorithm.h"
#include "algorithm/algorithm_kind.h"
#include "base/spec.h"
#include "base/status.h"
#include "experiment/core/failure_policy.h"
#include "model/problem/problem.h"
#include "run/config/config_field.h"
#include "topology/topology.h"

namespace grapevine {
namespace {

// "--FLAG=VALUE: why".
absl::Status Refuse(const Config& config, const std::string& name, const std::string& why) {
  const ConfigField& field = ConfigFieldNamed(name);
  return UsageError(absl::StrCat(FlagName(field), "=", FieldText(field, config), ": ", why));
}

// Whether a setting differs from its default.
bool Chosen(const Config& config, const char* name) {
  const ConfigField& field = ConfigFieldNamed(name);
  return FieldText(field, config) != FieldText(field, Config());
}

// A plateau shows in the loss of the test data.
absl::Status CheckPlateausShow(const Config& config) {
  if (!GrowsAtPlateaus(config) || SeesData(config.model())) {
    return absl::OkStatus();
  }
  return Refuse(config, "batch_schedule",
                absl::StrCat("--model=", config.model(),
                             " has no test data whose loss could show a plateau; say where the "
                             "batch grows (step:at=50%+75%), or choose another model"));
}

// A model without learning has sizes and times, but no weights.
absl::Status CheckTimesAlone(const Config& config) {
  if (Learns(config.model())) return absl::OkStatus();
  if (!config.has_compute()) {
    return Refuse(config, "model",
                  "needs --compute=TIME, the time of one gradient (--compute=5ms)");
  }
  for (const char* name : {"init_from", "clip_norm", "noise_scale", "norms"}) {
    if (!Chosen(config, name)) continue;
    return Refuse(config, name,
                  absl::StrCat("--model=", config.model(),
                               " learns nothing; drop it or choose another model"));
  }
  return absl::OkStatus();
}

absl::Status CheckWithoutData(const Config& config) {
  if (SeesData(config.model())) return absl::OkStatus();
  if (!config.has_rounds()) {
    return Refuse(config, "model", "has no data and so no epochs; use --rounds=R");
  }
  if (config.has_target_accuracy()) {
    return Refuse(config, "target_accuracy",
                  absl::StrCat("--model=", config.model(),
                               " has no accuracy; drop it or choose another model"));
  }
  // The settings that concern data.
  for (const char* name : {"data", "split", "label_smoothing", "augment_until", "eval_samples"}) {
    if (!Chosen(config, name)) continue;
    return Refuse(config, name,
                  absl::StrCat("--model=", config.model(), " has no data; drop one of them"));
  }
  return absl::OkStatus();
}

// A sample of the test set shows how training goes; a decision needs the whole test set.
absl::Status CheckDecisions(const Config& config) {
  if (config.eval_samples() == 0) return absl::OkStatus();
  const char* const deciding = config.has_target_accuracy() ? "--target-accuracy"
                               : GrowsAtPlateaus(config)    ? "--batch-schedule=plateau"
                                                            : nullptr;
  if (deciding == nullptr) return absl::OkStatus();
  return Refuse(config, "eval_samples",
                absl::StrCat(deciding, " decides by the whole test set; drop one of them"));
}

}  // namespace

bool GrowsAtPlateaus(const Config& config) {
  return absl::StartsWith(config.batch_schedule(), "plateau");
}

absl::Status CheckModelSettings(const Config& config) {
  RETURN_IF_ERROR(CheckPlateausShow(config));
  RETURN_IF_ERROR(CheckDecisions(config));
  RETURN_IF_ERROR(CheckTimesAlone(config));
  return CheckWithoutData(config);
}

namespace {

// Rank 0 agrees with all nodes either on a round to save after or on a round to go on from, but not
// on both. Where nodes do not go through rounds together, the two are the same (View::checkpoint).
absl::Status CheckSaving(const Config& config) {
  if (!config.has_checkpoint_every()) return absl::OkStatus();
  int64_t rounds = 0;
  const bool by_rounds = absl::SimpleAtoi(config.checkpoint_every(), &rounds);
  if (HasRounds(config.algorithm())) {
    if (by_rounds || !GoesOnWithoutTheLost(config)) return absl::OkStatus();
    return Refuse(
        config, "checkpoint_every",
        absl::StrCat("nodes that go on without the lost (--on-failure=", config.on_failure(),
                     ") save after a number of rounds, and not by the time; give one, "
                     "such as --checkpoint-every=200"));
  }
  if (!config.has_record()) return absl::OkStatus();
  return Refuse(config, "record",
                absl::StrCat("the nodes of --algorithm=", config.algorithm(),
                             " give up what is under way for each checkpoint, which cannot be "
                             "recorded; drop --checkpoint-every"));
}

}  // namespace

absl::Status CheckOnRealNodes(const Config& config) {
  RETURN_IF_ERROR(CheckSaving(config));
  if (!Learns(config.model()) && config.has_profile()) {
    return Refuse(config, "profile",
                  absl::StrCat("--model=", config.model(),
                               " computes nothing; measure the model that it stands for"));
  }
  if (!Learns(config.model()) && config.has_record()) {
    return Refuse(config, "record",
                  absl::StrCat("--model=", config.model(),
                               " has no weights that a replay could compare; record one that "
                               "learns"));
  }
  if (!config.has_compute() || !SeesData(config.model())) return absl::OkStatus();
  return Refuse(config, "compute",
                absl::StrCat("--model=", config.model(),
                             " is really computed, in its own time; use --model=phantom:SIZE"));
}

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

// Returns the algorithm with the largest smaller number in one of its options (of servers, say)
// with which no tensor is cut, as "--algorithm=ps:servers=1, or "; empty if no number will do.
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

namespace {

// Whether the optimizer of this spec has other numbers with `other` than with `one`. True for a
// spec without an optimizer, which is refused elsewhere.
bool Differs(const std::string& spec, const OptimizerOptions& one, const OptimizerOptions& other) {
  const auto first = MakeOptimizer(spec, one), second = MakeOptimizer(spec, other);
  return !first.ok() || !second.ok() || (*first)->name() != (*second)->name();
}

}  // namespace

bool UsesGraph(const Config& config) { return !IsCentralized(config.algorithm()); }

bool AnyGraphWillDo(const Config& config) {
  const absl::StatusOr<Spec> spec = ParseSpec(config.topology());
  return !UsesGraph(config) && spec.ok() && Topologies().Find(spec->name) != nullptr;
}

bool MomentumMatters(const Config& config) {
  return Differs(config.optimizer(), {.momentum = 0.5}, {.momentum = 0.25});
}

bool WeightDecayMatters(const Config& config) {
  return Differs(config.optimizer(), {.weight_decay = 0.5}, {.weight_decay = 0.25});
}

}  // namespace grapevine

#include "experiment/core/model_settings.h"

#include <string>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "model/problem/problem.h"
#include "run/config/config_field.h"

namespace grapevine {
namespace {

// "--FLAG=VALUE: why".
absl::Status Refuse(const Config& config, const std::string& name, const std::string& why) {
  const ConfigField& field = ConfigFieldNamed(name);
  return UsageError(absl::StrCat(FlagName(field), "=", FieldText(field, config), ": ", why));
}

// Whether a setting is another than its default.
bool Chosen(const Config& config, const char* name) {
  const ConfigField& field = ConfigFieldNamed(name);
  return FieldText(field, config) != FieldText(field, Config());
}

// What shows a plateau is the loss of the test data.
absl::Status CheckPlateausShow(const Config& config) {
  if (!absl::StartsWith(config.batch_schedule(), "plateau") || SeesData(config.model())) {
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
  for (const char* name : {"data", "split", "label_smoothing", "augment_until"}) {
    if (!Chosen(config, name)) continue;
    return Refuse(config, name,
                  absl::StrCat("--model=", config.model(), " has no data; drop one of them"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckModelSettings(const Config& config) {
  RETURN_IF_ERROR(CheckPlateausShow(config));
  RETURN_IF_ERROR(CheckTimesAlone(config));
  return CheckWithoutData(config);
}

absl::Status CheckModelOnRealNodes(const Config& config) {
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

}  // namespace grapevine

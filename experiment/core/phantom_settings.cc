#include "experiment/core/phantom_settings.h"

#include "absl/strings/str_cat.h"
#include "run/config/config_field.h"

namespace grapevine {

void ForgetLearning(int64_t elements, Config* config) {
  constexpr int64_t kElementBytes = sizeof(float);
  config->set_model(absl::StrCat("phantom:", kElementBytes * elements, "B"));
  for (const char* name : {"init_from", "target_accuracy", "data", "split", "label_smoothing"}) {
    ClearField(ConfigFieldNamed(name), config);
  }
}

}  // namespace grapevine

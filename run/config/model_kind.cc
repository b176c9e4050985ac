#include "run/config/model_kind.h"

#include <string_view>

namespace grapevine {

ModelKind KindOf(const Config& config) {
  const std::string_view model = config.model();
  const std::string_view name = model.substr(0, model.find(':'));
  if (name == "phantom") return ModelKind::kPhantom;
  if (name == "quadratic") return ModelKind::kQuadratic;
  return ModelKind::kNetwork;
}

}  // namespace grapevine

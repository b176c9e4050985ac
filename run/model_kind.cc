#include "run/model_kind.h"

#include <string_view>

namespace grapevine {
namespace {

bool IsNamed(const Config& config, std::string_view name) {
  const std::string_view model = config.model();
  return model.substr(0, model.find(':')) == name;
}

}  // namespace

bool IsPhantom(const Config& config) { return IsNamed(config, "phantom"); }

bool ReadsData(const Config& config) {
  return !IsPhantom(config) && !IsNamed(config, "quadratic");
}

}  // namespace grapevine

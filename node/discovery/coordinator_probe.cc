#include "node/discovery/coordinator_probe.h"

#include "absl/strings/str_cat.h"

namespace grapevine {

std::string ServiceOfRun(const std::string& run_id) {
  return absl::StrCat("grapevine.run.", run_id);
}

}  // namespace grapevine

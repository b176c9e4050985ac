#include "run/revision.h"

namespace grapevine {

std::string Version() {
  return
#include "run/version_stamp.inc"
      ;
}

std::string Revision() {
  // Empty when Bazel ran without tools/workspace_status.
  const std::string stamp = ""
#include "run/revision_stamp.inc"
      ;
  return stamp.empty() ? "unknown" : stamp;
}

}  // namespace grapevine

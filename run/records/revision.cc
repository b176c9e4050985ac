#include "run/records/revision.h"

namespace grapevine {

std::string Version() {
  return
#include "run/records/version_stamp.inc"
      ;
}

std::string Revision() {
  // The stamp is empty when Bazel ran without tools/workspace_status.
  const std::string stamp = ""
#include "run/records/revision_stamp.inc"
      ;
  return stamp.empty() ? "unknown" : stamp;
}

std::string RevisionDate() {
  return ""
#include "run/records/date_stamp.inc"
      ;
}

}  // namespace grapevine

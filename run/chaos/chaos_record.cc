#include "run/chaos/chaos_record.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace grapevine {

std::string ChaosPath(const std::string& run) { return absl::StrCat(run, "/chaos.jsonl"); }

// The text of a fault has nothing that JSON would want escaped.
std::string ChaosLine(const FaultTimeline::Begun& begun, Round round,
                      std::chrono::nanoseconds time) {
  return absl::StrFormat(R"({"round":%d,"time_s":%.6f,"rank":%d,"fault":"%s"})", round,
                         std::chrono::duration<double>(time).count(), begun.rank,
                         FaultText(*begun.fault));
}

}  // namespace grapevine

// A configuration with the origin of each of its values, and its printed form.
#ifndef GRAPEVINE_RUN_CONFIG_RESOLVED_CONFIG_H_
#define GRAPEVINE_RUN_CONFIG_RESOLVED_CONFIG_H_

#include <map>
#include <string>

#include "run/config/config.pb.h"

namespace grapevine {

// Ascending precedence.
enum class Source { kDefault, kFile, kEnvironment, kCommandLine };

struct Origin {
  Source source = Source::kDefault;
  std::string where = "default";  // "--batch", "GRAPEVINE_BATCH", "ring.textproto:3"
};

struct ResolvedConfig {
  // Defaults are filled in, sizes and durations are canonical; exactly one of epochs and rounds
  // is set; version and revision are this program's.
  Config config;
  // By field name; fields at their default are absent.
  std::map<std::string, Origin> origins;

  Origin OriginOf(const std::string& field) const {
    const auto origin = origins.find(field);
    return origin == origins.end() ? Origin{} : origin->second;
  }
};

// One line per value, under the headings of the help text; fields without a value are omitted.
std::string PrintResolved(const ResolvedConfig& resolved);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_RESOLVED_CONFIG_H_

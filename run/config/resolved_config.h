// A configuration with the origin of each of its values: a flag, a variable or a file. Also its
// printed form, and errors that name the origin of a value.
//
// Values and pure functions, safe from any thread.
#ifndef GRAPEVINE_RUN_CONFIG_RESOLVED_CONFIG_H_
#define GRAPEVINE_RUN_CONFIG_RESOLVED_CONFIG_H_

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "run/config/config.pb.h"

namespace grapevine {

// The sources of a value, in ascending precedence.
enum class Source { kDefault, kFile, kEnvironment, kCommandLine };

struct Origin {
  Source source = Source::kDefault;
  std::string where = "default";  // "--batch", "GRAPEVINE_BATCH", "ring.textproto:3"
};

struct ResolvedConfig {
  // The configuration. Defaults are filled in, sizes and durations are canonical, and exactly one
  // of epochs and rounds is set; version and revision are this program's.
  Config config;
  // The origins by field name; fields at their default are absent.
  std::map<std::string, Origin> origins;

  Origin OriginOf(const std::string& field) const {
    const auto origin = origins.find(field);
    return origin == origins.end() ? Origin{} : origin->second;
  }
};

// Returns one line per value, under the headings of the help text. Fields without a value are
// omitted. The lines of the fields in `idle` say that they have no effect.
std::string PrintResolved(const ResolvedConfig& resolved, const std::set<std::string>& idle = {});

// Returns where a value was given: "--batch", "GRAPEVINE_BATCH", "ring.textproto:3: batch"; for a
// default, the flag.
std::string OriginText(const ResolvedConfig& resolved, const std::string& field);

// Returns the origin of a value and the value: "GRAPEVINE_BATCH=-3".
std::string Culprit(const ResolvedConfig& resolved, const std::string& field);

// Puts `flag` ("--model") in front of an error about its value: "lenet6: unknown network" and
// "unknown network" both become "--model=lenet6: unknown network". Leaves unchanged OK, errors that
// begin with a flag already, and errors other than kUsage, which name a file.
absl::Status NamingFlag(std::string_view flag, std::string_view value, absl::Status status);

// Replaces the flag at the beginning of an error by the origin of the value: "--lr=2: ..." becomes
// "GRAPEVINE_LR=2: ..." or "ring.textproto:3: lr=2: ...". Leaves unchanged errors about the command
// line and about defaults, and errors that NamingFlag leaves unchanged.
absl::Status NamingOrigin(const ResolvedConfig& resolved, absl::Status status);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CONFIG_RESOLVED_CONFIG_H_

#include "algorithm/server/parameter_servers.h"

#include <limits>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace grapevine {
namespace {

std::string Count(int64_t number, const char* noun) {
  return absl::StrCat(number, " ", noun, number == 1 ? "" : "s");
}

}  // namespace

absl::StatusOr<ParameterServers> ParameterServers::Parse(const Spec& spec, Rank nodes) {
  SpecReader reader(spec);
  const int64_t servers = reader.Integer("servers", 1, 1, std::numeric_limits<Rank>::max());
  RETURN_IF_ERROR(reader.Finish());
  if (servers < nodes) return ParameterServers(nodes - static_cast<Rank>(servers), servers);
  std::string remedy = absl::StrCat("raise --nodes to at least ", servers + 1);
  if (nodes > 1) absl::StrAppend(&remedy, " or lower servers to at most ", nodes - 1);
  return SpecError(spec.text, absl::StrCat(Count(servers, "server"), " of ", Count(nodes, "node"),
                                           " leave no worker; --nodes counts both: ", remedy));
}

}  // namespace grapevine

#include "node/edge_identity.h"

#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "run/failure.h"

namespace grapevine {
namespace {

// What a stranger sent may be long.
std::string Quoted(const std::string& value) {
  constexpr size_t kShown = 80;
  return absl::StrCat("'", value.substr(0, kShown), value.size() > kShown ? "...'" : "'");
}
std::string Quoted(int64_t value) { return absl::StrCat(value); }

}  // namespace

absl::Status CheckSameRun(const EdgeIdentity& self, const EdgeIdentity& peer) {
  std::vector<std::string> differences;
  const auto compare = [&](const char* field, const auto& ours, const auto& theirs) {
    if (ours == theirs) return;
    differences.push_back(absl::StrCat(field, ": ", Quoted(ours), " at rank ", self.rank, ", ",
                                       Quoted(theirs), " at rank ", peer.rank));
  };
  compare("protocol version", self.protocol_version, peer.protocol_version);
  compare("run id", self.run_id, peer.run_id);
  compare("world size", self.world_size, peer.world_size);
  compare("tensor schema", self.schema, peer.schema);
  compare("topology", self.topology, peer.topology);
  compare("algorithm", self.algorithm, peer.algorithm);
  if (differences.empty()) return absl::OkStatus();
  return WithFailure(absl::FailedPreconditionError(absl::StrCat(
                         "these nodes do not belong to one run: ", absl::StrJoin(differences, "; "),
                         "; start all nodes with the same build and flags")),
                     Failure::kRendezvous);
}

}  // namespace grapevine

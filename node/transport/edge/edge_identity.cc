#include "node/transport/edge/edge_identity.h"

#include <string_view>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/status.h"

namespace grapevine {
namespace {

std::string Quoted(const std::string& value) {
  constexpr size_t kShown = 80;
  return absl::StrCat("'", Printable(value, kShown), "'");
}
std::string Quoted(int64_t value) { return absl::StrCat(value); }

std::string Claim(const EdgeIdentity& speaker, EdgeEnd end) {
  return absl::StrCat("edge: rank ", speaker.rank, ", process ", speaker.call.process,
                      end == EdgeEnd::kCaller ? ", calls rank " : ", answers rank ",
                      speaker.listener, ", call ", speaker.call.number, ", in run ",
                      speaker.run_id);
}
absl::Status Misfit(const std::string& how) {
  return WithFailure(
      absl::FailedPreconditionError(absl::StrCat("these nodes do not belong to one run: ", how)),
      Failure::kRendezvous);
}

}  // namespace

EdgeIdentity Proven(EdgeIdentity speaker, Rank listener, EdgeEnd end, const RunToken& token) {
  speaker.listener = listener;
  speaker.proof = token.Proof(Claim(speaker, end));
  return speaker;
}

bool IsProven(const EdgeIdentity& speaker, EdgeEnd end, const RunToken& token) {
  return token.Accepts(speaker.proof, Claim(speaker, end));
}

absl::Status CheckSameRun(const EdgeIdentity& self, const EdgeIdentity& peer) {
  if (self.run_id != peer.run_id) {
    return Misfit("their run ids differ; stop what is left of another run, check the host file");
  }
  if (peer.listener != self.rank) {
    return Misfit(absl::StrCat("rank ", peer.rank, " means rank ", peer.listener,
                               ", but this is rank ", self.rank,
                               "; check the host file and --advertise"));
  }
  std::vector<std::string> differences;
  const auto compare = [&](const char* field, const auto& ours, const auto& theirs) {
    if (ours == theirs) return;
    differences.push_back(absl::StrCat(field, ": ", Quoted(ours), " at rank ", self.rank, ", ",
                                       Quoted(theirs), " at rank ", peer.rank));
  };
  compare("protocol version", self.protocol_version, peer.protocol_version);
  compare("world size", self.world_size, peer.world_size);
  compare("tensor schema", self.schema, peer.schema);
  compare("topology", self.topology, peer.topology);
  compare("algorithm", self.algorithm, peer.algorithm);
  if (differences.empty()) return absl::OkStatus();
  return Misfit(absl::StrCat(absl::StrJoin(differences, "; "),
                             "; start all nodes with the same build and flags"));
}

}  // namespace grapevine

#include "node/control/directive.h"

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "node/identity/host_address.h"

namespace grapevine {
namespace {

constexpr size_t kMaxShown = 80;

absl::Status Malformed(const std::string& how) { return absl::InvalidArgumentError(how); }

absl::Status CheckLimit(Round limit, Round rounds) {
  if (limit >= 0 && limit <= rounds) return absl::OkStatus();
  return Malformed(absl::StrCat("sent ", limit, " as the limit of a run of ", rounds, " rounds"));
}

absl::Status CheckRoster(const control::Roster& roster, const DirectiveContext& context) {
  if (context.joined) return Malformed("sent a second roster");
  if (roster.addresses_size() != context.world_size) {
    return Malformed(absl::StrCat("sent a roster of ", roster.addresses_size(), " addresses for ",
                                  context.world_size, " nodes"));
  }
  for (Rank rank = 0; rank < context.world_size; ++rank) {
    const absl::StatusOr<HostAddress> address = ParseHostAddress(roster.addresses(rank));
    // Without a host: where rank 0 was found (peer_address.h).
    if (!address.ok() || address->port == 0) {
      return Malformed(absl::StrCat("sent \"", Printable(roster.addresses(rank), kMaxShown),
                                    "\" as the address of rank ", rank));
    }
  }
  return CheckLimit(roster.round_limit(), context.rounds);
}

}  // namespace

absl::Status CheckDirective(const control::Directive& directive, const DirectiveContext& context) {
  switch (directive.kind_case()) {
    case control::Directive::kRoster:
      return CheckRoster(directive.roster(), context);
    case control::Directive::kRoundLimit:
      if (!context.joined) return Malformed("moved the end of the run before it began");
      return CheckLimit(directive.round_limit().limit(), context.rounds);
    case control::Directive::kFinish:
      return context.joined ? absl::OkStatus() : Malformed("ended the run before it began");
    case control::Directive::kAbort:
    case control::Directive::kBeat:
      return absl::OkStatus();
    default:
      return Malformed("sent a directive that this node does not know");
  }
}

}  // namespace grapevine

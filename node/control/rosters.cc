#include "node/control/rosters.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "node/control/address_list.h"

namespace grapevine {

control::Directive Rosters::Begin(const Members& members, const RunLimit& end, SteadyTime now) {
  started_ = now - options_.elapsed;
  // A node that has not come has an empty address.
  addresses_.resize(static_cast<size_t>(options_.nodes));
  for (const auto& [rank, member] : members) addresses_[rank] = member.registration.address();
  control::Directive directive;
  control::Roster& roster = *directive.mutable_roster();
  roster.set_run_id(options_.run_id);
  roster.set_round_limit(end.shares_budget() ? 0 : end.limit());
  if (options_.resumed) *roster.mutable_resumed() = *options_.resumed;
  *roster.mutable_addresses() = PackAddresses(addresses_);
  return directive;
}

void Rosters::TakeOver(const Succession& found, SteadyTime now) {
  started_ = now - options_.elapsed;
  addresses_ = found.addresses();
  if (found.view().epoch > 0) views_.push_back(found.told());
}

control::Directive Rosters::Welcome(const control::View& view, const RunLimit& end,
                                    SteadyTime now) {
  for (const control::Newcomer& newcomer : view.newcomers()) {
    addresses_[newcomer.rank()] = newcomer.address();
  }
  control::Directive directive;
  control::Roster& roster = *directive.mutable_roster();
  roster.set_run_id(options_.run_id);
  *roster.mutable_addresses() = PackAddresses(addresses_);
  roster.set_round_limit(end.limit());
  control::Joined& joined = *roster.mutable_joined();
  *joined.mutable_view() = view;
  joined.mutable_before()->Assign(views_.begin(), views_.end());
  joined.mutable_settled()->Assign(end.settled().begin(), end.settled().end());
  if (options_.resumed) {
    *joined.mutable_history() = options_.resumed->history();
    joined.set_lost_bytes_sent(options_.resumed->lost_bytes_sent());
  }
  const std::chrono::nanoseconds since = now - started_;
  joined.set_time_ns(std::max<int64_t>(0, since.count()));
  return directive;
}

std::vector<control::RoundLimit> Rosters::Settled() const {
  if (!options_.resumed) return {};
  return {options_.resumed->settled().begin(), options_.resumed->settled().end()};
}

}  // namespace grapevine

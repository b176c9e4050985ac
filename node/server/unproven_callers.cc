#include "node/server/unproven_callers.h"

#include "absl/status/statusor.h"
#include "node/identity/host_address.h"
#include "node/server/host_key.h"

namespace grapevine {
void UnprovenCallers::Places::Add(const std::string& host, Caller caller) {
  std::set<Caller>& callers = by_host_[host];
  if (!callers.empty()) shares_.erase(Of(callers));
  callers.insert(caller);
  shares_.insert(Of(callers));
  ++taken_;
}

void UnprovenCallers::Places::Remove(const std::string& host, Caller caller) {
  const auto found = by_host_.find(host);
  std::set<Caller>& callers = found->second;
  shares_.erase(Of(callers));
  callers.erase(caller);
  --taken_;
  if (callers.empty()) {
    by_host_.erase(found);
  } else {
    shares_.insert(Of(callers));
  }
}

UnprovenCallers::Caller UnprovenCallers::Places::Last() const { return ~shares_.rbegin()->second; }

UnprovenCallers::Entered UnprovenCallers::Enter(std::string_view host) {
  const Caller caller = next_++;
  std::string bytes = HostKey(host);
  const bool known = host.empty() || known_hosts_.contains(bytes);
  Places& places = PlacesFor(known);
  places.Add(bytes, caller);
  callers_.emplace(caller, Place{std::move(bytes), known});
  if (!places.overfull()) return {caller, std::nullopt};
  const Caller displaced = places.Last();
  Leave(displaced);
  return {caller, displaced};
}

void UnprovenCallers::Leave(Caller caller) {
  const auto found = callers_.find(caller);
  if (found == callers_.end()) return;
  const Place& place = found->second;
  PlacesFor(place.known).Remove(place.host, caller);
  callers_.erase(found);
}

void UnprovenCallers::Know(Rank rank, std::string_view host) {
  std::string bytes = HostKey(host);
  if (bytes.empty()) return;
  std::string& before = host_of_[rank];
  if (before == bytes) return;
  if (const auto found = known_hosts_.find(before);
      found != known_hosts_.end() && --found->second == 0) {
    known_hosts_.erase(found);
  }
  ++known_hosts_[bytes];
  before = std::move(bytes);
}

void UnprovenCallers::Expect(Rank rank, std::string_view address) {
  const absl::StatusOr<HostAddress> parsed = ParseHostAddress(address);
  if (parsed.ok() && !host_of_.contains(rank)) Know(rank, parsed->host);
}

}  // namespace grapevine

#include "node/server/unproven_callers.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include "absl/status/statusor.h"
#include "node/identity/host_address.h"

namespace grapevine {
namespace {

// Who has one IPv6 address has the 2^64 of its network.
constexpr size_t kNetworkBytes = 8;

std::string BytesOf(const in6_addr& address, size_t from, size_t size) {
  return std::string(reinterpret_cast<const char*>(address.s6_addr) + from, size);
}

// The bytes by which hosts are told apart; empty for this process, and for what is no address.
std::string HostBytes(std::string_view text) {
  const std::string host(text.substr(0, text.find('%')));  // without the scope of a link
  in_addr v4 = {};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) {
    return std::string(reinterpret_cast<const char*>(&v4), sizeof v4);
  }
  in6_addr v6 = {};
  if (inet_pton(AF_INET6, host.c_str(), &v6) != 1) return "";
  if (IN6_IS_ADDR_V4MAPPED(&v6)) return BytesOf(v6, sizeof v6 - sizeof v4, sizeof v4);
  if (IN6_IS_ADDR_LOOPBACK(&v6)) return BytesOf(v6, 0, sizeof v6);
  return BytesOf(v6, 0, kNetworkBytes);
}

}  // namespace

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
  std::string bytes = HostBytes(host);
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
  std::string bytes = HostBytes(host);
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

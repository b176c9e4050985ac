#include "node/identity/peer_address.h"

#include "absl/status/statusor.h"
#include "absl/strings/str_replace.h"

namespace grapevine {

HostAddress AdvertisedAddress(HostAddress wanted, const HostAddress& bound) {
  if (wanted.port == 0) wanted.port = bound.port;
  if (wanted.host.empty() && !IsEverywhere(bound.host)) wanted.host = bound.host;
  return wanted;
}

std::string HostOfConnection(std::string_view peer) {
  const size_t colon = peer.find(':');
  if (colon == std::string_view::npos) return "";
  const std::string address = absl::StrReplaceAll(std::string(peer.substr(colon + 1)),
                                                  {{"%5B", "["}, {"%5D", "]"}, {"%25", "%"}});
  const absl::StatusOr<HostAddress> parsed = ParseHostAddress(address);
  return parsed.ok() ? parsed->host : "";
}

HostAddress DialledAddress(HostAddress told, const HostAddress& rank_zero) {
  const bool beside_rank_zero =
      told.host.empty() || (IsLoopback(told.host) && !IsLoopback(rank_zero.host));
  if (beside_rank_zero) told.host = rank_zero.host;
  return told;
}

}  // namespace grapevine

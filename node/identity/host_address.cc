#include "node/identity/host_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"

namespace grapevine {
namespace {

absl::Status BadAddress(std::string_view text, std::string_view what) {
  return UsageError(absl::StrCat("address \"", std::string(text), "\": ", std::string(what),
                                 "; expected HOST:PORT or [IPV6]:PORT"));
}

bool IsBracketed(std::string_view host) {
  return host.size() > 2 && host.front() == '[' && host.back() == ']';
}

absl::StatusOr<std::string> ParseHost(std::string_view host, std::string_view text) {
  if (IsBracketed(host)) {
    host = host.substr(1, host.size() - 2);
  } else if (host.find_first_of(":[]") != std::string_view::npos) {
    return BadAddress(text, "an IPv6 address needs brackets");
  }
  // A program that is given such a host would take it for an option.
  if (host.starts_with('-')) return BadAddress(text, "no host's name begins with -");
  for (const char c : host) {
    const bool plain = absl::ascii_isgraph(static_cast<unsigned char>(c));
    if (!plain || c == '/' || c == '[' || c == ']' || c == '@') {
      return BadAddress(text, "the host is not a name or an IP address");
    }
  }
  return std::string(host);
}

std::optional<in6_addr> Ipv6(std::string_view host) {
  in6_addr address;
  if (inet_pton(AF_INET6, std::string(host).c_str(), &address) != 1) return std::nullopt;
  return address;
}

std::optional<in_addr> Ipv4(std::string_view host) {
  in_addr address;
  if (inet_pton(AF_INET, std::string(host).c_str(), &address) != 1) return std::nullopt;
  return address;
}

}  // namespace

bool ParsePort(std::string_view text, int* port) {
  // SimpleAtoi would accept blanks and signs.
  if (text.empty() || text.size() > 5) return false;
  for (const char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
  }
  return absl::SimpleAtoi(std::string(text), port) && *port <= 65535;
}

absl::StatusOr<HostAddress> ParseHostAddress(std::string_view text) {
  const size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return BadAddress(text, "the port is missing");
  HostAddress address;
  if (!ParsePort(text.substr(colon + 1), &address.port)) {
    return BadAddress(text, "the port is not a number from 0 to 65535");
  }
  ASSIGN_OR_RETURN(address.host, ParseHost(text.substr(0, colon), text));
  return address;
}

absl::StatusOr<HostAddress> ParseHostAddress(std::string_view text, int port_if_none) {
  if (Ipv6(text)) return HostAddress{std::string(text), port_if_none};
  if (!IsBracketed(text) && text.find(':') != std::string_view::npos) return ParseHostAddress(text);
  ASSIGN_OR_RETURN(std::string host, ParseHost(text, text));
  return HostAddress{std::move(host), port_if_none};
}

std::string FormatHostAddress(const HostAddress& address) {
  const bool v6 = address.host.find(':') != std::string::npos;
  return v6 ? absl::StrCat("[", address.host, "]:", address.port)
            : absl::StrCat(address.host, ":", address.port);
}

bool IsLoopback(std::string_view host) {
  if (host == "localhost") return true;
  if (const auto v4 = Ipv4(host)) return ntohl(v4->s_addr) >> 24 == 127;
  const auto v6 = Ipv6(host);
  return v6 && IN6_IS_ADDR_LOOPBACK(&*v6);
}

bool IsIpAddress(std::string_view host) { return Ipv4(host) || Ipv6(host); }

bool IsEverywhere(std::string_view host) {
  if (const auto v4 = Ipv4(host)) return v4->s_addr == INADDR_ANY;
  const auto v6 = Ipv6(host);
  return v6 && IN6_IS_ADDR_UNSPECIFIED(&*v6);
}

bool AreDifferentAddresses(std::string_view one, std::string_view other) {
  if (one == "localhost") one = "127.0.0.1";
  if (other == "localhost") other = "127.0.0.1";
  const std::optional<in_addr> v4 = Ipv4(one), other_v4 = Ipv4(other);
  const std::optional<in6_addr> v6 = Ipv6(one), other_v6 = Ipv6(other);
  if ((!v4 && !v6) || (!other_v4 && !other_v6)) return false;  // names, which may mean anything
  if (v4 && other_v4) return v4->s_addr != other_v4->s_addr;
  return !v6 || !other_v6 || !IN6_ARE_ADDR_EQUAL(&*v6, &*other_v6);
}

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

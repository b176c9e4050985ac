#include "node/telemetry/own_hosts.h"

#include <algorithm>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "node/identity/host_address.h"
#include "system/machine_names.h"

namespace grapevine {
namespace {

bool IsSameName(const std::string& host, const std::string& own) {
  return !own.empty() && host == absl::AsciiStrToLower(own);
}

bool IsOfThisMachine(const std::string& host) {
  return std::ranges::any_of(HostNames(),
                             [&host](const std::string& own) { return IsSameName(host, own); });
}

}  // namespace

bool OwnHosts::Have(std::string_view field) const {
  const absl::StatusOr<HostAddress> address = ParseHostAddress(field, 0);
  if (!address.ok()) return false;
  const std::string host = absl::AsciiStrToLower(address->host);
  if (IsLoopback(host) || IsSameName(host, listens) || IsSameName(host, advertised)) return true;
  return IsEverywhere(listens) && (IsIpAddress(host) || IsOfThisMachine(host));
}

std::string OwnHosts::Refusal(std::string_view field) const {
  constexpr size_t kLongest = 300;
  return absl::StrCat("\"", Printable(field, kLongest),
                      "\" is no name of this port, which tells nothing to pages of other names: "
                      "ask at ",
                      IsEverywhere(listens) ? "an IP address of this machine" : listens,
                      ", or name it in ", flag, "=HOST:PORT or --advertise\n");
}

}  // namespace grapevine

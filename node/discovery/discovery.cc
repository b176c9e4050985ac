#include "node/discovery/discovery.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/printable.h"
#include "base/status.h"
#include "base/units.h"

namespace grapevine {

namespace {

constexpr size_t kMostRunKey = 64;  // within Store::kMaxKey even with a store's prefix
constexpr size_t kMostQuoted = 200;

absl::Status BadPlace(std::string_view text, std::string_view what) {
  return UsageError(
      absl::StrCat("--coordinator=", Printable(text, kMostQuoted), ": ", std::string(what),
                   "; expected HOST:PORT, dns:NAME:PORT, file:DIR or etcd:HOST:PORT/RUN-KEY"));
}

// Parses an address that must name a host and a port.
absl::StatusOr<HostAddress> Address(std::string_view address, std::string_view text) {
  const absl::StatusOr<HostAddress> parsed = ParseHostAddress(address);
  if (!parsed.ok() || parsed->host.empty() || parsed->port == 0 || IsEverywhere(parsed->host)) {
    return BadPlace(text, "a host and a port from 1 to 65535 are needed");
  }
  return *parsed;
}

bool IsRunKey(std::string_view key) {
  return !key.empty() && key.size() <= kMostRunKey && std::ranges::all_of(key, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c)) || c == '-' || c == '_' || c == '.';
  });
}

absl::StatusOr<CoordinatorPlace> InEtcd(std::string_view rest, std::string_view text) {
  const size_t slash = rest.find('/');
  if (slash == std::string_view::npos || !IsRunKey(rest.substr(slash + 1))) {
    return BadPlace(text, absl::StrCat("the run's key is missing or is not of 1 to ", kMostRunKey,
                                       " letters, digits, '-', '_' and '.'"));
  }
  ASSIGN_OR_RETURN(HostAddress etcd, Address(rest.substr(0, slash), text));
  return CoordinatorInEtcd{std::move(etcd), std::string(rest.substr(slash + 1))};
}

bool Takes(std::string_view prefix, std::string_view* text) {
  if (!text->starts_with(prefix)) return false;
  text->remove_prefix(prefix.size());
  return true;
}

}  // namespace

absl::StatusOr<CoordinatorPlace> ParseCoordinatorPlace(std::string_view text) {
  std::string_view rest = text;
  if (Takes("etcd:", &rest)) return InEtcd(rest, text);
  if (Takes("file:", &rest)) {
    if (rest.empty()) return BadPlace(text, "the folder is missing");
    return CoordinatorInFolder{std::string(rest)};
  }
  if (Takes("dns:", &rest)) {
    ASSIGN_OR_RETURN(HostAddress name, Address(rest, text));
    return CoordinatorInDns{std::move(name)};
  }
  const absl::StatusOr<HostAddress> address = ParseHostAddress(text, 0);
  if (!address.ok() || address->host.empty()) return BadPlace(text, "it is no place that is known");
  return CoordinatorAt{std::string(text)};
}

bool IsInStore(const CoordinatorPlace& place) {
  return std::holds_alternative<CoordinatorInFolder>(place) ||
         std::holds_alternative<CoordinatorInEtcd>(place);
}

std::string ServiceOfRun(const std::string& run_id) {
  return absl::StrCat("grapevine.run.", run_id);
}

absl::Status RankZeroNotFound(const std::string& place, std::chrono::nanoseconds looked,
                              const absl::Status& why) {
  return WithFailure(
      absl::UnavailableError(absl::StrCat(
          "cannot join the run: for ", HumanSeconds(looked), " no rank 0 was found by way of ",
          place, ": ", why.message(), " (--rendezvous-timeout gives more time)")),
      Failure::kRendezvous);
}

}  // namespace grapevine

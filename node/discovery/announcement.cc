#include "node/discovery/announcement.h"

#include <algorithm>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/time/time.h"
#include "node/discovery/announcement.pb.h"

namespace grapevine {
namespace {

constexpr size_t kMostRunId = 64;
constexpr size_t kMostHost = 255;
constexpr int64_t kLatestSince = 253402300799;  // the end of the year 9999

// Unambiguous, whatever the addresses are.
std::string Claim(const discovery::Announcement& announcement) {
  std::string claim = absl::StrCat("coordinator ", announcement.run_id().size(), ":",
                                   announcement.run_id(), " ", announcement.since());
  for (const std::string& address : announcement.addresses()) {
    absl::StrAppend(&claim, " ", address.size(), ":", address);
  }
  return claim;
}

bool CanBeDialled(const HostAddress& address) {
  return !address.host.empty() && address.host.size() <= kMostHost && address.port > 0 &&
         !IsEverywhere(address.host);
}

bool IsRunId(const std::string& id) {
  return !id.empty() && id.size() <= kMostRunId && std::ranges::all_of(id, [](char c) {
    return absl::ascii_isalnum(static_cast<unsigned char>(c));
  });
}

}  // namespace

std::string EncodeAnnouncement(const CoordinatorAnnouncement& announcement, const RunToken& token) {
  discovery::Announcement encoded;
  encoded.set_run_id(announcement.run_id);
  for (const HostAddress& address : announcement.addresses) {
    encoded.add_addresses(FormatHostAddress(address));
  }
  encoded.set_since(announcement.since);
  encoded.set_proof(token.Proof(Claim(encoded)));
  return encoded.SerializeAsString();
}

absl::StatusOr<CoordinatorAnnouncement> DecodeAnnouncement(std::string_view bytes,
                                                           const RunToken& token) {
  const absl::Status foreign = absl::InvalidArgumentError("is no announcement of a rank 0");
  discovery::Announcement encoded;
  if (!encoded.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())) ||
      !IsRunId(encoded.run_id()) || encoded.addresses().empty() ||
      static_cast<size_t>(encoded.addresses_size()) > CoordinatorAnnouncement::kMostAddresses ||
      encoded.since() < 0 || encoded.since() > kLatestSince) {
    return foreign;
  }
  CoordinatorAnnouncement announcement{
      .run_id = encoded.run_id(), .addresses = {}, .since = encoded.since()};
  for (const std::string& text : encoded.addresses()) {
    absl::StatusOr<HostAddress> address = ParseHostAddress(text);
    if (!address.ok() || !CanBeDialled(*address)) return foreign;
    announcement.addresses.push_back(*std::move(address));
  }
  if (token.Accepts(encoded.proof(), Claim(encoded))) return announcement;
  return absl::InvalidArgumentError(
      "does not show the run's token (another run's, or not of this run's rank 0)");
}

std::vector<HostAddress> AnnouncedAddresses(const HostAddress& advertised,
                                            const std::vector<std::string>& own_names) {
  if (!advertised.host.empty()) return {advertised};
  std::vector<HostAddress> addresses;
  for (const std::string& name : own_names) {
    const HostAddress address{name, advertised.port};
    const bool scoped = name.find('%') != std::string::npos;  // means something on this link alone
    const absl::StatusOr<HostAddress> parsed = ParseHostAddress(FormatHostAddress(address));
    if (scoped || IsLoopback(name) || !parsed.ok() || !CanBeDialled(*parsed)) continue;
    if (addresses.size() < CoordinatorAnnouncement::kMostAddresses) addresses.push_back(address);
  }
  if (addresses.empty()) addresses.push_back({"127.0.0.1", advertised.port});
  return addresses;
}

std::string AnnouncementText(const CoordinatorAnnouncement& announcement) {
  const auto format = [](std::string* out, const HostAddress& address) {
    out->append(FormatHostAddress(address));
  };
  return absl::StrCat(
      absl::StrJoin(announcement.addresses, ", ", format), " (since ",
      absl::FormatTime("%Y-%m-%d %H:%M:%S UTC", absl::FromUnixSeconds(announcement.since),
                       absl::UTCTimeZone()),
      ")");
}

}  // namespace grapevine

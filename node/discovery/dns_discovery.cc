#include "node/discovery/dns_discovery.h"

#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "node/discovery/discovery.h"
#include "system/deadline.h"
#include "system/mutex.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr milliseconds kNamesAnswer{
    2000};  // time for the name servers, or for all addresses, to answer
constexpr milliseconds kNamesRetry{500};

}  // namespace

// The resolver's last answer, however late it came. Each answer is taken once.
struct DnsDiscovery::Resolved {
  Mutex mutex;
  std::optional<absl::StatusOr<std::vector<std::string>>> answer ABSL_GUARDED_BY(mutex);

  void Put(absl::StatusOr<std::vector<std::string>> found) {
    MutexLock lock(mutex);
    answer = std::move(found);
  }
  absl::StatusOr<std::vector<std::string>> Take() {
    MutexLock lock(mutex);
    if (!answer) return absl::UnavailableError("the name servers do not answer");
    return *std::exchange(answer, std::nullopt);
  }
};

DnsDiscovery::DnsDiscovery(HostAddress name, CoordinatorProbe probe, Resolver resolver)
    : name_(std::move(name)),
      probe_(std::move(probe)),
      resolver_(std::move(resolver)),
      place_(absl::StrCat("the addresses of ", FormatHostAddress(name_))),
      resolved_(std::make_shared<Resolved>()) {}

absl::StatusOr<std::vector<HostAddress>> DnsDiscovery::Resolve(Deadline deadline) {
  (void)calls_.Run([resolved = resolved_, resolver = resolver_,
                    name = name_.host] { resolved->Put(resolver(name)); },
                   Soon(deadline, kNamesAnswer));
  const absl::StatusOr<std::vector<std::string>> hosts = resolved_->Take();
  if (!hosts.ok()) {
    return absl::UnavailableError(absl::StrCat(
        name_.host, " does not resolve (", std::string(hosts.status().message()),
        "); is it the name of a service of this run's pods, with its namespace, and is rank 0's "
        "published before it is ready?"));
  }
  std::vector<HostAddress> addresses;
  for (const std::string& host : *hosts) addresses.push_back({host, name_.port});
  return addresses;
}

absl::StatusOr<FoundCoordinator> DnsDiscovery::Look(Deadline deadline) {
  ASSIGN_OR_RETURN(const std::vector<HostAddress> addresses, Resolve(deadline));
  const ProbeAnswer answer =
      probe_({.addresses = addresses, .service = kCoordinatorService, .certified_name = name_.host},
             Soon(deadline, kNamesAnswer));
  if (answer.coordinator) return FoundCoordinator{*answer.coordinator, name_.host};
  return absl::UnavailableError(absl::StrCat(
      "none of ", addresses.size(), " answers as rank 0 (", answer.why_not,
      "); is it started, does it listen on that port, do both sides use TLS, or neither?"));
}

absl::StatusOr<FoundCoordinator> DnsDiscovery::Find(Deadline deadline,
                                                    const Interrupted& interrupted) {
  const Deadline begin = steady_clock::now();
  while (true) {
    RETURN_IF_ERROR(interrupted());
    absl::StatusOr<FoundCoordinator> found = Look(deadline);
    if (found.ok()) return found;
    if (steady_clock::now() + kNamesRetry >= deadline) {
      return RankZeroNotFound(place_, steady_clock::now() - begin, found.status());
    }
    std::this_thread::sleep_for(kNamesRetry);
  }
}

}  // namespace grapevine

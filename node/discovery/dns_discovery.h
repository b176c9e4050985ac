// Rank 0 is at one of the addresses of a name: a headless service, which has one for each pod.
#ifndef GRAPEVINE_NODE_DISCOVERY_DNS_DISCOVERY_H_
#define GRAPEVINE_NODE_DISCOVERY_DNS_DISCOVERY_H_

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "node/discovery/discovery.h"
#include "system/deadline.h"

namespace grapevine {

class DnsDiscovery final : public Discovery {
 public:
  // All addresses of a name; may take as long as the system's resolver does.
  using Resolver = std::function<absl::StatusOr<std::vector<std::string>>(const std::string& name)>;

  // `name` has the port of rank 0 at every address.
  DnsDiscovery(HostAddress name, CoordinatorProbe probe, Resolver resolver);

  const std::string& place() const override { return place_; }
  // The name is all that is needed.
  absl::Status Announce(const ListeningCoordinator&, Deadline, const Interrupted&) override {
    return absl::OkStatus();
  }
  void Withdraw() override {}
  absl::StatusOr<FoundCoordinator> Find(Deadline deadline, const Interrupted& interrupted) override;

 private:
  struct Resolved;

  absl::StatusOr<std::vector<HostAddress>> Resolve(Deadline deadline);
  absl::StatusOr<FoundCoordinator> Look(Deadline deadline);

  const HostAddress name_;
  const CoordinatorProbe probe_;
  const Resolver resolver_;
  const std::string place_;
  const std::shared_ptr<Resolved> resolved_;  // also of a call that does not return
  BoundedCall calls_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_DNS_DISCOVERY_H_

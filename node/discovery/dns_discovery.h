// DnsDiscovery finds rank 0 at one of the addresses of a name: a headless service, which has one
// address for each pod.
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
  // Returns all addresses of a name. May take as long as the system's resolver does.
  using Resolver = std::function<absl::StatusOr<std::vector<std::string>>(const std::string& name)>;

  // `name` holds the name to resolve and rank 0's port, which is the same at every address.
  DnsDiscovery(HostAddress name, CoordinatorProbe probe, Resolver resolver);

  const std::string& place() const override { return place_; }
  // Does nothing: the name is all that the other nodes need.
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
  const std::shared_ptr<Resolved> resolved_;  // shared with a call that may never return
  BoundedCall calls_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_DISCOVERY_DNS_DISCOVERY_H_

// A network whose routes are a formula: nothing is stored but its links.
#ifndef GRAPEVINE_SIM_PLATFORM_FORMULA_PLATFORM_H_
#define GRAPEVINE_SIM_PLATFORM_FORMULA_PLATFORM_H_

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/platform/cables.h"
#include "sim/platform/platform.h"

namespace grapevine {

// Hosts are named host0, host1, ..., and every pair is connected. Immutable.
class FormulaPlatform : public Platform {
 public:
  // Adds the links from one host to another, which is not the same.
  virtual void AddRoute(HostId from, HostId to, std::vector<LinkId>* links) const = 0;

  std::string name() const final { return name_; }
  HostId hosts() const final { return hosts_; }
  std::span<const Link> links() const final { return cables_.links(); }
  double loopback() const final { return loopback_; }
  std::string HostName(HostId host) const final;
  std::optional<HostId> FindHost(std::string_view name) const final;
  std::string LinkName(LinkId link) const final;
  std::unique_ptr<Router> MakeRouter() const final;
  absl::Status CheckConnected(std::span<const HostId> hosts) const final {
    return absl::OkStatus();
  }

 protected:
  FormulaPlatform(std::string name, HostId hosts, Cables cables, double loopback);

  const Cables& cables() const { return cables_; }
  // The names of what a cable joins, from where it goes forth.
  virtual std::pair<std::string, std::string> Ends(CableId cable) const = 0;

 private:
  const std::string name_;
  const HostId hosts_;
  const Cables cables_;
  const double loopback_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_FORMULA_PLATFORM_H_

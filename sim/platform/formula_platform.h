// A network whose routes are computed by a formula: only its links are stored.
#ifndef GRAPEVINE_SIM_PLATFORM_FORMULA_PLATFORM_H_
#define GRAPEVINE_SIM_PLATFORM_FORMULA_PLATFORM_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/platform/platform.h"

namespace grapevine {

// Counted from 0, in the order of Add.
using CableId = uint32_t;

// The links of a network as cables, each with two directions.
// Thread-compatible.
class Cables {
 public:
  // Half duplex: the directions of each cable share its capacity, as one link.
  explicit Cables(bool half_duplex) : half_duplex_(half_duplex) {}

  void Reserve(size_t cables) { links_.reserve(half_duplex_ ? cables : 2 * cables); }
  void Add(double capacity, Nanoseconds forth, Nanoseconds back) {
    links_.push_back({.capacity = capacity, .latency = forth});
    if (!half_duplex_) links_.push_back({.capacity = capacity, .latency = back});
  }
  // Half of `latency` in each direction: forth over one cable and back over another, that makes all
  // of it (in half duplex up to a nanosecond).
  void AddHalf(double capacity, Nanoseconds latency) {
    Add(capacity, latency / 2, latency - latency / 2);
  }

  LinkId Forth(CableId cable) const { return half_duplex_ ? cable : 2 * cable; }
  LinkId Back(CableId cable) const { return half_duplex_ ? cable : 2 * cable + 1; }
  CableId CableOf(LinkId link) const { return half_duplex_ ? link : link / 2; }
  bool IsBack(LinkId link) const { return !half_duplex_ && link % 2 == 1; }
  bool half_duplex() const { return half_duplex_; }
  std::span<const Link> links() const { return links_; }

 private:
  const bool half_duplex_;
  std::vector<Link> links_;
};

// Hosts are named host0, host1, ..., and every pair is connected. Immutable.
class FormulaPlatform : public Platform {
 public:
  // Appends the links from one host to a different one.
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
  // The names of the two ends of a cable, that from which it goes forth first.
  virtual std::pair<std::string, std::string> Ends(CableId cable) const = 0;

 private:
  const std::string name_;
  const HostId hosts_;
  const Cables cables_;
  const double loopback_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_FORMULA_PLATFORM_H_

// Registers families of networks, and presets, which are single networks with a name. Has their
// notation and factories, the reading of their options, some of which all families share, and a
// base class for families whose routes are computed by a formula.
//
// Register your own as this folder does: docs/extending.md.
//
// Thread-safety: a kind is immutable once registered; functions are pure, safe from any thread;
// classes are thread-compatible.
#ifndef GRAPEVINE_SIM_PLATFORM_PLATFORM_KIND_H_
#define GRAPEVINE_SIM_PLATFORM_PLATFORM_KIND_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/registry.h"
#include "base/spec.h"
#include "sim/nanoseconds.h"
#include "sim/platform/platform.h"

namespace grapevine {

struct PlatformKind {
  std::string name;     // "racks"
  std::string options;  // "[:hosts=16]", beside those of the hosts' own cables, which all have
  std::string help;     // one line
  // The specs that the contract suite makes for a dozen hosts (tests/sim).
  std::vector<std::string> examples;
  // Makes a network with at least `hosts` hosts. Reads the spec with a PlatformReader.
  std::function<absl::StatusOr<std::shared_ptr<const Platform>>(const Spec&, Rank hosts)> make =
      nullptr;
  // A preset has, instead of `make`, the spec that it stands for, and where its numbers come from.
  std::string preset = "";
  std::string source = "";
};

// Returns all families and presets of this program.
Registry<PlatformKind>& Platforms();

// Convert bits per second to bytes per nanosecond, and back to the nearest integer.
double RateOf(int64_t bits_per_second);
int64_t BitsPerSecond(double rate);

// Parse a link's rate ("10Gbit", above 0) into bytes per nanosecond, and its latency ("5us", at
// most a day).
absl::StatusOr<double> ParseLinkRate(std::string_view text);
absl::StatusOr<Nanoseconds> ParseLinkLatency(std::string_view text);

// Returns an error for fewer `hosts` than the n nodes, or for more than fit in memory.
absl::Status CheckHosts(const Spec& spec, int64_t hosts, Rank n);

// A SpecReader that knows bandwidths and latencies. Belongs to one thread and must
// not outlive its Spec.
class PlatformReader {
 public:
  explicit PlatformReader(const Spec& spec) : spec_(spec), reader_(spec) {}

  SpecReader& fields() { return reader_; }
  // Read an option as ParseLinkRate and ParseLinkLatency do. After an error they return `fallback`.
  double Bandwidth(std::string_view key, double fallback);
  Nanoseconds Latency(std::string_view key, Nanoseconds fallback);

  // Returns OK or the first error. Must be called last, and once.
  absl::Status Finish();

 private:
  template <typename T>
  T Parsed(std::string_view key, T fallback, absl::StatusOr<T> (*parse)(std::string_view));

  const Spec& spec_;
  SpecReader reader_;
  absl::Status status_;
};

// The options of the hosts' own cables.
struct PlatformOptions {
  double bandwidth = 0.125;     // bandwidth=1Gbit, goodput of each direction
  Nanoseconds latency = 50000;  // latency=50us: one way, between two hosts next to each other
  bool half_duplex = false;     // duplex=full or half
  double loopback = 10;         // loopback=80Gbit, between ranks on one host

  static PlatformOptions Read(PlatformReader& reader);
  // Returns ":bandwidth=1Gbit:latency=50us:...", to be put behind a family's own options.
  std::string Text() const;
};

// The number of a cable, counted from 0 in the order of Add.
using CableId = uint32_t;

// The links of a network as cables, each with two directions.
class Cables {
 public:
  // In half duplex, the directions of each cable share its capacity, as one link.
  explicit Cables(bool half_duplex) : half_duplex_(half_duplex) {}

  void Reserve(size_t cables) { links_.reserve(half_duplex_ ? cables : 2 * cables); }
  void Add(double capacity, Nanoseconds forth, Nanoseconds back) {
    links_.push_back({.capacity = capacity, .latency = forth});
    if (!half_duplex_) links_.push_back({.capacity = capacity, .latency = back});
  }
  // Adds a cable with half of `latency` in each direction. A route forth over one cable and back
  // over another takes all of it (in half duplex up to a nanosecond).
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

// A network whose routes are computed by a formula: only its links are stored. Hosts are named
// host0, host1, ..., and every pair is connected. Immutable.
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
  // Returns the names of the two ends of a cable. The end from which it goes forth comes first.
  virtual std::pair<std::string, std::string> Ends(CableId cable) const = 0;

 private:
  const std::string name_;
  const HostId hosts_;
  const Cables cables_;
  const double loopback_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_PLATFORM_PLATFORM_KIND_H_

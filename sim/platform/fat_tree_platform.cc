// A fat tree of k-port switches (Al-Fares, Loukissas and Vahdat, SIGCOMM 2008).
//
// k pods, each of k/2 edge and k/2 aggregation switches; an edge switch has k/2 hosts; (k/2)^2 core
// switches. All k^3/4 hosts can send to others at their full bandwidth at once, if routes do not
// collide. A route is chosen among the shortest by a hash of sender and receiver, as switches do
// (ECMP), so that some do collide.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/ids.h"
#include "base/spec.h"
#include "base/status.h"
#include "random/keyed_random.h"
#include "sim/platform/platform_kind.h"

namespace grapevine {
namespace {

// Immutable.
class FatTreePlatform final : public FormulaPlatform {
 public:
  // k is even, 2 to 406. All cables are like the hosts'.
  FatTreePlatform(std::string name, int k, const PlatformOptions& options);

  void AddRoute(HostId from, HostId to, std::vector<LinkId>* links) const override;

 private:
  std::pair<std::string, std::string> Ends(CableId cable) const override;
  // Edge switches are numbered across all pods, and so are aggregation switches.
  HostId EdgeOf(HostId host) const { return host / half_; }
  // Host h's own cable is h.
  CableId EdgeToAggregation(HostId edge, int aggregation) const {
    return hosts() + edge * half_ + aggregation;
  }
  CableId AggregationToCore(HostId aggregation, int core) const {
    return 2 * hosts() + aggregation * half_ + core;
  }

  const int half_;  // k/2
};

// fat-tree:k=4; k defaults to the smallest that has n hosts.
absl::StatusOr<std::shared_ptr<const Platform>> MakeFatTree(const Spec& spec, Rank n);

constexpr int kMaxPorts = 406;  // ports of a switch; enough for 2^24 hosts

int64_t HostsOf(int64_t k) { return k * k * k / 4; }

Cables MakeCables(int k, const PlatformOptions& options) {
  const int64_t count = 3 * HostsOf(k);
  Cables cables(options.half_duplex);
  cables.Reserve(count);
  for (int64_t i = 0; i < count; ++i) cables.AddHalf(options.bandwidth, options.latency);
  return cables;
}

FatTreePlatform::FatTreePlatform(std::string name, int k, const PlatformOptions& options)
    : FormulaPlatform(std::move(name), static_cast<HostId>(HostsOf(k)), MakeCables(k, options),
                      options.loopback),
      half_(k / 2) {}

void FatTreePlatform::AddRoute(HostId from, HostId to, std::vector<LinkId>* links) const {
  const HostId edge_from = EdgeOf(from), edge_to = EdgeOf(to);
  const HostId pod_from = edge_from / half_, pod_to = edge_to / half_;
  links->push_back(cables().Forth(from));
  if (edge_from != edge_to) {
    const uint64_t hash = Mix(0, Purpose::kRouting, from, to, 0);
    const int aggregation = static_cast<int>((hash >> 32) % half_);
    links->push_back(cables().Forth(EdgeToAggregation(edge_from, aggregation)));
    if (pod_from != pod_to) {
      const int core = static_cast<int>((hash & 0xffffffffu) % half_);
      links->push_back(cables().Forth(AggregationToCore(pod_from * half_ + aggregation, core)));
      links->push_back(cables().Back(AggregationToCore(pod_to * half_ + aggregation, core)));
    }
    links->push_back(cables().Back(EdgeToAggregation(edge_to, aggregation)));
  }
  links->push_back(cables().Back(to));
}

std::pair<std::string, std::string> FatTreePlatform::Ends(CableId cable) const {
  const auto layer = static_cast<HostId>(cable) / hosts();
  const auto index = static_cast<HostId>(cable) % hosts();
  const HostId lower = index / half_, port = index % half_;
  const auto in_pod = [&](std::string_view kind, HostId number) {
    return absl::StrCat("pod", number / half_, "-", std::string(kind), number % half_);
  };
  switch (layer) {
    case 0:
      return {HostName(index), in_pod("edge", lower)};
    case 1:
      return {in_pod("edge", lower), in_pod("aggregation", lower / half_ * half_ + port)};
    default:
      return {in_pod("aggregation", lower), absl::StrCat("core", lower % half_ * half_ + port)};
  }
}

absl::StatusOr<std::shared_ptr<const Platform>> MakeFatTree(const Spec& spec, Rank n) {
  int64_t smallest = 2;
  while (HostsOf(smallest) < n) smallest += 2;
  PlatformReader reader(spec);
  const PlatformOptions options = PlatformOptions::Read(reader);
  const int64_t k = reader.fields().Integer("k", smallest, 2, kMaxPorts);
  RETURN_IF_ERROR(reader.Finish());
  if (k % 2 != 0) return SpecError(spec.text, absl::StrCat("k = ", k, " is odd; take ", k + 1));
  RETURN_IF_ERROR(CheckHosts(spec, HostsOf(k), n));
  return std::make_shared<FatTreePlatform>(absl::StrCat("fat-tree:k=", k, options.Text()),
                                           static_cast<int>(k), options);
}

const Registration kFatTree(Platforms(), {.name = "fat-tree",
                                          .options = "[:k=4]",
                                          .help = "three levels of switches, not oversubscribed",
                                          .examples = {"fat-tree", "fat-tree:k=6"},
                                          .make = MakeFatTree});

}  // namespace
}  // namespace grapevine

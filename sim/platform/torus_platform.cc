// Hosts joined to each other directly, in a grid of any number of dimensions that wraps around: the
// network of many supercomputers and accelerator pods.
//
// Every host has a cable to the next host along every side, and forwards messages for others.
// Routes go along one side after the other (dimension order), each the shorter way around; where
// both are equally short, a hash of sender and receiver chooses.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/ids.h"
#include "base/spec.h"
#include "base/status.h"
#include "random/keyed_random.h"
#include "sim/platform/platform_kind.h"
#include "topology/sides.h"

namespace grapevine {
namespace {

// Immutable.
class TorusPlatform final : public FormulaPlatform {
 public:
  // Hosts 0, 1, ... count along the last side first. The bandwidth and latency are those of each
  // cable.
  TorusPlatform(std::string name, const std::vector<Rank>& sides, const PlatformOptions& options);

  void AddRoute(HostId from, HostId to, std::vector<LinkId>* links) const override;

 private:
  // A side of at least 2; with 2, the two hosts share one cable.
  struct Side {
    HostId length;
    HostId stride;        // between neighbours
    CableId first_cable;  // the first of its cables
  };

  static std::vector<Side> MakeSides(const std::vector<Rank>& sides);
  std::pair<std::string, std::string> Ends(CableId cable) const override;
  static CableId CableCount(const Side& side, HostId hosts) {
    return side.length == 2 ? hosts / 2 : hosts;
  }
  static HostId Coordinate(const Side& side, HostId host) {
    return host / side.stride % side.length;
  }
  // Returns the host one further along a side, or one back.
  static HostId Step(const Side& side, HostId host, int direction);
  // Returns the number of the host's cable to the next one.
  static CableId CableAt(const Side& side, HostId host);

  const std::vector<Side> sides_;
};

// torus, torus:4x8, torus:4x4x4; without sides, the two sides of n that are nearest to each other.
absl::StatusOr<std::shared_ptr<const Platform>> MakeTorusPlatform(const Spec& spec, Rank n);

Cables MakeCables(const std::vector<Rank>& sides, const PlatformOptions& options) {
  const HostId hosts = ProductOf(sides);
  Cables cables(options.half_duplex);
  for (const Rank side : sides) {
    const HostId count = side == 1 ? 0 : side == 2 ? hosts / 2 : hosts;
    for (HostId i = 0; i < count; ++i) {
      cables.Add(options.bandwidth, options.latency, options.latency);
    }
  }
  return cables;
}

TorusPlatform::TorusPlatform(std::string name, const std::vector<Rank>& sides,
                             const PlatformOptions& options)
    : FormulaPlatform(std::move(name), ProductOf(sides), MakeCables(sides, options),
                      options.loopback),
      sides_(MakeSides(sides)) {}

std::vector<TorusPlatform::Side> TorusPlatform::MakeSides(const std::vector<Rank>& sides) {
  const HostId hosts = ProductOf(sides);
  std::vector<Side> result;
  HostId stride = hosts;
  CableId cables = 0;
  for (const Rank length : sides) {
    stride /= length;
    if (length == 1) continue;
    result.push_back({.length = length, .stride = stride, .first_cable = cables});
    cables += CableCount(result.back(), hosts);
  }
  return result;
}

void TorusPlatform::AddRoute(HostId from, HostId to, std::vector<LinkId>* links) const {
  HostId here = from;
  for (const Side& side : sides_) {
    const HostId ahead =
        (Coordinate(side, to) - Coordinate(side, from) + side.length) % side.length;
    const HostId behind = side.length - ahead;
    const bool forth =
        ahead < behind || (ahead == behind && Mix(0, Purpose::kRouting, from, to, side.stride) % 2);
    for (HostId left = forth ? ahead : behind; left > 0; --left) {
      const HostId next = Step(side, here, forth ? 1 : -1);
      // A side of 2 has one cable, which goes forth from its first host.
      const bool along = side.length == 2 ? Coordinate(side, here) == 0 : forth;
      links->push_back(along ? cables().Forth(CableAt(side, here))
                             : cables().Back(CableAt(side, next)));
      here = next;
    }
  }
}

HostId TorusPlatform::Step(const Side& side, HostId host, int direction) {
  const HostId at = Coordinate(side, host);
  return host + ((at + direction + side.length) % side.length - at) * side.stride;
}

CableId TorusPlatform::CableAt(const Side& side, HostId host) {
  if (side.length > 2) return side.first_cable + host;
  // The number of the host without its coordinate on this side.
  return side.first_cable + host / (2 * side.stride) * side.stride + host % side.stride;
}

std::pair<std::string, std::string> TorusPlatform::Ends(CableId cable) const {
  const auto side = std::find_if(sides_.rbegin(), sides_.rend(),
                                 [&](const Side& side) { return side.first_cable <= cable; });
  auto host = static_cast<HostId>(cable - side->first_cable);
  if (side->length == 2) host = host / side->stride * 2 * side->stride + host % side->stride;
  return {HostName(host), HostName(Step(*side, host, 1))};
}

absl::StatusOr<std::shared_ptr<const Platform>> MakeTorusPlatform(const Spec& spec, Rank n) {
  PlatformReader reader(spec);
  const PlatformOptions options = PlatformOptions::Read(reader);
  const std::string text = reader.fields().Argument(absl::StrJoin(NearSquareSides(n), "x"));
  RETURN_IF_ERROR(reader.Finish());
  ASSIGN_OR_RETURN(const std::vector<Rank> sides, ParseSides(spec, text));
  RETURN_IF_ERROR(CheckHosts(spec, ProductOf(sides), n));
  return std::make_shared<TorusPlatform>(
      absl::StrCat("torus:", absl::StrJoin(sides, "x"), options.Text()), sides, options);
}

const Registration kTorus(Platforms(),
                          {.name = "torus",
                           .options = "[:4x8]",
                           .help = "hosts on a grid that wraps around on all sides",
                           .examples = {"torus", "torus:3x4", "torus:2x2x3", "torus:1x2x7"},
                           .make = MakeTorusPlatform});

}  // namespace
}  // namespace grapevine

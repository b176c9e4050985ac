#include "sim/platform/torus_platform.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "random/keyed_random.h"
#include "sim/platform/platform_kind.h"
#include "topology/sides.h"

namespace grapevine {
namespace {

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

}  // namespace

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
  // Without the coordinate on this side.
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

namespace {

const Registration kTorus(Platforms(), {.name = "torus",
                                        .options = "[:4x8]",
                                        .help = "hosts on a grid that wraps around on all sides",
                                        .make = MakeTorusPlatform});

}  // namespace
}  // namespace grapevine

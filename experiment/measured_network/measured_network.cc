#include "experiment/measured_network/measured_network.h"

#include <google/protobuf/text_format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "sim/platform/graph_platform.h"
#include "sim/platform/platform.pb.h"

namespace grapevine {
namespace {

// Names of the points where a host's messages leave it, and where those for it come in.
std::string OutOf(const std::string& host) { return absl::StrCat(host, ":out"); }
std::string Into(const std::string& host) { return absl::StrCat(host, ":in"); }

// Format values with the three digits that a measurement of a few seconds warrants.
std::string RateText(double bits) {
  return FormatBandwidth(std::max<int64_t>(1, ThreeDigits(std::llround(bits))));
}
std::string LatencyText(std::chrono::nanoseconds latency) {
  return FormatDuration(
      std::chrono::nanoseconds(std::max<int64_t>(0, ThreeDigits(latency.count()))));
}

void AddLink(PlatformFile* file, const std::string& a, const std::string& b, double rate,
             std::chrono::nanoseconds latency) {
  PlatformFile::Link& link = *file->add_link();
  link.set_a(a);
  link.set_b(b);
  link.set_bandwidth(RateText(rate));
  link.set_latency(LatencyText(latency));
  link.set_duplex(PlatformFile::ONE_WAY);
}

// Returns the rate of all that a host sent, or received, at once, but no less than that of its
// fastest edge alone. None if the host has no edge.
std::optional<double> Interface(const MeasuredNetwork& network, size_t host,
                                size_t MeasuredEdge::*end) {
  double fastest = 0, all = 0;
  for (const MeasuredEdge& edge : network.edges) {
    if (edge.*end != host || edge.from == edge.to) continue;
    fastest = std::max(fastest, edge.alone);
    all += edge.together.value_or(edge.alone);
  }
  if (fastest == 0) return std::nullopt;
  return std::max(fastest, all);
}

// Sets the loopback rate to that of the slowest host. If none was measured, the simulator's default
// holds.
void SetLoopback(const MeasuredNetwork& network, PlatformFile* file) {
  std::optional<double> slowest;
  for (const MeasuredEdge& edge : network.edges) {
    if (edge.from == edge.to) slowest = std::min(slowest.value_or(edge.alone), edge.alone);
  }
  if (slowest) file->set_loopback(RateText(*slowest));
}

// Checks that the hosts are connected, as the simulator will see the network.
absl::Status CheckConnected(const PlatformFile& file) {
  PlatformBuilder builder;
  for (const PlatformFile::Host& host : file.host()) {
    RETURN_IF_ERROR(builder.AddNode(host.name(), /*is_host=*/true));
  }
  for (const PlatformFile::Switch& one : file.switch_()) {
    RETURN_IF_ERROR(builder.AddNode(one.name(), /*is_host=*/false));
  }
  for (const PlatformFile::Link& link : file.link()) {
    RETURN_IF_ERROR(builder.AddCable({.a = link.a(),
                                      .b = link.b(),
                                      .bandwidth = link.bandwidth(),
                                      .latency = link.latency(),
                                      .duplex = Duplex::kOneWay}));
  }
  const GraphPlatform platform("the measured network", builder.description());
  std::vector<HostId> hosts(static_cast<size_t>(platform.hosts()));
  std::iota(hosts.begin(), hosts.end(), 0);
  return platform.CheckConnected(hosts);
}

}  // namespace

absl::StatusOr<std::string> NetworkFileText(const MeasuredNetwork& network,
                                            const std::string& comment) {
  PlatformFile file;
  for (const std::string& host : network.hosts) file.add_host()->set_name(host);
  for (size_t host = 0; host < network.hosts.size(); ++host) {
    const std::string& name = network.hosts[host];
    const std::optional<double> out = Interface(network, host, &MeasuredEdge::from);
    const std::optional<double> in = Interface(network, host, &MeasuredEdge::to);
    file.add_switch_()->set_name(OutOf(name));
    file.add_switch_()->set_name(Into(name));
    if (out) AddLink(&file, name, OutOf(name), *out, std::chrono::nanoseconds(0));
    if (in) AddLink(&file, Into(name), name, *in, std::chrono::nanoseconds(0));
  }
  for (const MeasuredEdge& edge : network.edges) {
    if (edge.from == edge.to) continue;
    AddLink(&file, OutOf(network.hosts[edge.from]), Into(network.hosts[edge.to]), edge.alone,
            edge.latency);
  }
  SetLoopback(network, &file);
  if (absl::Status status = CheckConnected(file); !status.ok()) {
    return WithFailure(
        absl::FailedPreconditionError(absl::StrCat("no network file: ", status.message(),
                                                   " (as far as edges were measured)")),
        Failure::kRendezvous);
  }
  std::string text;
  google::protobuf::TextFormat::PrintToString(file, &text);
  return absl::StrCat("# ", comment, "\n", text);
}

}  // namespace grapevine

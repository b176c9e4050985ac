// The peer of simgrid_comparison: transfers between the hosts of one switch under
// SimGrid's flow model. One pattern a process, since SimGrid has one engine a process;
// prints simulated seconds, wall seconds, processor seconds and messages.
//
//   simgrid_transfers PATTERN NODES ROUNDS BYTES BANDWIDTH LATENCY [SimGrid's options]
//
// BYTES of a replica; BANDWIDTH in bytes a second, LATENCY in seconds from host to
// host. Patterns: gossip (both neighbours on a ring; the next round when both
// replicas are here and both own ones have left), allreduce (2(n-1) steps of chunks
// around a ring), incast (everybody to node 0, node i sends i times BYTES).
//
// A message begins when sender and receiver are both there; SimGrid charges nothing
// for that. Receivers post the next round's buffers before a round ends, as the
// simulator's nodes do, so that nobody waits for them.

#include <xbt/log.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <simgrid/s4u.hpp>
#include <string>
#include <vector>

namespace {

namespace s4u = simgrid::s4u;

struct Transfers {
  std::string pattern;
  int nodes;
  int rounds;
  double bytes;
  double bandwidth;
  double latency;
};

// SimGrid does not take a message without a payload.
int payload;
int64_t messages = 0;

// CM02 (Casanova and Marchal 2002) without the corrections that later versions add
// for TCP: no factors, no window, no traffic of acknowledgements, no weights.
void Configure() {
  xbt_log_control_set("xbt_cfg.thresh:warning");
  for (const char* option :
       {"network/model:CM02", "network/latency-factor:1", "network/bandwidth-factor:1",
        "network/weight-S:0", "network/TCP-gamma:1e30", "network/crosstraffic:0",
        "contexts/stack-size:32", "contexts/guard-size:0"}) {
    s4u::Engine::set_config(option);
  }
}

std::vector<s4u::Host*> BuildSwitch(const Transfers& transfers) {
  s4u::NetZone* const zone = s4u::create_star_zone("switch");
  std::vector<s4u::Host*> hosts;
  for (int i = 0; i < transfers.nodes; ++i) {
    s4u::Host* const host = zone->create_host("host" + std::to_string(i), 1e9);
    // Half of the latency on each of a path's two links.
    s4u::SplitDuplexLink* const link =
        zone->create_split_duplex_link("link" + std::to_string(i), transfers.bandwidth);
    link->set_latency(transfers.latency / 2)->seal();
    zone->add_route(host->get_netpoint(), nullptr, nullptr, nullptr,
                    {{link, s4u::LinkInRoute::Direction::UP}}, true);
    hosts.push_back(host);
  }
  zone->seal();
  return hosts;
}

s4u::Mailbox* Way(int from, int to) {
  return s4u::Mailbox::by_name(std::to_string(from) + ">" + std::to_string(to));
}

s4u::CommPtr Send(s4u::Mailbox* way, double bytes) {
  ++messages;
  return way->put_async(&payload, static_cast<uint64_t>(bytes));
}

void Gossip(const Transfers& transfers, int rank) {
  const int left = (rank + transfers.nodes - 1) % transfers.nodes;
  const int right = (rank + 1) % transfers.nodes;
  const std::array out = {Way(rank, left), Way(rank, right)};
  const std::array in = {Way(left, rank), Way(right, rank)};
  int* received = nullptr;
  std::array posted = {in[0]->get_async<int>(&received), in[1]->get_async<int>(&received)};
  for (int round = 0; round < transfers.rounds; ++round) {
    const std::array sent = {Send(out[0], transfers.bytes), Send(out[1], transfers.bytes)};
    const std::array arriving = posted;
    if (round + 1 < transfers.rounds) {
      for (size_t i = 0; i < in.size(); ++i) posted[i] = in[i]->get_async<int>(&received);
    }
    for (const s4u::CommPtr& comm : arriving) comm->wait();
    for (const s4u::CommPtr& comm : sent) comm->wait();
  }
}

void Allreduce(const Transfers& transfers, int rank) {
  s4u::Mailbox* const out = Way(rank, (rank + 1) % transfers.nodes);
  s4u::Mailbox* const in = Way((rank + transfers.nodes - 1) % transfers.nodes, rank);
  int* received = nullptr;
  const int steps = 2 * (transfers.nodes - 1) * transfers.rounds;
  for (int step = 0; step < steps; ++step) {
    const s4u::CommPtr arriving = in->get_async<int>(&received);
    const s4u::CommPtr sent = Send(out, transfers.bytes / transfers.nodes);
    arriving->wait();
    sent->wait();
  }
}

void Incast(const Transfers& transfers, int rank) {
  if (rank > 0) {
    s4u::Mailbox* const out = Way(rank, 0);
    for (int round = 0; round < transfers.rounds; ++round) {
      Send(out, transfers.bytes * rank)->wait();
    }
    return;
  }
  int* received = nullptr;
  for (int round = 0; round < transfers.rounds; ++round) {
    std::vector<s4u::CommPtr> arriving;
    for (int from = 1; from < transfers.nodes; ++from) {
      arriving.push_back(Way(from, 0)->get_async<int>(&received));
    }
    for (const s4u::CommPtr& comm : arriving) comm->wait();
  }
}

}  // namespace

int main(int argc, char** argv) {
  s4u::Engine engine(&argc, argv);
  if (argc != 7) {
    std::fprintf(stderr, "usage: %s PATTERN NODES ROUNDS BYTES BANDWIDTH LATENCY\n", argv[0]);
    return 2;
  }
  const Transfers transfers{.pattern = argv[1],
                            .nodes = std::atoi(argv[2]),
                            .rounds = std::atoi(argv[3]),
                            .bytes = std::atof(argv[4]),
                            .bandwidth = std::atof(argv[5]),
                            .latency = std::atof(argv[6])};
  void (*node)(const Transfers&, int) = nullptr;
  if (transfers.pattern == "gossip") node = Gossip;
  if (transfers.pattern == "allreduce") node = Allreduce;
  if (transfers.pattern == "incast") node = Incast;
  if (node == nullptr) {
    std::fprintf(stderr, "unknown pattern %s\n", argv[1]);
    return 2;
  }
  Configure();
  const std::vector<s4u::Host*> hosts = BuildSwitch(transfers);
  for (int rank = 0; rank < transfers.nodes; ++rank) {
    s4u::Actor::create("node", hosts[rank], [&, rank] { node(transfers, rank); });
  }
  const auto begin = std::chrono::steady_clock::now();
  const std::clock_t processor_begin = std::clock();
  engine.run();
  const double processor = static_cast<double>(std::clock() - processor_begin) / CLOCKS_PER_SEC;
  const double wall =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  std::printf("%.12g %.6f %.6f %lld\n", s4u::Engine::get_clock(), wall, processor,
              static_cast<long long>(messages));
  return 0;
}

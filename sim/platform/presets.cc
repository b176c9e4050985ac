// Networks with a name: --network=NAME. All rates are goodput, what is left for messages;
// docs/networks.md says more about every number, and a test holds the two together.
#include "base/registry.h"
#include "sim/platform/platform_kind.h"

namespace grapevine {
namespace {

const Registration kLan1gbit(
    Platforms(), {.name = "lan-1gbit",
                  .help = "Gigabit Ethernet, one switch",
                  .examples = {"lan-1gbit"},
                  .preset = "switch:bandwidth=941Mbit:latency=50us",
                  .source = "arithmetic: 1 Gbit/s Ethernet, MTU 1500, TCP with timestamps leave "
                            "1448 of 1538 bytes; latency: public knowledge, half of a usual ping"});
const Registration kRack10gbit(
    Platforms(),
    {.name = "rack-10gbit",
     .help = "10 Gbit Ethernet, one switch",
     .examples = {"rack-10gbit"},
     .preset = "switch:bandwidth=9.41Gbit:latency=25us",
     .source = "arithmetic as for lan-1gbit; latency: public knowledge, TCP through the kernel"});
const Registration kRacks25gbit(
    Platforms(),
    {.name = "racks-25gbit",
     .help = "25 Gbit Ethernet, racks of 16 with uplinks oversubscribed 4 to 1",
     .examples = {"racks-25gbit"},
     .preset =
         "racks:hosts=16:oversubscription=4:bandwidth=23.5Gbit:latency=15us:uplink-latency=5us",
     .source = "arithmetic as for lan-1gbit; 4:1 and latencies: public knowledge, usual in data "
               "centres"});
const Registration kCluster100gbit(
    Platforms(),
    {.name = "cluster-100gbit",
     .help = "100 Gbit fat tree without oversubscription, RDMA",
     .examples = {"cluster-100gbit"},
     .preset = "fat-tree:bandwidth=98Gbit:latency=3us",
     .source = "arithmetic: 100 Gbit/s, RoCEv2 with an MTU of 4096 leaves 4096 of 4178 bytes; "
               "latency: public knowledge, RDMA through one switch with its software"});
const Registration kCloudRegion(
    Platforms(),
    {.name = "cloud-region",
     .help = "virtual machines with 10 Gbit in the zones of one region",
     .examples = {"cloud-region"},
     .preset = "switch:bandwidth=9.41Gbit:latency=1ms",
     .source = "arithmetic as for lan-1gbit; latency: public knowledge, providers promise "
               "single-digit milliseconds between zones, measured round trips are 0.5 to 2 ms"});
const Registration kWan3Sites(
    Platforms(),
    {.name = "wan-3-sites",
     .help = "three sites of 10 Gbit hosts, 1 Gbit and 30 ms to the WAN",
     .examples = {"wan-3-sites"},
     .preset =
         "sites:sites=3:bandwidth=9.41Gbit:latency=50us:wan-bandwidth=941Mbit:wan-latency=30ms",
     .source =
         "arithmetic as for lan-1gbit; latency: public knowledge, about 6000 km of fibre one way"});
const Registration kHomeEdge(
    Platforms(), {.name = "home-edge",
                  .help = "machines at home, 50 Mbit up and down",
                  .examples = {"home-edge"},
                  .preset = "switch:bandwidth=50Mbit:latency=20ms",
                  .source = "assumption: a good consumer line, as fast up as down; latency: public "
                            "knowledge, a city to another over access networks"});
const Registration kDpsgdLowBandwidth(
    Platforms(), {.name = "dpsgd-low-bandwidth",
                  .help = "5 Mbit/s, 0.15 ms: the slow links of the D-PSGD paper",
                  .examples = {"dpsgd-low-bandwidth"},
                  .preset = "switch:bandwidth=5Mbit:latency=150us",
                  .source = "paper: after the low-bandwidth experiments of arXiv:1705.09056; the "
                            "numbers are those of our check values, taken as goodput"});
const Registration kDpsgdHighLatency(
    Platforms(), {.name = "dpsgd-high-latency",
                  .help = "1 Gbit/s, 64 ms: the long links of the D-PSGD paper",
                  .examples = {"dpsgd-high-latency"},
                  .preset = "switch:bandwidth=1Gbit:latency=64ms",
                  .source = "paper: after the high-latency experiments of arXiv:1705.09056; the "
                            "numbers are those of our check values, taken as goodput and one way"});

}  // namespace
}  // namespace grapevine

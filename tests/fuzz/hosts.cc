// Where the nodes are: --hostfile, --hosts, Slurm's lists, addresses.
#include <glog/logging.h>

#include "node/identity/host_address.h"
#include "node/identity/identity.h"
#include "tests/fuzz/fuzz_target.h"

namespace grapevine {
namespace {

FUZZ_TARGET(hosts) {
  const std::string_view text = fuzz::Text(data, size);
  const fuzz::InputFile file(data, size);
  if (const auto slots = ReadHostfile(file.path()); !slots.ok()) {
    fuzz::RequireClass(slots.status(), Failure::kInput);
  } else {
    CHECK_LE(slots->size(), kMaxHostSlots);
  }
  if (const auto slots = ParseHostList(text); !slots.ok()) {
    fuzz::RequireClass(slots.status(), Failure::kUsage);
  } else {
    CHECK_LE(slots->size(), kMaxHostSlots);
  }
  if (const auto hosts = ExpandSlurmNodelist(text); !hosts.ok()) {
    fuzz::RequireClass(hosts.status(), Failure::kUsage);
  } else {
    CHECK_LE(hosts->size(), kMaxSlurmHosts);
  }
  if (const auto address = ParseHostAddress(text); address.ok()) {
    const auto again = ParseHostAddress(FormatHostAddress(*address));
    CHECK(again.ok()) << again.status();
    CHECK_EQ(FormatHostAddress(*again), FormatHostAddress(*address));
  }
}

}  // namespace
}  // namespace grapevine

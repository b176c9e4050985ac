#include "system/usable_cores.h"

#include <sched.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

#include "system/control_group.h"

namespace grapevine {
namespace {

// The time for which a control group may run in every `period`, both in microseconds.
struct Quota {
  int64_t granted = 0, period = 0;
};

// Reads "200000 100000" from one file, as version 2 has it. "max" means no quota and is not a
// number.
Quota ReadUnified(const std::string& folder) {
  Quota quota;
  std::ifstream(folder + "cpu.max") >> quota.granted >> quota.period;
  return quota;
}

// Reads each number from a file of its own, as version 1 has it. -1 means no quota.
Quota ReadOfVersion1(const std::string& folder) {
  Quota quota;
  std::ifstream(folder + "cpu.cfs_quota_us") >> quota.granted;
  std::ifstream(folder + "cpu.cfs_period_us") >> quota.period;
  return quota;
}

int CoresInMask() {
  cpu_set_t set;
  CPU_ZERO(&set);
  return sched_getaffinity(0, sizeof(set), &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace

int UsableCores() {
  const int cores = CoresInMask();
  return std::min(cores, CoresGranted(ControlGroups("cpu")).value_or(cores));
}

std::optional<int> CoresGranted(const std::vector<std::string>& folders) {
  constexpr int64_t kMost = 1 << 20;
  std::optional<int> least;
  for (const std::string& folder : folders) {
    for (const Quota& quota : {ReadUnified(folder), ReadOfVersion1(folder)}) {
      if (quota.granted <= 0 || quota.period <= 0) continue;
      const int64_t cores = (quota.granted - 1) / quota.period + 1;
      least = static_cast<int>(std::min({cores, kMost, int64_t{least.value_or(kMost)}}));
    }
  }
  return least;
}

}  // namespace grapevine

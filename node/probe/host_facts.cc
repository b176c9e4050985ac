#include "node/probe/host_facts.h"

#include <algorithm>
#include <fstream>
#include <set>
#include <sstream>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "system/control_group.h"
#include "system/descriptor_limit.h"
#include "system/machine_names.h"
#include "system/usable_cores.h"

namespace grapevine {
namespace {

// The instruction sets by their names in Linux: x86-64, then Arm.
constexpr std::string_view kInstructionSets[] = {
    "sse4_1",      "sse4_2",   "avx",      "avx2",     "fma",      "f16c",        "avx_vnni",
    "avx512f",     "avx512cd", "avx512bw", "avx512dq", "avx512vl", "avx512_vnni", "avx512_bf16",
    "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16", "asimd",    "asimdhp",     "asimddp",
    "sve",         "sve2",     "i8mm",     "bf16"};

std::string TextOf(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<int64_t> NumberIn(const std::string& text) {
  int64_t number = 0;
  if (!absl::SimpleAtoi(text, &number)) return std::nullopt;
  return number;
}

int64_t FreeMemory() {
  int64_t memory = AvailableMemoryIn(TextOf("/proc/meminfo")).value_or(0);
  for (const std::string& group : ControlGroups("memory")) {
    const std::optional<int64_t> most = NumberIn(TextOf(group + "memory.max"));
    const std::optional<int64_t> used = NumberIn(TextOf(group + "memory.current"));
    if (most && used) memory = std::min(memory, std::max<int64_t>(0, *most - *used));
  }
  return memory;
}

}  // namespace

std::vector<std::string> InstructionSetsIn(std::string_view cpuinfo) {
  std::set<std::string, std::less<>> flags;
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(std::string(cpuinfo), '\n'))) {
    if (!line.starts_with("flags") && !line.starts_with("Features")) continue;
    const std::vector<std::string> words =
        absl::StrSplit(line.substr(line.find(':') + 1), ' ', absl::SkipEmpty());
    flags.insert(words.begin(), words.end());
    break;  // the first processor stands for all
  }
  std::vector<std::string> sets;
  for (const std::string_view name : kInstructionSets) {
    if (flags.contains(name)) sets.emplace_back(name);
  }
  return sets;
}

std::optional<int64_t> AvailableMemoryIn(std::string_view meminfo) {
  constexpr std::string_view kName = "MemAvailable:";
  for (const std::string& line :
       std::vector<std::string>(absl::StrSplit(std::string(meminfo), '\n'))) {
    if (!line.starts_with(kName)) continue;
    const std::vector<std::string> words =
        absl::StrSplit(line.substr(kName.size()), ' ', absl::SkipEmpty());
    const std::optional<int64_t> kib = words.empty() ? std::nullopt : NumberIn(words.front());
    if (kib && *kib >= 0 && *kib < int64_t{1} << 50) return *kib * 1024;
  }
  return std::nullopt;
}

probe::Facts ReadHostFacts() {
  probe::Facts facts;
  for (const std::string& name : HostNames()) facts.add_addresses(name);
  facts.set_processor(ProcessorName());
  for (const std::string& set : InstructionSetsIn(TextOf("/proc/cpuinfo"))) facts.add_features(set);
  facts.set_cores(UsableCores());
  facts.set_descriptors(DescriptorLimit());
  facts.set_memory(FreeMemory());
  return facts;
}

}  // namespace grapevine

#include "node/identity/identity.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/byte_order_mark.h"
#include "base/status.h"
#include "system/file.h"

namespace grapevine {

namespace {

// Below this, a number after a host is a count of slots: lower ports are the system's, and no
// machine has more slots.
constexpr int kFirstPort = 1024;

struct Entry {
  HostAddress address;       // port 0 if none was given
  std::optional<int> slots;  // none stands for one slot
};

absl::Status Wrong(std::string_view what) { return absl::InvalidArgumentError(std::string(what)); }

bool ParseSlots(std::string_view text, int* slots) { return ParsePort(text, slots) && *slots > 0; }

// Refuses USER@HOST: nodes find each other by the name that ssh is given.
absl::Status CheckHasNoUser(std::string_view text) {
  const size_t at = text.find('@');
  if (at == std::string_view::npos) return absl::OkStatus();
  const std::string user(text.substr(0, at));
  return Wrong(absl::StrCat("\"", std::string(text),
                            "\" names a user, but nodes find each other "
                            "by what stands here: give the host alone, and say who logs in by "
                            "--remote-shell=\"ssh -l ",
                            user, "\" or in ~/.ssh/config"));
}

// Reads "node", "[v6]", "node:4", "node:29500" or "[v6]:29500".
absl::StatusOr<Entry> ParseHost(std::string_view text) {
  RETURN_IF_ERROR(CheckHasNoUser(text));
  Entry entry;
  if (text.find(':') == std::string_view::npos || text.ends_with(']')) {
    ASSIGN_OR_RETURN(entry.address, ParseHostAddress(text, 0));
    return entry;
  }
  ASSIGN_OR_RETURN(HostAddress address, ParseHostAddress(text));
  if (address.host.empty()) return Wrong(absl::StrCat("\"", std::string(text), "\" has no host"));
  if (address.port == 0) {
    return Wrong(absl::StrCat("\"", std::string(text), "\": neither a port nor slots may be 0"));
  }
  if (address.port < kFirstPort) {
    entry.slots = std::exchange(address.port, 0);
  }
  entry.address = std::move(address);
  return entry;
}

absl::StatusOr<Entry> ParseLine(std::string_view line) {
  const std::vector<std::string> words =
      absl::StrSplit(std::string(line), absl::ByAnyChar(" \t"), absl::SkipEmpty());
  ASSIGN_OR_RETURN(Entry entry, ParseHost(words[0]));
  std::string said = words[0];  // the word that gave the number of slots
  for (size_t i = 1; i < words.size(); ++i) {
    const std::pair<std::string, std::string> option =
        absl::StrSplit(words[i], absl::MaxSplits('=', 1));
    // Open MPI's limit for oversubscribing a host is not used.
    if (option.first == "max_slots" || option.first == "max-slots") continue;
    if (option.first != "slots") {
      return Wrong(
          absl::StrCat("unknown option \"", words[i], "\"; only slots=N may follow a host"));
    }
    int slots = 0;
    if (!ParseSlots(option.second, &slots)) {
      return Wrong(absl::StrCat("\"", words[i], "\": slots are a number from 1 to 65535"));
    }
    if (entry.slots.value_or(slots) != slots) {
      return Wrong(absl::StrCat("\"", words[i], "\" contradicts \"", said, "\"; leave one out"));
    }
    entry.slots = slots;
    said = words[i];
  }
  if (entry.address.port != 0 && entry.slots.value_or(1) > 1) {
    return Wrong(absl::StrCat("\"", words[0], "\" cannot share one port among ", *entry.slots,
                              " slots; give each a line with a port of its own, or no port"));
  }
  return entry;
}

absl::Status Append(const Entry& entry, HostSlots* slots) {
  const auto count = static_cast<size_t>(entry.slots.value_or(1));
  if (slots->size() + count > kMaxHostSlots) {
    return Wrong(absl::StrCat("more than ", kMaxHostSlots, " nodes"));
  }
  if (entry.address.port != 0 &&
      std::find(slots->begin(), slots->end(), entry.address) != slots->end()) {
    return Wrong(absl::StrCat(FormatHostAddress(entry.address), " appears twice"));
  }
  slots->insert(slots->end(), count, entry.address);
  return absl::OkStatus();
}

absl::Status AppendLine(std::string_view line, HostSlots* slots) {
  const absl::StatusOr<Entry> entry = ParseLine(line);
  return entry.ok() ? Append(*entry, slots) : entry.status();
}

absl::Status At(const std::string& where, const absl::Status& status, Failure failure) {
  return WithFailure(absl::InvalidArgumentError(absl::StrCat(where, ": ", status.message())),
                     failure);
}

// The most digits of a number: enough for every cluster, too few to overflow.
constexpr size_t kMaxDigits = 9;

absl::Status Malformed(std::string_view list, std::string_view what) {
  return UsageError(
      absl::StrCat("Slurm host list \"", std::string(list), "\": ", std::string(what)));
}

bool ParseNumber(std::string_view text, int64_t* number) {
  if (text.empty() || text.size() > kMaxDigits) return false;
  for (const char c : text) {
    if (!absl::ascii_isdigit(static_cast<unsigned char>(c))) return false;
  }
  return absl::SimpleAtoi(std::string(text), number);
}

// Appends each number of "001" or "001-003", with the width of the first. Returns false if the
// range is malformed or too long.
bool AppendRange(std::string_view range, std::vector<std::string>* numbers) {
  const size_t dash = range.find('-');
  const std::string_view low_text = range.substr(0, dash);
  const std::string_view high_text =
      dash == std::string_view::npos ? low_text : range.substr(dash + 1);
  int64_t low, high;
  if (!ParseNumber(low_text, &low) || !ParseNumber(high_text, &high) || high < low ||
      high - low >= static_cast<int64_t>(kMaxSlurmHosts)) {
    return false;
  }
  for (int64_t number = low; number <= high; ++number) {
    std::string text = absl::StrCat(number);
    if (text.size() < low_text.size()) text.insert(0, low_text.size() - text.size(), '0');
    numbers->push_back(std::move(text));
  }
  return true;
}

// Expands "node[001-003,7]x[0-1]", one item between top-level commas.
absl::StatusOr<std::vector<std::string>> ExpandItem(std::string_view list, std::string_view item) {
  std::vector<std::string> hosts = {""};
  while (!item.empty()) {
    const size_t open = item.find('[');
    for (std::string& host : hosts) host += std::string(item.substr(0, open));
    if (open == std::string_view::npos) break;
    const size_t close = item.find(']', open);
    if (close == std::string_view::npos) return Malformed(list, "a bracket is not closed");
    std::vector<std::string> numbers;
    const std::string inside(item.substr(open + 1, close - open - 1));
    for (const std::string& range : std::vector<std::string>(absl::StrSplit(inside, ','))) {
      if (!AppendRange(range, &numbers)) {
        return Malformed(list, absl::StrCat("\"", range, "\" is not a range of numbers"));
      }
      if (numbers.size() * hosts.size() > kMaxSlurmHosts) return Malformed(list, "too many hosts");
    }
    std::vector<std::string> longer;
    for (const std::string& host : hosts) {
      for (const std::string& number : numbers) longer.push_back(host + number);
    }
    hosts = std::move(longer);
    item.remove_prefix(close + 1);
  }
  return hosts;
}

// Splits at commas outside brackets.
std::vector<std::string_view> Items(std::string_view list) {
  std::vector<std::string_view> items;
  size_t begin = 0;
  bool inside = false;
  for (size_t i = 0; i <= list.size(); ++i) {
    if (i < list.size() && list[i] == '[') inside = true;
    if (i < list.size() && list[i] == ']') inside = false;
    if (i == list.size() || (list[i] == ',' && !inside)) {
      items.push_back(list.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return items;
}

}  // namespace

absl::StatusOr<HostSlots> ReadHostfile(const std::string& path) {
  absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
  if (!file.ok()) return WithFailure(file.status(), Failure::kInput);
  const std::span<const uint8_t> bytes = (*file)->bytes();
  const std::string text(
      WithoutByteOrderMark({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  HostSlots slots;
  int number = 0;
  for (const std::string& raw : std::vector<std::string>(absl::StrSplit(text, '\n'))) {
    ++number;
    const std::string line(absl::StripAsciiWhitespace(raw.substr(0, raw.find('#'))));
    if (line.empty()) continue;
    if (absl::Status status = AppendLine(line, &slots); !status.ok()) {
      return At(absl::StrCat(path, ":", number), status, Failure::kInput);
    }
  }
  if (slots.empty()) return At(path, Wrong("names no host"), Failure::kInput);
  return slots;
}

absl::StatusOr<HostSlots> ParseHostList(std::string_view list) {
  HostSlots slots;
  for (const std::string& item : std::vector<std::string>(absl::StrSplit(std::string(list), ','))) {
    const std::string host(absl::StripAsciiWhitespace(item));
    const absl::Status status = host.empty() ? Wrong("an item is empty") : AppendLine(host, &slots);
    if (!status.ok()) return At(absl::StrCat("-H ", std::string(list)), status, Failure::kUsage);
  }
  return slots;
}

bool IsThisMachine(std::string_view host, const std::vector<std::string>& own_names) {
  return IsLoopback(host) || std::ranges::any_of(own_names, [host](const std::string& name) {
           return absl::EqualsIgnoreCase(name, std::string(host));
         });
}

absl::StatusOr<std::vector<std::string>> ExpandSlurmNodelist(std::string_view list) {
  std::vector<std::string> hosts;
  for (const std::string_view item : Items(list)) {
    if (item.empty()) return Malformed(list, "an item is empty");
    if (item.find(']') < item.find('[')) return Malformed(list, "a bracket is not opened");
    ASSIGN_OR_RETURN(std::vector<std::string> expanded, ExpandItem(list, item));
    hosts.insert(hosts.end(), expanded.begin(), expanded.end());
    if (hosts.size() > kMaxSlurmHosts) return Malformed(list, "too many hosts");
  }
  return hosts;
}

namespace {

// A launcher's names for the same variables.
struct LauncherVariables {
  const char* rank;
  const char* world_size;
  const char* local_rank;
  // The number of ranks on this machine; null for a launcher that says where rank 0 is.
  const char* local_size = nullptr;
};
constexpr LauncherVariables kPlain = {"RANK", "WORLD_SIZE", "LOCAL_RANK"};
constexpr LauncherVariables kOpenMpi = {"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE",
                                        "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"};
constexpr LauncherVariables kSlurm = {"SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID"};
constexpr LauncherVariables kPmi = {"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"};
constexpr const LauncherVariables* kLaunchers[] = {&kPlain, &kOpenMpi, &kSlurm, &kPmi};
constexpr char kMasterAddress[] = "MASTER_ADDR";
constexpr char kMasterPort[] = "MASTER_PORT";
// The step's nodes come first, since a step may use fewer than the job has.
constexpr const char* kSlurmNodelists[] = {"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST",
                                           "SLURM_NODELIST"};

class Resolver {
 public:
  Resolver(const IdentityOptions& options, const Environment& environment)
      : options_(options), environment_(environment) {}

  absl::StatusOr<NodeIdentity> Resolve() {
    // Each step needs the results of the steps before.
    for (const auto step :
         {&Resolver::FindLauncher, &Resolver::FindWorldSize, &Resolver::FindLocalRank,
          &Resolver::FindRank, &Resolver::FindMaster, &Resolver::FindMasterPort}) {
      RETURN_IF_ERROR((this->*step)());
    }
    return identity_;
  }

 private:
  // Returns the variable as a number; nullopt if it is unset or empty.
  absl::StatusOr<std::optional<Sourced<int>>> Number(const char* variable) const {
    const std::optional<std::string> text = environment_(variable);
    if (!text || text->empty()) return std::nullopt;
    int value;
    if (!absl::SimpleAtoi(*text, &value) || value < 0) {
      return UsageError(
          absl::StrCat(variable, "=", *text, " is not a number from 0; set or unset it"));
    }
    return Sourced<int>{value, variable};
  }

  // Finds the launcher whose rank counts.
  absl::Status FindLauncher() {
    for (const LauncherVariables* launcher : kLaunchers) {
      ASSIGN_OR_RETURN(std::optional<Sourced<int>> rank, Number(launcher->rank));
      if (!rank) continue;
      launcher_ = launcher;
      launcher_rank_ = *rank;
      return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  absl::Status FindWorldSize() {
    if (options_.world_size) {
      identity_.world_size = {options_.world_size->value, options_.world_size->origin};
    } else {
      ASSIGN_OR_RETURN(std::vector<Sourced<int>> sizes, WorldSizes());
      if (sizes.empty() && alone()) sizes.push_back({1, kNobody});
      if (sizes.empty() && options_.nodes) sizes.push_back(*options_.nodes);
      if (sizes.empty()) return MissingWorldSize();
      for (const Sourced<int>& size : sizes) {
        if (size.value != sizes.front().value) {
          return UsageError(absl::StrCat(sizes.front().origin, " says ", sizes.front().value,
                                         " nodes and ", size.origin, " says ", size.value,
                                         "; unset one, or give --world-size"));
        }
      }
      identity_.world_size = {sizes.front().value, sizes.front().origin};
    }
    if (identity_.world_size.value > 0) return absl::OkStatus();
    return UsageError(absl::StrCat(identity_.world_size.origin, " says ",
                                   identity_.world_size.value, " nodes; at least 1 is needed"));
  }

  absl::StatusOr<std::vector<Sourced<int>>> WorldSizes() const {
    std::vector<Sourced<int>> sizes;
    for (const LauncherVariables* launcher : {&kPlain, launcher_}) {
      if (launcher == nullptr || (launcher == &kPlain && !sizes.empty())) continue;
      ASSIGN_OR_RETURN(std::optional<Sourced<int>> size, Number(launcher->world_size));
      if (size) sizes.push_back(*size);
    }
    if (options_.hosts) {
      sizes.push_back({static_cast<int>(options_.hosts->value.size()), options_.hosts->origin});
    }
    return sizes;
  }

  absl::Status MissingWorldSize() const {
    if (launcher_ != nullptr) {
      return UsageError(absl::StrCat(launcher_rank_.origin, "=", launcher_rank_.value,
                                     " is set, but ", launcher_->world_size,
                                     " is not; set both, or give --world-size"));
    }
    return UsageError(
        "the number of nodes is not known: give --hostfile or -H, or --rank and --world-size, or "
        "set RANK and WORLD_SIZE, or start with srun or mpirun (one machine: grapevine train)");
  }

  // Returns whether nothing says that other nodes exist.
  bool alone() const { return options_.alone && launcher_ == nullptr && !options_.rank; }

  absl::Status FindLocalRank() {
    identity_.local_rank = {0, kNobody};
    for (const LauncherVariables* launcher : {&kPlain, launcher_}) {
      if (launcher == nullptr) continue;
      ASSIGN_OR_RETURN(std::optional<Sourced<int>> local, Number(launcher->local_rank));
      if (!local) continue;
      identity_.local_rank = *local;
      return absl::OkStatus();
    }
    return absl::OkStatus();
  }

  absl::Status FindRank() {
    if (options_.rank) {
      identity_.rank = {options_.rank->value, options_.rank->origin};
    } else if (launcher_ != nullptr) {
      identity_.rank = {launcher_rank_.value, launcher_rank_.origin};
    } else if (alone() && identity_.world_size.origin == kNobody) {
      identity_.rank = {0, kNobody};
    } else {
      RETURN_IF_ERROR(FindOwnSlot());
    }
    const Rank rank = identity_.rank.value, size = identity_.world_size.value;
    if (rank < 0 || rank >= size) {
      return UsageError(absl::StrCat(
          "rank ", rank, " (", identity_.rank.origin, ") does not exist among ", size, " nodes (",
          identity_.world_size.origin, "); ranks go from 0 to ", size - 1));
    }
    if (options_.hosts && static_cast<size_t>(rank) < options_.hosts->value.size()) {
      identity_.slot = options_.hosts->value[static_cast<size_t>(rank)];
    }
    return absl::OkStatus();
  }

  // Finds the line of the host file that has this machine's name.
  absl::Status FindOwnSlot() {
    if (!options_.hosts) {
      return UsageError(absl::StrCat("this node's rank is not known: give --rank (0 to ",
                                     identity_.world_size.value - 1, "), or set RANK"));
    }
    std::vector<Rank> own;
    const HostSlots& slots = options_.hosts->value;
    for (size_t rank = 0; rank < slots.size(); ++rank) {
      if (IsThisMachine(slots[rank].host, options_.own_names))
        own.push_back(static_cast<Rank>(rank));
    }
    if (own.empty()) {
      return UsageError(absl::StrCat(options_.hosts->origin, " does not list this machine (",
                                     options_.own_names.empty() ? "no name" : options_.own_names[0],
                                     "); add it, or give --rank"));
    }
    const bool told = identity_.local_rank.origin != kNobody;
    if (own.size() > 1 && !told) {
      return UsageError(absl::StrCat(options_.hosts->origin, " has ", own.size(),
                                     " slots for this machine; say which with --rank (",
                                     own.front(), " is the first) or LOCAL_RANK"));
    }
    const auto local = static_cast<size_t>(identity_.local_rank.value);
    if (local >= own.size()) {
      return UsageError(absl::StrCat(options_.hosts->origin, " has ", own.size(),
                                     " slots for this machine, but ", identity_.local_rank.origin,
                                     " is ", local));
    }
    identity_.rank = {own[local], options_.hosts->origin};
    return absl::OkStatus();
  }

  absl::Status FindMaster() {
    if (!options_.announced.empty()) {
      identity_.master_host = {"", options_.announced};
      return absl::OkStatus();
    }
    if (options_.master_host) return SetMaster(*options_.master_host);
    if (options_.hosts) {
      identity_.master_host = {options_.hosts->value.front().host, options_.hosts->origin};
      return absl::OkStatus();
    }
    const std::optional<std::string> host = environment_(kMasterAddress);
    if (host && !host->empty()) return SetMaster({*host, kMasterAddress});
    return launcher_ == &kSlurm ? FindSlurmMaster() : FindLocalMaster();
  }

  // Sets rank 0's host from `text`, which may include the port.
  absl::Status SetMaster(const Sourced<std::string>& text) {
    constexpr int kNoPort = -1;
    const absl::StatusOr<HostAddress> address = ParseHostAddress(text.value, kNoPort);
    if (!address.ok()) {
      return UsageError(absl::StrCat(text.origin, ": ", address.status().message()));
    }
    if (address->host.empty()) {
      return UsageError(absl::StrCat(text.origin, "=", text.value, " names no host"));
    }
    if (IsEverywhere(address->host) && identity_.rank.value != 0) {
      return UsageError(absl::StrCat(text.origin, "=", text.value,
                                     " is not the address of one machine; name rank 0's host there "
                                     "(on rank 0, --bind says where it listens)"));
    }
    identity_.master_host = {address->host, text.origin};
    if (address->port != kNoPort) master_port_beside_ = {address->port, text.origin};
    return absl::OkStatus();
  }

  absl::Status FindSlurmMaster() {
    for (const char* variable : kSlurmNodelists) {
      const std::optional<std::string> list = environment_(variable);
      if (!list || list->empty()) continue;
      const absl::StatusOr<std::vector<std::string>> hosts = ExpandSlurmNodelist(*list);
      if (!hosts.ok()) {
        return UsageError(absl::StrCat(variable, ": ", hosts.status().message(),
                                       "; set MASTER_ADDR to rank 0's host"));
      }
      identity_.master_host = {hosts->front(), variable};
      return absl::OkStatus();
    }
    return FindLocalMaster();
  }

  absl::Status FindLocalMaster() {
    const char* const local_size = launcher_ == nullptr ? nullptr : launcher_->local_size;
    std::optional<Sourced<int>> local;
    if (local_size != nullptr) {
      ASSIGN_OR_RETURN(local, Number(local_size));
    }
    const bool all_here = local && local->value == identity_.world_size.value;
    if (!all_here && identity_.world_size.value > 1) {
      return UsageError(
          "where rank 0 listens is not known: set MASTER_ADDR (mpirun: -x MASTER_ADDR=HOST), or "
          "give --master-addr or --hostfile");
    }
    identity_.master_host = {"127.0.0.1", all_here ? local_size : kNobody};
    return absl::OkStatus();
  }

  absl::Status FindMasterPort() {
    if (!options_.announced.empty()) {
      identity_.master_port = {0, options_.announced};
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(std::optional<Sourced<int>> variable, Number(kMasterPort));
    ASSIGN_OR_RETURN(const auto told,
                     OnePort(options_.master_port, options_.master_host.has_value()));
    ASSIGN_OR_RETURN(const auto in_environment,
                     OnePort(variable, identity_.master_host.origin == kMasterAddress));
    identity_.master_port = {kDefaultMasterPort, kNobody};
    if (in_environment) identity_.master_port = *in_environment;
    if (options_.hosts && options_.hosts->value.front().port != 0) {
      identity_.master_port = {options_.hosts->value.front().port, options_.hosts->origin};
    }
    if (told) identity_.master_port = *told;
    const int port = identity_.master_port.value;
    // Only rank 0 may let the system choose.
    if (port >= 0 && port <= 65535 && (port != 0 || identity_.rank.value == 0)) {
      return absl::OkStatus();
    }
    return UsageError(absl::StrCat("rank 0's port is ", port, " (", identity_.master_port.origin,
                                   "); give one from 1 to 65535"));
  }

  // Returns the port that was given alone, or else the one given with the host if both came from
  // the same source (`beside`). kUsage if the two ports differ.
  absl::StatusOr<std::optional<Sourced<int>>> OnePort(const std::optional<Sourced<int>>& alone,
                                                      bool beside) const {
    if (!beside || !master_port_beside_) return alone;
    if (!alone) return master_port_beside_;
    if (alone->value == master_port_beside_->value) return alone;
    return UsageError(absl::StrCat("rank 0's port: ", master_port_beside_->origin, " says ",
                                   master_port_beside_->value, " and ", alone->origin, " says ",
                                   alone->value, "; leave one out"));
  }

  const IdentityOptions& options_;
  const Environment& environment_;
  const LauncherVariables* launcher_ = nullptr;
  Sourced<int> launcher_rank_;
  std::optional<Sourced<int>> master_port_beside_;  // as in MASTER_ADDR=node1:29500
  NodeIdentity identity_;
};

}  // namespace

absl::StatusOr<NodeIdentity> ResolveIdentity(const IdentityOptions& options,
                                             const Environment& environment) {
  return Resolver(options, environment).Resolve();
}

}  // namespace grapevine

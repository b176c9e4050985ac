#include "node/launch/remote_hosts.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "node/launch/agent.h"
#include "node/launch/launch_plan.h"
#include "node/launch/launch_variables.h"
#include "system/file_descriptor.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr char kThisProgram[] = "/proc/self/exe";

// Returns `text` as one word of a shell.
std::string Quoted(std::string_view text) {
  return absl::StrCat("'", absl::StrReplaceAll(std::string(text), {{"'", "'\\''"}}), "'");
}

absl::StatusOr<std::string> OwnPath() {
  char path[PATH_MAX];
  const ssize_t length = readlink(kThisProgram, path, sizeof(path));
  if (length < 0) return absl::ErrnoToStatus(errno, "cannot tell where this program is");
  return std::string(path, static_cast<size_t>(length));
}

// Returns options with which ssh asks nothing, since nobody would answer, and takes no host for an
// option; none for another shell.
std::vector<std::string> OptionsOfShell(const std::string& shell, milliseconds patience) {
  const std::vector<std::string> words = absl::StrSplit(shell, ' ', absl::SkipEmpty());
  const std::string_view name = words.empty() ? std::string_view() : words.front();
  if (name.substr(name.rfind('/') + 1) != "ssh") return {};
  const auto seconds = std::max<int64_t>(1, patience / std::chrono::seconds(1));
  return {"-T", "-oBatchMode=yes", absl::StrCat("-oConnectTimeout=", seconds), "--"};
}

// Returns "node2 and node3".
std::string Listed(const std::vector<std::string>& names) {
  if (names.size() == 1) return names.front();
  const std::vector<std::string> first(names.begin(), names.end() - 1);
  return absl::StrCat(absl::StrJoin(first, ", "), " and ", names.back());
}

}  // namespace

RemoteHosts::RemoteHosts(HostSlots slots, const std::vector<std::string>& own_names)
    : slots_(std::move(slots)), groups_(GroupByHost(slots_)) {
  for (const HostGroup& group : groups_.groups) {
    here_.push_back(IsThisMachine(group.name, own_names));
  }
}

// Closes all hosts at once; their destructors then wait for one after the other.
RemoteHosts::~RemoteHosts() {
  for (const auto& host : hosts_) host->Close();
}

absl::StatusOr<std::unique_ptr<RemoteHosts>> RemoteHosts::Connect(
    const RemoteHostsOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<RemoteHosts> hosts, ConnectThoseThatCan(options));
  RETURN_IF_ERROR(hosts->Problems());
  return hosts;
}

absl::StatusOr<std::unique_ptr<RemoteHosts>> RemoteHosts::ConnectThoseThatCan(
    const RemoteHostsOptions& options) {
  std::unique_ptr<RemoteHosts> hosts(new RemoteHosts(options.slots, options.own_names));
  RETURN_IF_ERROR(hosts->Open(options));
  RETURN_IF_ERROR(hosts->Await([&hosts] { return !hosts->undecided(); }));
  return hosts;
}

absl::Status RemoteHosts::Open(const RemoteHostsOptions& options) {
  RemoteHostsOptions resolved = options;
  if (options.program.empty()) {
    ASSIGN_OR_RETURN(resolved.program, OwnPath());
  }
  for (size_t group = 0; group < count(); ++group) {
    ASSIGN_OR_RETURN(std::unique_ptr<RemoteHost> host,
                     RemoteHost::Open(OptionsOf(group, resolved), steady_clock::now()));
    hosts_.push_back(std::move(host));
  }
  return absl::OkStatus();
}

RemoteHostOptions RemoteHosts::OptionsOf(size_t number, const RemoteHostsOptions& options) const {
  const HostGroup& group = groups_.groups[number];
  RemoteHostOptions result{.name = group.name,
                           .command = {kThisProgram, kAgentCommand},
                           .build = options.build,
                           .prepare = {},
                           .patience = options.patience,
                           .silence = options.silence};
  if (!here_[number]) {
    result.command = {"/bin/sh", "-c", absl::StrCat("exec ", options.shell, " \"$@\""), "sh"};
    std::ranges::copy(OptionsOfShell(options.shell, options.patience),
                      std::back_inserter(result.command));
    result.command.push_back(group.name);
    result.command.push_back(absl::StrCat("exec ", Quoted(options.program), " ", kAgentCommand));
  }
  launch::Prepare& prepare = result.prepare;
  prepare.set_folder(options.folder);
  prepare.set_run(options.run);
  prepare.set_run_lock(options.run_lock);
  prepare.set_config(options.config);
  prepare.set_silence_ms(options.silence.count());
  prepare.set_grace_ms(options.grace.count());
  if (!options.arguments.empty()) *prepare.mutable_check() = CheckOf(group, options);
  return result;
}

launch::Start RemoteHosts::CheckOf(const HostGroup& group,
                                   const RemoteHostsOptions& options) const {
  RankStart check{.rank = group.ranks.front(),
                  .arguments = options.arguments,
                  .environment = options.environment};
  check.arguments.push_back("--dry-run");
  check.environment[kLaunchedVariable] = "1";
  Place(&check);
  return ToMessage(check);
}

bool RemoteHosts::undecided() const {
  return std::ranges::any_of(
      hosts_, [](const auto& host) { return !host->ready() && host->status().ok(); });
}

absl::Status RemoteHosts::Await(const std::function<bool()>& done, RankHost::Time due) {
  ASSIGN_OR_RETURN(const std::unique_ptr<SignalDescriptor> signals,
                   SignalDescriptor::Open({SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE}));
  while (!done() && steady_clock::now() < due) {
    std::vector<pollfd> polled = {{signals->descriptor(), POLLIN, 0}};
    RankHost::Time next = due;
    for (const auto& host : hosts_) {
      host->AddTo(&polled);
      next = std::min(next, host->deadline());
    }
    AwaitAny(&polled, next);
    while (const std::optional<int> signal = signals->Read()) {
      if (*signal != SIGCHLD && *signal != SIGPIPE) return Interrupted({}, *signal);
    }
    for (const auto& host : hosts_) host->Look(steady_clock::now());
  }
  return absl::OkStatus();
}

absl::Status RemoteHosts::Problems() const {
  // A problem that several hosts have is reported once.
  std::vector<std::pair<absl::Status, std::vector<std::string>>> problems;
  for (const auto& host : hosts_) {
    if (host->status().ok()) continue;
    const auto same = std::ranges::find_if(
        problems, [&](const auto& problem) { return problem.first == host->status(); });
    if (same == problems.end()) {
      problems.push_back({host->status(), {host->name()}});
    } else {
      same->second.push_back(host->name());
    }
  }
  if (problems.empty()) return absl::OkStatus();
  std::vector<std::string> lines;
  for (const auto& [status, names] : problems) {
    lines.push_back(absl::StrCat(Listed(names), ": ", status.message()));
  }
  const absl::Status& first = problems.front().first;
  return WithFailure(absl::Status(first.code(), absl::StrJoin(lines, "\n")), FailureOf(first));
}

bool RemoteHosts::share_run() const {
  for (size_t group = 0; group < count(); ++group) {
    if (!Shares(group)) return false;
  }
  return true;
}

std::vector<std::string> RemoteHosts::names() const {
  std::vector<std::string> names;
  for (const HostAddress& slot : slots_) names.push_back(slot.host);
  return names;
}

std::vector<RankHost*> RemoteHosts::all() {
  std::vector<RankHost*> all;
  for (const auto& host : hosts_) all.push_back(host.get());
  return all;
}

RankHost& RemoteHosts::HostOf(Rank rank) { return *hosts_[groups_.of[static_cast<size_t>(rank)]]; }

void RemoteHosts::Tell(RankWatcher* watcher) {
  for (const auto& host : hosts_) host->Tell(watcher);
}

void RemoteHosts::Place(RankStart* start) const {
  const HostAddress& slot = slots_[static_cast<size_t>(start->rank)];
  const std::vector<Rank>& beside =
      groups_.groups[groups_.of[static_cast<size_t>(start->rank)]].ranks;
  const auto local = std::ranges::find(beside, start->rank) - beside.begin();
  start->environment["RANK"] = absl::StrCat(start->rank);
  start->environment["LOCAL_RANK"] = absl::StrCat(local);
  start->environment["WORLD_SIZE"] = absl::StrCat(slots_.size());
  start->environment["LOCAL_WORLD_SIZE"] = absl::StrCat(beside.size());
  start->environment["MASTER_ADDR"] = slots_.front().host;
  // A host is reached under its name in the list, not under that of a network's gateway.
  const bool is_address = slot.host.find(':') != std::string::npos;
  start->arguments.push_back(is_address ? absl::StrCat("--advertise=[", slot.host, "]")
                                        : absl::StrCat("--advertise=", slot.host));
  if (slot.port != 0) start->arguments.push_back(absl::StrCat("--bind=:", slot.port));
}

}  // namespace grapevine

#include "node/launch/launcher.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <optional>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "node/identity/host_address.h"
#include "node/launch/launch_plan.h"
#include "system/child_process.h"
#include "system/file_descriptor.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Should a signal get lost, the loop still goes on.
constexpr milliseconds kLongestPoll{1000};

struct Child {
  Rank rank;
  std::unique_ptr<ChildProcess> process;
  LineReader output, errors;
  bool ended = false;
};

// A pipe whose write end rank 0 inherits, or every child.
struct Channel {
  UniqueDescriptor read, write;
};

absl::StatusOr<Channel> OpenChannel() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot open a pipe");
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return Channel{UniqueDescriptor(ends[0]), UniqueDescriptor(ends[1])};
}

std::vector<int> AllowedCpus() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

std::map<std::string, std::string> InheritedEnvironment() {
  std::map<std::string, std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string text(*variable);
    const size_t equals = text.find('=');
    if (equals == std::string::npos || text.starts_with("GRAPEVINE_")) continue;
    result[text.substr(0, equals)] = text.substr(equals + 1);
  }
  return result;
}

class Launcher {
 public:
  Launcher(const LaunchOptions& options, const LaunchSinks& sinks)
      : options_(options),
        sinks_(sinks),
        cpus_(options.pin_cpus ? AllowedCpus() : std::vector<int>()),
        port_reader_([this](std::string_view line) { OnPort(line); }),
        progress_reader_([this](std::string_view line) { sinks_.on_progress(line); }),
        words_reader_([this](std::string_view line) { OnWords(line); }),
        plan_(options.plan, steady_clock::now()) {}

  absl::Status Run() {
    RETURN_IF_ERROR(Begin());
    StartChildren();
    while (!plan_.over()) {
      Wait();
      OnSignals();
      ReadAll();
      Look();
      StartChildren();
      RestartChildren();
      Obey();
    }
    ReadAll();
    return plan_.Outcome();
  }

 private:
  absl::Status Begin() {
    ASSIGN_OR_RETURN(signals_, SignalDescriptor::Open({SIGINT, SIGTERM, SIGHUP, SIGCHLD}));
    ASSIGN_OR_RETURN(port_, OpenChannel());
    ASSIGN_OR_RETURN(progress_, OpenChannel());
    if (options_.hears_nodes) {
      ASSIGN_OR_RETURN(words_, OpenChannel());
    }
    return absl::OkStatus();
  }

  void StartChildren() {
    while (const std::optional<Rank> rank = plan_.next()) {
      std::map<std::string, int> inherited;
      if (*rank == 0) inherited[kPortDescriptorVariable] = port_.write.get();
      if (*rank == 0 || options_.plan.role_moves) {
        inherited[kProgressDescriptorVariable] = progress_.write.get();
      }
      absl::StatusOr<Child> child = StartChild(*rank, *rank == 0 ? "0" : master_port_,
                                               std::move(inherited), options_.arguments);
      port_.write.Close();
      if (!options_.plan.role_moves) progress_.write.Close();
      if (!child.ok()) {
        OnNotStarted(*rank, child.status());
        continue;
      }
      plan_.OnStarted(child->process->pid());
      children_.push_back(*std::move(child));
    }
  }

  void OnNotStarted(Rank rank, const absl::Status& why) {
    plan_.OnFailure(absl::Status(why.code(), absl::StrCat("rank ", rank, ": ", why.message())),
                    steady_clock::now());
  }

  // In the places of those that are lost.
  void RestartChildren() {
    while (const std::optional<Rank> rank = plan_.next_restart(steady_clock::now())) {
      std::map<std::string, int> inherited;
      if (options_.plan.role_moves) inherited[kProgressDescriptorVariable] = progress_.write.get();
      std::vector<std::string> arguments = options_.arguments;
      arguments.insert(arguments.end(), options_.join_arguments.begin(),
                       options_.join_arguments.end());
      absl::StatusOr<Child> child =
          StartChild(*rank, master_port_, std::move(inherited), std::move(arguments));
      if (!child.ok()) return OnNotStarted(*rank, child.status());
      if (sinks_.on_notice) {
        sinks_.on_notice(absl::StrCat("rank ", *rank, " is started again (process ",
                                      child->process->pid(), ")"));
      }
      plan_.OnRestarted(*rank, child->process->pid());
      children_[static_cast<size_t>(*rank)] = *std::move(child);
    }
  }

  absl::StatusOr<Child> StartChild(Rank rank, const std::string& master_port,
                                   std::map<std::string, int> inherited,
                                   std::vector<std::string> arguments) {
    std::map<std::string, std::string> environment = InheritedEnvironment();
    // Nodes share the cores: one tensor thread each, and none that spins.
    environment.emplace("OMP_NUM_THREADS", "1");
    environment.emplace("OMP_WAIT_POLICY", "passive");
    for (const auto& [name, value] : options_.environment) environment[name] = value;
    environment["RANK"] = environment["LOCAL_RANK"] = absl::StrCat(rank);
    environment["WORLD_SIZE"] = environment["LOCAL_WORLD_SIZE"] = absl::StrCat(options_.plan.nodes);
    environment["MASTER_ADDR"] = "127.0.0.1";
    environment["MASTER_PORT"] = master_port;
    environment[kLaunchedVariable] = "1";
    ChildCommand command{.executable = options_.executable, .arguments = std::move(arguments)};
    if (options_.hears_nodes) inherited[kLauncherDescriptorVariable] = words_.write.get();
    for (const auto& [variable, descriptor] : inherited) {
      environment[variable] = absl::StrCat(descriptor);
      command.inherited.push_back(descriptor);
    }
    for (const auto& [name, value] : environment) {
      command.environment.push_back(absl::StrCat(name, "=", value));
    }
    if (!cpus_.empty()) command.cpu = cpus_[static_cast<size_t>(rank) % cpus_.size()];
    ASSIGN_OR_RETURN(std::unique_ptr<ChildProcess> process, ChildProcess::Start(command));
    return Child{
        .rank = rank,
        .process = std::move(process),
        .output =
            LineReader([this, rank](std::string_view line) { sinks_.on_line(rank, false, line); }),
        .errors =
            LineReader([this, rank](std::string_view line) { sinks_.on_line(rank, true, line); })};
  }

  void OnPort(std::string_view line) {
    int port = 0;
    if (ParsePort(line, &port) && port > 0) {
      master_port_ = std::string(line);
      plan_.OnListening();
    } else {
      plan_.OnFailure(absl::InternalError(
                          absl::StrCat("rank 0 reported \"", std::string(line), "\" as its port")),
                      steady_clock::now());
    }
  }

  static constexpr std::string_view kReturns = "back ", kIsIn = "in ";
  // As kLauncherDescriptorVariable says; untrusted.
  void OnWords(std::string_view line) {
    if (line.starts_with(kIsIn)) return OnCameIn(line.substr(kIsIn.size()));
    const bool returns = line.starts_with(kReturns);
    if (returns) line.remove_prefix(kReturns.size());
    const std::string text(line);
    const std::vector<std::string> words = absl::StrSplit(text, ' ');
    Rank rank = 0;
    int64_t duration = 0;
    if (words.size() != 2 || !absl::SimpleAtoi(words[0], &rank) ||
        !absl::SimpleAtoi(words[1], &duration) || duration < 0) {
      return;
    }
    if (returns) return plan_.OnReturn(rank, std::chrono::nanoseconds(duration));
    plan_.OnPause(rank, std::chrono::nanoseconds(duration), steady_clock::now());
  }

  void OnCameIn(std::string_view text) {
    Rank rank = 0;
    if (absl::SimpleAtoi(std::string(text), &rank)) plan_.OnCameIn(rank);
  }

  void Wait() {
    std::vector<pollfd> polled;
    const auto add = [&polled](int descriptor) {
      if (descriptor >= 0) polled.push_back({descriptor, POLLIN, 0});
    };
    add(signals_->descriptor());
    add(port_.read.get());
    add(progress_.read.get());
    add(words_.read.get());
    for (Child& child : children_) {
      add(child.process->output().get());
      add(child.process->errors().get());
    }
    milliseconds timeout = kLongestPoll;
    if (const LaunchPlan::Time deadline = plan_.deadline(); deadline != LaunchPlan::kNever) {
      const auto left = std::chrono::ceil<milliseconds>(deadline - steady_clock::now());
      timeout = std::clamp(left, milliseconds(0), timeout);
    }
    (void)poll(polled.data(), polled.size(), static_cast<int>(timeout.count()));
  }

  void OnSignals() {
    while (const std::optional<int> signal = signals_->Read()) {
      if (*signal == SIGCHLD) continue;
      if (!plan_.interrupted() && sinks_.on_interrupt) sinks_.on_interrupt();
      plan_.OnSignal(*signal, steady_clock::now());
    }
  }

  void ReadAll() {
    port_reader_.Read(port_.read);
    progress_reader_.Read(progress_.read);
    if (options_.hears_nodes) words_reader_.Read(words_.read);
    for (Child& child : children_) {
      child.output.Read(child.process->output());
      child.errors.Read(child.process->errors());
    }
  }

  // The children's changes of state.
  void Look() {
    const LaunchPlan::Time now = steady_clock::now();
    for (Child& child : children_) {
      if (child.ended) continue;
      if (const std::optional<int> wait_status = child.process->Poll()) {
        child.ended = true;
        if (options_.hears_nodes) words_reader_.Read(words_.read);  // its last words among them
        plan_.OnEnded(child.rank, *wait_status, now);
      } else {
        plan_.OnHeld(child.rank, child.process->Stopped(), now);
      }
    }
  }

  void Obey() {
    for (const LaunchPlan::Order& order : plan_.Due(steady_clock::now())) {
      if (!order.why.empty() && sinks_.on_notice) sinks_.on_notice(order.why);
      children_[static_cast<size_t>(order.rank)].process->Signal(order.signal);
    }
  }

  const LaunchOptions& options_;
  const LaunchSinks& sinks_;
  const std::vector<int> cpus_;
  std::unique_ptr<SignalDescriptor> signals_;
  Channel port_, progress_, words_;
  LineReader port_reader_, progress_reader_, words_reader_;
  std::string master_port_;
  LaunchPlan plan_;
  std::vector<Child> children_;  // by rank
};

}  // namespace

absl::Status Launch(const LaunchOptions& options, const LaunchSinks& sinks) {
  return Launcher(options, sinks).Run();
}

}  // namespace grapevine

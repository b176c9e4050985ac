#include "node/launcher.h"

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
#include "absl/strings/str_cat.h"
#include "node/host_address.h"
#include "node/launch_outcome.h"
#include "run/failure.h"
#include "system/child_process.h"
#include "system/line_reader.h"
#include "system/signal_descriptor.h"
#include "system/unique_descriptor.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Time = steady_clock::time_point;

// Should a signal get lost, the loop still comes round.
constexpr milliseconds kLongestPoll{1000};

struct Child {
  Rank rank;
  std::unique_ptr<ChildProcess> process;
  LineReader output, errors;
  std::optional<int> wait_status = {};
  bool signalled = false;  // by the launcher
};

// A pipe whose write end rank 0 inherits.
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
        progress_reader_([this](std::string_view line) { sinks_.on_progress(line); }) {}

  absl::Status Run() {
    if (absl::Status status = Begin(); !status.ok()) return status;
    while (!AllEnded()) {
      Wait();
      OnSignals();
      ReadAll();
      Reap();
      StartOthers();
      Enforce(steady_clock::now());
    }
    ReadAll();
    return Outcome();
  }

 private:
  absl::Status Begin() {
    absl::StatusOr<std::unique_ptr<SignalDescriptor>> signals =
        SignalDescriptor::Open({SIGINT, SIGTERM, SIGHUP, SIGCHLD});
    if (!signals.ok()) return signals.status();
    signals_ = *std::move(signals);
    absl::StatusOr<Channel> port = OpenChannel(), progress = OpenChannel();
    if (!port.ok()) return port.status();
    if (!progress.ok()) return progress.status();
    port_ = std::move(port->read);
    progress_ = std::move(progress->read);
    port_deadline_ = steady_clock::now() + options_.port_timeout;
    return StartChild(0, "0",
                      {{kPortDescriptorVariable, port->write.get()},
                       {kProgressDescriptorVariable, progress->write.get()}});
  }

  absl::Status StartChild(Rank rank, const std::string& master_port,
                          const std::map<std::string, int>& inherited) {
    std::map<std::string, std::string> environment = InheritedEnvironment();
    // Nodes share the cores: a tensor thread each, and none that spins.
    environment.emplace("OMP_NUM_THREADS", "1");
    environment.emplace("OMP_WAIT_POLICY", "passive");
    for (const auto& [name, value] : options_.environment) environment[name] = value;
    environment["RANK"] = environment["LOCAL_RANK"] = absl::StrCat(rank);
    environment["WORLD_SIZE"] = environment["LOCAL_WORLD_SIZE"] = absl::StrCat(options_.nodes);
    environment["MASTER_ADDR"] = "127.0.0.1";
    environment["MASTER_PORT"] = master_port;
    ChildCommand command{.executable = options_.executable, .arguments = options_.arguments};
    for (const auto& [variable, descriptor] : inherited) {
      environment[variable] = absl::StrCat(descriptor);
      command.inherited.push_back(descriptor);
    }
    for (const auto& [name, value] : environment) {
      command.environment.push_back(absl::StrCat(name, "=", value));
    }
    if (!cpus_.empty()) command.cpu = cpus_[static_cast<size_t>(rank) % cpus_.size()];
    absl::StatusOr<std::unique_ptr<ChildProcess>> process = ChildProcess::Start(command);
    if (!process.ok()) return process.status();
    children_.push_back(
        {.rank = rank,
         .process = *std::move(process),
         .output =
             LineReader([this, rank](std::string_view line) { sinks_.on_line(rank, false, line); }),
         .errors =
             LineReader([this, rank](std::string_view line) { sinks_.on_line(rank, true, line); }),
         .wait_status = {}});
    return absl::OkStatus();
  }

  void OnPort(std::string_view line) {
    int port = 0;
    if (ParsePort(line, &port) && port > 0) {
      master_port_ = std::string(line);
    } else {
      Fail(absl::InternalError(
          absl::StrCat("rank 0 reported \"", std::string(line), "\" as its port")));
    }
  }

  // The other ranks, once rank 0's port is known.
  void StartOthers() {
    if (!master_port_ || ending()) return;
    while (static_cast<Rank>(children_.size()) < options_.nodes) {
      const auto rank = static_cast<Rank>(children_.size());
      if (absl::Status status = StartChild(rank, *master_port_, {}); !status.ok()) {
        return Fail(
            absl::Status(status.code(), absl::StrCat("rank ", rank, ": ", status.message())));
      }
    }
  }

  void Wait() {
    std::vector<pollfd> polled;
    const auto add = [&polled](int descriptor) {
      if (descriptor >= 0) polled.push_back({descriptor, POLLIN, 0});
    };
    add(signals_->descriptor());
    add(port_.get());
    add(progress_.get());
    for (Child& child : children_) {
      add(child.process->output().get());
      add(child.process->errors().get());
    }
    const Time now = steady_clock::now();
    milliseconds timeout = kLongestPoll;
    for (const Time deadline :
         {terminate_at_, kill_at_, awaiting_port() ? port_deadline_ : kNever}) {
      if (deadline == kNever) continue;
      const auto left = std::chrono::ceil<milliseconds>(deadline - now);
      timeout = std::clamp(left, milliseconds(0), timeout);
    }
    (void)poll(polled.data(), polled.size(), static_cast<int>(timeout.count()));
  }

  void OnSignals() {
    while (const std::optional<int> signal = signals_->Read()) {
      if (*signal == SIGCHLD) continue;
      if (interrupted_by_ != 0) {
        SignalAll(SIGKILL);
      } else {
        interrupted_by_ = *signal;
        if (sinks_.on_interrupt) sinks_.on_interrupt();
        SignalAll(*signal == SIGHUP ? SIGTERM : *signal);
      }
    }
  }

  void ReadAll() {
    port_reader_.Read(port_);
    progress_reader_.Read(progress_);
    for (Child& child : children_) {
      child.output.Read(child.process->output());
      child.errors.Read(child.process->errors());
    }
  }

  void Reap() {
    for (Child& child : children_) {
      if (child.wait_status) continue;
      child.wait_status = child.process->Poll();
      if (!child.wait_status) continue;
      ends_.push_back({child.rank, child.process->pid(), *child.wait_status, child.signalled});
      if (*child.wait_status != 0 || interrupted_by_ != 0) BeginEnd();
      if (awaiting_port()) Fail(absl::InternalError("rank 0 ended before it reported its port"));
    }
  }

  // A stopped child hears no verdict and no SIGTERM: the end need not wait for it.
  void KillStopped() {
    for (Child& child : children_) {
      if (child.wait_status || !child.process->Stopped()) continue;
      child.signalled = true;
      child.process->Signal(SIGKILL);
    }
  }

  // Time-outs.
  void Enforce(Time now) {
    if (ending_) KillStopped();
    if (awaiting_port() && now >= port_deadline_) {
      Fail(WithFailure(
          absl::DeadlineExceededError(absl::StrCat(
              "rank 0 did not report its port within ",
              std::chrono::duration_cast<std::chrono::seconds>(options_.port_timeout).count(),
              " s")),
          Failure::kRendezvous));
    }
    if (now >= terminate_at_) {
      terminate_at_ = kNever;
      kill_at_ = now + options_.kill_grace;
      SignalAll(SIGTERM);
    }
    if (now >= kill_at_) {
      kill_at_ = kNever;
      SignalAll(SIGKILL);
    }
  }

  void SignalAll(int signal) {
    for (Child& child : children_) {
      if (child.wait_status) continue;
      child.signalled = true;
      child.process->Signal(signal);
    }
  }

  // The launcher's own failure: nothing to wait for.
  void Fail(absl::Status status) {
    if (own_failure_.ok()) own_failure_ = std::move(status);
    BeginEnd();
    terminate_at_ = std::min(terminate_at_, steady_clock::now());
  }

  void BeginEnd() {
    if (ending_) return;
    ending_ = true;
    terminate_at_ = steady_clock::now() + options_.grace;
  }

  bool ending() const { return ending_ || interrupted_by_ != 0; }
  bool awaiting_port() const { return !master_port_ && !ending() && options_.nodes > 1; }

  bool AllEnded() const {
    return (ending() || static_cast<Rank>(children_.size()) == options_.nodes) &&
           std::all_of(children_.begin(), children_.end(),
                       [](const Child& child) { return child.wait_status.has_value(); });
  }

  absl::Status Outcome() const {
    if (!own_failure_.ok()) return own_failure_;
    if (static_cast<Rank>(ends_.size()) < options_.nodes && interrupted_by_ != 0) {
      return Interrupted(interrupted_by_);
    }
    return LaunchOutcome(ends_, interrupted_by_);
  }

  static constexpr Time kNever = Time::max();

  const LaunchOptions& options_;
  const LaunchSinks& sinks_;
  const std::vector<int> cpus_;
  std::unique_ptr<SignalDescriptor> signals_;
  UniqueDescriptor port_, progress_;
  LineReader port_reader_, progress_reader_;
  std::optional<std::string> master_port_;
  std::vector<Child> children_;  // by rank
  std::vector<ChildEnd> ends_;   // in the order in which they came
  absl::Status own_failure_;
  int interrupted_by_ = 0;
  bool ending_ = false;
  Time port_deadline_ = kNever, terminate_at_ = kNever, kill_at_ = kNever;
};

}  // namespace

absl::Status Launch(const LaunchOptions& options, const LaunchSinks& sinks) {
  return Launcher(options, sinks).Run();
}

}  // namespace grapevine

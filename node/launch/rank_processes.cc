#include "node/launch/rank_processes.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "node/launch/launch_variables.h"

namespace grapevine {
namespace {

std::vector<int> AllowedCpus() {
  cpu_set_t set;
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

void AddReadable(const UniqueDescriptor& descriptor, std::vector<pollfd>* polled) {
  if (descriptor.open()) polled->push_back({descriptor.get(), POLLIN, 0});
}

}  // namespace

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

std::vector<std::string> EnvironmentLines(const std::map<std::string, std::string>& environment) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : environment) lines.push_back(absl::StrCat(name, "=", value));
  return lines;
}

RankProcesses::RankProcesses(std::string executable, std::vector<int> cpus, RankWatcher* watcher)
    : executable_(std::move(executable)),
      cpus_(std::move(cpus)),
      watcher_(*watcher),
      port_{.reader = LineReader([watcher](std::string_view line) { watcher->OnPort(line); })},
      progress_{.reader =
                    LineReader([watcher](std::string_view line) { watcher->OnProgress(line); })},
      words_{.reader = LineReader([watcher](std::string_view line) { watcher->OnWords(line); })} {}

absl::StatusOr<std::unique_ptr<RankProcesses>> RankProcesses::Open(std::string executable,
                                                                   bool pin_cpus,
                                                                   RankWatcher* watcher) {
  std::unique_ptr<RankProcesses> processes(new RankProcesses(
      std::move(executable), pin_cpus ? AllowedCpus() : std::vector<int>(), watcher));
  for (Channel* channel : {&processes->port_, &processes->progress_, &processes->words_}) {
    RETURN_IF_ERROR(OpenChannel(channel));
  }
  return processes;
}

absl::Status RankProcesses::OpenChannel(Channel* channel) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot open a pipe");
  channel->read = UniqueDescriptor(ends[0]);
  channel->write = UniqueDescriptor(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return absl::OkStatus();
}

void RankProcesses::Start(const RankStart& start) {
  const Rank rank = start.rank;
  absl::StatusOr<std::unique_ptr<ChildProcess>> process = StartProcess(start);
  if (!process.ok()) return watcher_.OnNotStarted(rank, process.status());
  const auto told = [this, rank](bool errors) {
    return LineReader(
        [this, rank, errors](std::string_view line) { watcher_.OnLine(rank, errors, line); });
  };
  children_.insert_or_assign(
      rank, Child{.process = *std::move(process), .output = told(false), .errors = told(true)});
  watcher_.OnRunning(rank, children_.at(rank).process->pid());
}

absl::StatusOr<std::unique_ptr<ChildProcess>> RankProcesses::StartProcess(const RankStart& start) {
  std::map<std::string, std::string> environment = InheritedEnvironment();
  // Nodes share the cores: each has one tensor thread, which does not spin.
  environment.emplace("OMP_NUM_THREADS", "1");
  environment.emplace("OMP_WAIT_POLICY", "passive");
  for (const auto& [name, value] : start.environment) environment[name] = value;
  ChildCommand command{.executable = executable_, .arguments = start.arguments};
  const auto hand = [&](bool wanted, const char* variable, const Channel& channel) {
    if (!wanted) return;
    environment[variable] = absl::StrCat(channel.write.get());
    command.inherited.push_back(channel.write.get());
  };
  hand(start.tells_port, kPortDescriptorVariable, port_);
  hand(start.tells_progress, kProgressDescriptorVariable, progress_);
  hand(start.tells_launcher, kLauncherDescriptorVariable, words_);
  command.environment = EnvironmentLines(environment);
  if (!cpus_.empty()) command.cpu = cpus_[static_cast<size_t>(start.rank) % cpus_.size()];
  return ChildProcess::Start(command);
}

void RankProcesses::Signal(Rank rank, int signal) {
  if (const auto child = children_.find(rank); child != children_.end()) {
    child->second.process->Signal(signal);
  }
}

void RankProcesses::AddTo(std::vector<pollfd>* polled) const {
  for (const Channel* channel : {&port_, &progress_, &words_}) AddReadable(channel->read, polled);
  for (const auto& [rank, child] : children_) {
    AddReadable(child.process->output(), polled);
    AddReadable(child.process->errors(), polled);
  }
}

void RankProcesses::Look(Time) {
  ReadChannels();
  for (auto& [rank, child] : children_) ReadLines(child);
  for (auto& [rank, child] : children_) {
    if (!child.ended) LookAt(rank, child);
  }
}

void RankProcesses::ReadChannels() {
  for (Channel* channel : {&port_, &progress_, &words_}) channel->reader.Read(channel->read);
}

void RankProcesses::ReadLines(Child& child) {
  child.output.Read(child.process->output());
  child.errors.Read(child.process->errors());
}

void RankProcesses::LookAt(Rank rank, Child& child) {
  if (const std::optional<int> wait_status = child.process->Poll()) {
    child.ended = true;
    ReadChannels();  // the child's last lines come before its end
    ReadLines(child);
    watcher_.OnEnded(rank, *wait_status);
  } else if (const bool held = child.process->Stopped(); held != child.held) {
    child.held = held;
    watcher_.OnHeld(rank, held);
  }
}

std::vector<Rank> RankProcesses::Running() const {
  std::vector<Rank> running;
  for (const auto& [rank, child] : children_) {
    if (!child.ended) running.push_back(rank);
  }
  return running;
}

}  // namespace grapevine

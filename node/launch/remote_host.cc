#include "node/launch/remote_host.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "base/units.h"
#include "node/launch/agent.h"
#include "node/launch/rank_processes.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// The time that an agent may take to end once it is let go of.
constexpr milliseconds kFarewell{2000};
constexpr int kFarewellSteps = 100;
// The number of last lines of ssh or a shell that are kept.
constexpr size_t kRemarks = 5;

// Returns the error of a machine that cannot be reached, or cannot be talked to.
absl::Status Unreachable(std::string_view what) {
  return WithFailure(absl::UnavailableError(std::string(what)), Failure::kRendezvous);
}

absl::StatusOr<std::optional<std::string>> Understood(
    absl::StatusOr<std::optional<std::string>> heard) {
  if (!heard.ok()) return Unreachable(std::string(heard.status().message()));
  return heard;
}

std::string EndText(int wait_status) {
  return WIFSIGNALED(wait_status) ? absl::StrCat("signal ", WTERMSIG(wait_status))
                                  : absl::StrCat("exit code ", WEXITSTATUS(wait_status));
}

// Returns whether a shell has ended so because the program does not exist, or cannot be executed.
bool ProgramIsMissing(int wait_status) {
  return WIFEXITED(wait_status) &&
         (WEXITSTATUS(wait_status) == 126 || WEXITSTATUS(wait_status) == 127);
}

}  // namespace

launch::Start ToMessage(const RankStart& start) {
  launch::Start message;
  message.set_rank(start.rank);
  for (const std::string& argument : start.arguments) message.add_arguments(argument);
  message.mutable_environment()->insert(start.environment.begin(), start.environment.end());
  message.set_tells_port(start.tells_port);
  message.set_tells_progress(start.tells_progress);
  message.set_tells_launcher(start.tells_launcher);
  return message;
}

absl::StatusOr<std::unique_ptr<RemoteHost>> RemoteHost::Open(RemoteHostOptions options, Time now) {
  ASSIGN_OR_RETURN(std::unique_ptr<ChildProcess> process,
                   ChildProcess::Start({.executable = options.command.front(),
                                        .arguments = options.command,
                                        .environment = EnvironmentLines(InheritedEnvironment()),
                                        .fed = true}));
  return std::unique_ptr<RemoteHost>(new RemoteHost(std::move(options), std::move(process), now));
}

RemoteHost::RemoteHost(RemoteHostOptions options, std::unique_ptr<ChildProcess> process, Time now)
    : options_(std::move(options)),
      process_(std::move(process)),
      begun_(now),
      remarks_([this](std::string_view line) { OnRemark(line); }),
      heard_(now),
      said_(now) {}

RemoteHost::~RemoteHost() {
  Close();
  for (int step = 0; step < kFarewellSteps && ready() && !process_->Poll(); ++step) {
    std::this_thread::sleep_for(kFarewell / kFarewellSteps);
  }
}

void RemoteHost::Start(const RankStart& start) {
  if (!ready()) {
    return watcher_->OnNotStarted(
        start.rank, absl::UnavailableError(absl::StrCat(name(), " ", status_.message())));
  }
  running_.insert(start.rank);
  launch::Order order;
  *order.mutable_start() = ToMessage(start);
  writer_.Add(order);
}

void RemoteHost::Signal(Rank rank, int signal) {
  launch::Order order;
  order.mutable_signal()->set_rank(rank);
  order.mutable_signal()->set_signal(signal);
  if (ready()) writer_.Add(order);
}

void RemoteHost::Probe(const probe::Request& request) {
  if (!ready()) return;
  launch::Order order;
  *order.mutable_probe() = request;
  writer_.Add(order);
  (void)writer_.Write(process_->input());
}

void RemoteHost::AddTo(std::vector<pollfd>* polled) const {
  if (state_ == State::kLost) return;
  for (const UniqueDescriptor* lines : {&process_->output(), &process_->errors()}) {
    if (lines->open()) polled->push_back({lines->get(), POLLIN, 0});
  }
  if (writer_.waiting() > 0) polled->push_back({process_->input().get(), POLLOUT, 0});
}

RankHost::Time RemoteHost::deadline() const {
  if (state_ == State::kLost) return kNever;
  const Time next = std::min(heard_ + options_.silence, said_ + kAgentBeat);
  return ready() ? next : std::min(next, begun_ + options_.patience);
}

void RemoteHost::Look(Time now) {
  if (state_ == State::kLost) return;
  const std::optional<int> ended = process_->Poll();
  Hear(now);
  if (state_ == State::kLost) return;
  if (ended) return OnHungUp(*ended);
  CheckTime(now);
  Say(now);
}

void RemoteHost::Hear(Time now) {
  remarks_.Read(process_->errors());
  reader_.Read(process_->output());
  absl::Status status = state_ == State::kGreeting ? Greet() : absl::OkStatus();
  if (status.ok() && state_ != State::kGreeting) status = HearMessages(now);
  if (!status.ok()) Lose(std::move(status));
}

absl::Status RemoteHost::Greet() {
  ASSIGN_OR_RETURN(const std::optional<std::string> line,
                   Understood(reader_.Greeting(kAgentGreeting)));
  if (!line) return absl::OkStatus();
  if (const std::string build = line->substr(std::string_view(kAgentGreeting).size());
      build != options_.build) {
    return WithFailure(
        absl::FailedPreconditionError(absl::StrCat("has Grapevine ", build, ", and this machine ",
                                                   options_.build, ": install the same on both")),
        Failure::kRendezvous);
  }
  state_ = State::kPreparing;
  launch::Order order;
  *order.mutable_prepare() = options_.prepare;
  writer_.Add(order);
  return absl::OkStatus();
}

absl::Status RemoteHost::HearMessages(Time now) {
  while (state_ != State::kLost) {
    ASSIGN_OR_RETURN(const std::optional<std::string> message, Understood(reader_.Next()));
    if (!message) break;
    launch::Report report;
    if (!report.ParseFromString(*message)) return Unreachable("says what no agent says");
    heard_ = now;
    RETURN_IF_ERROR(OnReport(report));
  }
  return absl::OkStatus();
}

absl::Status RemoteHost::OnReport(const launch::Report& report) {
  if (report.has_prepared()) return OnPrepared(report.prepared());
  if (report.has_beat()) return absl::OkStatus();
  if (report.has_probe()) {
    if (!answered_) return Unreachable("answers what nobody has asked");
    answered_(report.probe());
    return absl::OkStatus();
  }
  if (watcher_ == nullptr) return Unreachable("speaks of nodes before there are any");
  switch (report.kind_case()) {
    case launch::Report::kPort:
      watcher_->OnPort(report.port());
      break;
    case launch::Report::kProgress:
      watcher_->OnProgress(report.progress());
      break;
    case launch::Report::kWords:
      watcher_->OnWords(report.words());
      break;
    default:
      return OnRankReport(report);
  }
  return absl::OkStatus();
}

absl::Status RemoteHost::OnPrepared(const launch::Prepared& prepared) {
  if (state_ != State::kPreparing) return Unreachable("says twice that it is ready");
  if (prepared.exit_code() != 0 || !prepared.problem().empty()) {
    return WithFailure(absl::FailedPreconditionError(prepared.problem()),
                       FailureFromNumber(prepared.exit_code()));
  }
  shares_run_ = prepared.shares_run();
  state_ = State::kReady;
  return absl::OkStatus();
}

absl::Status RemoteHost::OnRankReport(const launch::Report& report) {
  const Rank rank = report.has_running()       ? report.running().rank()
                    : report.has_not_started() ? report.not_started().rank()
                    : report.has_line()        ? report.line().rank()
                    : report.has_held()        ? report.held().rank()
                                               : report.ended().rank();
  // The last lines of a node may come after its end.
  if (!running_.contains(rank)) {
    return report.has_line() ? absl::OkStatus() : Unreachable("speaks of nodes that it has not");
  }
  if (report.has_running()) watcher_->OnRunning(rank, report.running().process());
  if (report.has_line()) {
    watcher_->OnLine(rank, report.line().errors(), report.line().text());
  }
  if (report.has_held()) watcher_->OnHeld(rank, report.held().held());
  if (report.has_ended()) OnEnded(rank, report.ended().wait_status());
  if (report.has_not_started()) {
    running_.erase(rank);
    watcher_->OnNotStarted(rank, absl::UnknownError(report.not_started().why()));
  }
  return absl::OkStatus();
}

void RemoteHost::OnEnded(Rank rank, int wait_status) {
  running_.erase(rank);
  watcher_->OnEnded(rank, wait_status);
}

void RemoteHost::CheckTime(Time now) {
  if (!ready() && now >= begun_ + options_.patience) {
    return Lose(Unreachable(
        absl::StrCat(state_ == State::kGreeting ? "did not answer" : "was not ready", " within ",
                     Seconds(options_.patience), " s (--rendezvous-timeout)")));
  }
  if (state_ != State::kGreeting && now >= heard_ + options_.silence) {
    Lose(Unreachable(
        absl::StrCat("has been silent for ", Seconds(options_.silence), " s (--peer-timeout)")));
  }
}

void RemoteHost::Say(Time now) {
  if (state_ == State::kLost) return;
  if (state_ != State::kGreeting && now >= said_ + kAgentBeat) {
    launch::Order order;
    order.mutable_beat();
    writer_.Add(order);
    said_ = now;
  }
  // If writing fails, the process is about to end, and its end says more.
  (void)writer_.Write(process_->input());
}

void RemoteHost::OnHungUp(int wait_status) {
  const std::string said =
      last_remarks_.empty() ? "" : absl::StrCat(": ", absl::StrJoin(last_remarks_, "\n"));
  if (state_ == State::kGreeting && ProgramIsMissing(wait_status)) {
    return Lose(Unreachable(absl::StrCat("cannot run Grapevine (", EndText(wait_status), ")", said,
                                         "; --remote-program=PATH says where it is there")));
  }
  Lose(Unreachable(absl::StrCat(state_ == State::kGreeting ? "cannot be reached" : "hung up", " (",
                                EndText(wait_status), ")", said)));
}

void RemoteHost::Lose(absl::Status why) {
  state_ = State::kLost;
  status_ = std::move(why);
  process_->input().Close();
  const std::string why_lost(status_.message());
  for (const Rank rank : std::exchange(running_, {})) watcher_->OnLost(rank, why_lost);
}

void RemoteHost::OnRemark(std::string_view line) {
  if (line.ends_with('\r')) line.remove_suffix(1);  // ssh writes as if to a terminal
  if (watcher_ != nullptr) watcher_->OnRemark(absl::StrCat(name(), ": ", std::string(line)));
  last_remarks_.emplace_back(line);
  if (last_remarks_.size() > kRemarks) last_remarks_.pop_front();
}

}  // namespace grapevine

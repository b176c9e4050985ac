#include "node/launch/launcher.h"

#include <poll.h>
#include <signal.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "node/identity/host_address.h"
#include "node/launch/launch_plan.h"
#include "node/launch/launch_variables.h"
#include "node/launch/rank_host.h"
#include "node/launch/rank_processes.h"
#include "system/file_descriptor.h"

namespace grapevine {
namespace {

using std::chrono::steady_clock;

class Launcher : public RankWatcher {
 public:
  Launcher(const LaunchOptions& options, const LaunchSinks& sinks)
      : options_(options), sinks_(sinks), plan_(options.plan, steady_clock::now()) {}

  absl::Status Run() {
    RETURN_IF_ERROR(Begin());
    StartNodes();
    while (!plan_.over()) {
      Wait();
      OnSignals();
      Look();
      StartNodes();
      RestartNodes();
      Obey();
    }
    Look();
    return plan_.Outcome();
  }

  void OnRunning(Rank rank, pid_t process) override {
    plan_.OnRunning(rank, process);
    if (again_.erase(rank) == 0 || !sinks_.on_notice) return;
    sinks_.on_notice(absl::StrCat("rank ", rank, " is started again (process ", process, ")"));
  }
  void OnNotStarted(Rank rank, const absl::Status& why) override {
    plan_.OnNotStarted(rank, why, steady_clock::now());
  }
  void OnLine(Rank rank, bool errors, std::string_view line) override {
    sinks_.on_line(rank, errors, line);
  }
  void OnProgress(std::string_view line) override { sinks_.on_progress(line); }
  void OnHeld(Rank rank, bool held) override { plan_.OnHeld(rank, held, steady_clock::now()); }
  void OnEnded(Rank rank, int wait_status) override {
    plan_.OnEnded(rank, wait_status, steady_clock::now());
  }
  void OnLost(Rank rank, std::string_view why) override {
    plan_.OnLost(rank, why, steady_clock::now());
  }
  void OnRemark(std::string_view text) override {
    if (sinks_.on_notice) sinks_.on_notice(text);
  }
  void OnPort(std::string_view line) override {
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
  // Takes a line in the form that kLauncherDescriptorVariable describes.
  void OnWords(std::string_view line) override {
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

 private:
  absl::Status Begin() {
    ASSIGN_OR_RETURN(signals_, SignalDescriptor::Open({SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE}));
    if (options_.hosts != nullptr) {
      options_.hosts->Tell(this);
      for (Rank rank = 0; rank < options_.plan.nodes; ++rank) {
        host_of_.push_back(&options_.hosts->HostOf(rank));
      }
      hosts_ = options_.hosts->all();
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(own_, RankProcesses::Open(options_.executable, options_.pin_cpus, this));
    host_of_.assign(static_cast<size_t>(options_.plan.nodes), own_.get());
    hosts_ = {own_.get()};
    return absl::OkStatus();
  }

  void StartNodes() {
    while (const std::optional<Rank> rank = plan_.next()) {
      plan_.OnStarted();
      RankStart start = StartOf(*rank);
      if (*rank == 0) start.environment["MASTER_PORT"] = "0";
      start.tells_port = *rank == 0;
      start.tells_progress |= *rank == 0;
      HostOf(*rank).Start(start);
    }
  }

  // Starts processes in the places of lost ones.
  void RestartNodes() {
    while (const std::optional<Rank> rank = plan_.next_restart(steady_clock::now())) {
      plan_.OnRestarted(*rank);
      again_.insert(*rank);
      RankStart start = StartOf(*rank);
      start.arguments.insert(start.arguments.end(), options_.join_arguments.begin(),
                             options_.join_arguments.end());
      HostOf(*rank).Start(start);
    }
  }

  RankHost& HostOf(Rank rank) { return *host_of_[static_cast<size_t>(rank)]; }

  RankStart StartOf(Rank rank) const {
    RankStart start{.rank = rank,
                    .arguments = options_.arguments,
                    .environment = options_.environment,
                    .tells_progress = options_.plan.role_moves,
                    .tells_launcher = options_.hears_nodes};
    start.environment["MASTER_PORT"] = master_port_;
    start.environment[kLaunchedVariable] = "1";
    options_.hosts != nullptr ? options_.hosts->Place(&start) : PlaceHere(&start);
    return start;
  }

  void PlaceHere(RankStart* start) const {
    std::map<std::string, std::string>& environment = start->environment;
    environment["RANK"] = environment["LOCAL_RANK"] = absl::StrCat(start->rank);
    environment["WORLD_SIZE"] = environment["LOCAL_WORLD_SIZE"] = absl::StrCat(options_.plan.nodes);
    environment["MASTER_ADDR"] = "127.0.0.1";
  }

  static constexpr std::string_view kReturns = "back ", kIsIn = "in ";

  void OnCameIn(std::string_view text) {
    Rank rank = 0;
    if (absl::SimpleAtoi(std::string(text), &rank)) plan_.OnCameIn(rank);
  }

  void Wait() {
    std::vector<pollfd> polled = {{signals_->descriptor(), POLLIN, 0}};
    LaunchPlan::Time due = plan_.deadline();
    for (const RankHost* host : hosts_) {
      host->AddTo(&polled);
      due = std::min(due, host->deadline());
    }
    AwaitAny(&polled, due);
  }

  void OnSignals() {
    while (const std::optional<int> signal = signals_->Read()) {
      if (*signal == SIGCHLD || *signal == SIGPIPE) continue;
      if (!plan_.interrupted() && sinks_.on_interrupt) sinks_.on_interrupt();
      plan_.OnSignal(*signal, steady_clock::now());
    }
  }

  void Look() {
    const LaunchPlan::Time now = steady_clock::now();
    for (RankHost* host : hosts_) host->Look(now);
  }

  void Obey() {
    for (const LaunchPlan::Order& order : plan_.Due(steady_clock::now())) {
      if (!order.why.empty() && sinks_.on_notice) sinks_.on_notice(order.why);
      HostOf(order.rank).Signal(order.rank, order.signal);
    }
  }

  const LaunchOptions& options_;
  const LaunchSinks& sinks_;
  std::unique_ptr<SignalDescriptor> signals_;
  std::string master_port_;
  LaunchPlan plan_;
  std::unique_ptr<RankProcesses> own_;  // set if the options name no hosts
  std::vector<RankHost*> hosts_;
  std::vector<RankHost*> host_of_;  // by rank
  std::set<Rank> again_;            // ranks that are being started again
};

}  // namespace

absl::Status Launch(const LaunchOptions& options, const LaunchSinks& sinks) {
  return Launcher(options, sinks).Run();
}

}  // namespace grapevine

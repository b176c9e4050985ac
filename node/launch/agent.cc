#include "node/launch/agent.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "base/ids.h"
#include "base/status.h"
#include "node/launch/agent.pb.h"
#include "node/launch/message_pipe.h"
#include "node/launch/rank_host.h"
#include "node/launch/rank_processes.h"
#include "node/probe/probe_desk.h"
#include "system/child_process.h"
#include "system/file.h"
#include "system/file_descriptor.h"
#include "system/temporary_folder.h"

namespace grapevine {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using Time = RankHost::Time;

// The silence and the grace until the launcher says otherwise.
constexpr milliseconds kFirstSilence{60000};
constexpr milliseconds kFirstGrace{10000};
// The most bytes that the launcher has not taken yet. Beyond that, the lines of the nodes wait in
// their pipes.
constexpr size_t kMaxWaiting = 4 << 20;
// The number of a check's last lines that are kept.
constexpr size_t kCheckLines = 5;

// Tries whether a node could begin here, in a process of its own.
class Check {
 public:
  static absl::StatusOr<std::unique_ptr<Check>> Start(const ChildCommand& command) {
    std::unique_ptr<Check> check(new Check);
    ASSIGN_OR_RETURN(check->process_, ChildProcess::Start(command));
    return check;
  }

  void AddTo(std::vector<pollfd>* polled) {
    for (UniqueDescriptor* lines : {&process_->output(), &process_->errors()}) {
      if (lines->open()) polled->push_back({lines->get(), POLLIN, 0});
    }
  }
  // Returns the exit code once the process has ended, as a shell does if a signal ended it.
  std::optional<int> Look() {
    const std::optional<int> status = process_->Poll();
    output_.Read(process_->output());
    errors_.Read(process_->errors());
    if (!status) return std::nullopt;
    return WIFSIGNALED(*status) ? 128 + WTERMSIG(*status) : WEXITSTATUS(*status);
  }
  std::string LastLines() const { return absl::StrJoin(last_, "\n"); }

 private:
  Check() = default;

  // Keeps a line, without the name of the program, which the user has not called.
  void Keep(std::string_view line) {
    constexpr std::string_view kName = "grapevine node: ";
    if (line.starts_with(kName)) line.remove_prefix(kName.size());
    last_.emplace_back(line);
    if (last_.size() > kCheckLines) last_.pop_front();
  }

  std::unique_ptr<ChildProcess> process_;
  LineReader output_{[](std::string_view) {}};
  LineReader errors_{[this](std::string_view line) { Keep(line); }};
  std::deque<std::string> last_;
};

class Agent : public RankWatcher {
 public:
  explicit Agent(const AgentOptions& options)
      : options_(options), input_(options.input), output_(options.output) {}

  absl::Status Run() {
    ASSIGN_OR_RETURN(signals_, SignalDescriptor::Open({SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE}));
    ASSIGN_OR_RETURN(ranks_, RankProcesses::Open(options_.executable, false, this));
    for (const UniqueDescriptor* pipe : {&input_, &output_}) {
      fcntl(pipe->get(), F_SETFL, fcntl(pipe->get(), F_GETFL) | O_NONBLOCK);
    }
    writer_.Add(absl::StrCat("\n", kAgentGreeting, options_.build, "\n"));
    heard_ = steady_clock::now();
    while (!over()) {
      Wait();
      const Time now = steady_clock::now();
      OnSignals(now);
      Hear(now);
      Look(now);
      Say(now);
      EndDue(now);
    }
    return failure_;
  }

  void OnRunning(Rank rank, pid_t process) override {
    launch::Report report;
    report.mutable_running()->set_rank(rank);
    report.mutable_running()->set_process(process);
    Tell(report);
  }
  void OnNotStarted(Rank rank, const absl::Status& why) override {
    launch::Report report;
    report.mutable_not_started()->set_rank(rank);
    report.mutable_not_started()->set_why(std::string(why.message()));
    Tell(report);
  }
  void OnLine(Rank rank, bool errors, std::string_view line) override {
    launch::Report report;
    report.mutable_line()->set_rank(rank);
    report.mutable_line()->set_errors(errors);
    report.mutable_line()->set_text(std::string(line));
    Tell(report);
  }
  void OnPort(std::string_view line) override {
    launch::Report report;
    report.set_port(std::string(line));
    Tell(report);
  }
  void OnProgress(std::string_view line) override {
    launch::Report report;
    report.set_progress(std::string(line));
    Tell(report);
  }
  void OnWords(std::string_view line) override {
    launch::Report report;
    report.set_words(std::string(line));
    Tell(report);
  }
  void OnHeld(Rank rank, bool held) override {
    launch::Report report;
    report.mutable_held()->set_rank(rank);
    report.mutable_held()->set_held(held);
    Tell(report);
  }
  void OnEnded(Rank rank, int wait_status) override {
    launch::Report report;
    report.mutable_ended()->set_rank(rank);
    report.mutable_ended()->set_wait_status(wait_status);
    Tell(report);
  }
  void OnLost(Rank, std::string_view) override {}
  void OnRemark(std::string_view) override {}

 private:
  bool over() const { return ending_ && ranks_->Running().empty(); }
  // Returns whether the lines of the nodes have to wait in their pipes.
  bool full() const { return !ending_ && writer_.waiting() > kMaxWaiting; }

  void Wait() {
    std::vector<pollfd> polled = {{signals_->descriptor(), POLLIN, 0}};
    if (input_.open()) polled.push_back({input_.get(), POLLIN, 0});
    if (output_.open() && writer_.waiting() > 0) polled.push_back({output_.get(), POLLOUT, 0});
    if (!full()) ranks_->AddTo(&polled);
    if (check_) check_->AddTo(&polled);
    if (probes_) polled.push_back({probes_->descriptor(), POLLIN, 0});
    AwaitAny(&polled, ending_ ? kill_at_ : std::min(heard_ + silence_, said_ + kAgentBeat));
  }

  void OnSignals(Time now) {
    while (const std::optional<int> signal = signals_->Read()) {
      if (*signal != SIGCHLD && *signal != SIGPIPE) BeginEnd(now);
    }
  }

  void Hear(Time now) {
    reader_.Read(input_);
    while (!ending_) {
      const absl::StatusOr<std::optional<std::string>> message = reader_.Next();
      launch::Order order;
      if (!message.ok() || (*message && !order.ParseFromString(**message))) {
        failure_ = absl::InvalidArgumentError(
            "what comes over the standard input is no launcher's: `grapevine train -H` starts this "
            "command");
        return BeginEnd(now);
      }
      if (!*message) break;
      heard_ = now;
      Obey(order);
    }
    if (!input_.open() || now >= heard_ + silence_) BeginEnd(now);
  }

  void Obey(const launch::Order& order) {
    if (order.has_start()) ranks_->Start(StartOf(order.start()));
    if (order.has_signal()) ranks_->Signal(order.signal().rank(), order.signal().signal());
    if (order.has_probe()) Probe(order.probe());
    if (!order.has_prepare()) return;
    silence_ = milliseconds(order.prepare().silence_ms());
    grace_ = milliseconds(order.prepare().grace_ms());
    if (absl::Status status = Prepare(order.prepare()); !status.ok()) {
      OnPrepared(std::string(status.message()), static_cast<int>(FailureOf(status)));
    }
  }

  void Probe(const probe::Request& request) {
    if (!probes_) {
      absl::StatusOr<std::unique_ptr<ProbeDesk>> desk = ProbeDesk::Open();
      if (!desk.ok()) return;  // the launcher does not wait for an answer for ever
      probes_ = *std::move(desk);
    }
    probes_->Take(request);
    TellAnswers();
  }

  RankStart StartOf(const launch::Start& start) const {
    RankStart result{.rank = start.rank(),
                     .environment = {start.environment().begin(), start.environment().end()},
                     .tells_port = start.tells_port(),
                     .tells_progress = start.tells_progress(),
                     .tells_launcher = start.tells_launcher()};
    for (const std::string& argument : start.arguments()) {
      result.arguments.push_back(absl::StrReplaceAll(argument, {{"{config}", config_}}));
    }
    return result;
  }

  absl::Status Prepare(const launch::Prepare& prepare) {
    std::error_code error;
    fs::current_path(prepare.folder(), error);
    if (error) {
      return OutputError(absl::StrCat("has no folder ", prepare.folder(), " (", error.message(),
                                      "): make it, or start in one that all hosts have"));
    }
    ASSIGN_OR_RETURN(folder_, TemporaryFolder::Make());
    config_ = folder_->path() + "/config.textproto";
    RETURN_IF_ERROR(WriteFileAtomically(config_, prepare.config()));
    shares_run_ = !prepare.run().empty() && Holds(prepare.run() + "/run.lock", prepare.run_lock());
    const RankStart start = StartOf(prepare.check());
    if (start.arguments.empty()) {
      OnPrepared("", 0);
      return absl::OkStatus();
    }
    std::map<std::string, std::string> environment = InheritedEnvironment();
    for (const auto& [name, value] : start.environment) environment[name] = value;
    ASSIGN_OR_RETURN(check_, Check::Start({.executable = options_.executable,
                                           .arguments = start.arguments,
                                           .environment = EnvironmentLines(environment)}));
    return absl::OkStatus();
  }

  static bool Holds(const std::string& path, std::string_view text) {
    const absl::StatusOr<std::unique_ptr<MappedFile>> file = MappedFile::Open(path);
    if (!file.ok()) return false;
    const auto bytes = (*file)->bytes();
    return std::ranges::equal(bytes, text, {}, {}, [](char c) { return static_cast<uint8_t>(c); });
  }

  void OnPrepared(std::string problem, int exit_code) {
    launch::Report report;
    report.mutable_prepared()->set_shares_run(shares_run_);
    report.mutable_prepared()->set_problem(std::move(problem));
    report.mutable_prepared()->set_exit_code(exit_code);
    Tell(report);
  }

  void Look(Time now) {
    if (!full()) ranks_->Look(now);
    TellAnswers();
    if (!check_) return;
    if (const std::optional<int> code = check_->Look()) {
      OnPrepared(*code == 0 ? "" : check_->LastLines(), *code);
      check_.reset();
    }
  }

  void TellAnswers() {
    if (!probes_) return;
    for (probe::Answer& answer : probes_->Answers()) {
      launch::Report report;
      *report.mutable_probe() = std::move(answer);
      Tell(report);
    }
  }

  // Sends a report, unless the launcher is lost or has let go.
  void Tell(const launch::Report& report) {
    if (!ending_) writer_.Add(report);
  }

  void Say(Time now) {
    if (ending_) return;
    if (now >= said_ + kAgentBeat) {
      launch::Report report;
      report.mutable_beat();
      Tell(report);
      said_ = now;
    }
    if (!writer_.Write(output_).ok()) BeginEnd(now);
  }

  void BeginEnd(Time now) {
    if (std::exchange(ending_, true)) return;
    check_.reset();
    probes_.reset();
    SignalAll(SIGTERM);
    SignalAll(SIGCONT);  // a stopped node would not get SIGTERM
    kill_at_ = now + grace_;
  }

  void EndDue(Time now) {
    if (now < kill_at_) return;
    kill_at_ = RankHost::kNever;
    SignalAll(SIGKILL);
  }

  void SignalAll(int signal) {
    for (const Rank rank : ranks_->Running()) ranks_->Signal(rank, signal);
  }

  const AgentOptions options_;
  UniqueDescriptor input_, output_;
  std::unique_ptr<SignalDescriptor> signals_;
  MessageReader reader_;
  MessageWriter writer_;
  std::unique_ptr<const TemporaryFolder> folder_;
  std::string config_;
  std::unique_ptr<Check> check_;
  std::unique_ptr<ProbeDesk> probes_;
  std::unique_ptr<RankProcesses> ranks_;
  bool shares_run_ = false;
  bool ending_ = false;
  milliseconds silence_ = kFirstSilence, grace_ = kFirstGrace;
  Time heard_{}, said_{}, kill_at_ = RankHost::kNever;
  absl::Status failure_;
};

}  // namespace

absl::Status RunAgent(const AgentOptions& options) { return Agent(options).Run(); }

}  // namespace grapevine

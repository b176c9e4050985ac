#include "tests/process/grapevine_process.h"

#include <fcntl.h>
#include <glog/logging.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>
#include <thread>
#include <utility>

namespace grapevine::testing {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Between two looks at something that cannot be waited for.
constexpr milliseconds kLook{5};

std::string Contents(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

// What proc(5)'s stat, whose second field may hold anything, says of a process.
struct ProcessState {
  char state;
  pid_t session;
  int threads;

  // The first thread of one that is killed may be a zombie while others still hold its sockets.
  bool ended() const { return (state == 'Z' || state == 'X') && threads <= 1; }
};

std::optional<ProcessState> StateOf(const fs::path& process) {
  const std::string stat = Contents(process / "stat");
  const size_t name_end = stat.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(stat.substr(name_end + 1));
  ProcessState result;
  pid_t parent, group;
  fields >> result.state >> parent >> group >> result.session;
  constexpr int kBetween = 13;  // terminal to niceness
  std::string skipped;
  for (int i = 0; i < kBetween; ++i) fields >> skipped;
  fields >> result.threads;
  return fields ? std::optional(result) : std::nullopt;
}

std::vector<std::string> Environment(const std::map<std::string, std::string>& added) {
  static constexpr std::string_view kHidden[] = {"GRAPEVINE_", "RANK=",  "WORLD_SIZE=", "MASTER_",
                                                 "LOCAL_",     "SLURM_", "OMPI_",       "PMI_"};
  std::vector<std::string> result;
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text(*variable);
    bool hidden = false;
    for (const std::string_view prefix : kHidden) hidden |= text.starts_with(prefix);
    if (!hidden) result.emplace_back(text);
  }
  for (const auto& [name, value] : added) result.push_back(name + "=" + value);
  return result;
}

std::vector<char*> Pointers(std::vector<std::string>& strings) {
  std::vector<char*> pointers;
  for (std::string& string : strings) pointers.push_back(string.data());
  pointers.push_back(nullptr);
  return pointers;
}

// In the child, between fork and exec.
void LimitFileSize(size_t bytes) {
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_FSIZE, &limit);
}

}  // namespace

bool Eventually(const std::function<bool()>& condition, std::chrono::seconds patience) {
  const auto deadline = steady_clock::now() + patience;
  while (!condition()) {
    if (steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(kLook);
  }
  return true;
}

GrapevineProcess::GrapevineProcess(std::vector<std::string> arguments, const Options& options)
    : patience_(options.patience) {
  arguments.insert(arguments.begin(), options.program);
  std::vector<std::string> environment = Environment(options.environment);
  const std::vector<char*> argv = Pointers(arguments), envp = Pointers(environment);
  int ends[2];
  PCHECK(pipe2(ends, O_CLOEXEC) == 0);
  output_ = UniqueDescriptor(ends[0]);
  const UniqueDescriptor write_end(ends[1]);
  fcntl(ends[0], F_SETFL, O_NONBLOCK);
  pid_ = fork();
  PCHECK(pid_ >= 0);
  if (pid_ != 0) return;
  setsid();
  dup2(options.standard_output.empty() ? ends[1] : open(options.standard_output.c_str(), O_WRONLY),
       STDOUT_FILENO);
  dup2(ends[1], STDERR_FILENO);
  if (options.largest_file) LimitFileSize(*options.largest_file);
  execve(options.program.c_str(), argv.data(), envp.data());
  _exit(127);
}

GrapevineProcess::~GrapevineProcess() {
  Eventually([this] {
    const std::vector<pid_t> alive = Alive();
    for (const pid_t process : alive) kill(process, SIGKILL);
    return alive.empty();
  });
  Await();
}

std::string GrapevineProcess::output() {
  ReadAll();
  return text_;
}

void GrapevineProcess::ReadAll() {
  char buffer[4096];
  ssize_t got;
  while ((got = read(output_.get(), buffer, sizeof(buffer))) > 0) text_.append(buffer, got);
}

bool GrapevineProcess::AwaitOutput(const std::string& text) {
  bool ended = false;
  Eventually([&] {
    ended = Reap();
    ReadAll();
    return ended || text_.find(text) != std::string::npos;
  });
  return text_.find(text) != std::string::npos;
}

pid_t GrapevineProcess::Node(int rank) const {
  const std::string variable = "RANK=" + std::to_string(rank);
  for (const pid_t process : Alive()) {
    if (process == pid_) continue;
    std::istringstream environment(
        Contents(fs::path("/proc") / std::to_string(process) / "environ"));
    for (std::string entry; std::getline(environment, entry, '\0');) {
      if (entry == variable) return process;
    }
  }
  return 0;
}

void GrapevineProcess::Signal(int signal) const { PCHECK(kill(pid_, signal) == 0); }

bool GrapevineProcess::Reap() {
  int status;
  if (!exit_code_ && waitpid(pid_, &status, WNOHANG) == pid_) {
    exit_code_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  return exit_code_.has_value();
}

int GrapevineProcess::Await() {
  const bool ended = Eventually(
      [this] {
        ReadAll();  // a full pipe would hold it up
        return Reap();
      },
      patience_);
  ReadAll();
  if (!ended) text_ += "[still running after " + std::to_string(patience_.count()) + " s]\n";
  return exit_code_.value_or(-1);
}

std::vector<pid_t> GrapevineProcess::Alive() const {
  std::vector<pid_t> alive;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator("/proc", error)) {
    const std::string name = entry.path().filename();
    pid_t process = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), process).ptr !=
        name.data() + name.size()) {
      continue;
    }
    const std::optional<ProcessState> state = StateOf(entry.path());
    if (state && state->session == pid_ && !state->ended()) alive.push_back(process);
  }
  return alive;
}

bool GrapevineProcess::AwaitNobody() const {
  return Eventually([this] { return Alive().empty(); });
}

Ended RunGrapevine(std::vector<std::string> arguments, const GrapevineProcess::Options& options) {
  GrapevineProcess process(std::move(arguments), options);
  const int exit_code = process.Await();
  return {exit_code, process.output()};
}

}  // namespace grapevine::testing

#include "tests/process/signal_takers.h"

#include <signal.h>

#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <system_error>

#include "tests/testing/file_text.h"

namespace grapevine::testing {
namespace {

namespace fs = std::filesystem;

fs::path TasksOf(pid_t process) { return "/proc/" + std::to_string(process) + "/task"; }

// What proc(5)'s status has behind a name.
std::string Field(const std::string& status, const std::string& name) {
  std::istringstream lines(status);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(name + ":\t")) return line.substr(name.size() + 2);
  }
  return "";
}

bool Blocks(uint64_t mask) {
  for (const int signal : {SIGTERM, SIGINT, SIGHUP}) {
    if ((mask >> (signal - 1) & 1) == 0) return false;
  }
  return true;
}

// The kernel shows an empty mask of a thread whose signals are gone already, in a process of no
// threads.
bool IsGone(const std::string& status) {
  return status.empty() || Field(status, "Threads") == "0" || Field(status, "State")[0] == 'Z';
}

bool Takes(const std::string& status) {
  return !IsGone(status) && !Blocks(std::stoull(Field(status, "SigBlk"), nullptr, 16));
}

}  // namespace

std::set<std::string> SignalTakers(pid_t process, bool first) {
  std::set<std::string> takers;
  std::error_code ended;
  for (const auto& task : fs::directory_iterator(TasksOf(process), ended)) {
    const std::string thread = task.path().filename();
    if (!first && thread == std::to_string(process)) continue;
    const std::string status = FileText(task.path() / "status");
    if (Takes(status)) takers.insert(thread + " " + Field(status, "Name"));
  }
  return takers;
}

int ThreadsOf(pid_t process) {
  std::error_code ended;
  int threads = 0;
  for (const auto& task : fs::directory_iterator(TasksOf(process), ended)) {
    threads += fs::exists(task.path() / "status", ended) ? 1 : 0;
  }
  return threads;
}

}  // namespace grapevine::testing

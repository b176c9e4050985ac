#include "bench/workers.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <ctime>

namespace grapevine {
namespace {

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::_Exit(1);
}

double ProcessorSeconds() {
  timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace

void Channel::Write(const std::string& line) {
  const std::string text = line + "\n";
  if (write(descriptor_, text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    Die("write to a benchmark's process");
  }
}

std::string Channel::Read() {
  std::string line;
  char c;
  while (true) {
    if (read(descriptor_, &c, 1) != 1) Die("read from a benchmark's process");
    if (c == '\n') return line;
    line += c;
  }
}

Workers::Workers(int count, const std::function<void(int, Channel&)>& body) {
  for (int index = 0; index < count; ++index) {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) Die("socketpair");
    const pid_t process = fork();
    if (process < 0) Die("fork");
    if (process == 0) {
      close(ends[0]);
      Channel channel(ends[1]);
      body(index, channel);
      std::_Exit(0);
    }
    close(ends[1]);
    channels_.emplace_back(ends[0]);
    processes_.push_back(process);
  }
}

Workers::~Workers() {
  WriteAll("quit");
  for (const pid_t process : processes_) waitpid(process, nullptr, 0);
}

std::vector<std::string> Workers::ReadAll() {
  std::vector<std::string> lines;
  for (Channel& channel : channels_) lines.push_back(channel.Read());
  return lines;
}

void Workers::WriteAll(const std::string& line) {
  for (Channel& channel : channels_) channel.Write(line);
}

Workers::Cost Workers::Measure(const std::string& command) {
  const auto start = std::chrono::steady_clock::now();
  WriteAll(command);
  Cost cost{.seconds = 0, .cpu_seconds = 0};
  for (const std::string& answer : ReadAll()) cost.cpu_seconds += std::stod(answer);
  cost.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return cost;
}

void Serve(Channel& channel, const std::function<void(const std::string&)>& run) {
  for (std::string command = channel.Read(); command != "quit"; command = channel.Read()) {
    const double before = ProcessorSeconds();
    run(command);
    channel.Write(std::to_string(ProcessorSeconds() - before));
  }
}

void Costs::Add(const Workers::Cost& cost) {
  seconds_.push_back(cost.seconds);
  cpu_seconds_.push_back(cost.cpu_seconds);
}

double Costs::seconds() const { return Median(seconds_); }
double Costs::cpu_seconds() const { return Median(cpu_seconds_); }

}  // namespace grapevine

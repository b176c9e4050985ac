#include "bench/workers.h"

#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>

namespace grapevine {
namespace {

[[noreturn]] void Die(const char* what) {
  std::perror(what);
  std::_Exit(1);
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

double Workers::Time(const std::string& command) {
  const auto start = std::chrono::steady_clock::now();
  WriteAll(command);
  ReadAll();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double Median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

}  // namespace grapevine

#include "bench/peers/peer_process.h"

#include <glog/logging.h>
#include <sys/wait.h>
#include <unistd.h>

namespace grapevine {

PeerProcess::PeerProcess(const std::vector<std::string>& command) {
  int to[2];
  int from[2];
  PCHECK(pipe(to) == 0 && pipe(from) == 0);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_ = fork();
  PCHECK(pid_ >= 0);
  if (pid_ == 0) {
    dup2(to[0], STDIN_FILENO);
    dup2(from[1], STDOUT_FILENO);
    for (int end : {to[0], to[1], from[0], from[1]}) close(end);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  close(to[0]);
  close(from[1]);
  to_ = fdopen(to[1], "w");
  from_ = fdopen(from[0], "r");
}

PeerProcess::~PeerProcess() {
  std::fclose(to_);
  std::fclose(from_);
  waitpid(pid_, nullptr, 0);
}

std::optional<double> PeerProcess::Ask(const std::string& line) {
  std::fprintf(to_, "%s\n", line.c_str());
  std::fflush(to_);
  double answer = 0;
  if (std::fscanf(from_, "%lf", &answer) != 1) return std::nullopt;
  return answer;
}

}  // namespace grapevine

// A stand-in for a node in launch_test: the first argument says what to do.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <string>

namespace {

int Variable(const char* name) { return atoi(getenv(name)); }

void WriteTo(const char* variable, const std::string& text) {
  const int descriptor = Variable(variable);
  if (write(descriptor, text.data(), text.size()) < 0) _exit(99);
  close(descriptor);
}

void Say(const std::string& text) {
  printf("%s\n", text.c_str());
  fflush(stdout);
}

void Hold() {
  Say("held");
  raise(SIGSTOP);
}

[[noreturn]] void WaitForever() {
  Say("ready");
  while (true) pause();
}

void EndOn(int signal) { _exit(128 + signal); }

void Flood() {
  for (int line = 0; line < 20000; ++line) printf("line %d\n", line);
  printf("%s\nlast without break", std::string(40000, 'x').c_str());
  fflush(stdout);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  const int rank = Variable("RANK");
  if (rank == 0 && mode == "bad-port") WriteTo("GRAPEVINE_PORT_FD", "http\n");
  if (rank == 0 && mode == "no-port") WaitForever();
  if (mode == "held-before-port") signal(SIGTERM, &EndOn);
  if (mode == "held-before-port") Hold();
  if (rank == 0 && mode == "early-end") return 0;
  if (rank == 0 && mode != "bad-port") WriteTo("GRAPEVINE_PORT_FD", "4321\n");

  if (mode == "ok") {
    Say(std::string("rank ") + getenv("RANK") + " of " + getenv("WORLD_SIZE") + " local " +
        getenv("LOCAL_RANK") + " of " + getenv("LOCAL_WORLD_SIZE") + " at " +
        getenv("MASTER_ADDR") + ":" + getenv("MASTER_PORT") + " omp " + getenv("OMP_NUM_THREADS"));
    fprintf(stderr, "to errors\n");
    if (rank == 0) WriteTo("GRAPEVINE_PROGRESS_FD", "{\"round\":1}\n{\"round\":2}\n");
    return getenv("GRAPEVINE_BATCH") == nullptr ? 0 : 98;
  }
  if (mode == "fail" && rank == 1) return 7;
  if (mode == "two-codes" && rank == 1) return 6;
  if (mode == "two-codes" && rank == 2) return 4;
  if (mode == "kill" && rank == 1) raise(SIGKILL);
  if (mode == "kill" && rank != 0) return 6;
  if (mode == "flood") Flood();
  if (mode == "flood") return 0;
  if (mode == "stop" && rank == 1) {
    Say("ready");
    raise(SIGSTOP);
  }
  if (mode == "stop" && rank != 0) return 6;
  if (mode == "held-first" || mode == "held-last") {
    // Has trained, as the others have.
    if (rank == (mode == "held-first" ? 0 : 2)) Hold();
    return 0;
  }
  if (mode == "all-held") {
    signal(SIGTERM, &EndOn);
    Hold();
    WaitForever();
  }
  if (mode == "all-held-and-deaf") {
    signal(SIGTERM, SIG_IGN);
    Hold();
    Hold();
  }
  // Ends on SIGTERM as a node does.
  if (mode == "stop") signal(SIGTERM, &EndOn);
  if (mode == "polite" || mode == "one-deaf") {
    const auto handler = mode == "one-deaf" && rank == 1 ? SIG_IGN : &EndOn;
    signal(SIGINT, handler);
    signal(SIGTERM, handler);
  }
  if (mode == "deaf") {
    signal(SIGINT, SIG_IGN);
    signal(SIGTERM, SIG_IGN);
  }
  WaitForever();
}

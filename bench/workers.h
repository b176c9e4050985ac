// Forked processes that a benchmark measures, each connected to the benchmark by a line-based
// channel.
//
// Fork before anything starts threads: the benchmark's own process only sends commands and keeps
// the time.
#ifndef GRAPEVINE_BENCH_WORKERS_H_
#define GRAPEVINE_BENCH_WORKERS_H_

#include <sys/types.h>

#include <functional>
#include <string>
#include <vector>

namespace grapevine {

// One end of a socket pair. The death of its peer ends this process.
class Channel {
 public:
  explicit Channel(int descriptor) : descriptor_(descriptor) {}
  void Write(const std::string& line);
  std::string Read();

 private:
  int descriptor_;
};

// Answers commands with the processor time that `run` took, until "quit".
void Serve(Channel& channel, const std::function<void(const std::string& command)>& run);

class Workers {
 public:
  // Runs body(index, channel) in each of `count` processes.
  Workers(int count, const std::function<void(int index, Channel& channel)>& body);
  // Sends "quit" and waits until they have ended.
  ~Workers();

  // What each worker writes next.
  std::vector<std::string> ReadAll();
  void WriteAll(const std::string& line);
  struct Cost {
    double seconds;      // from a command to the last worker's answer
    double cpu_seconds;  // of all workers together
  };
  Cost Measure(const std::string& command);

 private:
  std::vector<Channel> channels_;
  std::vector<pid_t> processes_;
};

// Measured costs, and their medians.
class Costs {
 public:
  void Add(const Workers::Cost& cost);
  double seconds() const;
  double cpu_seconds() const;

 private:
  std::vector<double> seconds_;
  std::vector<double> cpu_seconds_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_BENCH_WORKERS_H_

// How a sweep comes along: one live line on a terminal, a few lines elsewhere.
#ifndef GRAPEVINE_CLI_TERMINAL_SWEEP_PROGRESS_H_
#define GRAPEVINE_CLI_TERMINAL_SWEEP_PROGRESS_H_

#include <chrono>
#include <cstddef>
#include <ostream>

namespace grapevine {

// Thread-compatible.
class SweepProgress {
 public:
  struct Options {
    size_t cells = 0;
    double cost = 0;    // of all of them (cell_cost.h)
    int threads = 1;    // that they are dealt to
    bool live = false;  // `out` is a terminal
  };
  SweepProgress(const Options& options, std::ostream& out) : options_(options), out_(out) {}

  // So many cells more are done; together they cost so much and took so long on their thread.
  void OnDone(size_t cells, double cost, double seconds);
  // Leaves the cursor on a line of its own.
  void Finish();

 private:
  // What is left, at the speed of what is done.
  double SecondsLeft() const;

  const Options options_;
  std::ostream& out_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  size_t done_ = 0;
  size_t shown_ = 0;
  double cost_ = 0;     // of the cells done
  double seconds_ = 0;  // of all threads
};

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_SWEEP_PROGRESS_H_

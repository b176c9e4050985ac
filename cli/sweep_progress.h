// How a sweep comes along: one live line on a terminal, a few lines elsewhere.
#ifndef GRAPEVINE_CLI_SWEEP_PROGRESS_H_
#define GRAPEVINE_CLI_SWEEP_PROGRESS_H_

#include <chrono>
#include <cstddef>
#include <ostream>

namespace grapevine {

// Thread-compatible.
class SweepProgress {
 public:
  SweepProgress(size_t cells, std::ostream& out);

  void OnDone(size_t done);
  // Leaves the cursor on a line of its own.
  void Finish();

 private:
  const size_t cells_;
  std::ostream& out_;
  const bool live_;  // `out` is a terminal
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  size_t shown_ = 0;
};

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_SWEEP_PROGRESS_H_

// How a run comes along, for people: one live bar on a terminal, a line per
// measurement anywhere else, and between them what the nodes print.
//
// Thread-compatible.
#ifndef GRAPEVINE_CLI_PROGRESS_DISPLAY_H_
#define GRAPEVINE_CLI_PROGRESS_DISPLAY_H_

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "run/metrics.h"

namespace grapevine {

// What the run has ahead of it.
struct ProgressGoal {
  int64_t rounds = 0;
  double epochs = 0;
};

// "round 604/1404  epoch 1.29/3  loss 0.1234  accuracy 97.20 %  consensus
// 0.0123  5.1k samples/s  12.3 s": what was measured, in this order.
std::string ProgressLine(const RunMetrics& metrics, const ProgressGoal& goal);

// "[####------]  43 %  round ...  ETA 25.1 s", at most `width` characters: where
// they are few, half the bar and no rounds.
std::string ProgressBar(const RunMetrics& metrics, const ProgressGoal& goal, int width);

class ProgressDisplay {
 public:
  struct Options {
    ProgressGoal goal;
    bool live = false;  // `out` is a terminal
    int width = 80;     // of the terminal
  };

  ProgressDisplay(Options options, std::ostream& out, std::ostream& errors);
  // Leaves the cursor on a line of its own.
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  // A line of RunMetrics as JSON; anything else is ignored, for it comes from
  // another process.
  void OnProgress(std::string_view json);
  // A line that a node printed: "[3] ...".
  void OnLine(int rank, bool errors, std::string_view line);

 private:
  void ClearBar();
  void DrawBar();

  const Options options_;
  std::ostream& out_;
  std::ostream& errors_;
  // The last value of each measurement: not every line has all of them.
  RunMetrics latest_;
  bool started_ = false;
};

// Whether standard output is a terminal, and how wide it is.
ProgressDisplay::Options TerminalOptions(const ProgressGoal& goal);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_PROGRESS_DISPLAY_H_

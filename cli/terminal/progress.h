// The progress of a run or a sweep. People see one live line on a terminal; elsewhere one line per
// measurement, or a few per sweep; what the nodes print stands between these. Programs read lines
// that are JSON objects.
//
// Thread-compatible.
#ifndef GRAPEVINE_CLI_TERMINAL_PROGRESS_H_
#define GRAPEVINE_CLI_TERMINAL_PROGRESS_H_

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "run/records/metrics.h"
#include "run/records/run_standing.h"

namespace grapevine {

// The length of a run.
struct ProgressGoal {
  int64_t rounds = 0;
  double epochs = 0;
};

// Returns "round 604/1404  epoch 1.29/3  loss 0.1234  accuracy 97.20 %  consensus 0.0123
// 5120 samples/s  12.3 s" in one line: the values that were measured, in this order.
std::string ProgressLine(const RunMetrics& metrics, const ProgressGoal& goal);

// Returns "[####------]  43 %  round ...  ETA 25.1 s", less than `width` characters: as many whole
// measurements as fit, of which the more important ones take precedence; on a narrow line, half the
// bar or none. A long wait of a node takes precedence over all; how far nodes are apart comes last.
std::string ProgressBar(const RunMetrics& metrics, const ProgressGoal& goal, int width,
                        const std::optional<RunStanding>& standing = std::nullopt);

// Returns the line that takes the place of lines that were dropped because nobody read them.
std::string DroppedLines(int64_t dropped, bool json);

class ProgressDisplay {
 public:
  struct Options {
    ProgressGoal goal;
    bool live = false;  // `out` is a terminal
    // Returns the width of the terminal; called before each live line.
    std::function<int()> width = [] { return 80; };
    bool json = false;  // excludes `live`
  };
  // Receives text that ends with a line break, except for the bar.
  using Sink = std::function<void(std::string text)>;

  ProgressDisplay(Options options, Sink out, Sink errors);
  // Leaves the cursor on a line of its own.
  ~ProgressDisplay();
  ProgressDisplay(const ProgressDisplay&) = delete;
  ProgressDisplay& operator=(const ProgressDisplay&) = delete;

  // Shows a line of RunMetrics as JSON or, in the bar alone, of a RunStanding. Ignores anything
  // else, since the line comes from another process.
  void OnProgress(std::string_view json);
  // Shows a line that a node printed: "[3] ...".
  void OnLine(int rank, bool errors, std::string_view line);
  // Shows an error at once.
  void OnNotice(std::string_view line);

 private:
  void OnStanding(std::string_view json);
  void Print(bool errors, std::string text);
  void ClearBar();
  void DrawBar();

  const Options options_;
  const Sink out_, errors_;
  // The last value of each measurement: not every line has all of them.
  RunMetrics latest_;
  std::optional<RunStanding> standing_;
  bool started_ = false;
};

// Returns options that say whether standard output is a terminal, and how wide it is at any time.
// `json` says whether --log-format is json.
ProgressDisplay::Options TerminalOptions(const ProgressGoal& goal, bool json);

// Returns "  ETA 25.1 s", at the pace so far. `done` and `left` are amounts of the same work; empty
// before any work is done, and when none is left.
std::string TimeLeft(double elapsed_s, double done, double left);

// Thread-compatible.
class SweepProgress {
 public:
  struct Options {
    size_t cells = 0;
    double cost = 0;    // cost of all cells (CellCost)
    int threads = 1;    // threads that share the cells
    bool live = false;  // `out` is a terminal
  };
  SweepProgress(const Options& options, std::ostream& out) : options_(options), out_(out) {}

  // Notes that `cells` more cells are done. Together they cost `cost` and took `seconds` on their
  // thread, 0 if they were done before this sweep began.
  void OnDone(size_t cells, double cost, double seconds);
  // Leaves the cursor on a line of its own.
  void Finish();

 private:
  // Returns the time for the remaining cells, at the speed of those that ran; at least one must
  // have run.
  double SecondsLeft() const;

  const Options options_;
  std::ostream& out_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
  size_t done_ = 0;
  size_t shown_ = 0;
  double cost_ = 0;      // cost of the cells done
  double ran_cost_ = 0;  // cost of the cells that this sweep ran
  double seconds_ = 0;   // time of these cells, over all threads
};

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_PROGRESS_H_

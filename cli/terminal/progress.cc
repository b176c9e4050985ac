#include "cli/terminal/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/units.h"
#include "cli/terminal/logging.h"

namespace grapevine {
namespace {

constexpr int kBarCells = 20;
constexpr char kEraseLine[] = "\r\033[K";

double Share(const RunMetrics& metrics, const ProgressGoal& goal) {
  if (goal.rounds <= 0) return 0;
  const double share = static_cast<double>(metrics.round) / static_cast<double>(goal.rounds);
  return std::clamp(share, 0.0, 1.0);
}

std::string Bar(const RunMetrics& metrics, const ProgressGoal& goal, int cells) {
  const double share = Share(metrics, goal);
  const int filled = static_cast<int>(share * cells);
  return absl::StrFormat("[%s%s] %3d %%", std::string(static_cast<size_t>(filled), '#'),
                         std::string(static_cast<size_t>(cells - filled), '-'),
                         static_cast<int>(100 * share));
}

std::string Remaining(const RunMetrics& metrics, const ProgressGoal& goal) {
  const double share = Share(metrics, goal);
  if (share <= 0 || share >= 1) return "";
  return absl::StrCat("  ETA ", HumanDuration(metrics.time_s * (1 - share) / share));
}

std::string Rounds(const RunMetrics& metrics, const ProgressGoal& goal) {
  return absl::StrFormat("round %d/%d", metrics.round, goal.rounds);
}

// Epoch, loss, accuracy: what all forms show.
std::string Position(const RunMetrics& metrics, const ProgressGoal& goal) {
  std::string text = absl::StrFormat("epoch %.2f/%.6g", metrics.epoch, goal.epochs);
  if (metrics.train_loss) absl::StrAppendFormat(&text, "  loss %.4f", *metrics.train_loss);
  if (metrics.test_accuracy) {
    absl::StrAppendFormat(&text, "  accuracy %.2f %%", 100 * *metrics.test_accuracy);
  }
  return text;
}

// Without a terminal, a line is printed after each of this many parts of the sweep.
constexpr size_t kParts = 10;

}  // namespace

std::string ProgressLine(const RunMetrics& metrics, const ProgressGoal& goal) {
  std::string text = absl::StrCat(Rounds(metrics, goal), "  ", Position(metrics, goal));
  if (metrics.consensus_distance) {
    absl::StrAppendFormat(&text, "  consensus %.3g", *metrics.consensus_distance);
  }
  if (metrics.samples_per_s) {
    absl::StrAppendFormat(&text, "  %.0f samples/s", *metrics.samples_per_s);
  }
  absl::StrAppend(&text, "  ", HumanDuration(metrics.time_s));
  return text;
}

std::string ProgressBar(const RunMetrics& metrics, const ProgressGoal& goal, int width) {
  // A full last column would wrap.
  const size_t room = static_cast<size_t>(std::max(width - 1, 0));
  std::string text = Bar(metrics, goal, kBarCells) + "  " + Rounds(metrics, goal) + "  " +
                     Position(metrics, goal) + Remaining(metrics, goal);
  if (text.size() > room) {
    text = Bar(metrics, goal, kBarCells / 2) + "  " + Position(metrics, goal) +
           Remaining(metrics, goal);
  }
  text.resize(std::min(text.size(), room));
  return text;
}

std::string DroppedLines(int64_t dropped, bool json) {
  const std::string text = absl::StrCat("[", dropped, dropped == 1 ? " line" : " lines",
                                        " of output dropped here: nobody read it]");
  return (json ? JsonLine("warning", text) : text) + "\n";
}

ProgressDisplay::ProgressDisplay(Options options, Sink out, Sink errors)
    : options_(options), out_(std::move(out)), errors_(std::move(errors)) {}

ProgressDisplay::~ProgressDisplay() {
  if (options_.live && started_) out_("\n");
}

void ProgressDisplay::OnProgress(std::string_view json) {
  const absl::StatusOr<RunMetrics> metrics = RunMetricsFromJson(json);
  if (!metrics.ok()) return;
  started_ = true;
  Remember(*metrics, &latest_);
  if (options_.live) {
    DrawBar();
  } else {
    out_((options_.json ? JsonLine(*metrics) : ProgressLine(*metrics, options_.goal)) + "\n");
  }
}

void ProgressDisplay::OnLine(int rank, bool errors, std::string_view line) {
  Print(errors, options_.json ? JsonLine(errors ? "error" : "info", line, rank)
                              : absl::StrCat("[", rank, "] ", std::string(line)));
}

void ProgressDisplay::OnNotice(std::string_view line) {
  Print(/*errors=*/true, options_.json ? JsonLine("warning", line) : std::string(line));
}

void ProgressDisplay::Print(bool errors, std::string text) {
  ClearBar();
  (errors ? errors_ : out_)(std::move(text) + "\n");
  if (options_.live && started_) DrawBar();
}

void ProgressDisplay::ClearBar() {
  if (options_.live && started_) out_(kEraseLine);
}

void ProgressDisplay::DrawBar() {
  out_(kEraseLine + ProgressBar(latest_, options_.goal, options_.width));
}

ProgressDisplay::Options TerminalOptions(const ProgressGoal& goal, bool json) {
  ProgressDisplay::Options options{
      .goal = goal, .live = !json && isatty(STDOUT_FILENO) == 1, .json = json};
  winsize size{};
  if (options.live && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) {
    options.width = size.ws_col;
  }
  return options;
}

void SweepProgress::OnDone(size_t cells, double cost, double seconds) {
  done_ += cells;
  cost_ += cost;
  if (seconds > 0) ran_cost_ += cost;
  seconds_ += seconds;
  const size_t all = options_.cells;
  const bool due = done_ == all || done_ * kParts / all > shown_ * kParts / all;
  if (!options_.live && !due) return;
  shown_ = done_;
  const double elapsed = Seconds(std::chrono::steady_clock::now() - begin_);
  out_ << (options_.live ? "\r\033[K" : "")
       << absl::StrFormat("%d/%d cells  %s", done_, all, HumanDuration(elapsed));
  if (ran_cost_ > 0 && done_ < all) out_ << "  ETA " << HumanDuration(SecondsLeft());
  if (!options_.live) out_ << "\n";
  out_.flush();
}

double SweepProgress::SecondsLeft() const {
  const double left = std::max(0.0, options_.cost - cost_);
  return seconds_ / ran_cost_ * left / options_.threads;
}

void SweepProgress::Finish() {
  if (options_.live) out_ << std::endl;
}

}  // namespace grapevine

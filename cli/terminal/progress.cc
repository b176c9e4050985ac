#include "cli/terminal/progress.h"

#include <unistd.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/units.h"
#include "cli/terminal/logging.h"
#include "cli/terminal/standing_text.h"
#include "cli/terminal/status_line.h"

namespace grapevine {
namespace {

constexpr int kBarCells = 20;
// A line has a bar only if it leaves this much room for what was measured.
constexpr size_t kBesideBar = 20;

double Share(const RunMetrics& metrics, const ProgressGoal& goal) {
  if (goal.rounds <= 0) return 0;
  const double share = static_cast<double>(metrics.round) / static_cast<double>(goal.rounds);
  return std::clamp(share, 0.0, 1.0);
}

std::string Bar(const RunMetrics& metrics, const ProgressGoal& goal, int cells) {
  const double share = Share(metrics, goal);
  const int filled = static_cast<int>(share * cells);
  return absl::StrFormat("[%s%s] ", std::string(static_cast<size_t>(filled), '#'),
                         std::string(static_cast<size_t>(cells - filled), '-'));
}

// One of the texts of a line. If a line has no room for all, the texts of the lowest ranks stay.
struct Part {
  int rank;
  std::string text;
};

// Returns what was measured, in the order of a line.
std::vector<Part> Measured(const RunMetrics& metrics, const ProgressGoal& goal) {
  std::vector<Part> parts = {
      {5, absl::StrFormat("round %d/%d", metrics.round, goal.rounds)},
      {3, absl::StrFormat("epoch %.2f/%.6g", metrics.epoch, goal.epochs)},
  };
  if (metrics.train_loss) parts.push_back({1, absl::StrFormat("loss %.4f", *metrics.train_loss)});
  if (metrics.test_accuracy) {
    parts.push_back({2, absl::StrFormat("accuracy %.2f %%", 100 * *metrics.test_accuracy)});
  }
  if (metrics.consensus_distance) {
    parts.push_back({7, absl::StrFormat("consensus %.3g", *metrics.consensus_distance)});
  }
  if (metrics.samples_per_s) {
    parts.push_back({6, absl::StrFormat("%.0f samples/s", *metrics.samples_per_s)});
  }
  if (metrics.living) parts.push_back({0, absl::StrFormat("%d nodes left", *metrics.living)});
  return parts;
}

constexpr char kBetween[] = "  ";
constexpr size_t kBetweenSize = sizeof(kBetween) - 1;

// Adds where the nodes are: a long wait precedes all else, how far the nodes are apart follows. A
// text that would not fit into `room` characters by itself is left out, so that it takes no other
// text's place.
void AddStanding(const RunStanding& standing, const RunMetrics& metrics, size_t room,
                 std::vector<Part>* parts) {
  const double round_s =
      metrics.round > 0 ? metrics.time_s / static_cast<double>(metrics.round) : 0;
  for (const Part& part :
       {Part{0, WaitText(standing, round_s)}, Part{8, SpreadText(standing, round_s)}}) {
    const bool fits = kBetweenSize + part.text.size() <= room;
    if (!part.text.empty() && fits) parts->push_back(part);
  }
}

std::string Joined(const std::vector<Part>& parts) {
  std::string text;
  for (const Part& part : parts) {
    absl::StrAppend(&text, text.empty() ? "" : kBetween, part.text);
  }
  return text;
}

// Returns as many of the parts as fit into `room` characters, each with what goes between.
std::vector<Part> Fitting(std::vector<Part> parts, size_t room) {
  size_t size = 0;
  for (const Part& part : parts) size += kBetweenSize + part.text.size();
  while (size > room && !parts.empty()) {
    const auto last = std::ranges::max_element(parts, {}, &Part::rank);
    size -= kBetweenSize + last->text.size();
    parts.erase(last);
  }
  return parts;
}

// Without a terminal, a line is printed after each of this many parts of the sweep.
constexpr size_t kParts = 10;

}  // namespace

std::string ProgressLine(const RunMetrics& metrics, const ProgressGoal& goal) {
  std::vector<Part> parts = Measured(metrics, goal);
  parts.push_back({0, HumanDuration(metrics.time_s)});
  return Joined(parts);
}

std::string ProgressBar(const RunMetrics& metrics, const ProgressGoal& goal, int width,
                        const std::optional<RunStanding>& standing) {
  // A full last column would wrap.
  const size_t room = static_cast<size_t>(std::max(width - 1, 0));
  const double share = Share(metrics, goal);
  const std::string percent = absl::StrFormat("%3d %%", static_cast<int>(100 * share));
  const std::string eta = TimeLeft(metrics.time_s, share, 1 - share);
  const size_t fixed = percent.size() + eta.size();
  if (fixed > room) return FitToWidth(percent, width);
  const std::string half = Bar(metrics, goal, kBarCells / 2);
  const bool has_half = fixed + half.size() + kBesideBar <= room;
  const size_t left = room - fixed - (has_half ? half.size() : 0);
  std::vector<Part> all = Measured(metrics, goal);
  if (standing) AddStanding(*standing, metrics, left, &all);
  const std::vector<Part> parts = Fitting(std::move(all), left);
  std::string middle = percent;
  for (const Part& part : parts) absl::StrAppend(&middle, kBetween, part.text);
  middle += eta;
  const std::string whole = Bar(metrics, goal, kBarCells);
  const bool has_whole = whole.size() + middle.size() <= room;
  return absl::StrCat(has_whole ? whole : has_half ? half : "", middle);
}

std::string TimeLeft(double elapsed_s, double done, double left) {
  if (!(elapsed_s > 0) || !(done > 0) || !(left > 0)) return "";
  return absl::StrCat(kBetween, "ETA ", HumanDuration(elapsed_s * left / done));
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
  if (!metrics.ok()) return OnStanding(json);
  started_ = true;
  Remember(*metrics, &latest_);
  // All nodes have completed that round meanwhile: the wait is over.
  if (standing_ && standing_->wait && standing_->wait->round < metrics->round) {
    standing_->wait.reset();
  }
  if (options_.live) {
    DrawBar();
  } else {
    out_((options_.json ? JsonLine(*metrics) : ProgressLine(*metrics, options_.goal)) + "\n");
  }
}

void ProgressDisplay::OnStanding(std::string_view json) {
  if (!options_.live) return;
  const absl::StatusOr<RunStanding> standing = RunStandingFromJson(json);
  if (!standing.ok()) return;
  started_ = true;
  standing_ = *standing;
  DrawBar();
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
  out_(kEraseLine + ProgressBar(latest_, options_.goal, options_.width(), standing_));
}

ProgressDisplay::Options TerminalOptions(const ProgressGoal& goal, bool json) {
  ProgressDisplay::Options options{
      .goal = goal, .live = !json && isatty(STDOUT_FILENO) == 1, .json = json};
  if (options.live) options.width = [] { return TerminalWidth(STDOUT_FILENO); };
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
  out_ << (options_.live ? kEraseLine : "")
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

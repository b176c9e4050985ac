#include "sim/network/congestion_window.h"

#include <algorithm>
#include <cstdlib>

namespace grapevine {
namespace {

constexpr Nanoseconds kMillisecond = 1'000'000;

// Below this window, slow start goes on.
constexpr int64_t kHyStartWindow = 16;
constexpr Nanoseconds kTrainGap = 2 * kMillisecond;
constexpr int kRoundTripSamples = 8;
constexpr Nanoseconds kLeastRise = 4 * kMillisecond;
constexpr Nanoseconds kMostRise = 16 * kMillisecond;
// Segments of four bursts of the largest size, which may be under way in a train.
constexpr double kTrainSegments = 4 * 65536.0 / 1448;

// CUBIC's constant C = 0.4, times 1024; its time is in 1/1024 s.
constexpr int64_t kCubicScale = 410;
constexpr int kCubicShift = 10;
// The share of the window that is left after a loss, in 1/1024.
constexpr int64_t kBeta = 717;
constexpr int64_t kBetaScale = 1024;
// Reno's growth with CUBIC's share, in eighths of a window.
constexpr int64_t kRenoEighths = 8 * (kBetaScale + kBeta) / 3 / (kBetaScale - kBeta);
// Before the first loss, at least 5 % a round trip.
constexpr int64_t kSlowestAtFirst = 20;
constexpr int64_t kFastest = 2;

constexpr int64_t kLeastBurst = 2;
constexpr int64_t kMostBurst = 44;  // 64 KiB
constexpr double kBurstTime = 1e9 / 1024;

// Returns the greatest integer whose cube is at most `value`.
int64_t CubeRoot(int64_t value) {
  int64_t root = 0;
  for (int64_t bit = int64_t{1} << 20; bit > 0; bit >>= 1) {
    const int64_t next = root + bit;
    if (next * next * next <= value) root = next;
  }
  return root;
}

}  // namespace

void HyStart::BeginRound(int64_t end, Nanoseconds now) {
  end_ = end;
  begun_ = last_ = now;
  least_ = std::numeric_limits<Nanoseconds>::max();
  samples_ = 0;
}

bool HyStart::OnAck(int64_t acked, int64_t sent, int64_t window, Nanoseconds round_trip,
                    Nanoseconds shortest, double rate, Nanoseconds now) {
  if (found_) return false;
  if (acked > end_) BeginRound(sent, now);
  if (window < kHyStartWindow) return false;
  if (now - last_ <= kTrainGap) {
    last_ = now;
    const auto burst = std::min<Nanoseconds>(
        kMillisecond, static_cast<Nanoseconds>(kTrainSegments / std::max(rate, 1e-9)));
    found_ = now - begun_ > (shortest + burst) / 2;
  }
  least_ = std::min(least_, round_trip);
  if (samples_ < kRoundTripSamples) {
    ++samples_;
  } else if (least_ > shortest + std::clamp(shortest / 8, kLeastRise, kMostRise)) {
    found_ = true;
  }
  return found_;
}

void Cubic::Begin(int64_t window, int64_t acked, Nanoseconds now) {
  begun_ = true;
  epoch_ = now;
  acked_ = acked;
  reno_ = window;
  origin_ = std::max(window, largest_);
  k_ = CubeRoot((int64_t{1} << (4 * kCubicShift)) / kCubicScale * (origin_ - window));
}

int64_t Cubic::Target(Nanoseconds shortest, Nanoseconds now) const {
  const int64_t time = (now - epoch_ + shortest) / kMillisecond * 1024 / 1000;
  // A window of 0.4 t^3 segments fills any network long before t is 64 s.
  const int64_t offset = std::min<int64_t>(std::llabs(time - k_), 1 << 16);
  const int64_t delta = (kCubicScale * offset * offset * offset) >> (4 * kCubicShift);
  return time < k_ ? origin_ - delta : origin_ + delta;
}

int64_t Cubic::SegmentsPerGrowth(int64_t window, int64_t acked, Nanoseconds shortest,
                                 Nanoseconds now) {
  acked_ += acked;
  if (!begun_) Begin(window, acked, now);
  const int64_t target = Target(shortest, now);
  growth_ = target > window ? window / (target - window) : 100 * window;
  if (largest_ == 0) growth_ = std::min(growth_, kSlowestAtFirst);
  const int64_t step = std::max<int64_t>(1, window * kRenoEighths / 8);
  reno_ += acked_ / step;
  acked_ %= step;
  if (reno_ > window) growth_ = std::min(growth_, window / (reno_ - window));
  return growth_ = std::max(growth_, kFastest);
}

void Cubic::Skip(Nanoseconds pause) {
  if (begun_) epoch_ += pause;
}

int64_t Cubic::OnLoss(int64_t window) {
  begun_ = false;
  largest_ = window < largest_ ? window * (kBetaScale + kBeta) / (2 * kBetaScale) : window;
  return std::max<int64_t>(2, window * kBeta / kBetaScale);
}

double CongestionWindow::rate() const {
  if (smoothed_ == 0) return 0;
  const double factor = window_ < threshold_ / 2 ? 2 : 1.2;
  return factor * static_cast<double>(window_) / static_cast<double>(smoothed_);
}

int64_t CongestionWindow::burst() const {
  return std::clamp(static_cast<int64_t>(rate() * kBurstTime), kLeastBurst, kMostBurst);
}

int64_t CongestionWindow::send_buffer() const {
  // What Linux books for a full segment, with headers and administration. The buffer is for twice
  // the window.
  constexpr int64_t kBooked = 4352;
  constexpr int64_t kMost = int64_t{4} << 20;
  return std::min(2 * std::max(window_, kInitial) * kBooked, kMost);
}

int64_t CongestionWindow::queued() const {
  return std::max(2 * burst(), static_cast<int64_t>(rate() * kBurstTime));
}

bool CongestionWindow::limits() const {
  return limited_ || (in_slow_start() && window_ < 2 * most_in_flight_);
}

int64_t CongestionWindow::ThresholdNow() const { return std::max(threshold_, window_ * 3 / 4); }

void CongestionWindow::Resume(Nanoseconds now) {
  const Nanoseconds pause = now - last_sent_;
  if (sent_ == 0) {
    hystart_.BeginRound(0, now);
  } else if (pause > timeout()) {
    threshold_ = ThresholdNow();
    const int64_t least = std::min(kInitial, window_);
    for (Nanoseconds left = pause - timeout(); left > 0 && window_ > least; left -= timeout()) {
      window_ /= 2;
    }
    window_ = std::max(window_, least);
    used_ = 0;
    used_since_ = now;
  }
  cubic_.Skip(pause);
}

void CongestionWindow::OnSent(int64_t segments, int64_t in_flight, Nanoseconds now) {
  sent_ += segments;
  if (segments > 0) last_sent_ = now;
  const bool limited = in_flight >= window_;
  if (segments == 0 && !limited) return;
  if (acked_ >= use_ends_ || limited || (!limited_ && in_flight > most_in_flight_)) {
    limited_ = limited;
    most_in_flight_ = in_flight;
    use_ends_ = sent_;
  }
  if (limits()) {
    used_ = 0;
    used_since_ = now;
    return;
  }
  used_ = std::max(used_, in_flight);
  if (now - used_since_ >= timeout()) ShrinkToUse(now);
}

void CongestionWindow::ShrinkToUse(Nanoseconds now) {
  const int64_t used = std::max(used_, kInitial);
  if (used < window_) {
    threshold_ = ThresholdNow();
    window_ = (window_ + used) / 2;
  }
  used_ = 0;
  used_since_ = now;
}

void CongestionWindow::OnAck(int64_t segments, Nanoseconds round_trip, Nanoseconds now) {
  acked_ += segments;
  smoothed_ = smoothed_ == 0 ? round_trip : smoothed_ + (round_trip - smoothed_) / 8;
  shortest_ = std::min(shortest_, round_trip);
  if (control_ == CongestionControl::kCubic && in_slow_start() &&
      hystart_.OnAck(acked_, sent_, window_, round_trip, shortest_, rate(), now)) {
    threshold_ = window_;
  }
  if (limits()) Grow(segments, now);
}

void CongestionWindow::Grow(int64_t segments, Nanoseconds now) {
  if (in_slow_start()) {
    const int64_t grown = std::min(window_ + segments, threshold_);
    segments -= grown - window_;
    window_ = grown;
    if (segments == 0) return;
  }
  const int64_t per_growth = control_ == CongestionControl::kReno
                                 ? window_
                                 : cubic_.SegmentsPerGrowth(window_, segments, shortest_, now);
  if (credit_ >= per_growth) {
    credit_ = 0;
    ++window_;
  }
  credit_ += segments;
  window_ += credit_ / per_growth;
  credit_ %= per_growth;
}

void CongestionWindow::OnLoss() {
  if (acked_ < recovered_) return;
  recovered_ = sent_;
  threshold_ = control_ == CongestionControl::kReno ? std::max<int64_t>(2, window_ / 2)
                                                    : cubic_.OnLoss(window_);
  window_ = threshold_;
}

}  // namespace grapevine

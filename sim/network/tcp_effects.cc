#include "sim/network/tcp_effects.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "random/keyed_random.h"
#include "random/portable_math.h"
#include "run/config/config_field.h"

namespace grapevine {
namespace {

constexpr double kUnlimited = std::numeric_limits<double>::infinity();
// A binomial with at least this many expected successes is drawn as a normal.
constexpr double kManySuccesses = 30;

Nanoseconds Timeout(Nanoseconds round_trip) { return round_trip + TcpEffects::kLeastTimeout; }

// Draws how many of `n` independent trials succeed, each with probability p <= 1/2.
int64_t Binomial(KeyedRandom& random, int64_t n, double p) {
  const double trials = static_cast<double>(n);
  if (trials * p > kManySuccesses) {
    const double draw = trials * p + std::sqrt(trials * p * (1 - p)) * random.Normal();
    return static_cast<int64_t>(std::clamp(draw + 0.5, 0.0, trials));
  }
  if (n == 0 || p == 0) return 0;
  // From success to success: the failures between two are geometric.
  const double log_failure = PortableLog(1 - p);
  int64_t successes = 0;
  for (double position = 0;; ++successes) {
    position += 1 + std::floor(PortableLog(1 - random.Unit()) / log_failure);
    if (position > trials) return successes;
  }
}

// Returns a random stream for one message.
KeyedRandom StreamOf(uint64_t seed, const Transfer& transfer) {
  const uint64_t edge = Mix(seed, Purpose::kMessageEffect, static_cast<uint64_t>(transfer.from),
                            static_cast<uint64_t>(transfer.to), 0);
  return KeyedRandom(edge, Purpose::kMessageEffect, static_cast<uint64_t>(transfer.tag.index),
                     static_cast<uint64_t>(transfer.tag.channel) << 32 | transfer.tag.step);
}

}  // namespace

TcpEffects::TcpEffects(const TcpOptions& options) : options_(options) {}

MessageEffect TcpEffects::Of(const Transfer& transfer) const {
  MessageEffect effect{.bytes = static_cast<double>(transfer.bytes)};
  KeyedRandom random = StreamOf(options_.seed, transfer);
  if (options_.jitter > 0) {
    effect.delay +=
        std::llround(-static_cast<double>(options_.jitter) * PortableLog(1 - random.Unit()));
  }
  const Nanoseconds round_trip = 2 * transfer.latency;
  effect.max_rate = MathisRate(options_.loss, round_trip);
  const double rate = std::min(options_.bandwidth, effect.max_rate);
  if (options_.loss > 0) {
    const int64_t packets = std::max<int64_t>(1, (transfer.bytes + kSegment - 1) / kSegment);
    const Repair repair = Retransmissions(random, packets, rate, round_trip);
    effect.bytes += static_cast<double>(repair.packets * kSegment);
    effect.delay += repair.delay;
  }
  if (options_.slow_start && transfer.idle > Timeout(round_trip)) {
    effect.delay += SlowStartDelay(transfer.bytes, rate, round_trip);
  }
  return effect;
}

TcpEffects::Repair TcpEffects::Retransmissions(KeyedRandom& random, int64_t packets, double rate,
                                               Nanoseconds round_trip) const {
  const double p = options_.loss;
  const auto window = static_cast<int64_t>(
      std::ceil(rate * static_cast<double>(round_trip) / static_cast<double>(kSegment)));
  const int64_t last = std::clamp<int64_t>(window, 1, packets);
  Repair repair;
  // Losses before the last window.
  for (int64_t lost = Binomial(random, packets - last, p); lost > 0;
       lost = Binomial(random, lost, p)) {
    repair.packets += lost;
  }
  // Losses in the last window, and of the very last packet, after which nothing shows that it was
  // lost.
  int64_t lost = Binomial(random, last - 1, p);
  bool tail = random.Unit() < p;
  while (lost > 0 || tail) {
    repair.packets += lost + tail;
    repair.delay += tail ? Timeout(round_trip) : round_trip;
    lost = Binomial(random, lost, p);
    tail = tail && random.Unit() < p;
  }
  return repair;
}

Nanoseconds TcpEffects::SlowStartDelay(int64_t bytes, double rate, Nanoseconds round_trip) {
  const double trip = static_cast<double>(round_trip);
  double window = static_cast<double>(kInitialWindow * kSegment);
  double left = static_cast<double>(bytes);
  double delay = 0;
  // A window that does not fill a round trip makes the sender wait, unless it was the last one.
  while (window < rate * trip && left > window) {
    delay += trip - window / rate;
    left -= window;
    window *= 2;
  }
  return std::llround(delay);
}

double TcpEffects::MathisRate(double loss, Nanoseconds round_trip) {
  if (loss <= 0 || round_trip <= 0) return kUnlimited;
  return static_cast<double>(kSegment) / static_cast<double>(round_trip) * std::sqrt(1.5 / loss);
}

absl::StatusOr<std::unique_ptr<const MessageEffects>> MakeMessageEffects(const Config& config,
                                                                         double bandwidth) {
  if (config.loss() > TcpEffects::kMaxLoss) {
    return UsageError(absl::StrCat("--loss=", config.loss(), ": at most ", TcpEffects::kMaxLoss,
                                   ", where half of all packets are lost"));
  }
  const TcpOptions options{.seed = config.seed(),
                           .jitter = ResolvedDuration(config.jitter()).count(),
                           .loss = config.loss(),
                           .slow_start = config.slow_start(),
                           .bandwidth = bandwidth};
  if (options.jitter == 0 && options.loss == 0 && !options.slow_start) return nullptr;
  return std::make_unique<const TcpEffects>(options);
}

}  // namespace grapevine

#include "base/units.h"

#include <cmath>
#include <limits>
#include <optional>
#include <span>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"

namespace grapevine {
namespace {

struct Unit {
  std::string_view name;
  int64_t factor;
};

// A quantity's name, examples of it for error messages, and its units in ascending order.
struct Quantity {
  std::string_view what;
  std::string_view examples;
  std::span<const Unit> units;
};

constexpr int64_t kKilo = 1000, kMega = kKilo * 1000, kGiga = kMega * 1000, kTera = kGiga * 1000;

constexpr Unit kDecimalSizes[] = {
    {"B", 1}, {"kB", kKilo}, {"MB", kMega}, {"GB", kGiga}, {"TB", kTera}};
constexpr Unit kBinarySizes[] = {{"KiB", int64_t{1} << 10},
                                 {"MiB", int64_t{1} << 20},
                                 {"GiB", int64_t{1} << 30},
                                 {"TiB", int64_t{1} << 40}};
constexpr Unit kSizes[] = {
    {"", 1},
    {"B", 1},
    {"kB", kKilo},
    {"KB", kKilo},
    {"MB", kMega},
    {"GB", kGiga},
    {"TB", kTera},
    {"KiB", int64_t{1} << 10},
    {"MiB", int64_t{1} << 20},
    {"GiB", int64_t{1} << 30},
    {"TiB", int64_t{1} << 40},
};
constexpr Unit kBandwidths[] = {
    {"bit", 1}, {"kbit", kKilo}, {"Mbit", kMega}, {"Gbit", kGiga}, {"Tbit", kTera}};
constexpr Unit kFractionalDurations[] = {{"ns", 1}, {"us", kKilo}, {"ms", kMega}, {"s", kGiga}};
constexpr Unit kWholeDurations[] = {{"min", 60 * kGiga}, {"h", 3600 * kGiga}};
constexpr Unit kDurations[] = {{"ns", 1},    {"us", kKilo},       {"ms", kMega},
                               {"s", kGiga}, {"min", 60 * kGiga}, {"h", 3600 * kGiga}};

constexpr Quantity kSize{"size", "4096, 1.08MB, 64MiB", kSizes};
constexpr Quantity kBandwidth{"bandwidth", "100Mbit, 1Gbit, 2.5Gbit/s", kBandwidths};
constexpr Quantity kDuration{"duration", "500us, 5ms, 30s, 15min, 1h", kDurations};

absl::Status Refuse(std::string_view text, const Quantity& quantity, std::string_view why) {
  return UsageError(absl::StrCat("\"", std::string(text), "\" is not a ",
                                 std::string(quantity.what), ": ", std::string(why),
                                 "; write for example ", std::string(quantity.examples)));
}

// The number digits / scale, where `scale` is a power of ten.
struct Decimal {
  __int128 digits = 0;
  __int128 scale = 1;
};

// Takes the number at the front of `text`. Returns nullopt if there is none or if it
// has more digits than an int64_t could need.
std::optional<Decimal> TakeDecimal(std::string_view& text) {
  constexpr size_t kMaxDigits = 24;
  Decimal result;
  bool fraction = false;
  size_t digits = 0;
  size_t end = 0;
  for (; end < text.size(); ++end) {
    const char c = text[end];
    if (c == '.' && !fraction) {
      fraction = true;
    } else if (c >= '0' && c <= '9' && ++digits <= kMaxDigits) {
      result.digits = result.digits * 10 + (c - '0');
      if (fraction) result.scale *= 10;
    } else {
      break;
    }
  }
  if (digits == 0 || digits > kMaxDigits || text[0] == '.' || text[end - 1] == '.') {
    return std::nullopt;
  }
  text.remove_prefix(end);
  return result;
}

absl::StatusOr<int64_t> Parse(std::string_view text, const Quantity& quantity) {
  std::string_view rest = text;
  if (rest.starts_with('-')) return Refuse(text, quantity, "it is negative");
  const std::optional<Decimal> number = TakeDecimal(rest);
  if (!number) return Refuse(text, quantity, "it does not begin with a decimal number");
  if (rest.empty() && number->digits == 0) return 0;
  for (const Unit& unit : quantity.units) {
    if (rest != unit.name) continue;
    // 24 digits and a factor below 2^42 could overflow even 128 bits.
    constexpr __int128 kMax = std::numeric_limits<int64_t>::max();
    if (number->digits / number->scale > kMax / unit.factor) {
      return Refuse(text, quantity, "it is too large");
    }
    // Here digits <= (kMax / factor + 1) * scale, and scale <= 10^24 < 2^80.
    const __int128 whole = number->digits / number->scale;
    const __int128 fraction = number->digits % number->scale;
    const long double part = static_cast<long double>(fraction) /
                             static_cast<long double>(number->scale) *
                             static_cast<long double>(unit.factor);
    const __int128 value = whole * unit.factor + std::llroundl(part);
    if (value > kMax) return Refuse(text, quantity, "it is too large");
    if (value == 0 && number->digits != 0) {
      return Refuse(text, quantity, "it is smaller than the smallest unit");
    }
    return static_cast<int64_t>(value);
  }
  return Refuse(text, quantity,
                rest.empty() ? std::string("it has no unit")
                             : absl::StrCat("unknown unit \"", std::string(rest), "\""));
}

// Returns the value in `unit`, or nothing if it is less than one unit or needs more than `decimals`
// decimals.
std::optional<std::string> InUnit(int64_t value, const Unit& unit, int decimals) {
  const int64_t whole = value / unit.factor;
  int64_t rest = value % unit.factor;
  if (whole == 0) return std::nullopt;
  std::string text = absl::StrCat(whole);
  if (rest != 0) text += '.';
  for (; rest != 0; --decimals) {
    if (decimals == 0) return std::nullopt;
    const __int128 shifted = static_cast<__int128>(rest) * 10;
    text += static_cast<char>('0' + static_cast<int>(shifted / unit.factor));
    rest = static_cast<int64_t>(shifted % unit.factor);
  }
  return absl::StrCat(text, std::string(unit.name));
}

std::optional<std::string> InLargestUnit(int64_t value, std::span<const Unit> units, int decimals) {
  for (size_t i = units.size(); i-- > 0;) {
    if (auto text = InUnit(value, units[i], decimals)) return text;
  }
  return std::nullopt;
}

std::string ThreeDigits(double value) {
  if (value >= 100) return absl::StrFormat("%.0f", value);
  if (value >= 10) return absl::StrFormat("%.1f", value);
  return absl::StrFormat("%.2f", value);
}

std::string InReadableUnit(double value, std::span<const Unit> units) {
  size_t chosen = 0;
  // 999.5 would be printed as "1000".
  while (chosen + 1 < units.size() && value >= 0.9995 * units[chosen + 1].factor) ++chosen;
  const Unit& unit = units[chosen];
  const double scaled = value / static_cast<double>(unit.factor);
  const bool whole = chosen == 0 || scaled == 0;
  return absl::StrCat(whole ? absl::StrFormat("%.0f", scaled) : ThreeDigits(scaled), " ",
                      std::string(unit.name));
}

}  // namespace

absl::StatusOr<int64_t> ParseSize(std::string_view text) { return Parse(text, kSize); }

absl::StatusOr<int64_t> ParseBandwidth(std::string_view text) {
  std::string_view rate = text;
  for (std::string_view suffix : {"bit/s", "bitps"}) {
    if (rate.ends_with(suffix)) rate.remove_suffix(suffix.size() - 3);
  }
  return Parse(rate, kBandwidth);
}

absl::StatusOr<std::chrono::nanoseconds> ParseDuration(std::string_view text) {
  ASSIGN_OR_RETURN(const int64_t value, Parse(text, kDuration));
  return std::chrono::nanoseconds(value);
}

absl::StatusOr<double> ParseFraction(std::string_view text) {
  const bool percent = text.ends_with('%');
  double value = 0;
  const bool number =
      absl::SimpleAtod(std::string(percent ? text.substr(0, text.size() - 1) : text), &value);
  if (percent) value /= 100;
  if (!number || !(value >= 0 && value <= 1)) {
    return UsageError(absl::StrCat("\"", std::string(text),
                                   "\" is not a fraction between 0 and 1; write for example ",
                                   "0.985 or 98.5%"));
  }
  return value;
}

std::string FormatSize(int64_t bytes) {
  // Round binary sizes read better in their own units: 64MiB.
  if (bytes % 1000 != 0) {
    if (auto text = InLargestUnit(bytes, kBinarySizes, 0)) return *text;
  }
  return InLargestUnit(bytes, kDecimalSizes, 3).value_or("0B");
}

std::string FormatBandwidth(int64_t bits_per_second) {
  return InLargestUnit(bits_per_second, kBandwidths, 3).value_or("0bit");
}

std::string FormatDuration(std::chrono::nanoseconds duration) {
  if (auto text = InLargestUnit(duration.count(), kWholeDurations, 0)) return *text;
  return InLargestUnit(duration.count(), kFractionalDurations, 3).value_or("0s");
}

std::string HumanSize(double bytes) { return InReadableUnit(bytes, kDecimalSizes); }

std::string HumanDuration(double seconds) {
  if (seconds < 60) return InReadableUnit(seconds * kGiga, kFractionalDurations);
  const int64_t whole = std::llround(seconds);
  if (whole < 3600) return absl::StrFormat("%d min %02d s", whole / 60, whole % 60);
  return absl::StrFormat("%d h %02d min", whole / 3600, whole % 3600 / 60);
}

std::string HumanSeconds(std::chrono::nanoseconds duration) {
  return absl::StrFormat("%.1f s", Seconds(duration));
}

int64_t ThreeDigits(int64_t value) {
  int64_t unit = 1;
  while (value / unit >= 1000) unit *= 10;
  return (value + unit / 2) / unit * unit;
}

}  // namespace grapevine

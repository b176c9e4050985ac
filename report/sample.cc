#include "report/sample.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace grapevine {
namespace {

// Returns the exponent of `value` in scientific notation with two figures: 0.0996 is 1.0e-1.
int ExponentOf(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  const double size = std::abs(value);
  const int exponent = static_cast<int>(std::floor(std::log10(size)));
  return size >= 9.95 * std::pow(10, exponent) ? exponent + 1 : exponent;
}

bool IsPlain(double mean) {
  constexpr double kLeast = 1e-3, kMost = 1e5;
  return mean == 0 || (std::abs(mean) >= kLeast && std::abs(mean) < kMost);
}

std::string Rounded(double mean, double deviation) {
  constexpr int kFigures = 2, kFiguresOfExact = 3, kMostFigures = 5;
  const int exact = kFiguresOfExact - 1 - ExponentOf(mean);
  const int wanted = deviation == 0 ? exact : kFigures - 1 - ExponentOf(deviation);
  const int most = std::max(0, kMostFigures - 1 - ExponentOf(mean));
  const int decimals = std::clamp(wanted, 0, most);
  return absl::StrFormat("%.*f \u00b1 %.*f", decimals, mean, decimals, deviation);
}

}  // namespace

std::optional<Sample> SampleOf(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  Sample sample{values.size(), sum / count, std::nullopt};
  if (values.size() == 1) return sample;
  double squares = 0;
  for (const double value : values) squares += (value - sample.mean) * (value - sample.mean);
  sample.deviation = std::sqrt(squares / (count - 1));
  return sample;
}

std::string SampleText(const Sample& sample, const Unit& unit) {
  const double mean = sample.mean / unit.size;
  const double deviation = sample.deviation.value_or(0) / unit.size;
  const std::string name = unit.name[0] == '\0' ? "" : absl::StrCat(" ", unit.name);
  if (IsPlain(mean)) return Rounded(mean, deviation) + name;
  const int exponent = ExponentOf(mean);
  const double power = std::pow(10, exponent);
  return absl::StrFormat("(%s)e%+03d%s", Rounded(mean / power, deviation / power), exponent, name);
}

}  // namespace grapevine

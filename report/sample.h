// What runs that differ only in the seed came to: the mean, and how far they are from it.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_REPORT_SAMPLE_H_
#define GRAPEVINE_REPORT_SAMPLE_H_

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "report/unit.h"

namespace grapevine {

struct Sample {
  size_t count;  // at least one
  double mean;
  // The sample's: the squares are divided by count - 1. One value alone has none.
  std::optional<double> deviation;
};

// Absent without values.
std::optional<Sample> SampleOf(std::span<const double> values);

// "98.50 ± 0.12 %", of a sample with a deviation: two figures of it, and as many decimals of the
// mean, which has at most five figures; three, if the deviation is 0. "(1.20 ± 0.31)e-05": what is
// below a thousandth, or large, has an exponent.
std::string SampleText(const Sample& sample, const Unit& unit);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_SAMPLE_H_

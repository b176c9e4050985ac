// The results of runs that differ only in the seed: their mean, and how far they are from it.
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
  // Standard deviation of the sample: the squares are divided by count - 1. Absent for one value.
  std::optional<double> deviation;
};

// Returns the sample of `values`; absent if `values` is empty.
std::optional<Sample> SampleOf(std::span<const double> values);

// Returns the text of a sample that has a deviation: "98.50 ± 0.12 %". The deviation has two
// figures, and the mean has as many decimals as the deviation, but at most five figures; it has
// three figures if the deviation is 0. A mean below a thousandth, or a large one, has an exponent:
// "(1.20 ± 0.31)e-05".
std::string SampleText(const Sample& sample, const Unit& unit);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_SAMPLE_H_

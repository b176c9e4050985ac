// The width of a picture on paper.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_REPORT_PAPER_WIDTH_H_
#define GRAPEVINE_REPORT_PAPER_WIDTH_H_

#include <string>

#include "absl/status/statusor.h"

namespace grapevine {

// Returns the centimetres that `text` names: "column" (8.4, one of two columns of a paper), "page"
// (17.4, both), or a length: "12cm", "85mm", "3.3in". kUsage for anything else, and for less than 4
// cm or more than 60 cm.
absl::StatusOr<double> WidthNamed(const std::string& text);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PAPER_WIDTH_H_

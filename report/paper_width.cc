#include "report/paper_width.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "base/status.h"

namespace grapevine {
namespace {

constexpr double kColumn = 8.4, kPage = 17.4;
constexpr double kLeast = 4, kMost = 60;

struct Length {
  const char* unit;
  double centimetres;
};

constexpr Length kLengths[] = {{"cm", 1}, {"mm", 0.1}, {"in", 2.54}};

}  // namespace

absl::StatusOr<double> WidthNamed(const std::string& text) {
  if (text == "column") return kColumn;
  if (text == "page") return kPage;
  for (const Length& length : kLengths) {
    absl::string_view number = text;
    double value = 0;
    if (!absl::ConsumeSuffix(&number, length.unit) || !absl::SimpleAtod(number, &value)) continue;
    const double width = value * length.centimetres;
    if (width >= kLeast && width <= kMost) return width;
  }
  return UsageError(absl::StrCat("--width=", text, ": must be column (", kColumn, " cm), page (",
                                 kPage, " cm) or a length from ", kLeast, " to ", kMost,
                                 " cm, as 12cm, 85mm or 3.3in"));
}

}  // namespace grapevine

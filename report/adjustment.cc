#include "report/adjustment.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "report/axis.h"
#include "report/series.h"

namespace grapevine {
namespace {

absl::Status NameCurves(const std::vector<std::string>& names, Page* page) {
  if (names.empty()) return absl::OkStatus();
  if (names.size() != page->labels.size()) {
    return UsageError(absl::StrCat(
        "--legend is given ", names.size(),
        " times; give it once for each curve, in this order: ", absl::StrJoin(page->labels, "; ")));
  }
  page->labels = names;
  return absl::OkStatus();
}

struct Limits {
  std::optional<double> low, high;
};

absl::StatusOr<Limits> ParseLimits(const std::string& flag, const std::string& text) {
  const auto refused = [&](const char* why) {
    return UsageError(absl::StrCat(flag, "=", text, ": ", why,
                                   "; give the least and the greatest, as 0:10, 0: or :10"));
  };
  const std::vector<std::string> sides = absl::StrSplit(text, ':');
  if (sides.size() != 2) return refused("is no range");
  if (sides[0].empty() && sides[1].empty()) return refused("limits nothing");
  const auto read = [](const std::string& side, std::optional<double>* limit) {
    if (side.empty()) return true;
    double number = 0;
    if (!absl::SimpleAtod(side, &number) || !std::isfinite(number)) return false;
    *limit = number;
    return true;
  };
  Limits limits;
  if (!read(sides[0], &limits.low) || !read(sides[1], &limits.high)) {
    return refused("has a side that is no number");
  }
  if (limits.low && limits.high && *limits.low >= *limits.high) {
    return refused("does not go upwards");
  }
  return limits;
}

// Returns the names of the axes, each once.
std::string NamesOf(const Page& page, Axis Panel::*axis) {
  std::set<std::string> names;
  for (const Panel& panel : page.panels) {
    if (!panel.blank) names.insert(NameOf(panel.*axis));
  }
  return absl::StrJoin(names, ", ");
}

absl::Status LimitAxes(const std::string& flag, const std::string& text, Axis Panel::*axis,
                       Page* page) {
  if (text.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(const Limits limits, ParseLimits(flag, text));
  if (!CommonName(page->panels, axis)) {
    return UsageError(absl::StrCat(flag, " cannot be the range of different axes (",
                                   NamesOf(*page, axis),
                                   "); draw one of them, as by --x=epoch and --y=loss"));
  }
  for (Panel& panel : page->panels) {
    if (panel.blank) continue;
    if (panel.bars && axis == &Panel::x) {
      return UsageError(absl::StrCat(flag,
                                     ": bars stand side by side and have no such range; "
                                     "leave it out"));
    }
    Axis& limited = panel.*axis;
    const double low = limits.low.value_or(limited.low);
    const double high = limits.high.value_or(limited.high);
    if (limited.logarithmic && low <= 0) {
      return UsageError(absl::StrCat(flag, "=", text, ": the axis of ", NameOf(limited),
                                     " is logarithmic; give limits above 0"));
    }
    if (low >= high) {
      return UsageError(absl::StrCat(flag, "=", text, ": the axis of ", NameOf(limited),
                                     " goes from ", limited.low, " to ", limited.high,
                                     ", of which this leaves nothing; give both sides"));
    }
    Limit(low, high, &limited);
  }
  return absl::OkStatus();
}

absl::Status SmoothCurves(const std::string& text, Page* page) {
  if (text.empty()) return absl::OkStatus();
  constexpr int kMost = 1000;
  int points = 0;
  if (!absl::SimpleAtoi(text, &points) || points < 2 || points > kMost) {
    return UsageError(absl::StrCat(
        "--smooth=", text, ": must be how many measurements are averaged, from 2 to ", kMost));
  }
  for (Panel& panel : page->panels) {
    panel.unsmoothed = panel.curves;
    for (Band& curve : panel.curves) curve = Smoothed(curve, static_cast<size_t>(points));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status Adjust(const Adjustment& adjustment, Page* page) {
  RETURN_IF_ERROR(NameCurves(adjustment.legend, page));
  RETURN_IF_ERROR(LimitAxes("--x-range", adjustment.x_range, &Panel::x, page));
  RETURN_IF_ERROR(LimitAxes("--y-range", adjustment.y_range, &Panel::y, page));
  return SmoothCurves(adjustment.smooth, page);
}

}  // namespace grapevine

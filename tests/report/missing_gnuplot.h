// Whether pictures cannot be drawn on this machine.
#ifndef GRAPEVINE_TESTS_REPORT_MISSING_GNUPLOT_H_
#define GRAPEVINE_TESTS_REPORT_MISSING_GNUPLOT_H_

#include <cstdlib>

#include "absl/status/status.h"
#include "report/gnuplot.h"

namespace grapevine {

inline bool GnuplotIsMissing() {
  return absl::IsNotFound(RunGnuplot("set output 'x'\n", "picture").status()) &&
         system("command -v gnuplot > /dev/null") != 0;
}

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_REPORT_MISSING_GNUPLOT_H_

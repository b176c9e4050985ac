// Runs gnuplot, without a shell.
#ifndef GRAPEVINE_REPORT_GNUPLOT_H_
#define GRAPEVINE_REPORT_GNUPLOT_H_

#include <string>

#include "absl/status/statusor.h"

namespace grapevine {

// Runs `script` in a private folder, which is removed afterwards, and returns
// the bytes of the file `output` that it wrote there. Errors: gnuplot is not
// installed (names the package), or what it complained about first.
absl::StatusOr<std::string> RunGnuplot(const std::string& script, const std::string& output);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_GNUPLOT_H_

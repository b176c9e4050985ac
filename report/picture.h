// A picture file, drawn by gnuplot.
#ifndef GRAPEVINE_REPORT_PICTURE_H_
#define GRAPEVINE_REPORT_PICTURE_H_

#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "report/gnuplot_text.h"

namespace grapevine {

// By the end of the name: .png or .svg, else kUsage.
absl::StatusOr<PictureFormat> FormatOf(const std::string& output);

// Runs the script that `script_for` makes for the name of its output, and writes
// the picture to `output` whole or not at all. Errors of writing are kOutput.
absl::Status WritePicture(const std::string& output,
                          const std::function<std::string(const std::string&)>& script_for);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PICTURE_H_

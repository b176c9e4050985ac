#include "report/picture.h"

#include "absl/strings/str_cat.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "report/gnuplot.h"
#include "run/records/output_file.h"

namespace grapevine {

absl::StatusOr<PictureFormat> FormatOf(const std::string& output) {
  if (output.ends_with(".png")) return PictureFormat::kPng;
  if (output.ends_with(".svg")) return PictureFormat::kSvg;
  return UsageError(
      absl::StrCat("cannot tell the format of ", output, "; end its name in .png or .svg"));
}

absl::Status WritePicture(const std::string& output,
                          const std::function<std::string(const std::string&)>& script_for) {
  // The user's path stays out of the script.
  ASSIGN_OR_RETURN(const std::string picture, RunGnuplot(script_for("picture"), "picture"));
  return WriteOutputFile(output, picture);
}

}  // namespace grapevine

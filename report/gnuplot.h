// What all our gnuplot scripts share: how they begin, how texts and curves look, and how a script
// becomes a picture.
//
// Scripts are self-contained: data are inline, the output is the only file, and external texts
// appear only in single quotes, where gnuplot substitutes nothing.
#ifndef GRAPEVINE_REPORT_GNUPLOT_H_
#define GRAPEVINE_REPORT_GNUPLOT_H_

#include <cstddef>
#include <functional>
#include <optional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace grapevine {

enum class PictureFormat { kPng, kSvg, kPdf };

// A literal for gnuplot: single quotes know neither escapes nor command substitution. Control
// characters become blanks.
std::string GnuplotQuoted(const std::string& text);

// "#0072B2", and a dash pattern: distinguishable for colour-blind readers and in print. Colours
// repeat after ten curves, each time with a different dash.
inline constexpr size_t kCurveColours = 10;
std::string CurveColour(size_t curve);
std::string CurveDash(size_t curve);
// Bars have fills instead, solid for the first ten.
std::string CurveFill(size_t curve);

// How large a picture is: in dots, of which letters are ten high. PNG and SVG have a pixel for
// each, PDF 1/72 inch, unless `points` says how many points (1/72 inch) a dot is on paper; then PNG
// has 300 pixels to the inch, and SVG is as large as PDF.
struct PictureSize {
  int width, height;
  std::optional<double> points = {};
};

// Encoding, terminal and output. The picture goes to `output` in gnuplot's working directory. A
// gnuplot that cannot draw PDF ends with an error that says so.
std::string GnuplotTerminal(PictureFormat format, const PictureSize& size,
                            const std::string& output);

// Runs `script`, without a shell, in a private folder, which is removed afterwards, and returns
// the bytes of the file `output` that it wrote there. Errors: gnuplot is not installed (names the
// package), or its first complaint.
absl::StatusOr<std::string> RunGnuplot(const std::string& script, const std::string& output);

// From the file's extension: .png, .svg or .pdf, else kUsage.
absl::StatusOr<PictureFormat> FormatOf(const std::string& output);

// Runs the script that `script_for` returns for the name of its output, and writes the picture to
// `output` completely or not at all. Write errors are kOutput.
absl::Status WritePicture(const std::string& output,
                          const std::function<std::string(const std::string&)>& script_for);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_GNUPLOT_H_

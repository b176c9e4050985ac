// The parts that all gnuplot scripts share: how a script begins, how texts and curves look, and how
// a script becomes a picture.
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

// Returns `text` as a literal for gnuplot, in single quotes, which know neither escapes nor command
// substitution. Control characters become blanks.
std::string GnuplotQuoted(const std::string& text);

// Colours ("#0072B2") and dash patterns, distinguishable for colour-blind readers and in print.
// Colours repeat after ten curves, each time with a different dash.
inline constexpr size_t kCurveColours = 10;
std::string CurveColour(size_t curve);
std::string CurveDash(size_t curve);
// Returns the fill of a curve's bars, which have no dashes; solid for the first ten curves.
std::string CurveFill(size_t curve);

// The size of a picture in dots; letters are ten dots high. A dot is a pixel in PNG and SVG, and
// 1/72 inch in PDF, unless `points` gives the size of a dot on paper in points (1/72 inch); then
// PNG has 300 pixels to the inch, and SVG is as large as PDF.
struct PictureSize {
  int width, height;
  std::optional<double> points = {};
};

// Returns the beginning of a script: encoding, terminal and output. The picture goes to `output` in
// gnuplot's working directory. A gnuplot that cannot draw PDF ends with an error that says so.
std::string GnuplotTerminal(PictureFormat format, const PictureSize& size,
                            const std::string& output);

// Runs `script`, without a shell, in a private folder that is removed afterwards, and returns the
// bytes of the file `output` that the script wrote there. Errors: gnuplot is not installed (the
// message names the package), or gnuplot's first complaint.
absl::StatusOr<std::string> RunGnuplot(const std::string& script, const std::string& output);

// Returns the format that the file's extension names: .png, .svg or .pdf; else kUsage.
absl::StatusOr<PictureFormat> FormatOf(const std::string& output);

// Runs the script that `script_for` returns for the name of its output, and writes the picture to
// `output` completely or not at all. Write errors are kOutput.
absl::Status WritePicture(const std::string& output,
                          const std::function<std::string(const std::string&)>& script_for);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_GNUPLOT_H_

// What every gnuplot script of ours begins with, and how texts and curves look.
//
// A script is self-contained: data inline, no file but its output, and texts from
// outside only in single quotes, where gnuplot substitutes nothing.
#ifndef GRAPEVINE_REPORT_GNUPLOT_TEXT_H_
#define GRAPEVINE_REPORT_GNUPLOT_TEXT_H_

#include <cstddef>
#include <string>

namespace grapevine {

enum class PictureFormat { kPng, kSvg };

// A literal that gnuplot takes as it is: single quotes know neither escapes nor
// command substitution. Control characters become blanks.
std::string GnuplotQuoted(const std::string& text);

// "#0072B2", and a dash pattern: told apart by colour-blind readers and in print.
// Colours repeat after ten curves, each time with another dash.
std::string CurveColour(size_t curve);
std::string CurveDash(size_t curve);

// Encoding, terminal and output; the size is in pixels. The picture goes to
// `output` in gnuplot's working directory.
std::string GnuplotTerminal(PictureFormat format, int width, int height, const std::string& output);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_GNUPLOT_TEXT_H_

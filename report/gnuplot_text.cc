#include "report/gnuplot_text.h"

#include <iterator>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace grapevine {
namespace {

// Okabe and Ito (2008) without yellow, then dark tones of Tol (2021): told
// apart by colour-blind readers too.
constexpr const char* kColours[] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00",
                                    "#56B4E9", "#000000", "#882255", "#999933", "#332288"};
constexpr const char* kDashes[] = {"solid", "(14,5)", "(4,4)", "(14,4,3,4)", "(22,4,3,4,3,4)"};

}  // namespace

std::string CurveColour(size_t curve) { return kColours[curve % std::size(kColours)]; }

std::string CurveDash(size_t curve) {
  return kDashes[(curve + curve / std::size(kColours)) % std::size(kDashes)];
}

// A quote inside becomes a typographic one, for gnuplot does not always
// understand a doubled one.
std::string GnuplotQuoted(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'') {
      quoted += "\u2019";
    } else {
      quoted += static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c;
    }
  }
  return quoted + "'";
}

std::string GnuplotTerminal(PictureFormat format, int width, int height,
                            const std::string& output) {
  const std::string size = absl::StrFormat("size %d,%d", width, height);
  std::string script = "set encoding utf8\n";
  if (format == PictureFormat::kSvg) {
    absl::StrAppend(&script, "set terminal svg ", size,
                    " dynamic font 'DejaVu Sans,Helvetica,sans-serif,12' background '#ffffff'\n");
  } else {
    absl::StrAppend(&script, "if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) {\n",
                    "  set terminal pngcairo ", size, " font 'DejaVu Sans,10'\n", "} else {\n",
                    "  set terminal png truecolor ", size, "\n", "}\n");
  }
  return absl::StrCat(script, "set output ", GnuplotQuoted(output), "\n");
}

}  // namespace grapevine

#include "report/gnuplot.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <iterator>
#include <memory>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "run/records/output_file.h"
#include "system/file.h"
#include "system/temporary_folder.h"

namespace grapevine {
namespace {

// Okabe and Ito (2008) without yellow, then dark tones of Tol (2021): told
// apart by colour-blind readers too.
constexpr const char* kColours[kCurveColours] = {"#0072B2", "#D55E00", "#009E73", "#CC79A7",
                                                 "#E69F00", "#56B4E9", "#000000", "#882255",
                                                 "#999933", "#332288"};
constexpr const char* kDashes[] = {"solid", "(14,5)", "(4,4)", "(14,4,3,4)", "(22,4,3,4,3,4)"};

constexpr char kScript[] = "script.gp";
constexpr char kComplaints[] = "complaints.txt";

// Returns the first line that names the script: gnuplot marks the position by lines of spaces and a
// caret before it.
std::string FirstComplaint(const std::string& folder) {
  const absl::StatusOr<std::string> text = ReadFile(absl::StrCat(folder, "/", kComplaints));
  if (!text.ok()) return "it said nothing";
  const std::vector<std::string> lines = absl::StrSplit(*text, '\n');
  for (const std::string& line : lines) {
    const bool warning = line.find("warning") != line.npos;
    if (line.find(kScript) != line.npos && !warning) return line;
  }
  return lines.front().empty() ? "it said nothing" : lines.front();
}

// Returns 0 if the child was started, else an error code like errno.
int Start(const std::string& folder, pid_t* child) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, kComplaints,
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  // -d: ignore the user's settings.
  char program[] = "gnuplot", defaults[] = "-d", script[] = "script.gp";
  char* arguments[] = {program, defaults, script, nullptr};
  const int error = posix_spawnp(child, program, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

absl::Status Execute(const std::string& folder) {
  pid_t child = 0;
  const int error = Start(folder, &child);
  if (error == ENOENT) {
    return absl::NotFoundError("gnuplot is not installed; on Debian: apt-get install gnuplot-nox");
  }
  if (error != 0) return absl::ErrnoToStatus(error, "cannot start gnuplot");
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return absl::ErrnoToStatus(errno, "cannot wait for gnuplot");
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("gnuplot failed: ", FirstComplaint(folder)));
}

}  // namespace

std::string CurveColour(size_t curve) { return kColours[curve % std::size(kColours)]; }

std::string CurveDash(size_t curve) {
  return kDashes[(curve + curve / std::size(kColours)) % std::size(kDashes)];
}

// Patterns 4 to 7 are gnuplot's diagonal hatchings.
std::string CurveFill(size_t curve) {
  const size_t repeats = curve / std::size(kColours);
  return repeats == 0 ? "solid 0.85" : absl::StrCat("pattern ", 4 + (repeats - 1) % 4);
}

// A quote inside the text becomes a typographic one, since gnuplot does not always understand a
// doubled quote.
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

namespace {

constexpr double kPointsOfAnInch = 72;

// Returns what enlarges everything that is drawn, besides the size: " fontscale 3.125 linewidth
// 3.125".
std::string Enlarged(double letters, double lines) {
  return absl::StrFormat(" fontscale %.6g linewidth %.6g", letters, lines);
}

std::string PngTerminal(const PictureSize& size) {
  constexpr double kPixelsOfAnInch = 300;
  const double pixels =
      size.points.value_or(kPointsOfAnInch / kPixelsOfAnInch) * kPixelsOfAnInch / kPointsOfAnInch;
  const std::string extent =
      absl::StrFormat("size %.0f,%.0f", size.width * pixels, size.height * pixels);
  const std::string larger =
      size.points ? absl::StrFormat("%s pointscale %.6g", Enlarged(pixels, pixels), pixels) : "";
  return absl::StrCat("if (strstrt(GPVAL_TERMINALS, 'pngcairo') > 0) {\n",
                      "  set terminal pngcairo ", extent, " font 'DejaVu Sans,10'", larger, "\n",
                      "} else {\n", "  set terminal png truecolor ", extent, "\n", "}\n");
}

std::string SvgTerminal(const PictureSize& size) {
  constexpr double kPixelsOfAnInch = 96;  // by definition
  constexpr double kLetters = 12;         // size of the font below
  const double pixels =
      size.points.value_or(kPointsOfAnInch / kPixelsOfAnInch) * kPixelsOfAnInch / kPointsOfAnInch;
  return absl::StrFormat(
      "set terminal svg size %.0f,%.0f %s font 'DejaVu Sans,Helvetica,sans-serif,12'%s "
      "background '#ffffff'\n",
      size.width * pixels, size.height * pixels, size.points ? "fixed" : "dynamic",
      size.points ? Enlarged(pixels * 10 / kLetters, pixels) : "");
}

std::string PdfTerminal(const PictureSize& size) {
  const double points = size.points.value_or(1);
  // A line of width 1 is half a point.
  return absl::StrFormat(
      "if (strstrt(GPVAL_TERMINALS, 'pdfcairo') == 0) {\n"
      "  exit error 'this gnuplot cannot draw PDF, as it was built without pdfcairo; draw a .svg, "
      "or install gnuplot-nox of Debian'\n}\n"
      "set terminal pdfcairo size %.6gin,%.6gin font 'DejaVu Sans,10'%s\n",
      size.width * points / kPointsOfAnInch, size.height * points / kPointsOfAnInch,
      Enlarged(points, 2 * points));
}

}  // namespace

std::string GnuplotTerminal(PictureFormat format, const PictureSize& size,
                            const std::string& output) {
  const auto terminal = [&] {
    switch (format) {
      case PictureFormat::kSvg:
        return SvgTerminal(size);
      case PictureFormat::kPdf:
        return PdfTerminal(size);
      case PictureFormat::kPng:
        break;
    }
    return PngTerminal(size);
  };
  return absl::StrCat("set encoding utf8\n", terminal(), "set output ", GnuplotQuoted(output),
                      "\n");
}

absl::StatusOr<std::string> RunGnuplot(const std::string& script, const std::string& output) {
  ASSIGN_OR_RETURN(const std::unique_ptr<const TemporaryFolder> temporary, TemporaryFolder::Make());
  const std::string& folder = temporary->path();
  RETURN_IF_ERROR(WriteFileAtomically(absl::StrCat(folder, "/", kScript), script));
  RETURN_IF_ERROR(Execute(folder));
  return ReadFile(absl::StrCat(folder, "/", output));
}

absl::StatusOr<PictureFormat> FormatOf(const std::string& output) {
  if (output.ends_with(".png")) return PictureFormat::kPng;
  if (output.ends_with(".svg")) return PictureFormat::kSvg;
  if (output.ends_with(".pdf")) return PictureFormat::kPdf;
  return UsageError(
      absl::StrCat("cannot tell the format of ", output, "; end its name in .png, .svg or .pdf"));
}

absl::Status WritePicture(const std::string& output,
                          const std::function<std::string(const std::string&)>& script_for) {
  // The user's path stays out of the script.
  ASSIGN_OR_RETURN(const std::string picture, RunGnuplot(script_for("picture"), "picture"));
  return WriteOutputFile(output, picture);
}

}  // namespace grapevine

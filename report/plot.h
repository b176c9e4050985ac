// `grapevine plot`: a picture of runs, or the numbers behind it.
//
// Each kind of picture registers itself in the file that defines it (report/kinds/); the command,
// its help and its errors find it in the registry. A kind makes a figure of runs, and a figure can
// be drawn or written as a table.
//
// Thread-safety: a kind is immutable once registered; functions are safe from any thread.
#ifndef GRAPEVINE_REPORT_PLOT_H_
#define GRAPEVINE_REPORT_PLOT_H_

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/registry.h"
#include "report/adjustment.h"
#include "report/gnuplot.h"
#include "report/gnuplot_script.h"
#include "report/series.h"
#include "report/table.h"
#include "report/winner_map.h"

namespace grapevine {

// What a kind of picture makes of runs: something to draw, and the numbers that it shows.
using Figure = std::variant<Page, WinnerMap>;

void SetTitle(const std::string& title, Figure* figure);

// The script that draws it to `output` in gnuplot's working directory.
// `width_cm` as GnuplotScript's.
std::string ScriptOf(const Figure& figure, PictureFormat format, const std::string& output,
                     std::optional<double> width_cm = std::nullopt);

// Every number of the picture, in the units of its axes. Of a page, a row for each point of each
// curve: the panel, where panels have titles; the curve; the two quantities (each in two columns,
// its name and its value, if not all panels have the same); and, if any point joins several runs,
// the least and the greatest of them; and, of smoothed curves, what they were before. Of a map, a
// row for each cell.
Table NumbersOf(const Figure& figure);

// What is asked of a kind.
struct PlotRequest {
  std::vector<std::string> runs;  // run directories, or folders of them
  // Against what, and which loss; empty: the kind's own choice.
  std::string x;
  std::string loss;
  std::string y;  // which of several quantities; empty: all
  bool log_loss = false;
  std::string target;  // an accuracy; empty: the runs' own
};

struct PlotKind {
  std::string name;             // "step-time"
  std::string options;          // none
  std::string help;             // one line
  std::set<std::string> flags;  // of the request, those that mean something to it: "--x"
  // Errors are kUsage or kInput, and name the flag of the plot, the run, or the flag of the runs
  // whose value or list is missing.
  std::function<absl::StatusOr<Figure>(const PlotRequest&)> make;
};

Registry<PlotKind>& PlotKinds();

// Which loss is asked for, or else the kind's usual one. kUsage.
absl::StatusOr<Vertical> LossOf(const PlotRequest& request, Vertical usual);

struct PlotOptions {
  std::string kind = "convergence";
  PlotRequest request;
  std::optional<std::string> title;  // instead of what the runs have in common
  Adjustment adjustment;
  std::string width;  // on paper (report/paper_width.h); empty: for a screen
};

// Reads the runs. kUsage for a kind that does not exist and for flags that mean nothing to it;
// else the kind's errors.
absl::StatusOr<Figure> MakeFigure(const PlotOptions& options);

// Draws to `output`, a .png, .svg or .pdf file, completely or not at all; on paper, with a title
// only if one is given. Errors are those of MakeFigure, kUsage or kOutput and name the file.
absl::Status WriteFigure(const PlotOptions& options, const std::string& output);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PLOT_H_

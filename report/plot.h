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

// A figure, which a kind of picture makes of runs: something to draw, and the numbers that it
// shows.
using Figure = std::variant<Page, WinnerMap>;

void SetTitle(const std::string& title, Figure* figure);

// Returns the script that draws `figure` to `output` in gnuplot's working directory. GnuplotScript
// explains `width_cm`.
std::string ScriptOf(const Figure& figure, PictureFormat format, const std::string& output,
                     std::optional<double> width_cm = std::nullopt);

// Returns every number of the picture, in the units of its axes. A page has a row for each point of
// each curve: the panel, if panels have titles; the curve; the two quantities (each in two columns,
// its name and its value, if panels differ in the quantity); the least and the greatest value of
// the runs, if any point joins several; and the value before smoothing, if curves are smoothed. A
// map has a row for each cell.
Table NumbersOf(const Figure& figure);

// A request to a kind of picture.
struct PlotRequest {
  std::vector<std::string> runs;  // run directories, or folders of them
  // The horizontal axis, and the loss to draw; empty: the kind's own choice.
  std::string x;
  std::string loss;
  std::string y;  // the one of several quantities to draw; empty: all
  bool log_loss = false;
  std::string target;  // a test accuracy; empty: that of the runs
};

struct PlotKind {
  std::string name;             // "step-time"
  std::string options;          // empty: kinds have no options
  std::string help;             // one line
  std::set<std::string> flags;  // flags of the request that the kind uses: "--x"
  // Makes the figure. Errors are kUsage or kInput, and name the flag of the plot, the run, or the
  // flag of the runs whose value or list is missing.
  std::function<absl::StatusOr<Figure>(const PlotRequest&)> make;
};

Registry<PlotKind>& PlotKinds();

// Returns the loss that the request asks for, or `usual` if it asks for none. kUsage for an unknown
// loss.
absl::StatusOr<Vertical> LossOf(const PlotRequest& request, Vertical usual);

struct PlotOptions {
  std::string kind = "convergence";
  PlotRequest request;
  std::optional<std::string> title;  // replaces what the runs have in common
  Adjustment adjustment;
  std::string width;  // width on paper (report/paper_width.h); empty: for a screen
};

// Reads the runs and makes their figure. kUsage for a kind that does not exist and for flags that
// mean nothing to the kind; else the kind's errors.
absl::StatusOr<Figure> MakeFigure(const PlotOptions& options);

// Draws the figure to `output`, a .png, .svg or .pdf file, completely or not at all. A figure on
// paper has a title only if one is given. Errors are those of MakeFigure, or kUsage or kOutput,
// which name the file.
absl::Status WriteFigure(const PlotOptions& options, const std::string& output);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PLOT_H_

// What a kind of picture makes of runs: something to draw, and the numbers that it shows.
#ifndef GRAPEVINE_REPORT_FIGURE_H_
#define GRAPEVINE_REPORT_FIGURE_H_

#include <string>
#include <variant>

#include "report/gnuplot.h"
#include "report/gnuplot_script.h"
#include "report/table.h"
#include "report/winner_map.h"

namespace grapevine {

using Figure = std::variant<Page, WinnerMap>;

void SetTitle(const std::string& title, Figure* figure);

// The script that draws it to `output` in gnuplot's working directory.
std::string ScriptOf(const Figure& figure, PictureFormat format, const std::string& output);

// Every number of the picture, in the units of its axes. Of a page, a row for each point of each
// curve: the panel, where panels have titles; the curve; the two quantities (each in two columns,
// its name and its value, if not all panels have the same); and, if any point joins several runs,
// the least and the greatest of them. Of a map, a row for each cell.
Table NumbersOf(const Figure& figure);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_FIGURE_H_

#include "report/plot.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/failure.h"
#include "base/status_macros.h"
#include "report/gnuplot.h"

namespace grapevine {
namespace {

absl::Status CheckMeaning(const PlotKind& kind, const char* flag, bool given) {
  if (!given || kind.flags.contains(flag)) return absl::OkStatus();
  std::vector<std::string> others;
  for (const PlotKind* other : PlotKinds().All()) {
    if (other->flags.contains(flag)) others.push_back(absl::StrCat("--kind=", other->name));
  }
  return UsageError(absl::StrCat(flag, " means nothing to --kind=", kind.name, "; it is for ",
                                 absl::StrJoin(others, ", ")));
}

}  // namespace

absl::StatusOr<Figure> MakeFigure(const PlotOptions& options) {
  const PlotKind* const kind = PlotKinds().Find(options.kind);
  if (kind == nullptr) {
    return UnknownNameError("kind of picture", options.kind, options.kind, PlotKinds().Listings());
  }
  RETURN_IF_ERROR(CheckMeaning(*kind, "--x", !options.request.x.empty()));
  RETURN_IF_ERROR(CheckMeaning(*kind, "--loss", !options.request.loss.empty()));
  RETURN_IF_ERROR(CheckMeaning(*kind, "--target", !options.request.target.empty()));
  ASSIGN_OR_RETURN(Figure figure, kind->make(options.request));
  if (options.title) SetTitle(*options.title, &figure);
  return figure;
}

absl::Status WriteFigure(const PlotOptions& options, const std::string& output) {
  ASSIGN_OR_RETURN(const PictureFormat format, FormatOf(output));
  ASSIGN_OR_RETURN(const Figure figure, MakeFigure(options));
  return WritePicture(output,
                      [&](const std::string& name) { return ScriptOf(figure, format, name); });
}

}  // namespace grapevine

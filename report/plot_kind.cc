#include "report/plot_kind.h"

namespace grapevine {

Registry<PlotKind>& PlotKinds() {
  static Registry<PlotKind> kinds("kind of picture");
  return kinds;
}

}  // namespace grapevine

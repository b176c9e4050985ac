#include "node/control/awakening.h"

#include "absl/strings/str_cat.h"
#include "base/units.h"

namespace grapevine {

// A run that needs all its nodes ends with any of them. In a run that does not, more than half have
// ended because of this node, and fewer for reasons of their own.
Awakening::Finding Awakening::Judge(SteadyTime now, size_t heard, size_t gone) const {
  const size_t deserters = options_.resilient ? options_.others / 2 + 1 : 1;
  if (gone >= deserters) return Finding::kDeserted;
  const bool over = heard + deserters > options_.others || now >= woke_ + options_.peer_timeout;
  return over ? Finding::kFollowed : Finding::kOpen;
}

std::string Awakening::Describe(const std::string& self) const {
  return absl::StrCat(self, " itself stood still for ", HumanSeconds(options_.stood_still),
                      " (stopped, or its host was asleep or overloaded)");
}

}  // namespace grapevine

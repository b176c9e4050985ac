#include "report/unit.h"

#include <span>

namespace grapevine {
namespace {

struct Candidate {
  Unit unit;
  double from;  // the least `greatest` for which the unit is used
};

constexpr Candidate kBytes[] = {{{"TB", 1e12}, 1e12},
                                {{"GB", 1e9}, 1e9},
                                {{"MB", 1e6}, 1e6},
                                {{"kB", 1e3}, 1e3},
                                {{"B", 1}, 0}};
constexpr Candidate kSeconds[] = {{{"h", 3600}, 7200}, {{"min", 60}, 180}, {{"s", 1}, 0}};

Unit Chosen(std::span<const Candidate> candidates, double greatest) {
  for (const Candidate& candidate : candidates) {
    if (greatest >= candidate.from) return candidate.unit;
  }
  return candidates.back().unit;
}

}  // namespace

Unit UnitOfBytes(double greatest) { return Chosen(kBytes, greatest); }
Unit UnitOfSeconds(double greatest) { return Chosen(kSeconds, greatest); }

}  // namespace grapevine

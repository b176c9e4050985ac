#include "base/nearest_name.h"

#include <algorithm>

namespace grapevine {
namespace {

// Optimal string alignment distance (Damerau 1964, without repeated edits).
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<std::vector<size_t>> distance(a.size() + 1, std::vector<size_t>(b.size() + 1));
  for (size_t i = 0; i <= a.size(); ++i) {
    for (size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        distance[i][j] = i + j;
        continue;
      }
      distance[i][j] = std::min({distance[i - 1][j] + 1, distance[i][j - 1] + 1,
                                 distance[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        distance[i][j] = std::min(distance[i][j], distance[i - 2][j - 2] + 1);
      }
    }
  }
  return distance[a.size()][b.size()];
}

}  // namespace

std::string NearestName(std::string_view typed, const std::vector<std::string>& names) {
  constexpr size_t kLongest = 64;  // the distance costs |typed| * |name|
  if (typed.size() > kLongest) return "";
  std::string nearest;
  size_t least = std::max<size_t>(2, typed.size() / 3) + 1;
  for (const std::string& name : names) {
    const size_t distance = EditDistance(typed, name);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

}  // namespace grapevine

#include "base/registry.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace grapevine {

namespace {

bool IsNameCharacter(char c) {
  return absl::ascii_islower(c) || absl::ascii_isdigit(c) || c == '-' || c == '_';
}

}  // namespace

std::string JoinUsages(const std::vector<Listing>& listings) {
  return absl::StrJoin(listings, ", ", [](std::string* text, const Listing& listing) {
    absl::StrAppend(text, listing.usage());
  });
}

std::string JoinHelp(const std::vector<Listing>& listings) {
  return absl::StrJoin(listings, ", ", [](std::string* text, const Listing& listing) {
    absl::StrAppend(text, listing.usage(), " (", listing.help, ")");
  });
}

Listing WithVariants(Listing listing, const std::vector<Listing>& variants) {
  absl::StrAppend(&listing.help, "; KIND: ", JoinUsages(variants));
  return listing;
}

absl::Status UnknownNameError(std::string_view kind, std::string_view text, std::string_view name,
                              const std::vector<Listing>& known) {
  std::vector<std::string> names;
  for (const Listing& listing : known) names.push_back(listing.name);
  const std::string nearest = NearestName(name, names);
  return SpecError(text,
                   absl::StrCat("unknown ", std::string(kind), " '", std::string(name), "'; ",
                                nearest.empty() ? "" : absl::StrCat("did you mean ", nearest, "? "),
                                "known: ", JoinUsages(known)));
}

std::string FlawOf(const Listing& listing) {
  if (listing.name.empty() || !std::ranges::all_of(listing.name, IsNameCharacter)) {
    return "is not a name: lower-case letters, digits, '-' and '_' are";
  }
  if (listing.help.empty() || listing.help.find('\n') != listing.help.npos) {
    return "needs one line of help";
  }
  return "";
}

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
    const size_t longer = std::max(typed.size(), name.size());
    const size_t shorter = std::min(typed.size(), name.size());
    if (longer - shorter >= least) continue;  // the distance is no less
    const size_t distance = EditDistance(typed, name);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

}  // namespace grapevine

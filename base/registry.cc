#include "base/registry.h"

#include <algorithm>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"

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

namespace {

std::vector<std::string> NamesOf(const std::vector<Listing>& listings) {
  std::vector<std::string> names;
  for (const Listing& listing : listings) names.push_back(listing.name);
  return names;
}

std::vector<std::string> NamesThatTakePaths(const std::vector<Listing>& known) {
  std::vector<Listing> those = known;
  std::erase_if(those, [](const Listing& listing) {
    return !listing.options.starts_with(":DIR") && !listing.options.starts_with(":FILE") &&
           !listing.options.starts_with(":PATH");
  });
  return NamesOf(those);
}

// Returns the specs that a user may have meant by a path without a name before it: `path` after the
// name that its last part resembles, or, if it resembles none, after each name that takes a path.
std::vector<std::string> SpecsOfPath(const std::string& path, const std::vector<Listing>& known) {
  std::vector<std::string> names = NamesThatTakePaths(known);
  const std::string last = absl::AsciiStrToLower(path.substr(path.rfind('/') + 1));
  if (std::string nearest = NearestName(last, names); !nearest.empty()) names = {nearest};
  for (std::string& name : names) absl::StrAppend(&name, ":", path);
  return names;
}

// Returns what the user may have meant, or "" if nothing is close.
std::string Meant(std::string_view text, std::string_view name, const std::vector<Listing>& known) {
  if (name.find('/') != name.npos)
    return absl::StrJoin(SpecsOfPath(std::string(text), known), " or ");
  return NearestName(name, NamesOf(known));
}

}  // namespace

absl::Status UnknownNameError(std::string_view kind, std::string_view text, std::string_view name,
                              const std::vector<Listing>& known) {
  const std::string meant = Meant(text, name, known);
  return SpecError(text,
                   absl::StrCat("unknown ", std::string(kind), " '", std::string(name), "'; ",
                                meant.empty() ? "" : absl::StrCat("did you mean ", meant, "? "),
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

namespace {

// Whether each word of `typed` is the beginning of the word of `name` at its place: --net-model.
bool Abbreviates(const std::string& typed, const std::string& name) {
  const std::vector<std::string> begun = absl::StrSplit(typed, absl::ByAnyChar("-_"));
  const std::vector<std::string> words = absl::StrSplit(name, absl::ByAnyChar("-_"));
  return std::ranges::equal(words, begun, [](std::string_view word, std::string_view beginning) {
    return word.starts_with(beginning);
  });
}

// Returns the name that `typed` abbreviates, or "" unless there is exactly one.
std::string AbbreviatedName(const std::string& typed, const std::vector<std::string>& names) {
  const auto abbreviated = [&typed](const std::string& name) { return Abbreviates(typed, name); };
  if (std::ranges::count_if(names, abbreviated) != 1) return "";
  return *std::ranges::find_if(names, abbreviated);
}

}  // namespace

std::string NearestName(std::string_view typed, const std::vector<std::string>& names) {
  constexpr size_t kLongest = 64;  // the distance costs |typed| * |name|
  if (typed.empty() || typed.size() > kLongest) return "";
  if (std::string whole = AbbreviatedName(std::string(typed), names); !whole.empty()) return whole;
  std::string nearest;
  size_t least = std::max<size_t>(2, typed.size() / 3) + 1;
  for (const std::string& name : names) {
    const size_t longer = std::max(typed.size(), name.size());
    const size_t shorter = std::min(typed.size(), name.size());
    if (longer - shorter >= least) continue;  // a lower bound of the distance
    const size_t distance = EditDistance(typed, name);
    if (distance >= least) continue;
    least = distance;
    nearest = name;
  }
  return nearest;
}

}  // namespace grapevine

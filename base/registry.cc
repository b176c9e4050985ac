#include "base/registry.h"

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/nearest_name.h"

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

}  // namespace grapevine

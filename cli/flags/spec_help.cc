#include "cli/flags/spec_help.h"

#include <vector>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "base/registry.h"
#include "optim/optimizer_kind.h"
#include "optim/schedule_kind.h"

namespace grapevine {
namespace {

// What the specs of a setting may name.
std::vector<Listing> ListingsOf(const std::string& field) {
  if (field == "algorithm") return Algorithms().Listings();
  if (field == "optimizer") return Optimizers().Listings();
  if (field == "schedule") return Schedules().Listings();
  return {};
}

}  // namespace

std::string SpecHelp(const ConfigField& field) {
  const std::string help = InfoOf(field).help();
  const std::vector<Listing> listings = ListingsOf(field.name());
  return listings.empty() ? help : absl::StrCat(help, ": ", JoinHelp(listings));
}

}  // namespace grapevine

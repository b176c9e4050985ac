#include "experiment/core/spec_help.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "model/datasets/dataset_kind.h"
#include "model/networks/network_kind.h"
#include "model/problem/problem.h"
#include "optim/learning_rate.h"
#include "optim/optimizer.h"
#include "run/config/config_choices.h"
#include "sim/platform/platform_kind.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

namespace grapevine {
namespace {

std::vector<Listing> Models() {
  std::vector<Listing> models = Networks().Listings();
  for (Listing& problem : Problems().Listings()) models.push_back(std::move(problem));
  return models;
}

struct SettingWithSpec {
  const char* field;
  std::vector<Listing> (*registered)();
};

constexpr SettingWithSpec kSettings[] = {{"algorithm", [] { return Algorithms().Listings(); }},
                                         {"data", [] { return Datasets().Listings(); }},
                                         {"mixing", [] { return Mixings().Listings(); }},
                                         {"model", &Models},
                                         {"network", [] { return Platforms().Listings(); }},
                                         {"optimizer", [] { return Optimizers().Listings(); }},
                                         {"schedule", [] { return Schedules().Listings(); }},
                                         {"topology", [] { return Topologies().Listings(); }}};

// Whether the help only lists the names: there are so many that a page or another command describes
// each of them.
bool NamesAlone(const std::string& field) { return field == "network" || field == "topology"; }

// Returns the name with what must follow it, up to the first colon or optional part.
std::string Word(const Listing& listing) {
  if (!listing.options.starts_with(':')) return listing.name;
  return listing.name + listing.options.substr(0, listing.options.find_first_of(":[", 1));
}

}  // namespace

std::vector<std::string> SettingsWithSpecs() {
  std::vector<std::string> fields;
  for (const SettingWithSpec& setting : kSettings) fields.push_back(setting.field);
  return fields;
}

std::vector<Listing> Registered(const std::string& field) {
  for (const SettingWithSpec& setting : kSettings) {
    if (setting.field == field) return setting.registered();
  }
  return {};
}

std::string SpecHelp(const ConfigField& field) {
  const std::string help = InfoOf(field).help();
  const std::vector<Listing> known = Registered(field.name());
  if (known.empty()) return help;
  return absl::StrCat(help, ": ", NamesAlone(field.name()) ? JoinUsages(known) : JoinHelp(known));
}

std::vector<std::string> ValueWords(const ConfigField& field) {
  std::vector<std::string> words = ConfigChoicesOf(field.name());
  for (const Listing& listing : Registered(field.name())) words.push_back(Word(listing));
  return words;
}

}  // namespace grapevine

#include "experiment/core/spec_help.h"

#include "absl/strings/str_cat.h"
#include "algorithm/algorithm_kind.h"
#include "base/registry.h"
#include "model/datasets/dataset_kind.h"
#include "model/networks/network_kind.h"
#include "model/problem/problem.h"
#include "optim/learning_rate.h"
#include "optim/optimizer.h"
#include "sim/platform/platform_kind.h"
#include "topology/topology.h"
#include "topology/weights/mixing.h"

namespace grapevine {
namespace {

// What the spec of a setting may name; empty if that is nothing registered.
std::string Known(const std::string& field) {
  if (field == "algorithm") return JoinHelp(Algorithms().Listings());
  if (field == "data") return JoinHelp(Datasets().Listings());
  if (field == "model") {
    return absl::StrCat(JoinHelp(Networks().Listings()), ", ", JoinHelp(Problems().Listings()));
  }
  if (field == "optimizer") return JoinHelp(Optimizers().Listings());
  if (field == "network") return JoinUsages(Platforms().Listings());
  if (field == "schedule") return JoinHelp(Schedules().Listings());
  if (field == "mixing") return JoinHelp(Mixings().Listings());
  // There are so many that only `grapevine topology` describes each.
  if (field == "topology") return JoinUsages(Topologies().Listings());
  return "";
}

}  // namespace

std::string SpecHelp(const ConfigField& field) {
  const std::string help = InfoOf(field).help();
  const std::string known = Known(field.name());
  return known.empty() ? help : absl::StrCat(help, ": ", known);
}

}  // namespace grapevine

// The names that the spec of a setting may have, and its help with them, from the registries.
//
// Pure functions over the registries, safe from any thread.
#ifndef GRAPEVINE_EXPERIMENT_CORE_SPEC_HELP_H_
#define GRAPEVINE_EXPERIMENT_CORE_SPEC_HELP_H_

#include <string>
#include <vector>

#include "base/registry.h"
#include "run/config/config_field.h"

namespace grapevine {

// Returns the settings whose specs name something registered: "algorithm", "data", ... in this
// order.
std::vector<std::string> SettingsWithSpecs();

// Returns all that the spec of the setting called `field` may name, by name: for "model", the
// networks, then the problems without data. Empty for a setting that names nothing registered.
std::vector<Listing> Registered(const std::string& field);

// Returns the setting's help with the registered names: "how nodes learn together: NAME[:key=value]
// (one line of help), ...". For a setting that names nothing registered, returns its help alone.
std::string SpecHelp(const ConfigField& field);

// Returns what a value of the setting may begin with, for completion: the registered names, with
// what must follow ("ring", "file:PATH"), or the few values that it may have; empty where anything
// may be.
std::vector<std::string> ValueWords(const ConfigField& field);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_CORE_SPEC_HELP_H_

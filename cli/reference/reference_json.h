// The whole reference as one JSON object, for programs that make pages of it (tools/docs).
//
// A pure function, safe from any thread.
#ifndef GRAPEVINE_CLI_REFERENCE_REFERENCE_JSON_H_
#define GRAPEVINE_CLI_REFERENCE_REFERENCE_JSON_H_

#include <map>
#include <string>
#include <vector>

#include "base/registry.h"
#include "cli/flags/command_description.h"

namespace grapevine {

// Returns {"name", "help", "flags": [...], "arguments": [...], "footer", "commands": [as this,
// ...], "registered": {SETTING: [{"name", "options", "help"}, ...]}}: what CommandDescription has,
// in its order, and what the specs of settings can name. Leaves out what is empty or false. Text is
// UTF-8; other bytes are replaced.
std::string ReferenceJson(const CommandDescription& program,
                          const std::map<std::string, std::vector<Listing>>& registered);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_REFERENCE_REFERENCE_JSON_H_

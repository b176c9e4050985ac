// Manual pages, in the macros of man(7).
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_CLI_REFERENCE_MANUAL_PAGE_H_
#define GRAPEVINE_CLI_REFERENCE_MANUAL_PAGE_H_

#include <string>
#include <vector>

#include "cli/flags/command_description.h"

namespace grapevine {

struct ManualPage {
  std::string name;  // "grapevine-train"; its file is grapevine-train.1
  std::string text;
};

// The edition that the foot of every page names.
struct ManualEdition {
  std::string version;  // "0.1.0"
  std::string date;     // "2026-11-26"; may be empty
};

// Returns the page of the program, then those of its commands.
std::vector<ManualPage> ManualPages(const CommandDescription& program,
                                    const ManualEdition& edition);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_REFERENCE_MANUAL_PAGE_H_

// `grapevine report`: runs as one HTML page that needs nothing else, no network and no other file.
//
// The page is a fixed text (page.html, with its style and its script) and what it shows, as JSON.
// Runs' files are untrusted: the script shows their texts as texts, and in the page they are
// escaped so that they cannot end its data or begin an element.
//
// Safe from any thread; reads the runs' files.
#ifndef GRAPEVINE_REPORT_PAGE_PAGE_H_
#define GRAPEVINE_REPORT_PAGE_PAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace grapevine {

struct PageOptions {
  std::vector<std::string> runs;  // run directories, or folders of them
  std::string title;              // empty: what the runs have in common
  std::string target;             // a test accuracy; empty: that of the runs
  // Whether readers follow a run that goes on: its progress comes first, and sections that have
  // nothing to show yet are left out without a word.
  bool live = false;
};

// Returns what the page shows, as JSON in ASCII without <, > and &. A section that lacks something
// says what, and the page has the others all the same. Errors are kUsage or kInput: no run is
// found, or a run's configuration or metrics are missing or broken.
absl::StatusOr<std::string> PageData(const PageOptions& options);

// Returns the page itself. Errors are those of PageData.
absl::StatusOr<std::string> PageOfRuns(const PageOptions& options);

// Returns a page without data, which asks for them again and again at data.json beside it. The
// answer must be PageData, or a status other than 200 with a sentence that says why there are no
// data.
std::string LivePage();

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PAGE_PAGE_H_

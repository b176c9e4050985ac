// `grapevine report`: runs as one HTML page that needs nothing else, no network and no other file.
//
// The page is a fixed text (page.html, with its style and its script) and what it shows, as JSON.
// Runs' files are untrusted: the script shows their texts as texts, and in the page they are
// escaped so that they cannot end its data or begin an element.
//
// Safe from any thread; the runs' files are read.
#ifndef GRAPEVINE_REPORT_PAGE_PAGE_H_
#define GRAPEVINE_REPORT_PAGE_PAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace grapevine {

struct PageOptions {
  std::vector<std::string> runs;  // run directories, or folders of them
  std::string title;              // empty: what the runs have in common
  std::string target;             // an accuracy; empty: the runs' own
  // For who follows a run: how far it is comes first, and what there is nothing to show of yet is
  // left out without a word.
  bool live = false;
};

// What the page shows, as JSON in ASCII without <, > and &. A section that lacks something says
// what, and the others are there all the same. Errors are kUsage or kInput: there is no run, or a
// run's configuration or metrics are missing or broken.
absl::StatusOr<std::string> PageData(const PageOptions& options);

// The page itself. Errors as PageData's.
absl::StatusOr<std::string> PageOfRuns(const PageOptions& options);

// A page without data that asks for them again and again, at data.json beside it: PageData, or
// another status than 200 with a sentence that says why there is none.
std::string LivePage();

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_PAGE_PAGE_H_

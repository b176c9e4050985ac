// The output of `grapevine topology --optimize`: for people, and as JSON.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_GRAPH_SEARCH_REPORT_H_
#define GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_GRAPH_SEARCH_REPORT_H_

#include <string>

#include "experiment/graph_search/graph_search.h"

namespace grapevine {

// What a search was asked for, beyond what its result says.
struct GraphSearchBasis {
  int nodes = 2;
  std::string model;    // as the user named it
  std::string compute;  // time of one gradient
  int degree = 0;       // 0: any
  bool fixed = false;
};

// Returns the graph found, the families beside it, and what all of it is based on.
std::string GraphSearchText(const GraphSearchResult& result, const GraphSearchBasis& basis);

// Returns one indented object (docs/topologies.md has its fields) and a line break.
std::string GraphSearchJson(const GraphSearchResult& result, const GraphSearchBasis& basis);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_GRAPH_SEARCH_REPORT_H_

// The output of `grapevine topology --optimize`: for people, and as JSON.
//
// Thread-safety: pure functions.
#ifndef GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_GRAPH_SEARCH_REPORT_H_
#define GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_GRAPH_SEARCH_REPORT_H_

#include <string>

#include "experiment/graph_search/graph_search.h"

namespace grapevine {

// What a search was asked for, as far as its result does not say it.
struct GraphSearchBasis {
  int nodes = 2;
  std::string model;    // as the user named it
  std::string compute;  // of one gradient
  int degree = 0;       // 0: any
  bool fixed = false;
};

// The graph found, the families beside it, and what all of it is based on.
std::string GraphSearchText(const GraphSearchResult& result, const GraphSearchBasis& basis);

// One indented object (docs/topologies.md has its fields) and a line break.
std::string GraphSearchJson(const GraphSearchResult& result, const GraphSearchBasis& basis);

}  // namespace grapevine

#endif  // GRAPEVINE_EXPERIMENT_GRAPH_SEARCH_GRAPH_SEARCH_REPORT_H_

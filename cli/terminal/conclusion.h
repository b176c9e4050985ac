// What a command says when a run is over.
#ifndef GRAPEVINE_CLI_TERMINAL_CONCLUSION_H_
#define GRAPEVINE_CLI_TERMINAL_CONCLUSION_H_

#include <string>

#include "run/records/summary.h"

namespace grapevine {

// "finished after 300 rounds (3 epochs), 12.3 s, 1.05 GB sent", and a line with
// the accuracies where there are any; before them, whether and when a target was met.
std::string Conclusion(const Summary& summary);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_TERMINAL_CONCLUSION_H_

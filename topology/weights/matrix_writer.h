// Writes mixing weights as --mixing=file:PATH reads them (matrix_file.cc).
//
// Thread-safety: a pure function.
#ifndef GRAPEVINE_TOPOLOGY_WEIGHTS_MATRIX_WRITER_H_
#define GRAPEVINE_TOPOLOGY_WEIGHTS_MATRIX_WRITER_H_

#include "absl/status/status.h"
#include "topology/files/graph_formats.h"
#include "topology/weights/mixing.h"

namespace grapevine {

// Writes the matrices of a period, one after the other, as n lines of n entries each. Entries read
// back as the same numbers. The topology must have a period. An error of `sink` stops the writing
// and is returned.
absl::Status WriteMatrices(const Mixing& mixing, const TextSink& sink);

}  // namespace grapevine

#endif  // GRAPEVINE_TOPOLOGY_WEIGHTS_MATRIX_WRITER_H_

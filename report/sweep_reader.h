// What came out of the cells of a sweep, read back for pictures.
#ifndef GRAPEVINE_REPORT_SWEEP_READER_H_
#define GRAPEVINE_REPORT_SWEEP_READER_H_

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "run/config/config.pb.h"

namespace grapevine {

struct SweptCell {
  std::string path;
  Config config;
  double seconds_per_round = 0;  // above 0
  int workers = 1;               // nodes that compute gradients

  // Seconds in which all workers together compute as many gradients as there are
  // nodes: fair to methods that keep nodes as servers.
  double seconds_per_gradients() const { return seconds_per_round * config.nodes() / workers; }
  // Where the configuration has them: bits and seconds.
  std::optional<double> bandwidth() const;
  std::optional<double> latency() const;
};

// Every finished cell in `paths` (sweeps, folders of runs, or runs), in the order
// of their names. Cells without a summary.json are left out: they failed, or the
// sweep goes on. Errors are kInput: there is none, or one that is no simulated
// run; they name the folder or the file.
absl::StatusOr<std::vector<SweptCell>> ReadSweep(std::span<const std::string> paths);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_SWEEP_READER_H_

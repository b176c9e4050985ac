// A run's measurements as TensorBoard reads them: an event file beside metrics.jsonl, with a scalar
// for each measurement, at the step of its round.
//
// The file consists of TFRecords of Event messages:
// https://www.tensorflow.org/tutorials/load_data/tfrecord. Every process that measures a run begins
// a file of its own; TensorBoard joins them in the order of their names. Safe from any thread.
#ifndef GRAPEVINE_RUN_RECORDS_EVENT_FILE_H_
#define GRAPEVINE_RUN_RECORDS_EVENT_FILE_H_

#include <cstdint>
#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "run/records/metrics.h"
#include "run/records/output_file.h"

namespace grapevine {

// Returns the time at which all simulated runs begin, 2000-01-01 00:00 UTC: their events have
// simulated times.
absl::Time SimulatedRunsBegin();

// Creates a file in the folder `run`, named after this process, which begins at `now`. The events
// begin at `first`, which equals `now` for a real run. The events of earlier files after round
// `from` become void; `from` is 0 if there are no earlier files. Errors are kOutput.
absl::StatusOr<std::unique_ptr<LineFile>> CreateEventFile(const std::string& run, absl::Time now,
                                                          absl::Time first, int64_t from);

// Returns the record of a measurement that was taken at the time `at`, to be appended as it is.
// Absent values are left out.
std::string EventRecord(const RunMetrics& metrics, absl::Time at);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_EVENT_FILE_H_

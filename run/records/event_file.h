// A run's measurements as TensorBoard reads them: an event file beside metrics.jsonl, with a scalar
// for each measurement, at the step of its round.
//
// TFRecords of Event messages: https://www.tensorflow.org/tutorials/load_data/tfrecord. Every
// process that measures a run begins a file of its own; TensorBoard joins them in the order of
// their names. Safe from any thread.
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

// When simulated runs begin, whose events have simulated times: 2000-01-01 00:00 UTC.
absl::Time SimulatedRunsBegin();

// Creates a file in the folder `run`, named after this process, which begins at `now`. Its events
// begin at `first`, the same for a real run. What earlier files have of rounds after `from` is
// void; 0: there are none. Errors are kOutput.
absl::StatusOr<std::unique_ptr<LineFile>> CreateEventFile(const std::string& run, absl::Time now,
                                                          absl::Time first, int64_t from);

// The record of a measurement that was taken `at` this time: to be appended as it is. Absent values
// are left out.
std::string EventRecord(const RunMetrics& metrics, absl::Time at);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_RECORDS_EVENT_FILE_H_

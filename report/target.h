// When runs reach a test accuracy. This compares methods whose steps do not learn alike.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_REPORT_TARGET_H_
#define GRAPEVINE_REPORT_TARGET_H_

#include <optional>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "report/run_reader.h"
#include "run/config/config.pb.h"
#include "run/records/metrics.h"

namespace grapevine {

// Returns the target accuracy, a fraction above 0: the one that `given` ("97%"; may be empty) asks
// for, else the --target-accuracy that all runs share that have one; absent if no run has one.
// kUsage for a text that is no fraction, kInput if the runs have several targets.
absl::StatusOr<std::optional<double>> TargetOf(const std::string& given,
                                               std::span<const Config* const> configs);

// Returns the target accuracy as TargetOf does; kUsage if neither `given` nor a run has one.
absl::StatusOr<double> RequiredTargetOf(const std::string& given,
                                        std::span<const Config* const> configs);

// Returns the kInput error that no run reached `target`, so that nothing can be compared.
absl::Status NobodyMet(double target);

// Returns the accuracy in percent: "97 %".
std::string TargetName(double accuracy);

// Returns the first evaluation that reached `accuracy`; null if none did.
const RunMetrics* FirstToMeet(double accuracy, std::span<const RunMetrics> metrics);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_TARGET_H_

// When runs reach a test accuracy: what methods are compared by whose steps do not learn alike.
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

// The accuracy, a fraction above 0, that `given` ("97%"; may be empty) asks for, else the
// --target-accuracy that those of the runs share that have one; absent if none has. kUsage for a
// text that is no fraction, kInput if the runs have several.
absl::StatusOr<std::optional<double>> TargetOf(const std::string& given,
                                               std::span<const Config* const> configs);

// The same where there must be one: kUsage if there is none.
absl::StatusOr<double> RequiredTargetOf(const std::string& given,
                                        std::span<const Config* const> configs);

// kInput: there is nothing to compare.
absl::Status NobodyMet(double target);

// "97 %".
std::string TargetName(double accuracy);

// The first evaluation that met it; null if none did.
const RunMetrics* FirstToMeet(double accuracy, std::span<const RunMetrics> metrics);

}  // namespace grapevine

#endif  // GRAPEVINE_REPORT_TARGET_H_

#include "report/measurements.h"

#include <cstddef>
#include <utility>

#include "base/status.h"
#include "report/curve.h"
#include "report/run_reader.h"
#include "run/records/metrics.h"

namespace grapevine {

absl::StatusOr<std::string> MeasurementsText(const std::vector<std::string>& runs,
                                             TableFormat format) {
  ASSIGN_OR_RETURN(const std::vector<RecordedRun> recorded, ReadRuns(runs));
  const std::vector<std::string> methods = CurveLabels(ConfigsOf(recorded));
  Table table{{"run", "method"}, {}};
  for (const NamedNumber& field : NumbersOf(RunMetrics())) table.header.push_back(field.name);
  for (size_t i = 0; i < recorded.size(); ++i) {
    for (const RunMetrics& metrics : recorded[i].metrics) {
      std::vector<std::string>& row = table.rows.emplace_back();
      row = {recorded[i].path, methods[i]};
      for (NamedNumber& field : NumbersOf(metrics)) row.push_back(std::move(field.text));
    }
  }
  return TableText(table, format);
}

}  // namespace grapevine

#include "node/runner/step_reports.h"

namespace grapevine {

void StepReports::OnLimit(Round limit) {
  limit_ = limit;
  ahead_ = limit - told_.steps;
}

bool StepReports::Due(const StepsReport& report, Time now) {
  if (!Matters(report, now)) return false;
  told_ = report;
  told_at_ = now;
  ahead_ = limit_ - report.steps;
  return true;
}

bool StepReports::Matters(const StepsReport& report, Time now) const {
  if (report.cut != told_.cut) return true;
  if (report.steps >= limit_ && report.resting && !(report == told_)) return true;
  if (report.steps == told_.steps) return false;
  return 2 * (limit_ - report.steps) <= ahead_ || now - told_at_ >= kInterval;
}

}  // namespace grapevine

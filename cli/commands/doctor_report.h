// The output of `grapevine doctor`, for people and as JSON.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_CLI_COMMANDS_DOCTOR_REPORT_H_
#define GRAPEVINE_CLI_COMMANDS_DOCTOR_REPORT_H_

#include <string>
#include <vector>

#include "experiment/measured_network/measured_network.h"
#include "node/probe/findings.h"
#include "node/probe/survey.h"

namespace grapevine {

// Returns a line for each finding, and a table of the edges, if any were measured.
std::string DoctorText(const Survey& survey, const std::vector<Finding>& findings);

// Returns one indented object (docs/cluster.md has its fields) and a line break.
std::string DoctorJson(const Survey& survey, const std::vector<Finding>& findings);

// Returns the edges that were measured.
MeasuredNetwork MeasuredNetworkOf(const Survey& survey);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_COMMANDS_DOCTOR_REPORT_H_

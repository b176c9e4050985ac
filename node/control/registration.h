// Whether a node may join a run, and whether it fits into it.
//
// Pure functions, safe from any thread.
#ifndef GRAPEVINE_NODE_CONTROL_REGISTRATION_H_
#define GRAPEVINE_NODE_CONTROL_REGISTRATION_H_

#include <string>

#include "node/control/control.pb.h"
#include "node/identity/run_token.h"

namespace grapevine {

inline constexpr uint32_t kControlProtocolVersion = 8;

// Adds the proof that the node has the run's token. It holds for this process, this address and
// this call only: nobody who hears it can pose as another node with it, nor call again.
void Prove(const RunToken& token, control::Registration* registration);
bool IsProven(const control::Registration& registration, const RunToken& token);

// Why the node of `given` cannot be in the run of `own` (rank 0's own
// registration): the field, both values and the remedy. Empty when it fits.
std::string Objection(const control::Registration& own, const control::Registration& given);

// Why a node with these parts cannot be in a run that goes on from there. Empty when it can.
std::string PartObjection(const control::Resumed& resumed, const control::Registration& given);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_CONTROL_REGISTRATION_H_

// What waits in the simulator's event queue.
#ifndef GRAPEVINE_SIM_ENGINE_SIM_EVENT_H_
#define GRAPEVINE_SIM_ENGINE_SIM_EVENT_H_

#include <cstdint>

#include "sim/engine/event_queue.h"

namespace grapevine {

enum class SimEventKind : uint32_t {
  kGradient,  // of node `index`: part `version` is there, in which 0 is the end
  kResume,    // node `index` has time for the next event in its mailbox
  kDepart,    // message `index` may begin to flow
  kAlarm,     // the network asked for it: flow `index`, `version`
  kArrival,   // message `index` is whole at its receiver
  kCredits,   // node `index` may have credits that were held
};

// Eight bytes: an event queue of a million nodes is memory traffic.
struct SimEvent {
  SimEventKind kind : 3;
  uint32_t version : 29;
  uint32_t index;
};
static_assert(sizeof(SimEvent) == 8);

using SimQueue = EventQueue<SimEvent>;

}  // namespace grapevine

#endif  // GRAPEVINE_SIM_ENGINE_SIM_EVENT_H_

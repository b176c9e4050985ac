// How a state names what belongs to a message.
#ifndef GRAPEVINE_RUN_CHECKPOINT_MESSAGE_NAMES_H_
#define GRAPEVINE_RUN_CHECKPOINT_MESSAGE_NAMES_H_

#include <string>
#include <string_view>

namespace grapevine {

// The weight in the note of the message whose vector has this name.
inline std::string WeightName(std::string_view vector) { return std::string(vector) + ".weight"; }

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_CHECKPOINT_MESSAGE_NAMES_H_

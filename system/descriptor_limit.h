// The number of descriptors that this process may have open.
#ifndef GRAPEVINE_SYSTEM_DESCRIPTOR_LIMIT_H_
#define GRAPEVINE_SYSTEM_DESCRIPTOR_LIMIT_H_

#include <cstdint>

namespace grapevine {

// Returns the hard limit, to which RaiseDescriptorLimit (file_descriptor.h) raises the soft one, or
// 0 if the system does not report it. Thread-safe.
int64_t DescriptorLimit();

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_DESCRIPTOR_LIMIT_H_

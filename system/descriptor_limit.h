// How many descriptors this process may have open.
#ifndef GRAPEVINE_SYSTEM_DESCRIPTOR_LIMIT_H_
#define GRAPEVINE_SYSTEM_DESCRIPTOR_LIMIT_H_

#include <cstdint>

namespace grapevine {

// The hard limit, to which RaiseDescriptorLimit (file_descriptor.h) raises the soft one; 0 if the
// system does not say. Thread-safe.
int64_t DescriptorLimit();

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_DESCRIPTOR_LIMIT_H_

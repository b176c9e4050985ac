// How many files and sockets this process may have open.
#ifndef GRAPEVINE_SYSTEM_DESCRIPTOR_LIMIT_H_
#define GRAPEVINE_SYSTEM_DESCRIPTOR_LIMIT_H_

namespace grapevine {

// Raises the soft limit, which is low for the sake of programs that use select(), to
// the hard one. Where that fails it stays as it was. Thread-safe.
void RaiseDescriptorLimit();

}  // namespace grapevine

#endif  // GRAPEVINE_SYSTEM_DESCRIPTOR_LIMIT_H_

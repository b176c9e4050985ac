// What the library says on standard error, in a process that is not its own.
//
// Any thread.
#ifndef GRAPEVINE_CAPI_LIBRARY_LOG_H_
#define GRAPEVINE_CAPI_LIBRARY_LOG_H_

namespace grapevine {

// Warnings and worse alone are written, unless the program has set up its log itself, which it
// cannot do later. Once for the process; harmless again.
void QuietenLog();

}  // namespace grapevine

#endif  // GRAPEVINE_CAPI_LIBRARY_LOG_H_

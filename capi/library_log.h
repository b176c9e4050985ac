// The log of the library on standard error, in a process that is not its own.
//
// Safe from any thread.
#ifndef GRAPEVINE_CAPI_LIBRARY_LOG_H_
#define GRAPEVINE_CAPI_LIBRARY_LOG_H_

namespace grapevine {

// Limits the log to warnings and worse, unless the program has set up its log itself, which it
// cannot do later. Acts once for the process; further calls are harmless.
void QuietenLog();

}  // namespace grapevine

#endif  // GRAPEVINE_CAPI_LIBRARY_LOG_H_

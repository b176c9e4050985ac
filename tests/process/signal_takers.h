// Which threads of a process a signal may reach.
#ifndef GRAPEVINE_TESTS_PROCESS_SIGNAL_TAKERS_H_
#define GRAPEVINE_TESTS_PROCESS_SIGNAL_TAKERS_H_

#include <sys/types.h>

#include <set>
#include <string>

namespace grapevine::testing {

// Threads of a process that do not block SIGTERM, SIGINT and SIGHUP, each by its number and name.
// `first`: with the first thread, which is the program's own. One that is about to end takes none.
std::set<std::string> SignalTakers(pid_t process, bool first);

int ThreadsOf(pid_t process);

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_PROCESS_SIGNAL_TAKERS_H_

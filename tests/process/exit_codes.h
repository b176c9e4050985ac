// The exit codes of the program, as its manual has them.
#ifndef GRAPEVINE_TESTS_PROCESS_EXIT_CODES_H_
#define GRAPEVINE_TESTS_PROCESS_EXIT_CODES_H_

namespace grapevine::testing {

inline constexpr int kOtherwise = 1;  // a bug, or a failure of the system
inline constexpr int kUsage = 2, kInput = 3, kOutput = 4, kRendezvous = 5, kPeerLost = 6;
inline constexpr int kDiverged = 7, kDevice = 8, kInterrupted = 130, kTerminated = 143;

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_PROCESS_EXIT_CODES_H_

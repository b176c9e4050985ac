// A file system without locks, for tests: the kernel refuses them as on a network file system whose
// lock service does not run.
#ifndef GRAPEVINE_TESTS_TESTING_REFUSED_LOCKS_H_
#define GRAPEVINE_TESTS_TESTING_REFUSED_LOCKS_H_

namespace grapevine::testing {

// For the rest of this process, a child of the test's. Aborts if the kernel has no such filter.
void RefuseFileLocks();

}  // namespace grapevine::testing

#endif  // GRAPEVINE_TESTS_TESTING_REFUSED_LOCKS_H_

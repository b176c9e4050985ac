// The whole program, for a main of your own: register a network or a data set first, and every
// command knows it (docs/your-own-model.md).
#ifndef GRAPEVINE_CLI_GRAPEVINE_H_
#define GRAPEVINE_CLI_GRAPEVINE_H_

namespace grapevine {

// Carries out the command line and returns the exit code of the process. Must be called once, from
// the main thread, before other threads exist. `grapevine train` starts this same program again for
// each node, which registers the same things.
int RunGrapevine(int argc, char** argv);

}  // namespace grapevine

#endif  // GRAPEVINE_CLI_GRAPEVINE_H_

// The grapevine program as it comes.
#include "cli/grapevine.h"

int main(int argc, char** argv) { return grapevine::RunGrapevine(argc, argv); }

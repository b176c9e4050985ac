#include "cli/terminal/out_of_memory.h"

#include <sys/resource.h>
#include <unistd.h>

#include <exception>
#include <new>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"
#include "system/file_descriptor.h"

namespace grapevine {
namespace {

// Returns the line to write, which is allocated while memory is left.
std::string& LastLine() {
  static std::string line;
  return line;
}

std::terminate_handler& HandlerBefore() {
  static std::terminate_handler handler = nullptr;
  return handler;
}

// Ends the process if it terminates for a std::bad_alloc, which no code catches.
void OnTerminate() {
  try {
    if (const std::exception_ptr thrown = std::current_exception()) std::rethrow_exception(thrown);
  } catch (const std::bad_alloc&) {
    (void)WriteAll(STDERR_FILENO, LastLine());
    _exit(ExitCode(absl::ResourceExhaustedError("")));
  } catch (...) {
  }
  HandlerBefore()();
}

std::string LimitText() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
  return absl::StrCat("`ulimit -v` grants ", HumanSize(static_cast<double>(limit.rlim_cur)), ": ");
}

}  // namespace

std::string OutOfMemoryText(const Config& config) {
  return absl::StrCat("out of memory for --model=", config.model(), " --batch=", config.batch(),
                      "; ", LimitText(),
                      "take smaller ones, less data, fewer nodes on a machine, "
                      "or one with more memory");
}

void EndWhenOutOfMemory(std::string line) {
  LastLine() = std::move(line);
  if (HandlerBefore() == nullptr) HandlerBefore() = std::set_terminate(OnTerminate);
}

}  // namespace grapevine

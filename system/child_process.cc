#include "system/child_process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {
namespace {

struct Pipe {
  UniqueDescriptor read, write;
};

absl::StatusOr<Pipe> OpenPipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return absl::ErrnoToStatus(errno, "cannot open a pipe");
  return Pipe{UniqueDescriptor(ends[0]), UniqueDescriptor(ends[1])};
}

// Opens a pipe for the child's input if it is fed, and /dev/null, without a writer, otherwise.
absl::StatusOr<Pipe> OpenInput(bool fed) {
  if (fed) return OpenPipe();
  Pipe input{UniqueDescriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)), UniqueDescriptor()};
  if (!input.read.open()) return absl::ErrnoToStatus(errno, "cannot open /dev/null");
  return input;
}

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

// Data that the child needs between fork and exec. It is prepared before the fork, because
// after it only async-signal-safe calls are allowed.
struct Prepared {
  const char* executable;
  std::vector<char*> arguments, environment;
  const std::vector<int>& inherited;
  cpu_set_t cpus;
  bool pinned;
  pid_t parent;
  int input, output, errors, exec_error;
};

// Executes the program in the child. Returns only if that fails.
void Execute(const Prepared& prepared) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  // The parent may have died before the prctl above took effect.
  if (getppid() != prepared.parent) _exit(127);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  signal(SIGPIPE, SIG_DFL);  // an ignored signal would stay ignored after exec
  if (prepared.pinned) sched_setaffinity(0, sizeof(prepared.cpus), &prepared.cpus);
  // dup2 also clears close-on-exec of the new number.
  if (dup2(prepared.input, STDIN_FILENO) < 0 || dup2(prepared.output, STDOUT_FILENO) < 0 ||
      dup2(prepared.errors, STDERR_FILENO) < 0) {
    return;
  }
  for (const int descriptor : prepared.inherited) fcntl(descriptor, F_SETFD, 0);
  execve(prepared.executable, prepared.arguments.data(), prepared.environment.data());
}

// How long a child may take from fork to exec, on a busy machine.
constexpr int kExecPatienceMs = 30000;

// Returns the errno of a failed exec, or nothing if the program runs: a successful exec closes the
// other end.
std::optional<int> ReadExecError(int descriptor) {
  int error = 0;
  pollfd polled{descriptor, POLLIN, 0};
  if (poll(&polled, 1, kExecPatienceMs) == 0) return ETIMEDOUT;  // something holds the child
  ssize_t got;
  do {
    got = read(descriptor, &error, sizeof(error));
  } while (got < 0 && errno == EINTR);
  return got == sizeof(error) ? std::optional(error) : std::nullopt;
}

pid_t WaitFor(pid_t pid, int options, int* wait_status) {
  pid_t result;
  do {
    result = waitpid(pid, wait_status, options);
  } while (result < 0 && errno == EINTR);
  return result;
}

void SetNonBlocking(const UniqueDescriptor& descriptor) {
  fcntl(descriptor.get(), F_SETFL, fcntl(descriptor.get(), F_GETFL) | O_NONBLOCK);
}

}  // namespace

absl::StatusOr<std::unique_ptr<ChildProcess>> ChildProcess::Start(const ChildCommand& command) {
  absl::StatusOr<Pipe> output = OpenPipe(), errors = OpenPipe(), exec_error = OpenPipe();
  for (const auto* pipe : {&output, &errors, &exec_error}) {
    if (!pipe->ok()) return pipe->status();
  }
  ASSIGN_OR_RETURN(Pipe input, OpenInput(command.fed));
  Prepared prepared{.executable = command.executable.c_str(),
                    .arguments = Pointers(command.arguments),
                    .environment = Pointers(command.environment),
                    .inherited = command.inherited,
                    .cpus = {},
                    .pinned = command.cpu.has_value(),
                    .parent = getpid(),
                    .input = input.read.get(),
                    .output = output->write.get(),
                    .errors = errors->write.get(),
                    .exec_error = exec_error->write.get()};
  if (command.cpu) CPU_SET(*command.cpu, &prepared.cpus);

  const pid_t pid = fork();
  if (pid < 0)
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot fork for ", command.executable));
  if (pid == 0) {
    Execute(prepared);
    const int error = errno;
    (void)!write(prepared.exec_error, &error, sizeof(error));
    _exit(127);
  }
  exec_error->write.Close();
  if (const std::optional<int> error = ReadExecError(exec_error->read.get())) {
    int wait_status;
    kill(pid, SIGKILL);
    WaitFor(pid, 0, &wait_status);
    return absl::ErrnoToStatus(*error, absl::StrCat("cannot execute ", command.executable));
  }
  for (const UniqueDescriptor* own : {&input.write, &output->read, &errors->read}) {
    if (own->open()) SetNonBlocking(*own);
  }
  return std::unique_ptr<ChildProcess>(new ChildProcess(
      pid, std::move(input.write), std::move(output->read), std::move(errors->read)));
}

ChildProcess::~ChildProcess() {
  if (wait_status_) return;
  kill(pid_, SIGKILL);
  int wait_status;
  WaitFor(pid_, 0, &wait_status);
}

void ChildProcess::Signal(int signal) {
  // Until the child is reaped, no other process can get its number.
  if (!wait_status_) kill(pid_, signal);
}

bool ChildProcess::Stopped() const {
  siginfo_t state{};
  return !wait_status_ &&
         waitid(P_PID, static_cast<id_t>(pid_), &state, WSTOPPED | WNOHANG | WNOWAIT) == 0 &&
         state.si_pid == pid_;
}

std::optional<int> ChildProcess::Poll() {
  int wait_status;
  if (!wait_status_ && WaitFor(pid_, WNOHANG, &wait_status) == pid_) wait_status_ = wait_status;
  return wait_status_;
}

void LineReader::Read(UniqueDescriptor& descriptor) {
  char buffer[16384];
  for (size_t total = 0; descriptor.open() && total < kMaxBurst;) {
    const ssize_t got = read(descriptor.get(), buffer, sizeof(buffer));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) return;
    if (got <= 0) {
      descriptor.Close();
      if (!partial_.empty()) Flush();
      return;
    }
    total += static_cast<size_t>(got);
    Take({buffer, static_cast<size_t>(got)});
  }
}

void LineReader::Take(std::string_view bytes) {
  while (!bytes.empty()) {
    const size_t room = kMaxLine - partial_.size();
    const std::string_view head = bytes.substr(0, room);
    const size_t end = head.find('\n');
    const size_t length = std::min(end, head.size());
    partial_.append(head.substr(0, length));
    bytes.remove_prefix(length + (end == std::string_view::npos ? 0 : 1));
    if (end != std::string_view::npos || partial_.size() == kMaxLine) Flush();
  }
}

void LineReader::Flush() {
  // Empties `partial_` first: the callback sees a reader that is ready for the next line.
  const std::string line = std::exchange(partial_, {});
  on_line_(line);
}

}  // namespace grapevine

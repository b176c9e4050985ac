#include "report/gnuplot.h"

#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <system_error>

#include "absl/cleanup/cleanup.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status_macros.h"
#include "system/atomic_file.h"
#include "system/mapped_file.h"

namespace grapevine {
namespace {

constexpr char kScript[] = "script.gp";
constexpr char kComplaints[] = "complaints.txt";

absl::StatusOr<std::string> MakePrivateFolder() {
  std::error_code error;
  std::string folder = (std::filesystem::temp_directory_path(error) / "grapevine-XXXXXX").string();
  if (error) return absl::UnavailableError("there is no folder for temporary files; set TMPDIR");
  if (mkdtemp(folder.data()) == nullptr) {
    return absl::ErrnoToStatus(errno, absl::StrCat("cannot create ", folder));
  }
  return folder;
}

absl::StatusOr<std::string> ReadFile(const std::string& path) {
  ASSIGN_OR_RETURN(const std::unique_ptr<MappedFile> file, MappedFile::Open(path));
  const auto bytes = file->bytes();
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// gnuplot points at the place with lines of spaces and a caret.
std::string FirstComplaint(const std::string& folder) {
  const absl::StatusOr<std::string> text = ReadFile(absl::StrCat(folder, "/", kComplaints));
  if (!text.ok()) return "it said nothing";
  const std::vector<std::string> lines = absl::StrSplit(*text, '\n');
  for (const std::string& line : lines) {
    const bool warning = line.find("warning") != line.npos;
    if (line.find(kScript) != line.npos && !warning) return line;
  }
  return lines.front().empty() ? "it said nothing" : lines.front();
}

// Returns errno-like codes: 0 when the child was started.
int Start(const std::string& folder, pid_t* child) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, kComplaints,
                                   O_WRONLY | O_CREAT | O_TRUNC, 0600);
  // -d: no settings of the user's own.
  char program[] = "gnuplot", defaults[] = "-d", script[] = "script.gp";
  char* arguments[] = {program, defaults, script, nullptr};
  const int error = posix_spawnp(child, program, &actions, nullptr, arguments, environ);
  posix_spawn_file_actions_destroy(&actions);
  return error;
}

absl::Status Execute(const std::string& folder) {
  pid_t child = 0;
  const int error = Start(folder, &child);
  if (error == ENOENT) {
    return absl::NotFoundError("gnuplot is not installed; on Debian: apt-get install gnuplot-nox");
  }
  if (error != 0) return absl::ErrnoToStatus(error, "cannot start gnuplot");
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return absl::ErrnoToStatus(errno, "cannot wait for gnuplot");
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  return absl::InternalError(absl::StrCat("gnuplot failed: ", FirstComplaint(folder)));
}

}  // namespace

absl::StatusOr<std::string> RunGnuplot(const std::string& script, const std::string& output) {
  const absl::StatusOr<std::string> folder = MakePrivateFolder();
  if (!folder.ok()) return folder.status();
  const absl::Cleanup remove = [&folder] {
    std::error_code ignored;
    std::filesystem::remove_all(*folder, ignored);
  };
  absl::Status status = WriteFileAtomically(absl::StrCat(*folder, "/", kScript), script);
  RETURN_IF_ERROR(status);
  if (status = Execute(*folder); !status.ok()) return status;
  return ReadFile(absl::StrCat(*folder, "/", output));
}

}  // namespace grapevine

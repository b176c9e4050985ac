#include "node/probe/probe_desk.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "node/probe/host_facts.h"
#include "node/probe/name_lookup.h"
#include "node/probe/probe_call.h"
#include "node/probe/probe_wire.h"
#include "node/server/certificates.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;

// The most bytes of a file of certificates that is sent to the launcher.
constexpr size_t kMostPem = 65536;
constexpr milliseconds kLongestLife{3600000};

int64_t NowNs() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

// Checks the files of a node, and adds the certificates that other nodes will see.
absl::Status AddCertificate(const probe::TlsFiles& files, probe::Certificate* certificate) {
  absl::StatusOr<PemFile> ca = ReadPem("--tls-ca", files.ca());
  if (!ca.ok()) return ca.status();
  absl::StatusOr<PemFile> cert = ReadPem("--tls-cert", files.cert());
  if (!cert.ok()) return cert.status();
  absl::StatusOr<PemFile> key = ReadPem("--tls-key", files.key());
  if (!key.ok()) return key.status();
  absl::StatusOr<std::string> warning = CheckCertificate(*ca, *cert, *key, absl::Now());
  if (!warning.ok()) return warning.status();
  if (ca->text.size() > kMostPem || cert->text.size() > kMostPem) {
    return absl::InvalidArgumentError(absl::StrCat(cert->name, ": more than ", kMostPem, " bytes"));
  }
  certificate->set_warning(*std::move(warning));
  certificate->set_chain(std::move(cert->text));
  certificate->set_authority(std::move(ca->text));
  return absl::OkStatus();
}

probe::Facts Inspect(const probe::Inspect& inspect, int stop) {
  std::error_code error;
  std::filesystem::current_path(inspect.folder(), error);
  probe::Facts facts = ReadHostFacts();
  if (error) facts.set_folder_problem(error.message());
  const milliseconds patience =
      std::clamp(milliseconds(inspect.patience_ms()), milliseconds(1), kLongestProbe);
  const auto stopped = [stop] {
    pollfd polled{stop, POLLIN, 0};
    return poll(&polled, 1, 0) > 0;
  };
  LookUpAll(inspect.names(), patience, stopped, &facts);
  for (const probe::TlsFiles& files : inspect.tls()) {
    probe::Certificate* certificate = facts.add_certificates();
    certificate->set_rank(files.rank());
    if (const absl::Status status = AddCertificate(files, certificate); !status.ok()) {
      certificate->set_problem(std::string(status.message()));
    }
  }
  return facts;
}

}  // namespace

absl::StatusOr<std::unique_ptr<ProbeDesk>> ProbeDesk::Open() {
  UniqueDescriptor ready(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  UniqueDescriptor stop(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!ready.open() || !stop.open()) return absl::ErrnoToStatus(errno, "no eventfd");
  return std::unique_ptr<ProbeDesk>(new ProbeDesk(std::move(ready), std::move(stop)));
}

ProbeDesk::~ProbeDesk() {
  (void)eventfd_write(stop_.get(), 1);
  for (Job& job : jobs_) job.thread.join();
}

void ProbeDesk::Take(const probe::Request& request) {
  probe::Answer answer;
  answer.set_id(request.id());
  switch (request.kind_case()) {
    case probe::Request::kClock:
      answer.mutable_time()->set_heard_ns(NowNs());
      answer.mutable_time()->set_answered_ns(NowNs());
      return Tell(std::move(answer));
    case probe::Request::kOpen:
      return OpenDoor(request.open(), std::move(answer));
    case probe::Request::kInspect:
      return Begin(std::move(answer), [this, inspect = request.inspect()](probe::Answer* done) {
        *done->mutable_facts() = Inspect(inspect, stop_.get());
      });
    case probe::Request::kReach:
      if (door_ == nullptr) return;  // without a door there is no token
      return Begin(std::move(answer), [this, reach = request.reach()](probe::Answer* done) {
        *done->mutable_reached() = ReachDoor(reach, token_, stop_.get());
      });
    case probe::Request::kStream:
      if (door_ == nullptr) return;
      return Begin(std::move(answer), [this, stream = request.stream()](probe::Answer* done) {
        *done->mutable_streamed() = StreamToDoor(stream, token_, stop_.get());
      });
    case probe::Request::KIND_NOT_SET:
      break;
  }
}

// Only the first request counts: calls use its token.
void ProbeDesk::OpenDoor(const probe::Open& open, probe::Answer answer) {
  if (door_ != nullptr || open.token().empty()) return;
  token_ = RunToken(open.token());
  absl::StatusOr<std::unique_ptr<ProbeDoor>> door = ProbeDoor::Open(
      {.token = token_,
       .host = open.host(),
       .ports = {open.ports().begin(), open.ports().end()},
       .lifetime = std::clamp(milliseconds(open.lifetime_ms()), milliseconds(1), kLongestLife)});
  for (int i = 0; i < open.ports_size(); ++i) {
    probe::Port* port = answer.mutable_opened()->add_ports();
    const absl::StatusOr<int> opened =
        door.ok() ? (*door)->ports()[static_cast<size_t>(i)] : door.status();
    port->set_port(opened.ok() ? *opened : open.ports(i));
    if (!opened.ok()) port->set_problem(std::string(opened.status().message()));
  }
  if (door.ok()) door_ = *std::move(door);
  Tell(std::move(answer));
}

void ProbeDesk::Begin(probe::Answer answer, std::function<void(probe::Answer*)> work) {
  Reap();
  if (jobs_.size() >= kMostJobs) return;
  const SignalsAreForOthers none;
  Job& job = jobs_.emplace_back();
  job.thread =
      std::thread([this, &job, answer = std::move(answer), work = std::move(work)]() mutable {
        work(&answer);
        Tell(std::move(answer));
        const MutexLock lock(mutex_);
        job.done = true;
      });
}

void ProbeDesk::Tell(probe::Answer answer) {
  const MutexLock lock(mutex_);
  answers_.push_back(std::move(answer));
  (void)eventfd_write(ready_.get(), 1);
}

std::vector<probe::Answer> ProbeDesk::Answers() {
  const MutexLock lock(mutex_);
  eventfd_t count = 0;
  (void)eventfd_read(ready_.get(), &count);
  return std::exchange(answers_, {});
}

void ProbeDesk::Reap() {
  for (auto job = jobs_.begin(); job != jobs_.end();) {
    bool done = false;
    {
      const MutexLock lock(mutex_);
      done = job->done;
    }
    if (done) job->thread.join();
    job = done ? jobs_.erase(job) : std::next(job);
  }
}

}  // namespace grapevine

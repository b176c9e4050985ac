// A node's client where gRPC has no thread left, rank 0 says nothing, does not read, or says what
// cannot be.
#include "node/control/grpc_control_client.h"

#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "base/status.h"
#include "node/server/grpc_server.h"
#include "system/mutex.h"
#include "tests/node/control/controlled_run.h"
#include "tests/node/control/packed_lists.h"

namespace grapevine::testing {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;
using std::chrono::steady_clock;
using ::testing::AllOf;
using ::testing::HasSubstr;

// A call that is over, but keeps gRPC's thread until it is let go. It is cancelled once it has
// started: a call that is over before that ends on a thread of gRPC's executor, which nobody else
// waits for.
class Idler final : public grpc::ClientBidiReactor<control::Report, control::Directive> {
 public:
  struct Latch {
    Mutex mutex;
    Condition changed;
    int idling ABSL_GUARDED_BY(mutex) = 0;
    bool open ABSL_GUARDED_BY(mutex) = false;
    // False when the deadline is over.
    bool Await(int wanted) {
      const auto deadline = steady_clock::now() + kLong;
      MutexLock lock(mutex);
      while (wanted > 0 ? idling < wanted : idling > 0) {
        if (!changed.WaitUntil(mutex, deadline)) return false;
      }
      return true;
    }
    void Open() {
      MutexLock lock(mutex);
      open = true;
      changed.NotifyAll();
    }
  };

  Idler(control::Control::Stub* stub, std::shared_ptr<Latch> latch) : latch_(std::move(latch)) {
    stub->async()->Connect(&context_, this);
    StartCall();
    context_.TryCancel();  // OnDone deletes nothing before the latch opens
  }
  void OnDone(const grpc::Status&) override {
    {
      MutexLock lock(latch_->mutex);
      ++latch_->idling;
      latch_->changed.NotifyAll();
      while (!latch_->open) latch_->changed.WaitUntil(latch_->mutex, steady_clock::now() + kLong);
      --latch_->idling;
      latch_->changed.NotifyAll();
    }
    delete this;
  }

 private:
  const std::shared_ptr<Latch> latch_;
  grpc::ClientContext context_;
};

// All threads of gRPC's, until it is told to let go of them.
class NoThreadLeft {
 public:
  explicit NoThreadLeft(const RankZero& zero)
      : stub_(control::Control::NewStub(Dial(zero.address()))) {
    // gRPC serves callbacks with half as many threads as there are cores, 2 to 16.
    constexpr int kMaxThreads = 16;
    const int threads =
        std::clamp(static_cast<int>(sysconf(_SC_NPROCESSORS_CONF)) / 2, 2, kMaxThreads);
    for (int i = 0; i < kMaxThreads; ++i) new Idler(stub_.get(), latch_);  // each deletes itself
    EXPECT_TRUE(latch_->Await(threads));
  }
  // Does `what` on a thread of its own; it must return before there are threads again.
  void ExpectToReturn(std::function<void()> what) {
    std::promise<void> returned;
    std::thread thread([&] {
      what();
      returned.set_value();
    });
    EXPECT_EQ(returned.get_future().wait_for(kLong), std::future_status::ready);
    latch_->Open();
    thread.join();
    EXPECT_TRUE(latch_->Await(0));
  }

 private:
  const std::shared_ptr<Idler::Latch> latch_ = std::make_shared<Idler::Latch>();
  const std::unique_ptr<control::Control::Stub> stub_;
};

TEST(GrpcControlClient, AClientCanBeDestroyedWhenGrpcHasNoThreadLeft) {
  RankZero zero(1);
  auto nodes = JoinAll(zero, 1);
  NoThreadLeft none(zero);
  none.ExpectToReturn([&] { nodes.clear(); });
}

TEST(GrpcControlClient, JoiningEndsWhenGrpcHasNoThreadLeft) {
  RankZero zero(2);
  auto node = std::make_unique<ControlledNode>(1, Dial(zero.address()), zero.address());
  NoThreadLeft none(zero);
  absl::Status joined;
  none.ExpectToReturn([&] { joined = node->Join(2, seconds(1)).status(); });
  EXPECT_EQ(FailureOf(joined), Failure::kRendezvous);
  EXPECT_THAT(std::string(joined.message()), HasSubstr("gRPC has no thread left"));
}

// A coordinator that takes the connection, says one thing, then nothing.
class MuteService final : public control::Control::CallbackService {
 public:
  explicit MuteService(control::Directive directive) : directive_(std::move(directive)) {}

 private:
  class Mute final : public grpc::ServerBidiReactor<control::Report, control::Directive> {
   public:
    explicit Mute(const control::Directive& directive) : directive_(directive) {
      StartRead(&report_);
      StartWrite(&directive_);
    }
    void OnReadDone(bool ok) override {
      if (ok) return StartRead(&report_);
      Finish(grpc::Status::OK);
    }
    void OnDone() override { delete this; }

   private:
    control::Report report_;
    const control::Directive directive_;
  };
  grpc::ServerBidiReactor<control::Report, control::Directive>* Connect(
      grpc::CallbackServerContext*) override {
    return new Mute(directive_);
  }

  const control::Directive directive_;
};

control::Directive RosterOf(int size) {
  control::Directive directive;
  SetAddresses(std::vector<std::string>(static_cast<size_t>(size), "127.0.0.1:1"),
               directive.mutable_roster());
  return directive;
}

// A coordinator that reads only when it is let, and keeps what it reads.
class SlowReader final : public control::Control::CallbackService {
 public:
  // The next report of the one stream; nullopt when it has ended, or nothing comes.
  std::optional<control::Report> Next() {
    const auto deadline = steady_clock::now() + kLong;
    MutexLock lock(mutex_);
    while (stream_ == nullptr && changed_.WaitUntil(mutex_, deadline)) continue;
    if (stream_ == nullptr) return std::nullopt;
    read_ = false;
    stream_->StartRead(&report_);
    while (!read_ && changed_.WaitUntil(mutex_, deadline)) continue;
    return read_ && ok_ ? std::optional(report_) : std::nullopt;
  }
  void End() {
    MutexLock lock(mutex_);
    if (stream_ != nullptr) stream_->Finish(grpc::Status::OK);
  }
  void Say(control::Directive directive) {
    MutexLock lock(mutex_);
    directive_ = std::move(directive);
    stream_->StartWrite(&directive_);
  }
  // That so many reports have come.
  void Acknowledge(uint64_t received) {
    control::Directive beat;
    beat.mutable_beat();
    beat.set_received(received);
    Say(beat);
  }

 private:
  class Stream final : public grpc::ServerBidiReactor<control::Report, control::Directive> {
   public:
    explicit Stream(SlowReader& reader) : reader_(reader) {}
    void OnReadDone(bool ok) override {
      MutexLock lock(reader_.mutex_);
      reader_.read_ = true;
      reader_.ok_ = ok;
      reader_.changed_.NotifyAll();
    }
    void OnDone() override { delete this; }

   private:
    SlowReader& reader_;
  };
  grpc::ServerBidiReactor<control::Report, control::Directive>* Connect(
      grpc::CallbackServerContext*) override {
    MutexLock lock(mutex_);
    stream_ = new Stream(*this);
    changed_.NotifyAll();
    return stream_;
  }

  Mutex mutex_;
  Condition changed_;
  Stream* stream_ ABSL_GUARDED_BY(mutex_) = nullptr;
  control::Report report_;
  control::Directive directive_;
  bool read_ ABSL_GUARDED_BY(mutex_) = false;
  bool ok_ ABSL_GUARDED_BY(mutex_) = false;
};

// A node at the other end of a slow reader.
class Unheard : public ::testing::Test {
 protected:
  void SetUp() override {
    const GrpcServer::Register services[] = {
        [&](grpc::ServerBuilder& builder) { builder.RegisterService(&reader_); }};
    auto server = GrpcServer::Start({}, *GrpcCredentials::Load({}), services);
    ASSERT_TRUE(server.ok()) << server.status();
    server_ = *std::move(server);
    const std::string address = FormatHostAddress(server_->address());
    node_ = std::make_unique<ControlledNode>(1, Dial(address), address);
    joined_ = std::async(std::launch::async, [this] { return node_->Join(2).status(); });
    const auto first = reader_.Next();
    ASSERT_TRUE(first.has_value());
    EXPECT_TRUE(first->has_registration());
  }
  void TearDown() override { reader_.End(); }

  SlowReader reader_;
  std::unique_ptr<GrpcServer> server_;
  std::unique_ptr<ControlledNode> node_;
  std::future<absl::Status> joined_;
};

// Rank 0 may have sent the roster already: to it, the node is in the run.
TEST_F(Unheard, ANodeThatIsInterruptedWhileItJoinsSaysSoBeforeItLeaves) {
  control::Failure why;
  why.set_culprit(1);
  why.set_message("terminated (SIGTERM)");
  why.set_failure(static_cast<int>(Failure::kTerminated));
  node_->client().Cancel(why);
  const absl::Status joined = joined_.get();
  EXPECT_EQ(joined.message(), why.message());
  EXPECT_EQ(FailureOf(joined), Failure::kTerminated);
  std::optional<control::Report> report = reader_.Next();
  while (report && report->has_heartbeat()) report = reader_.Next();
  ASSERT_TRUE(report.has_value()) << "it left without a word";
  EXPECT_EQ(report->failure().ShortDebugString(), why.ShortDebugString());
  EXPECT_FALSE(reader_.Next().has_value());
}

TEST_F(Unheard, AReportWaitsForAPlaceWhereItMust) {
  reader_.Say(RosterOf(2));
  ASSERT_TRUE(joined_.get().ok());
  control::Report report;
  for (int i = 0; i < 256; ++i) report.mutable_metrics()->add_sketch(i + 0.5);
  int sent = 0;
  absl::Status status;
  while (status.ok() && sent < 100000) {
    report.mutable_metrics()->set_round(++sent);
    status = node_->client().SendBefore(steady_clock::now() + milliseconds(10), report);
  }
  EXPECT_EQ(status.code(), absl::StatusCode::kResourceExhausted) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("1024 reports wait for rank 0"));
  auto waits = std::async(std::launch::async, [&] {
    return node_->client().SendBefore(steady_clock::now() + kLong, report);
  });
  Round last = 0;
  while (last < sent) {
    const std::optional<control::Report> read = reader_.Next();
    ASSERT_TRUE(read.has_value()) << "after round " << last;
    last = std::max<Round>(last, read->metrics().round());
    if (last + 1 == sent) reader_.Acknowledge(static_cast<uint64_t>(last));
  }
  EXPECT_TRUE(waits.get().ok());
}

TEST(GrpcControlClient, RankZerosSilenceIsNoticed) {
  MuteService mute(RosterOf(2));
  const GrpcServer::Register services[] = {
      [&](grpc::ServerBuilder& builder) { builder.RegisterService(&mute); }};
  auto server = GrpcServer::Start({}, *GrpcCredentials::Load({}), services);
  ASSERT_TRUE(server.ok());
  const std::string address = FormatHostAddress((*server)->address());
  ControlledNode node(1, Dial(address), address, milliseconds(500));
  ASSERT_TRUE(node.Join(2).ok());
  node.Start();
  const absl::Status end = node.AwaitEnd();
  EXPECT_EQ(FailureOf(end), Failure::kPeerLost);
  EXPECT_THAT(std::string(end.message()),
              AllOf(HasSubstr("is silent"), HasSubstr("--peer-timeout=0.5s")));
}

// What Join of rank 1 of two says when rank 0 has said `directive`.
absl::Status AfterHearing(const control::Directive& directive) {
  MuteService mute(directive);
  const GrpcServer::Register services[] = {
      [&](grpc::ServerBuilder& builder) { builder.RegisterService(&mute); }};
  auto server = GrpcServer::Start({}, *GrpcCredentials::Load({}), services);
  if (!server.ok()) return server.status();
  const std::string address = FormatHostAddress((*server)->address());
  ControlledNode node(1, Dial(address), address);
  return node.Join(2).status();
}

TEST(GrpcControlClient, ADirectiveThatCannotBeObeyedNamesRankZero) {
  control::Directive finish;
  finish.mutable_finish();
  const struct {
    control::Directive directive;
    std::string message;
  } cases[] = {{RosterOf(1), "sent a roster of 1 addresses for 2 nodes"},
               {RosterOf(3), "sent a roster of 3 addresses for 2 nodes"},
               {finish, "ended the run before it began"},
               {control::Directive(), "sent a directive that this node does not know"}};
  for (const auto& c : cases) {
    const absl::Status status = AfterHearing(c.directive);
    EXPECT_EQ(FailureOf(status), Failure::kPeerLost) << status;
    EXPECT_THAT(std::string(status.message()),
                AllOf(::testing::StartsWith("rank 0 (the coordinator at 127.0.0.1:"),
                      HasSubstr(c.message), HasSubstr("run the same grapevine on every host")));
  }
}

}  // namespace
}  // namespace grapevine::testing

// What rank 0 tells callers who are no nodes of its run, and what it takes from them.
#include <gmock/gmock.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "node/control/grpc_coordinator_service.h"
#include "tests/node/control/controlled_run.h"

namespace grapevine::testing {
namespace {

using std::chrono::seconds;
using ::testing::HasSubstr;

// What a caller is told that sends `registration`: a directive, or how the stream
// ended.
struct Answer {
  std::optional<control::Directive> directive;
  grpc::Status end;
};
Answer Register(const RankZero& zero, const control::Registration& registration) {
  auto stub = control::Control::NewStub(Dial(zero.address()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kLong);
  auto stream = stub->Connect(&context);
  control::Report report;
  *report.mutable_registration() = registration;
  stream->Write(report);
  control::Directive directive;
  Answer answer;
  if (stream->Read(&directive)) {
    answer.directive = directive;
    context.TryCancel();
  }
  answer.end = stream->Finish();
  return answer;
}

TEST(GrpcCoordinatorHostile, WhoDoesNotShowTheTokenIsToldNothing) {
  const RunToken token("the token of this run");
  RankZero zero(2, seconds(30), 0, seconds(20), token);
  control::Registration misfit = RegistrationOf(1, 7);
  control::Registration of_another = RegistrationOf(0, 2);
  Prove(token, &of_another);
  of_another.set_rank(1);
  control::Registration another_token = RegistrationOf(1, 2);
  Prove(RunToken("the token of another run"), &another_token);
  for (const auto& registration : {RegistrationOf(1, 2), misfit, of_another, another_token}) {
    const Answer answer = Register(zero, registration);
    EXPECT_FALSE(answer.directive.has_value()) << answer.directive->ShortDebugString();
    EXPECT_EQ(answer.end.error_code(), grpc::StatusCode::UNAUTHENTICATED);
    EXPECT_EQ(answer.end.error_message(), "refused");
  }
  // Who has it is told what is wrong.
  Prove(token, &misfit);
  const Answer answer = Register(zero, misfit);
  ASSERT_TRUE(answer.directive.has_value()) << answer.end.error_message();
  EXPECT_THAT(answer.directive->abort().message(), HasSubstr("number of nodes is 7 there"));
}

// What rank 0 says on a stream to which these registrations are written, until it ends.
std::vector<control::Directive> Told(const RankZero& zero,
                                     const std::vector<control::Registration>& registrations,
                                     grpc::Status* end) {
  auto stub = control::Control::NewStub(Dial(zero.address()));
  grpc::ClientContext context;
  context.set_deadline(std::chrono::system_clock::now() + kLong);
  auto stream = stub->Connect(&context);
  for (const control::Registration& registration : registrations) {
    control::Report report;
    *report.mutable_registration() = registration;
    stream->Write(report);
  }
  std::vector<control::Directive> told;
  control::Directive directive;
  while (stream->Read(&directive)) told.push_back(directive);
  *end = stream->Finish();
  return told;
}

TEST(GrpcCoordinatorHostile, AStreamEndsWithItsFirstRefusal) {
  RankZero zero(2);
  grpc::Status end;
  const auto told = Told(zero, std::vector(3, RegistrationOf(1, 7)), &end);
  ASSERT_EQ(told.size(), 1u);
  EXPECT_THAT(told[0].abort().message(), HasSubstr("number of nodes is 7 there"));
  EXPECT_TRUE(end.ok()) << end.error_message();
}

// A stream that stays open.
struct Caller {
  explicit Caller(const RankZero& zero) : Caller(Dial(zero.address())) {}
  explicit Caller(const std::shared_ptr<grpc::Channel>& channel)
      : stub(control::Control::NewStub(channel)) {
    context.set_deadline(std::chrono::system_clock::now() + kLong);
    stream = stub->Connect(&context);
  }
  void Register(const control::Registration& registration) {
    control::Report report;
    *report.mutable_registration() = registration;
    stream->Write(report);
  }
  std::unique_ptr<control::Control::Stub> stub;
  grpc::ClientContext context;
  std::unique_ptr<grpc::ClientReaderWriter<control::Report, control::Directive>> stream;
};

// A node's first connection, which its second has replaced, is nobody's any more.
TEST(GrpcCoordinatorHostile, AConnectionThatWasReplacedTakesNoOtherRank) {
  RankZero zero(4);
  control::Directive directive;
  Caller first(zero);
  first.Register(RegistrationOf(1, 4));
  ASSERT_TRUE(first.stream->Read(&directive));
  Caller second(zero);
  control::Registration later = RegistrationOf(1, 4);
  later.set_call(1);
  second.Register(later);
  ASSERT_TRUE(second.stream->Read(&directive));
  control::Registration stolen = RegistrationOf(2, 4);
  stolen.set_nonce(99);
  first.Register(stolen);
  while (first.stream->Read(&directive)) EXPECT_TRUE(directive.has_beat());
  EXPECT_FALSE(first.stream->Finish().ok());
  Caller owner(zero);
  owner.Register(RegistrationOf(2, 4));
  ASSERT_TRUE(owner.stream->Read(&directive));
  EXPECT_TRUE(directive.has_beat()) << directive.ShortDebugString();
  for (Caller* caller : {&second, &owner}) {
    caller->context.TryCancel();
    (void)caller->stream->Finish();
  }
}

// The network has forgotten the old ones, and told nobody at rank 0.
TEST(GrpcCoordinatorHostile, ConnectionsThatWereReplacedTakeNoPlaceOfOthers) {
  RankZero zero(2);
  std::vector<std::unique_ptr<Caller>> callers;
  for (int call = 0; call < 2 * GrpcCoordinatorService::kMaxUnauthenticated; ++call) {
    control::Registration registration = RegistrationOf(1, 2);
    registration.set_call(call);
    callers.push_back(std::make_unique<Caller>(zero));
    callers.back()->Register(registration);
    control::Directive directive;
    ASSERT_TRUE(callers.back()->stream->Read(&directive)) << call;
    EXPECT_TRUE(directive.has_beat()) << directive.ShortDebugString();
  }
  for (const auto& caller : callers) {
    caller->context.TryCancel();
    (void)caller->stream->Finish();
  }
}

TEST(GrpcCoordinatorHostile, AReportThatIsTooLongIsNotLookedAt) {
  RankZero zero(2);
  control::Registration registration = RegistrationOf(1, 2);
  registration.add_agreements()->set_value(std::string(GrpcCoordinatorService::kMaxReport, 'x'));
  grpc::Status end;
  EXPECT_THAT(Told(zero, {registration}, &end), ::testing::IsEmpty());
  EXPECT_EQ(end.error_code(), grpc::StatusCode::UNAUTHENTICATED);
  EXPECT_EQ(end.error_message(), "refused");
}

TEST(GrpcCoordinatorHostile, AFloodOfUnauthenticatedCallersIsBoundedAndKeepsNobodyOut) {
  const RunToken token("the token of this run");
  RankZero zero(2, seconds(30), 0, seconds(20), token);
  constexpr int kPlaces = GrpcCoordinatorService::kMaxUnauthenticated + 2, kExtra = 20;
  std::vector<std::unique_ptr<Caller>> strangers;
  std::vector<std::thread> threads;
  std::atomic<int> displaced = 0;
  std::promise<void> all_displaced;
  const auto channel = Dial(zero.address());
  for (int i = 0; i < kPlaces + kExtra; ++i) {
    Caller& stranger = *strangers.emplace_back(std::make_unique<Caller>(channel));
    threads.emplace_back([&] {
      control::Directive directive;
      EXPECT_FALSE(stranger.stream->Read(&directive));
      const bool told =
          stranger.stream->Finish().error_code() == grpc::StatusCode::RESOURCE_EXHAUSTED;
      if (told && ++displaced == kExtra) all_displaced.set_value();
    });
  }
  EXPECT_EQ(all_displaced.get_future().wait_for(kLong), std::future_status::ready);
  // All places are taken, and whoever has the token still comes in.
  Caller node(zero);
  control::Registration registration = RegistrationOf(1, 2);
  Prove(token, &registration);
  node.Register(registration);
  control::Directive directive;
  EXPECT_TRUE(node.stream->Read(&directive));
  EXPECT_TRUE(directive.has_beat()) << directive.ShortDebugString();
  for (const auto& stranger : strangers) stranger->context.TryCancel();
  for (std::thread& thread : threads) thread.join();
  node.context.TryCancel();
  (void)node.stream->Finish();
}

}  // namespace
}  // namespace grapevine::testing

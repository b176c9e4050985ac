#include "run/records/run_standing.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>

namespace grapevine {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

RunStanding Standing() {
  return {.slowest_rank = 3, .slowest_round = 7, .fastest_rank = 0, .fastest_round = 9};
}

TEST(RunStanding, ReadsBack) {
  RunStanding standing = Standing();
  EXPECT_THAT(ToJsonLine(standing), Not(HasSubstr("wait")));
  EXPECT_FALSE(RunStandingFromJson(ToJsonLine(standing))->wait.has_value());
  standing.wait = {.rank = 2, .peer = 3, .round = 8, .seconds = 4.5};
  const auto read = RunStandingFromJson(ToJsonLine(standing));
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(read->slowest_rank, 3);
  EXPECT_EQ(read->slowest_round, 7);
  EXPECT_EQ(read->fastest_rank, 0);
  EXPECT_EQ(read->fastest_round, 9);
  EXPECT_EQ(read->wait->rank, 2);
  EXPECT_EQ(read->wait->peer, 3);
  EXPECT_EQ(read->wait->round, 8);
  EXPECT_EQ(read->wait->seconds, 4.5);
}

TEST(RunStanding, WhatCannotBeIsRefused) {
  const std::string extremes =
      R"({"slowest_rank":3,"slowest_round":7,"fastest_rank":0,"fastest_round":9)";
  ASSERT_TRUE(RunStandingFromJson(extremes + "}").ok());
  const std::pair<std::string, std::string> cases[] = {
      {"", "not valid JSON"},
      {"[]", "not a JSON object"},
      {R"({"round":1,"epoch":1,"time_s":1})", "has no \"slowest_rank\""},
      {R"({"slowest_rank":-1,"slowest_round":7,"fastest_rank":0,"fastest_round":9})",
       "a rank that"},
      {R"({"slowest_rank":1,"slowest_round":9,"fastest_rank":0,"fastest_round":7})",
       "a round that"},
      {R"({"slowest_rank":1,"slowest_round":-9,"fastest_rank":0,"fastest_round":7})",
       "a round that"},
      {extremes + R"(,"wait":7})", "not a JSON object"},
      {extremes + R"(,"wait":{"rank":1,"peer":2,"round":3}})", "has no \"seconds\""},
      {extremes + R"(,"wait":{"rank":1,"peer":-2,"round":3,"seconds":1}})", "a rank that"},
      {extremes + R"(,"wait":{"rank":1,"peer":2,"round":-3,"seconds":1}})", "a round that"},
      {extremes + R"(,"wait":{"rank":1,"peer":2,"round":3,"seconds":-1}})", "a wait that"},
      {extremes + R"(,"wait":{"rank":1,"peer":2,"round":3,"seconds":null}})", "\"seconds\""}};
  for (const auto& [line, why] : cases) {
    EXPECT_THAT(std::string(RunStandingFromJson(line).status().message()), HasSubstr(why)) << line;
  }
}

}  // namespace
}  // namespace grapevine

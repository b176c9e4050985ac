#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "base/status.h"
#include "node/discovery/discovery.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

template <typename Place>
Place As(const std::string& text) {
  const absl::StatusOr<CoordinatorPlace> place = ParseCoordinatorPlace(text);
  EXPECT_TRUE(place.ok()) << place.status();
  const Place* as = place.ok() ? std::get_if<Place>(&*place) : nullptr;
  EXPECT_NE(as, nullptr) << text;
  return as == nullptr ? Place{} : *as;
}

TEST(CoordinatorPlace, HasFourForms) {
  EXPECT_EQ(As<CoordinatorAt>("node1").address, "node1");
  EXPECT_EQ(As<CoordinatorAt>("[fd00::7]:29500").address, "[fd00::7]:29500");
  EXPECT_EQ(As<CoordinatorInDns>("dns:run.ns.svc:29500").name, (HostAddress{"run.ns.svc", 29500}));
  EXPECT_EQ(As<CoordinatorInFolder>("file:/shared/a b").folder, "/shared/a b");
  EXPECT_EQ(As<CoordinatorInFolder>("file:relative").folder, "relative");
  const auto etcd = As<CoordinatorInEtcd>("etcd:[::1]:2379/run-17_b.c");
  EXPECT_EQ(etcd.etcd, (HostAddress{"::1", 2379}));
  EXPECT_EQ(etcd.run_key, "run-17_b.c");
}

TEST(CoordinatorPlace, WhatIsWrongIsQuotedWithTheForms) {
  for (const std::string text :
       {"", ":29500", "consul:node1:8500/run", "a b", "node1:http", "dns:", "dns:name",
        "dns:name:0", "dns:name:65536", "dns:0.0.0.0:29500", "dns::29500",
        "file:", "etcd:", "etcd:node1/run", "etcd:node1:2379", "etcd:node1:2379/",
        "etcd:node1:2379/a/b", "etcd:node1:2379/a b", "etcd::2379/run"}) {
    const absl::Status status = ParseCoordinatorPlace(text).status();
    EXPECT_EQ(FailureOf(status), Failure::kUsage) << text;
    EXPECT_THAT(std::string(status.message()),
                AllOf(HasSubstr("--coordinator=" + text + ": "), HasSubstr("dns:NAME:PORT"),
                      HasSubstr("file:DIR"), HasSubstr("etcd:HOST:PORT/RUN-KEY")));
  }
  EXPECT_FALSE(ParseCoordinatorPlace("etcd:node1:2379/" + std::string(65, 'k')).ok());
  EXPECT_THAT(std::string(ParseCoordinatorPlace("dns:\x1b[2J:1").status().message()),
              HasSubstr("\\x1b[2J"));
}

}  // namespace
}  // namespace grapevine

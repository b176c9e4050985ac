#include "node/probe/findings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

std::string Address(size_t host) { return absl::StrCat("10.0.0.", host + 1); }

// Hosts node1, node2, ... that nothing is wrong with.
Survey Sound(size_t count) {
  Survey survey;
  for (size_t host = 0; host < count; ++host) {
    SurveyedHost one{.name = absl::StrCat("node", host + 1), .ranks = {static_cast<Rank>(host)}};
    probe::Facts facts;
    facts.add_addresses(Address(host));
    for (size_t to = 0; to < count; ++to) {
      probe::Lookup& lookup = *facts.add_lookups();
      lookup.add_addresses(host == to ? "127.0.1.1" : Address(to));
      lookup.add_names(absl::StrCat("node", to + 1, ".example.org"));
    }
    facts.set_processor("A processor");
    facts.add_features("avx2");
    facts.set_cores(4);
    facts.set_descriptors(1000);
    facts.set_memory(1000000000);
    one.facts = facts;
    one.opened.emplace().add_ports()->set_port(4000);
    one.clock = ClockOffset{.ahead = milliseconds(2), .error = milliseconds(1)};
    survey.hosts.push_back(one);
  }
  for (size_t from = 0; from < count; ++from) {
    for (size_t to = 0; to < count; ++to) {
      if (from == to) continue;
      probe::Reached reached;
      reached.set_address(Address(to));
      reached.set_interface("eth0");
      reached.set_interface_mtu(1500);
      reached.set_segment(1448);
      reached.set_passes(true);
      survey.ports.push_back({.hosts = {from, to}, .port = 4000, .reached = reached});
      probe::Streamed streamed;
      streamed.set_round_trip_ns(200000);
      streamed.set_bytes(12500000);
      streamed.set_nanoseconds(1000000000);
      survey.edges.push_back({{from, to}, streamed, streamed, streamed});
    }
  }
  return survey;
}

const RunNeeds kNeeds{.build = "1.0 (abc)", .descriptors = 100};

// What is not well.
std::vector<Finding> Bad(const Survey& survey, const RunNeeds& needs = kNeeds) {
  std::vector<Finding> findings = FindingsOf(survey, needs);
  std::erase_if(findings, [](const Finding& one) { return one.severity == Severity::kOk; });
  return findings;
}

auto Is(const std::string& check, Severity severity, const std::string& who,
        const std::string& found) {
  return AllOf(Field(&Finding::check, check), Field(&Finding::severity, severity),
               Field(&Finding::who, who), Field(&Finding::found, HasSubstr(found)),
               Field(&Finding::remedy, ::testing::Not(IsEmpty())));
}

SurveyedPort& PortFrom(Survey& survey, size_t from, size_t to) {
  for (SurveyedPort& port : survey.ports) {
    if (port.hosts == HostEdge(from, to)) return port;
  }
  return survey.ports.front();
}

TEST(Findings, ALineForEachCheckOfWhatIsWell) {
  const std::vector<Finding> findings = FindingsOf(Sound(3), kNeeds);
  EXPECT_EQ(WorstOf(findings), Severity::kOk);
  std::vector<std::string> checks;
  for (const Finding& finding : findings) {
    checks.push_back(finding.check);
    EXPECT_EQ(finding.who, "all 3 hosts");
    EXPECT_EQ(finding.remedy, "");
  }
  EXPECT_THAT(checks,
              ElementsAre("hosts", "folder", "names", "names back", "ports", "packets", "clocks",
                          "processors", "cores", "descriptors", "memory", "edges"));
  EXPECT_THAT(findings.front().found, HasSubstr("1.0 (abc)"));
}

TEST(Findings, OneThatCannotBeAskedIsNamedAndTheOthersAreJudged) {
  Survey survey = Sound(3);
  survey.hosts[1].problem = absl::UnavailableError("has Grapevine 0.9, and this machine 1.0");
  survey.hosts[1].facts.reset();
  survey.hosts[1].opened.reset();
  survey.hosts[1].clock.reset();
  std::erase_if(survey.ports,
                [](const auto& port) { return port.hosts.first == 1 || port.hosts.second == 1; });
  survey.hosts[2].facts->set_folder_problem("No such file or directory");
  EXPECT_THAT(Bad(survey),
              ElementsAre(Is("hosts", Severity::kFailed, "node2", "has Grapevine 0.9"),
                          Is("folder", Severity::kFailed, "node3", "No such file"),
                          Is("names", Severity::kNotTried, "node2", "could be asked"),
                          Is("names back", Severity::kNotTried, "node2", "could be asked"),
                          Is("ports", Severity::kNotTried, "node2", "could be asked")));
  for (const Finding& finding : FindingsOf(survey, kNeeds)) {
    if (finding.severity != Severity::kOk) continue;
    EXPECT_EQ(finding.who, "node1 and node3") << finding.check;
  }
}

// As when a login fails.
TEST(Findings, OnlyConnectionsThatWereTriedCount) {
  Survey survey = Sound(3);
  survey.hosts[1].problem = absl::UnavailableError("Permission denied (publickey)");
  survey.hosts[1].facts.reset();
  std::erase_if(survey.ports, [](const auto& port) { return port.hosts.second == 1; });
  for (SurveyedPort& port : survey.ports) {
    if (port.hosts.first == 1) port.reached.reset();
  }
  const std::vector<Finding> findings = FindingsOf(survey, kNeeds);
  const auto ports = std::ranges::find_if(findings, [](const Finding& finding) {
    return finding.check == "ports" && finding.severity == Severity::kOk;
  });
  ASSERT_NE(ports, findings.end());
  EXPECT_EQ(ports->found, "2 connections between them");
  EXPECT_THAT(findings, ::testing::Contains(Is("ports", Severity::kNotTried, "node2", "asked")));
}

TEST(Findings, NothingIsWellOfHostsThatCouldNotBeAsked) {
  for (const size_t known : {0, 1}) {
    Survey survey = Sound(2);
    for (size_t host = known; host < 2; ++host) {
      survey.hosts[host].problem = absl::UnavailableError("Permission denied");
      survey.hosts[host].facts.reset();
      survey.hosts[host].opened.reset();
      survey.hosts[host].clock.reset();
    }
    survey.ports.clear();
    survey.edges.clear();
    for (const Finding& finding : FindingsOf(survey, kNeeds)) {
      if (finding.severity != Severity::kOk) continue;
      EXPECT_EQ(known, 1u) << finding.check;
      EXPECT_EQ(finding.who, "node1") << finding.check;
      EXPECT_NE(finding.check, "names");
      EXPECT_NE(finding.check, "names back");
      EXPECT_NE(finding.check, "ports");
    }
  }
}

TEST(Findings, SameIsSaidOnce) {
  Survey survey = Sound(4);
  for (const size_t host : {1, 3}) survey.hosts[host].facts->set_folder_problem("gone");
  EXPECT_THAT(Bad(survey), ElementsAre(Is("folder", Severity::kFailed, "node2 and node4", "gone")));
}

TEST(Findings, NamesThatLeadElsewhere) {
  Survey survey = Sound(4);
  const auto lookup = [&](size_t host, size_t to) {
    return survey.hosts[host].facts->mutable_lookups(static_cast<int>(to));
  };
  lookup(0, 1)->clear_addresses();
  lookup(0, 1)->clear_names();
  lookup(0, 1)->set_problem("Name or service not known");
  lookup(2, 1)->set_addresses(0, "127.0.0.1");
  lookup(3, 1)->set_addresses(0, "10.0.0.3");
  lookup(1, 0)->set_addresses(0, "192.0.2.1");  // and is reached there
  lookup(1, 2)->set_addresses(0, "192.0.2.2");
  PortFrom(survey, 1, 2).reached->mutable_trouble()->set_obstacle(probe::NOBODY);
  EXPECT_THAT(
      Bad(survey),
      ElementsAre(
          Is("names", Severity::kFailed, "node1", "cannot find node2: Name or service"),
          Is("names", Severity::kWarning, "node2", "finds node3 at 192.0.2.2"),
          Is("names", Severity::kFailed, "node3", "takes itself for node2 (127.0.0.1)"),
          Is("names", Severity::kFailed, "node4", "finds node2 at 10.0.0.3, which is node3's"),
          Is("ports", Severity::kFailed, "node2", "cannot reach node3:4000")));
}

TEST(Findings, AddressesThatDoNotLeadBackAreNoFailure) {
  Survey survey = Sound(2);
  survey.hosts[0].facts->mutable_lookups(1)->set_names(0, "");
  survey.hosts[1].facts->mutable_lookups(0)->set_names(0, "printer");
  EXPECT_THAT(Bad(survey), ElementsAre(Is("names back", Severity::kWarning, "node1", "no name for"),
                                       Is("names back", Severity::kWarning, "node2",
                                          "the name printer for 10.0.0.1")));
}

TEST(Findings, PortsThatAreTakenBlockedOrAnotherHosts) {
  Survey survey = Sound(3);
  survey.hosts[0].opened->mutable_ports(0)->set_problem("cannot listen on 0.0.0.0:4000: in use");
  const auto trouble = [&](size_t from, size_t to) {
    return PortFrom(survey, from, to).reached->mutable_trouble();
  };
  trouble(1, 2)->set_obstacle(probe::NOBODY);
  trouble(1, 2)->set_text("no answer within 3.0 s");
  trouble(2, 1)->set_obstacle(probe::OTHER_HOST);
  trouble(2, 1)->set_host(0);
  trouble(0, 1)->set_obstacle(probe::OTHER_HOST);
  trouble(0, 1)->set_host(4000000000);  // a host says what it likes
  trouble(0, 2)->set_obstacle(probe::STRANGER);
  PortFrom(survey, 1, 0).reached.reset();
  EXPECT_THAT(
      Bad(survey),
      ElementsAre(
          Is("ports", Severity::kFailed, "node1", "in use"),
          Is("ports", Severity::kFailed, "node1", "reaches another host as node2:4000"),
          Is("ports", Severity::kFailed, "node1", "cannot talk to node3:4000"),
          Is("ports", Severity::kFailed, "node2", "did not say in time whether it reaches node1"),
          Is("ports", Severity::kFailed, "node2",
             "cannot reach node3:4000 (10.0.0.3: no answer within 3.0 s)"),
          Is("ports", Severity::kFailed, "node3", "reaches node1 as node2:4000")));
}

TEST(Findings, PacketsThatGetLostOrAreNotFull) {
  Survey survey = Sound(3);
  PortFrom(survey, 0, 1).reached->set_passes(false);
  for (const size_t to : {0, 1}) {
    PortFrom(survey, 2, to).reached->set_interface_mtu(1400);
    PortFrom(survey, 2, to).reached->set_segment(1348);
    PortFrom(survey, to, 2).reached->set_segment(1348);
  }
  PortFrom(survey, 1, 0).reached->set_segment(1200);
  EXPECT_THAT(
      Bad(survey),
      ElementsAre(
          Is("packets", Severity::kFailed, "node1", "packets of 1448 bytes to or from node2"),
          Is("packets", Severity::kWarning, "node2",
             "packets to node1 carry 1200 bytes, though eth0 has MTU 1500"),
          Is("packets", Severity::kWarning, "node3", "MTU 1400, and that of node1 1500"),
          Is("packets", Severity::kWarning, "node3", "MTU 1400, and that of node2 1500")));
}

TEST(Findings, ClocksThatDiffer) {
  Survey survey = Sound(4);
  survey.hosts[0].clock->ahead = milliseconds(501);  // but perhaps 500
  survey.hosts[1].clock->ahead = milliseconds(-2000);
  survey.hosts[2].clock->ahead = milliseconds(700000);
  EXPECT_THAT(Bad(survey),
              ElementsAre(Is("clocks", Severity::kWarning, "node2", "behind this machine's clock"),
                          Is("clocks", Severity::kFailed, "node3", "ahead of this machine's")));
}

TEST(Findings, ProcessorsThatDiffer) {
  Survey survey = Sound(3);
  survey.hosts[1].facts->set_processor("Another model");
  EXPECT_THAT(Bad(survey), IsEmpty());
  survey.hosts[1].facts->add_features("avx512f");
  EXPECT_THAT(Bad(survey), ElementsAre(Is("processors", Severity::kWarning, "node1 and node3",
                                          "has no avx512f")));
}

TEST(Findings, MoreThanAHostHas) {
  Survey survey = Sound(2);
  survey.hosts[0].ranks = {0, 1, 2, 3, 4};
  RunNeeds needs = kNeeds;
  needs.memory = 300000000;
  EXPECT_THAT(Bad(survey, needs),
              ElementsAre(Is("cores", Severity::kWarning, "node1", "5 nodes on 4 cores"),
                          Is("memory", Severity::kFailed, "node1", "1.50 GB")));
  survey.hosts[0].ranks = {0, 1, 2};
  needs.descriptors = 900;
  EXPECT_THAT(Bad(survey, needs),
              ElementsAre(Is("descriptors", Severity::kWarning, "node1 and node2", "900"),
                          Is("memory", Severity::kWarning, "node1", "900 MB")));
  needs.descriptors = 1001;
  EXPECT_THAT(Bad(survey, needs).front().severity, Severity::kFailed);
}

TEST(Findings, EdgesThatAreSlowOrBroken) {
  Survey survey = Sound(3);
  survey.edges[0].alone->set_bytes(1000000);
  survey.edges[5].alone->mutable_trouble()->set_obstacle(probe::BROKEN);
  survey.edges[5].alone->mutable_trouble()->set_text("nothing passed");
  EXPECT_THAT(Bad(survey),
              ElementsAre(Is("edges", Severity::kWarning, "node1", "sends 8Mbit/s to node2"),
                          Is("edges", Severity::kFailed, "node3", "to node2 got stuck")));
}

// One host may be listed under two names of its own.
TEST(Findings, LoopbackNamesLeadToLoopback) {
  Survey survey = Sound(2);
  survey.hosts[1].name = "127.0.0.1";
  survey.hosts[0].facts->mutable_lookups(1)->set_addresses(0, "127.0.0.1");
  EXPECT_THAT(Bad(survey), IsEmpty());
}

// However much it says: it is looked at as far as it can be true.
TEST(Findings, AFloodOfAnswersIsNotAFloodOfFindings) {
  Survey survey = Sound(2);
  probe::Lookup& lookup = *survey.hosts[0].facts->mutable_lookups(1);
  for (int i = 0; i < 100000; ++i) {
    lookup.add_addresses(absl::StrCat("2001:db8::", i));
    lookup.add_names(absl::StrCat("name", i));
    survey.hosts[0].facts->add_certificates()->set_problem(absl::StrCat("problem ", i));
  }
  RunNeeds needs = kNeeds;
  needs.tls = true;
  EXPECT_LT(FindingsOf(survey, needs).size(), 50u);
}

// Nobody's answer steers a terminal, or fills it.
TEST(Findings, WhatHostsSayIsMadePrintable) {
  Survey survey = Sound(2);
  survey.hosts[1].facts->set_folder_problem("\x1b[2J" + std::string(100000, 'x'));
  const std::vector<Finding> bad = Bad(survey);
  ASSERT_THAT(bad, SizeIs(1));
  EXPECT_THAT(bad[0].found, HasSubstr("\\x1b[2J"));
  EXPECT_LT(bad[0].found.size(), 1000u);
}

TEST(Findings, CertificatesThatCannotBeUsed) {
  Survey survey = Sound(2);
  RunNeeds needs = kNeeds;
  needs.tls = true;
  probe::Certificate& missing = *survey.hosts[0].facts->add_certificates();
  missing.set_problem("--tls-key: key.pem: No such file or directory");
  probe::Certificate& broken = *survey.hosts[1].facts->add_certificates();
  broken.set_rank(1);
  broken.set_warning("expires on 2026-12-01");
  broken.set_chain("no certificate");
  broken.set_authority("none either");
  EXPECT_THAT(Bad(survey, needs),
              ElementsAre(Is("certificates", Severity::kFailed, "node1", "No such file"),
                          Is("certificates", Severity::kWarning, "node2", "expires on"),
                          Is("certificates", Severity::kFailed, "node2", "rank 1 is not signed")));
}

TEST(Survey, RatesThatMakeNoSenseAreNone) {
  probe::Streamed streamed;
  streamed.set_bytes(12500000);
  streamed.set_nanoseconds(1000000000);
  streamed.set_round_trip_ns(3000);
  EXPECT_DOUBLE_EQ(*RateOf(streamed), 1e8);
  EXPECT_EQ(*LatencyOf(streamed), std::chrono::nanoseconds(1500));
  EXPECT_FALSE(RateOf(std::nullopt));
  streamed.set_nanoseconds(0);
  streamed.set_round_trip_ns(-5);
  EXPECT_FALSE(RateOf(streamed));
  EXPECT_FALSE(LatencyOf(streamed));
  streamed.set_nanoseconds(1);
  streamed.set_bytes(~uint64_t{0});
  EXPECT_FALSE(RateOf(streamed));
  streamed.set_bytes(1);
  streamed.mutable_trouble()->set_obstacle(probe::BROKEN);
  EXPECT_FALSE(RateOf(streamed));
}

}  // namespace
}  // namespace grapevine

#include "node/identity/identity.h"

#include <map>
#include <string>

#include "base/status.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace grapevine {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

using Variables = std::map<std::string, std::string>;

absl::StatusOr<NodeIdentity> Resolve(const Variables& variables,
                                     const IdentityOptions& options = {}) {
  return ResolveIdentity(options, [&](const std::string& name) -> std::optional<std::string> {
    const auto found = variables.find(name);
    if (found == variables.end()) return std::nullopt;
    return found->second;
  });
}

// "3/8 local 1 at host:port <origins>"
std::string Text(const absl::StatusOr<NodeIdentity>& identity) {
  if (!identity.ok()) return std::string(identity.status().message());
  return std::to_string(identity->rank.value) + "/" + std::to_string(identity->world_size.value) +
         " local " + std::to_string(identity->local_rank.value) + " at " +
         identity->master_host.value + ":" + std::to_string(identity->master_port.value) + " <" +
         identity->rank.origin + ", " + identity->world_size.origin + ", " +
         identity->local_rank.origin + ", " + identity->master_host.origin + ", " +
         identity->master_port.origin + ">";
}

Sourced<HostSlots> Hosts(const std::string& list) { return {*ParseHostList(list), "--hostfile"}; }

TEST(Identity, PlainVariables) {
  EXPECT_EQ(Text(Resolve({{"RANK", "3"},
                          {"WORLD_SIZE", "8"},
                          {"LOCAL_RANK", "1"},
                          {"MASTER_ADDR", "node1"},
                          {"MASTER_PORT", "1234"}})),
            "3/8 local 1 at node1:1234 <RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT>");
}

TEST(Identity, Slurm) {
  EXPECT_EQ(Text(Resolve({{"SLURM_PROCID", "5"},
                          {"SLURM_NTASKS", "6"},
                          {"SLURM_LOCALID", "2"},
                          {"SLURM_JOB_NODELIST", "gpu[07-09]"}})),
            "5/6 local 2 at gpu07:29500 <SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID, "
            "SLURM_JOB_NODELIST, default>");
  EXPECT_THAT(Text(Resolve({{"SLURM_PROCID", "5"},
                            {"SLURM_NTASKS", "6"},
                            {"SLURM_STEP_NODELIST", "b3"},
                            {"SLURM_JOB_NODELIST", "a[1-9]"}})),
              HasSubstr("at b3:29500"));
  EXPECT_THAT(
      Text(Resolve({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "2"}, {"SLURM_JOB_NODELIST", "a[1"}})),
      AllOf(HasSubstr("SLURM_JOB_NODELIST"), HasSubstr("MASTER_ADDR")));
}

TEST(Identity, OpenMpiAlsoInsideASlurmJob) {
  Variables variables = {{"OMPI_COMM_WORLD_RANK", "2"},
                         {"OMPI_COMM_WORLD_SIZE", "4"},
                         {"OMPI_COMM_WORLD_LOCAL_RANK", "2"},
                         {"OMPI_COMM_WORLD_LOCAL_SIZE", "4"},
                         {"SLURM_PROCID", "0"},
                         {"SLURM_NTASKS", "1"}};
  EXPECT_EQ(Text(Resolve(variables)),
            "2/4 local 2 at 127.0.0.1:29500 <OMPI_COMM_WORLD_RANK, OMPI_COMM_WORLD_SIZE, "
            "OMPI_COMM_WORLD_LOCAL_RANK, OMPI_COMM_WORLD_LOCAL_SIZE, default>");
  variables["OMPI_COMM_WORLD_LOCAL_SIZE"] = "2";  // on two machines
  EXPECT_THAT(Text(Resolve(variables)), HasSubstr("mpirun: -x MASTER_ADDR=HOST"));
}

TEST(Identity, MpichOnOneMachineAndOnSeveral) {
  Variables variables = {
      {"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}};
  EXPECT_EQ(Text(Resolve(variables)),
            "1/2 local 1 at 127.0.0.1:29500 <PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, "
            "MPI_LOCALNRANKS, default>");
  variables["MPI_LOCALNRANKS"] = "1";
  EXPECT_THAT(Text(Resolve(variables)), HasSubstr("MASTER_ADDR"));
}

TEST(Identity, FlagsWinOverVariables) {
  const IdentityOptions options = {.rank = {{1, "--rank"}},
                                   .world_size = {{2, "--world-size"}},
                                   .master_host = {{"boss", "--master-addr"}},
                                   .master_port = {{99, "--master-port"}}};
  EXPECT_EQ(
      Text(Resolve(
          {{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"MASTER_ADDR", "node1"}, {"MASTER_PORT", "1234"}},
          options)),
      "1/2 local 0 at boss:99 <--rank, --world-size, default, --master-addr, --master-port>");
}

TEST(Identity, PlainVariablesWinOverLaunchers) {
  EXPECT_THAT(Text(Resolve({{"RANK", "1"},
                            {"WORLD_SIZE", "2"},
                            {"MASTER_ADDR", "m"},
                            {"SLURM_PROCID", "0"},
                            {"SLURM_NTASKS", "9"}})),
              HasSubstr("1/2"));
}

TEST(Identity, IsAloneWhereNothingSaysThatThereAreOthers) {
  const IdentityOptions alone{.alone = true};
  EXPECT_EQ(Text(Resolve({}, alone)),
            "0/1 local 0 at 127.0.0.1:29500 <default, default, default, default, default>");
  const Variables launched{{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"MASTER_ADDR", "a"}};
  EXPECT_EQ(Resolve(launched, alone)->rank.value, 3);
  EXPECT_THAT(Text(Resolve({{"WORLD_SIZE", "8"}}, alone)), HasSubstr("give --rank (0 to 7)"));
  EXPECT_THAT(Text(Resolve({{"RANK", "3"}}, alone)), HasSubstr("WORLD_SIZE is not"));
  EXPECT_THAT(Text(Resolve({}, {.rank = {{0, "--rank"}}, .alone = true})),
              HasSubstr("number of nodes is not known"));
}

// `node -n 2`.
TEST(Identity, TakesTheNumberOfNodesWhereNothingElseSaysIt) {
  const IdentityOptions nodes{.nodes = {{2, "--nodes"}}};
  EXPECT_THAT(Text(Resolve({}, nodes)), HasSubstr("give --rank (0 to 1)"));
  const Variables launched{{"RANK", "3"}, {"WORLD_SIZE", "8"}, {"MASTER_ADDR", "a"}};
  EXPECT_EQ(Resolve(launched, nodes)->world_size.value, 8);
  EXPECT_EQ(Resolve({{"RANK", "1"}, {"MASTER_ADDR", "a"}}, nodes)->world_size.origin, "--nodes");
}

TEST(Identity, HostFile) {
  IdentityOptions options = {.hosts = Hosts("a:2,b:29501,c"), .own_names = {"B", "10.0.0.2"}};
  const auto b = Resolve({}, options);
  EXPECT_EQ(Text(b),
            "2/4 local 0 at a:29500 <--hostfile, --hostfile, default, --hostfile, default>");
  EXPECT_EQ(b->slot, (HostAddress{"b", 29501}));

  options.own_names = {"a"};
  EXPECT_THAT(Text(Resolve({}, options)),
              AllOf(HasSubstr("2 slots for this machine"), HasSubstr("LOCAL_RANK")));
  EXPECT_THAT(Text(Resolve({{"LOCAL_RANK", "1"}}, options)), HasSubstr("1/4 local 1"));
  EXPECT_THAT(Text(Resolve({{"LOCAL_RANK", "2"}}, options)), HasSubstr("but LOCAL_RANK is 2"));
  options.rank = {{3, "--rank"}};
  EXPECT_EQ(Resolve({}, options)->slot, (HostAddress{"c", 0}));

  EXPECT_THAT(Text(Resolve({}, {.hosts = Hosts("x,y"), .own_names = {"z"}})),
              AllOf(HasSubstr("does not list this machine (z)"), HasSubstr("--rank")));
  EXPECT_THAT(Text(Resolve({}, {.rank = {{0, "--rank"}}, .hosts = Hosts("x:5000,y")})),
              HasSubstr("at x:5000"));
}

TEST(Identity, ContradictionsNameBothSides) {
  EXPECT_THAT(Text(Resolve({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "4"}, {"WORLD_SIZE", "8"}})),
              HasSubstr("WORLD_SIZE says 8 nodes and SLURM_NTASKS says 4"));
  EXPECT_THAT(Text(Resolve({{"RANK", "0"}, {"WORLD_SIZE", "3"}}, {.hosts = Hosts("a,b")})),
              HasSubstr("WORLD_SIZE says 3 nodes and --hostfile says 2"));
  EXPECT_THAT(Text(Resolve({{"RANK", "8"}, {"WORLD_SIZE", "8"}, {"MASTER_ADDR", "m"}})),
              HasSubstr("rank 8 (RANK) does not exist among 8 nodes (WORLD_SIZE)"));
}

TEST(Identity, RankZerosHostMayComeWithItsPort) {
  const Variables rank = {{"RANK", "1"}, {"WORLD_SIZE", "2"}};
  const std::pair<const char*, const char*> cases[] = {{"node1", "node1:29500"},
                                                       {"node1:4000", "node1:4000"},
                                                       {"::1", "::1:29500"},
                                                       {"[::1]", "::1:29500"},
                                                       {"[fd00::7]:4000", "fd00::7:4000"}};
  for (const auto& [text, master] : cases) {
    EXPECT_THAT(Text(Resolve(rank, {.master_host = {{text, "--master-addr"}}})),
                HasSubstr(std::string(" at ") + master + " <"));
    Variables variables = rank;
    variables["MASTER_ADDR"] = text;
    EXPECT_THAT(Text(Resolve(variables)), HasSubstr(std::string(" at ") + master + " <"));
  }
  // Saying it twice is no contradiction, and a flag beats a variable.
  EXPECT_THAT(Text(Resolve(rank, {.master_host = {{"node1:4000", "--master-addr"}},
                                  .master_port = {{4000, "--master-port"}}})),
              HasSubstr("node1:4000"));
  Variables variables = rank;
  variables["MASTER_ADDR"] = "node2:5000";
  variables["MASTER_PORT"] = "5000";
  EXPECT_THAT(Text(Resolve(variables)), HasSubstr("node2:5000"));
  EXPECT_THAT(Text(Resolve(variables, {.master_host = {{"node1:4000", "--master-addr"}}})),
              HasSubstr("node1:4000"));
  EXPECT_THAT(Text(Resolve(variables, {.master_port = {{4000, "--master-port"}}})),
              HasSubstr("node2:4000"));
}

TEST(Identity, WhatIsNoAddressOfRankZeroIsRefusedAtOnce) {
  const Variables rank = {{"RANK", "1"}, {"WORLD_SIZE", "2"}};
  const struct {
    const char* host;
    std::optional<int> port;
    std::vector<const char*> message;
  } cases[] = {
      {"node1:4000", 4001, {"--master-addr", "4000", "--master-port", "4001"}},
      {"node1:http", {}, {"--master-addr", "node1:http", "port"}},
      {"fd00::7::29500", {}, {"--master-addr", "brackets"}},
      {":4000", {}, {"--master-addr", ":4000", "host"}},
      {"0.0.0.0", {}, {"--master-addr", "0.0.0.0", "--bind"}},
  };
  for (const auto& c : cases) {
    IdentityOptions options = {.master_host = {{c.host, "--master-addr"}}};
    if (c.port) options.master_port = {*c.port, "--master-port"};
    const auto identity = Resolve(rank, options);
    EXPECT_EQ(FailureOf(identity.status()), Failure::kUsage) << c.host;
    for (const char* part : c.message) EXPECT_THAT(Text(identity), HasSubstr(part));
  }
  EXPECT_THAT(
      Text(Resolve(
          {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "node1:1"}, {"MASTER_PORT", "2"}})),
      AllOf(HasSubstr("MASTER_ADDR says 1"), HasSubstr("MASTER_PORT says 2")));
}

TEST(Identity, WhatIsMissingIsNamedWithTheRemedy) {
  const std::pair<Variables, const char*> cases[] = {
      {{}, "grapevine train"},
      {{{"RANK", "0"}}, "RANK=0 is set, but WORLD_SIZE is not"},
      {{{"SLURM_PROCID", "0"}}, "SLURM_NTASKS is not"},
      {{{"WORLD_SIZE", "4"}}, "give --rank (0 to 3)"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "4"}}, "set MASTER_ADDR"},
      {{{"RANK", "x"}, {"WORLD_SIZE", "4"}}, "RANK=x is not a number"},
      {{{"RANK", "-1"}, {"WORLD_SIZE", "4"}}, "RANK=-1 is not a number"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "0"}}, "at least 1"},
      {{{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "m"}, {"MASTER_PORT", "0"}},
       "port is 0"},
      {{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "m"}, {"MASTER_PORT", "65536"}},
       "port is 65536 (MASTER_PORT)"},
  };
  for (const auto& [variables, message] : cases) {
    const auto identity = Resolve(variables);
    EXPECT_EQ(FailureOf(identity.status()), Failure::kUsage);
    EXPECT_THAT(Text(identity), HasSubstr(message));
  }
}

TEST(Identity, OneNodeNeedsNoMaster) {
  EXPECT_THAT(Text(Resolve({{"RANK", "0"}, {"WORLD_SIZE", "1"}})), HasSubstr("0/1"));
  EXPECT_THAT(Text(Resolve({{"RANK", "0"},
                            {"WORLD_SIZE", "4"},
                            {"MASTER_ADDR", "127.0.0.1"},
                            {"MASTER_PORT", "0"}})),
              HasSubstr("at 127.0.0.1:0"));
}

}  // namespace
}  // namespace grapevine

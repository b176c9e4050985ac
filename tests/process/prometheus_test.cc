// What deploy/ has for Prometheus and Grafana, tried by Prometheus itself.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cctype>
#include <cstdio>
#include <memory>
#include <regex>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "system/child_process.h"
#include "tests/model/scratch_folder.h"
#include "tests/process/free_port.h"
#include "tests/process/grapevine_process.h"
#include "tests/process/samples.h"
#include "tests/testing/file_text.h"
#include "tests/testing/http_client.h"
#include "tests/testing/json_text.h"

namespace grapevine::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

using Json = nlohmann::json;

constexpr char kServer[] = "/usr/bin/prometheus";
constexpr char kMissing[] = "prometheus is not installed (Debian's prometheus)";
constexpr char kDashboard[] = "deploy/grafana/dashboard.json";

bool Installed() { return access(kServer, X_OK) == 0; }

// What promtool says, where it finds a fault.
std::string Promtool(const std::string& arguments) {
  std::FILE* const said = popen(("promtool " + arguments + " 2>&1").c_str(), "r");
  if (said == nullptr) return "it could not be started";
  std::string text;
  for (int c = 0; (c = std::fgetc(said)) != EOF;) text += static_cast<char>(c);
  const int status = pclose(said);
  return status == 0 ? "" : text + "exit status " + std::to_string(status);
}

TEST(Monitoring, RulesAndScrapeConfigurationAreValid) {
  if (!Installed()) GTEST_SKIP() << kMissing;
  EXPECT_EQ(Promtool("check config deploy/prometheus/prometheus.yml"), "");
  EXPECT_EQ(Promtool("check rules deploy/prometheus/alerts.yml"), "");
  EXPECT_EQ(Promtool("test rules deploy/prometheus/alerts_test.yml"), "");
}

TEST(Monitoring, TheJobOfThePageIsValid) {
  if (!Installed()) GTEST_SKIP() << kMissing;
  const std::string page = FileText("deploy/README.md");
  const std::string open = "```yaml\n", close = "```";
  const size_t begin = page.find(open) + open.size();
  ASSERT_NE(begin, std::string::npos + open.size());
  const ScratchFolder folder;
  const std::string config = folder.Write(
      "page.yml", "scrape_configs:\n" + page.substr(begin, page.find(close, begin) - begin));
  EXPECT_EQ(Promtool("check config '" + config + "'"), "");
}

// Each has a test of its own.
TEST(Monitoring, EveryAlertIsTested) {
  const std::string alerts = FileText("deploy/prometheus/alerts.yml");
  const std::string tests = FileText("deploy/prometheus/alerts_test.yml");
  const std::regex name("- alert: (\\w+)");
  int count = 0;
  for (std::sregex_iterator at(alerts.begin(), alerts.end(), name), end; at != end; ++at) {
    EXPECT_THAT(tests, HasSubstr("alertname: " + (*at)[1].str() + "\n"));
    ++count;
  }
  EXPECT_GT(count, 0);
}

std::string Replaced(std::string text, const std::string& what, const std::string& by) {
  EXPECT_THAT(text, HasSubstr(what));
  for (size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size()) {
    text.replace(at, what.size(), by);
  }
  return text;
}

std::string Escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    char code[4];
    std::snprintf(code, sizeof(code), "%%%02X", static_cast<unsigned char>(c));
    escaped += std::isalnum(static_cast<unsigned char>(c)) ? std::string(1, c) : code;
  }
  return escaped;
}

// Prometheus with the configuration of deploy/, in a hurry, watching four ports from this one on.
class PrometheusServer {
 public:
  PrometheusServer(int first, const ScratchFolder& folder) : port_(FreePort()) {
    std::string config = FileText("deploy/prometheus/prometheus.yml");
    config = Replaced(config, "scrape_interval: 5s", "scrape_interval: 200ms");
    config = Replaced(config, "evaluation_interval: 15s", "evaluation_interval: 200ms");
    for (int i = 0; i < 4; ++i) {
      config = Replaced(config, "127.0.0.1:" + std::to_string(9400 + i),
                        "localhost:" + std::to_string(first + i));
    }
    const std::string path = folder.Write("prometheus.yml", config);
    folder.Write("alerts.yml", FileText("deploy/prometheus/alerts.yml"));
    auto process = ChildProcess::Start(
        {.executable = kServer,
         .arguments = {
             "prometheus", "--config.file=" + path, "--storage.tsdb.path=" + folder.File("tsdb"),
             "--web.listen-address=127.0.0.1:" + std::to_string(port_), "--log.level=error"}});
    EXPECT_TRUE(process.ok()) << process.status();
    if (process.ok()) process_ = *std::move(process);
  }

  bool Ready() const { return HttpGet(port_, "/-/ready").status == 200; }
  // Its answer to a call of its API; null if it is no success.
  Json Ask(const std::string& call) const {
    const HttpReply reply = HttpGet(port_, "/api/v1/" + call);
    if (reply.status != 200) {
      why_ = reply.body;
      return nullptr;
    }
    return JsonOf(reply.body)["data"];
  }
  // How many series an expression has now.
  size_t Series(const std::string& expression) const {
    const Json data = Ask("query?query=" + Escaped(expression));
    return data.is_null() ? 0 : data["result"].size();
  }
  const std::string& why() const { return why_; }

 private:
  const int port_;
  std::unique_ptr<ChildProcess> process_;
  mutable std::string why_;  // of the last call that failed
};

// As Grafana would ask them, of all jobs.
std::set<std::string> DashboardExpressions() {
  std::set<std::string> expressions;
  const Json dashboard = JsonOf(FileText(kDashboard));
  for (const Json& panel : dashboard["panels"]) {
    for (const Json& target : panel["targets"]) {
      std::string text = target["expr"];
      for (const auto& [variable, value] :
           {std::pair("$__rate_interval", "10s"), std::pair("$job", ".+")}) {
        for (size_t at = 0; (at = text.find(variable)) != std::string::npos;) {
          text.replace(at, std::string(variable).size(), value);
        }
      }
      EXPECT_THAT(text, Not(HasSubstr("$"))) << "a variable that this test does not know";
      expressions.insert(text);
    }
  }
  return expressions;
}

TEST(Monitoring, TheDashboardIsWhole) {
  std::set<int> ids;
  std::set<std::pair<int, int>> places;
  const Json dashboard = JsonOf(FileText(kDashboard));
  for (const Json& panel : dashboard["panels"]) {
    const std::string title = panel["title"];
    EXPECT_TRUE(ids.insert(panel["id"].get<int>()).second) << title;
    EXPECT_FALSE(panel["targets"].empty()) << title;
    const Json& grid = panel["gridPos"];
    for (int x = 0; x < grid["w"]; ++x) {
      for (int y = 0; y < grid["h"]; ++y) {
        const int column = grid["x"].get<int>() + x;
        EXPECT_LT(column, 24) << title;
        EXPECT_TRUE(places.emplace(column, grid["y"].get<int>() + y).second)
            << title << " lies on another";
      }
    }
  }
  EXPECT_GT(ids.size(), 0u);
}

std::vector<std::string> TrainForLong(const std::string& out, int port,
                                      const std::vector<std::string>& flags) {
  std::vector<std::string> arguments = {"train",
                                        "-n",
                                        "2",
                                        "--model=softmax",
                                        "--data=synthetic:train=512:test=200",
                                        "--rounds=10000000",
                                        "--eval-every=50",
                                        "--log-every=50",
                                        "--metrics-port=" + std::to_string(port),
                                        "--out=" + out};
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return arguments;
}

// Two runs: one with rounds and checkpoints, one in which nobody waits and gradients are stale.
TEST(Monitoring, PrometheusUnderstandsNodesRulesAndDashboard) {
  if (!Installed()) GTEST_SKIP() << kMissing;
  const ScratchFolder folder;
  const int port = FreePorts(4);
  const GrapevineProcess gossip(
      TrainForLong(folder.File("gossip"), port, {"--checkpoint-every=500"}));
  const GrapevineProcess free(TrainForLong(folder.File("free"), port + 2, {"--algorithm=adpsgd"}));
  const PrometheusServer server(port, folder);
  ASSERT_TRUE(Eventually([&] { return server.Ready(); }));
  ASSERT_TRUE(Eventually([&] { return server.Series("up{job=\"grapevine\"} == 1") == 4; }));

  for (const int at : {port, port + 3}) {
    const std::string text = folder.Write("metrics.txt", HttpGet(at, "/metrics").body);
    EXPECT_EQ(Promtool("check metrics < '" + text + "'"), "");
  }
  for (const std::string& expression : DashboardExpressions()) {
    EXPECT_TRUE(Eventually([&] { return server.Series(expression) > 0; })) << expression << "\n"
                                                                           << server.why();
  }
  // Names that the rules ask for, and that a run has.
  const std::string alerts = FileText("deploy/prometheus/alerts.yml");
  const std::regex name("grapevine_\\w+");
  for (std::sregex_iterator at(alerts.begin(), alerts.end(), name), end; at != end; ++at) {
    EXPECT_GT(server.Series(at->str()), 0u) << at->str();
  }
  ASSERT_TRUE(Eventually([&] {
    const Json rules = server.Ask("rules");
    if (rules.is_null() || rules["groups"].empty()) return false;
    for (const Json& rule : rules["groups"][0]["rules"]) {
      if (rule["health"] == "unknown") return false;
      EXPECT_EQ(rule["health"], "ok") << rule;
      EXPECT_NE(rule["state"], "firing") << rule;
    }
    return true;
  }));
}

// By the page, and by nodes that train.
std::set<std::string> FamiliesIn(const std::string& text, const std::string& before) {
  std::set<std::string> families;
  const std::regex name(before + "(grapevine_\\w+)");
  for (std::sregex_iterator at(text.begin(), text.end(), name), end; at != end; ++at) {
    families.insert((*at)[1].str());
  }
  return families;
}

TEST(Monitoring, ThePageHasEveryNameAndNoOther) {
  const ScratchFolder folder;
  const int port = FreePorts(4);
  const GrapevineProcess gossip(
      TrainForLong(folder.File("gossip"), port, {"--checkpoint-every=500"}));
  const GrapevineProcess free(TrainForLong(folder.File("free"), port + 2, {"--algorithm=adpsgd"}));
  const std::set<std::string> documented = FamiliesIn(FileText("docs/metrics.md"), "\\n\\| `");
  std::set<std::string> served;
  (void)Eventually([&] {
    for (int at = port; at < port + 4; ++at) {
      served.merge(FamiliesIn(HttpGet(at, "/metrics").body, "# TYPE "));
    }
    return served == documented;
  });
  EXPECT_EQ(served, documented);
}

}  // namespace
}  // namespace grapevine::testing

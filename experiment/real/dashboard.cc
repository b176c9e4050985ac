#include "experiment/real/dashboard.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "experiment/real/node_addresses.h"
#include "node/identity/host_address.h"
#include "node/server/listening_sockets.h"
#include "node/telemetry/own_hosts.h"
#include "report/page/page.h"

namespace grapevine {
namespace {

constexpr char kFlag[] = "--dashboard";

using Clock = std::chrono::steady_clock;

// A page is as good as new for this time, and for kShare times as long as it took to make, so that
// readers of a long run do not keep a core from training.
constexpr Clock::duration kFresh = std::chrono::seconds(1);
constexpr int kShare = 10;

// The data of a run's page, made no more often than kFresh and kShare demand. Thread-compatible.
class LiveData {
 public:
  explicit LiveData(std::string run_directory) : run_directory_(std::move(run_directory)) {}

  HttpAnswer Answer() {
    if (!data_ || Clock::now() >= good_until_) Make();
    if (data_->ok()) return {.type = "application/json", .body = **data_};
    return {.status = 503,
            .body = absl::StrCat("Nothing to show yet: ", std::string(data_->status().message()))};
  }

 private:
  void Make() {
    const Clock::time_point begin = Clock::now();
    data_ = PageData({.runs = {run_directory_}, .live = true});
    const Clock::time_point end = Clock::now();
    good_until_ = end + std::max(kFresh, kShare * (end - begin));
  }

  const std::string run_directory_;
  std::optional<absl::StatusOr<std::string>> data_;
  Clock::time_point good_until_;
};

HttpAnswer DashboardAt(std::string_view path, LiveData& data) {
  if (path == "/") return {.type = "text/html; charset=utf-8", .body = LivePage()};
  if (path == "/data.json") return data.Answer();
  return {.status = 404, .body = "/, /data.json\n"};
}

absl::StatusOr<ListeningSockets> ListenForReaders(const HostAddress& address) {
  return ListenOn(address, HttpServerOptions().patience,
                  absl::StrCat("choose another one with ", kFlag));
}

}  // namespace

absl::StatusOr<std::unique_ptr<HttpServer>> OpenDashboard(const Config& config, Rank rank,
                                                          const std::string& run_directory) {
  if (rank != 0) return nullptr;
  ASSIGN_OR_RETURN(const std::optional<HostAddress> address, DashboardAddress(config));
  if (!address) return nullptr;
  ASSIGN_OR_RETURN(ListeningSockets sockets, ListenForReaders(*address));
  return std::make_unique<HttpServer>(
      std::move(sockets), HttpServerOptions(),
      OwnHosts{.listens = address->host, .advertised = AdvertisedHost(config), .flag = kFlag},
      [data = std::make_shared<LiveData>(run_directory)](std::string_view path) {
        return DashboardAt(path, *data);
      });
}

absl::StatusOr<std::string> DashboardText(const Config& config) {
  ASSIGN_OR_RETURN(const std::optional<HostAddress> address, DashboardAddress(config));
  if (!address) return "";
  if (!HasHosts(config)) RETURN_IF_ERROR(ListenForReaders(*address).status());
  return absl::StrCat("dashboard: http://", FormatHostAddress(*address),
                      HasHosts(config) ? "/ on the first host\n" : "/\n");
}

}  // namespace grapevine

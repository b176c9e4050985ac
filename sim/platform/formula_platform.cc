#include "sim/platform/formula_platform.h"

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace grapevine {
namespace {

constexpr std::string_view kHost = "host";

class FormulaRouter final : public Router {
 public:
  explicit FormulaRouter(const FormulaPlatform* platform)
      : platform_(platform), links_(platform->links()) {}

  Route Find(HostId from, HostId to) override {
    route_.clear();
    if (from != to) platform_->AddRoute(from, to, &route_);
    Route route{.links = route_};
    for (const LinkId link : route_) route.latency += links_[link].latency;
    return route;
  }

 private:
  const FormulaPlatform* const platform_;
  const std::span<const Link> links_;
  std::vector<LinkId> route_;
};

}  // namespace

FormulaPlatform::FormulaPlatform(std::string name, HostId hosts, Cables cables, double loopback)
    : name_(std::move(name)), hosts_(hosts), cables_(std::move(cables)), loopback_(loopback) {}

std::string FormulaPlatform::HostName(HostId host) const {
  return absl::StrCat(std::string(kHost), host);
}

std::optional<HostId> FormulaPlatform::FindHost(std::string_view name) const {
  HostId host = 0;
  if (!name.starts_with(kHost)) return std::nullopt;
  const std::string number(name.substr(kHost.size()));
  if (!absl::SimpleAtoi(number, &host) || host < 0 || host >= hosts_) return std::nullopt;
  return host;
}

std::string FormulaPlatform::LinkName(LinkId link) const {
  auto [a, b] = Ends(cables_.CableOf(link));
  if (cables_.IsBack(link)) std::swap(a, b);
  return absl::StrCat(a, cables_.half_duplex() ? "--" : "->", b);
}

std::unique_ptr<Router> FormulaPlatform::MakeRouter() const {
  return std::make_unique<FormulaRouter>(this);
}

}  // namespace grapevine

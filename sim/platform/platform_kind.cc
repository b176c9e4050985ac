#include "sim/platform/platform_kind.h"

#include <chrono>
#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "base/units.h"

namespace grapevine {

Registry<PlatformKind>& Platforms() {
  static auto* const platforms = new Registry<PlatformKind>("network");
  return *platforms;
}

double RateOf(int64_t bits_per_second) { return static_cast<double>(bits_per_second) / 8e9; }
int64_t BitsPerSecond(double rate) { return std::llround(rate * 8e9); }

absl::StatusOr<double> ParseLinkRate(std::string_view text) {
  ASSIGN_OR_RETURN(const int64_t bits, ParseBandwidth(text));
  if (bits > 0) return RateOf(bits);
  return UsageError(
      absl::StrCat("\"", std::string(text),
                   "\" is not a bandwidth of a link: nothing would ever arrive; give more"));
}

absl::StatusOr<Nanoseconds> ParseLinkLatency(std::string_view text) {
  constexpr std::chrono::nanoseconds kMaxLatency = std::chrono::hours(24);
  ASSIGN_OR_RETURN(const std::chrono::nanoseconds latency, ParseDuration(text));
  if (latency <= kMaxLatency) return latency.count();
  return UsageError(absl::StrCat("\"", std::string(text),
                                 "\" is not a latency of a link: more than a day; give less"));
}

absl::Status CheckHosts(const Spec& spec, int64_t hosts, Rank n) {
  constexpr int64_t kMaxHosts = int64_t{1} << 24;
  if (hosts < n) {
    return SpecError(spec.text, absl::StrCat("has ", hosts, " hosts for ", n,
                                             " nodes; make it larger or run fewer nodes"));
  }
  if (hosts <= kMaxHosts) return absl::OkStatus();
  return SpecError(spec.text, absl::StrCat("has ", hosts, " hosts, more than ", kMaxHosts));
}

template <typename T>
T PlatformReader::Parsed(std::string_view key, T fallback,
                         absl::StatusOr<T> (*parse)(std::string_view)) {
  const std::string text = reader_.Text(key, "");
  if (text.empty()) return fallback;
  const absl::StatusOr<T> value = parse(text);
  if (value.ok()) return *value;
  status_.Update(SpecError(spec_.text, absl::StrCat("option ", std::string(key), ": ",
                                                    std::string(value.status().message()))));
  return fallback;
}

double PlatformReader::Bandwidth(std::string_view key, double fallback) {
  return Parsed(key, fallback, ParseLinkRate);
}

Nanoseconds PlatformReader::Latency(std::string_view key, Nanoseconds fallback) {
  return Parsed(key, fallback, ParseLinkLatency);
}

absl::Status PlatformReader::Finish() {
  status_.Update(reader_.Finish());
  return status_;
}

PlatformOptions PlatformOptions::Read(PlatformReader& reader) {
  PlatformOptions options;
  options.bandwidth = reader.Bandwidth("bandwidth", options.bandwidth);
  options.latency = reader.Latency("latency", options.latency);
  options.half_duplex = reader.fields().Choice("duplex", {"full", "half"}) == "half";
  options.loopback = reader.Bandwidth("loopback", options.loopback);
  return options;
}

std::string PlatformOptions::Text() const {
  return absl::StrCat(":bandwidth=", FormatBandwidth(BitsPerSecond(bandwidth)),
                      ":latency=", FormatDuration(std::chrono::nanoseconds(latency)),
                      half_duplex ? ":duplex=half" : "",
                      ":loopback=", FormatBandwidth(BitsPerSecond(loopback)));
}

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

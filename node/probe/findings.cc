#include "node/probe/findings.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/printable.h"
#include "base/units.h"
#include "node/identity/host_address.h"
#include "node/server/certificates.h"

namespace grapevine {
namespace {

using std::chrono::nanoseconds;

constexpr size_t kMostText = 400;
constexpr size_t kMostNames = 4;
// The most addresses of a host that are looked at: a host may send any number.
constexpr int kMostAddresses = 16;

// The clock differences from which a warning is due, and from which certificates may seem to be
// expired or not valid yet.
constexpr nanoseconds kNoticedSkew = std::chrono::milliseconds(500);
constexpr nanoseconds kUsableSkew = std::chrono::minutes(5);
// The share of a limit from which on the limit is close.
constexpr double kClose = 0.8;
// The bytes of IP and TCP headers with options, and some more for tunnels.
constexpr int kHeaders = 112;
constexpr int kLoopbackMtu = 65536;
// The share of the median rate below which an edge is named.
constexpr double kSlowEdge = 0.5;

std::string Listed(const std::vector<std::string>& names) {
  if (names.size() == 1) return names.front();
  const size_t shown = std::min(names.size() - 1, kMostNames);
  const std::vector<std::string> first(names.begin(),
                                       names.begin() + static_cast<ptrdiff_t>(shown));
  const size_t left = names.size() - shown;
  return absl::StrCat(absl::StrJoin(first, ", "), " and ",
                      left == 1 ? names.back() : absl::StrCat(left, " more"));
}

std::string Counted(size_t count, std::string_view what) {
  return absl::StrCat(count, " ", std::string(what), count == 1 ? "" : "s");
}

// The findings of one check; equal ones are joined.
class Check {
 public:
  Check(std::string name, const Survey& survey) : name_(std::move(name)), survey_(survey) {}

  void Add(Severity severity, size_t host, const std::string& found, const std::string& remedy) {
    std::vector<size_t>& hosts = HostsWith(severity, Printable(found, kMostText), remedy);
    if (std::ranges::find(hosts, host) == hosts.end()) hosts.push_back(host);
  }
  void Warn(size_t host, const std::string& found, const std::string& remedy) {
    Add(Severity::kWarning, host, found, remedy);
  }
  void Fail(size_t host, const std::string& found, const std::string& remedy) {
    Add(Severity::kFailed, host, found, remedy);
  }

  // Appends the findings of the check; without any, one that says `well`.
  void AppendTo(std::vector<Finding>* findings, const std::string& well) const {
    for (const Same& same : all_) {
      std::vector<std::string> names;
      for (const size_t host : same.hosts) names.push_back(survey_.hosts[host].name);
      findings->push_back({name_, same.severity, Listed(names), same.found, same.remedy});
    }
    if (!all_.empty()) return;
    const std::vector<std::string> asked = Names(/*asked=*/true);
    if (asked.empty()) return AppendNotTriedTo(findings);
    const std::string who = asked.size() == survey_.hosts.size() && asked.size() > 1
                                ? absl::StrCat("all ", asked.size(), " hosts")
                                : Listed(asked);
    findings->push_back({name_, Severity::kOk, who, Printable(well, kMostText), ""});
  }

  // Appends the findings of a check that takes two hosts, of which one says what it finds of the
  // other.
  void AppendOfPairsTo(std::vector<Finding>* findings, const std::string& well) const {
    const size_t asked = Names(/*asked=*/true).size();
    if (!all_.empty() || asked > 1 || asked == survey_.hosts.size()) AppendTo(findings, well);
    AppendNotTriedTo(findings);
  }

 private:
  // A host that could not be asked may have any problem: it is not called well.
  void AppendNotTriedTo(std::vector<Finding>* findings) const {
    const std::vector<std::string> names = Names(/*asked=*/false);
    if (names.empty()) return;
    findings->push_back({name_, Severity::kNotTried, Listed(names), "nothing could be asked there",
                         "see what is said of the host itself"});
  }

  struct Same {
    Severity severity;
    std::string found, remedy;
    std::vector<size_t> hosts;
  };

  std::vector<std::string> Names(bool asked) const {
    std::vector<std::string> names;
    for (const SurveyedHost& host : survey_.hosts) {
      if ((host.problem.ok() && host.facts.has_value()) == asked) names.push_back(host.name);
    }
    return names;
  }

  std::vector<size_t>& HostsWith(Severity severity, const std::string& found,
                                 const std::string& remedy) {
    for (Same& same : all_) {
      if (same.severity == severity && same.found == found && same.remedy == remedy) {
        return same.hosts;
      }
    }
    all_.push_back({severity, found, remedy, {}});
    return all_.back().hosts;
  }

  const std::string name_;
  const Survey& survey_;
  std::vector<Same> all_;
};

// Every check, one function each.
class Judge {
 public:
  Judge(const Survey& survey, const RunNeeds& needs) : survey_(survey), needs_(needs) {}

  std::vector<Finding> All() {
    Hosts();
    Folder();
    Names();
    NamesBack();
    Ports();
    Packets();
    Clocks();
    if (needs_.tls) Certificates();
    Processors();
    Cores();
    Descriptors();
    Memory();
    Edges();
    return std::move(findings_);
  }

 private:
  template <typename Body>
  void ForEachKnown(const Body& body) const {
    for (size_t host = 0; host < survey_.hosts.size(); ++host) {
      if (survey_.hosts[host].facts) body(host, survey_.hosts[host], *survey_.hosts[host].facts);
    }
  }
  const std::string& NameOf(size_t host) const { return survey_.hosts[host].name; }
  bool Several() const { return survey_.hosts.size() > 1; }

  void Hosts() {
    Check check("hosts", survey_);
    for (size_t host = 0; host < survey_.hosts.size(); ++host) {
      const SurveyedHost& one = survey_.hosts[host];
      if (!one.problem.ok()) {
        check.Fail(host, std::string(one.problem.message()), "nothing else could be asked there");
      } else if (!one.facts) {
        check.Fail(host, "did not say what it is like in time", "see what keeps it busy");
      }
    }
    check.AppendTo(&findings_, absl::StrCat("Grapevine ", needs_.build, " answers"));
  }

  void Folder() {
    Check check("folder", survey_);
    ForEachKnown([&](size_t host, const SurveyedHost&, const probe::Facts& facts) {
      if (facts.folder_problem().empty()) return;
      check.Fail(host, absl::StrCat("has not the current folder: ", facts.folder_problem()),
                 "make it, or start in one that all hosts have");
    });
    check.AppendTo(&findings_, "the current folder is there");
  }

  // Returns whether `address` is among a host's own names and addresses.
  bool Has(size_t host, const std::string& address) const {
    const std::optional<probe::Facts>& facts = survey_.hosts[host].facts;
    return facts && std::ranges::find(facts->addresses(), address) != facts->addresses().end();
  }
  std::optional<size_t> OwnerOf(const std::string& address) const {
    for (size_t host = 0; host < survey_.hosts.size(); ++host) {
      if (Has(host, address)) return host;
    }
    return std::nullopt;
  }

  void Names() {
    if (!Several()) return;
    Check check("names", survey_);
    ForEachKnown([&](size_t host, const SurveyedHost&, const probe::Facts& facts) {
      const auto count = std::min<size_t>(survey_.hosts.size(), facts.lookups_size());
      for (size_t to = 0; to < count; ++to) {
        CheckLookup(host, to, facts.lookups(static_cast<int>(to)), &check);
      }
    });
    check.AppendOfPairsTo(&findings_, "every name leads to its host");
  }

  void CheckLookup(size_t host, size_t to, const probe::Lookup& lookup, Check* check) const {
    constexpr char kRemedy[] = "correct the name there: in the DNS or /etc/hosts";
    if (!lookup.problem().empty()) {
      return check->Fail(host, absl::StrCat("cannot find ", NameOf(to), ": ", lookup.problem()),
                         kRemedy);
    }
    // A host may find itself at any address, and not all addresses of a host may be known here.
    if (host == to || !survey_.hosts[to].facts || IsLoopback(NameOf(to))) return;
    for (const std::string& address : lookup.addresses()) {
      if (IsLoopback(address)) {
        return check->Fail(host, absl::StrCat("takes itself for ", NameOf(to), " (", address, ")"),
                           kRemedy);
      }
      if (Has(to, address)) return;
    }
    for (const std::string& address : lookup.addresses()) {
      const std::optional<size_t> owner = OwnerOf(address);
      if (!owner) continue;
      return check->Fail(
          host,
          absl::StrCat("finds ", NameOf(to), " at ", address, ", which is ", NameOf(*owner), "'s"),
          kRemedy);
    }
    if (!Reached(host, to)) {
      check->Warn(host,
                  absl::StrCat("finds ", NameOf(to), " at ",
                               absl::StrJoin(lookup.addresses(), ", "), ", which it has not"),
                  "well where addresses are translated; else correct it");
    }
  }

  bool Reached(size_t from, size_t to) const {
    return std::ranges::any_of(survey_.ports, [&](const SurveyedPort& port) {
      return port.hosts == HostEdge(from, to) && port.reached &&
             port.reached->trouble().obstacle() == probe::NONE;
    });
  }

  void NamesBack() {
    if (!Several()) return;
    Check check("names back", survey_);
    ForEachKnown([&](size_t host, const SurveyedHost&, const probe::Facts& facts) {
      const auto count = std::min<size_t>(survey_.hosts.size(), facts.lookups_size());
      for (size_t to = 0; to < count; ++to) {
        const probe::Lookup& lookup = facts.lookups(static_cast<int>(to));
        const int known = std::min(lookup.addresses_size(), lookup.names_size());
        for (int i = 0; i < std::min(known, kMostAddresses); ++i) {
          CheckBack(host, to, lookup.addresses(i), lookup.names(i), &check);
        }
      }
    });
    check.AppendOfPairsTo(&findings_, "addresses lead back to the names");
  }

  // Returns `name` without its domain.
  static std::string_view Short(std::string_view name) { return name.substr(0, name.find('.')); }

  void CheckBack(size_t host, size_t to, const std::string& address, const std::string& name,
                 Check* check) const {
    if (IsLoopback(address) || address == NameOf(to)) return;  // no name to look up
    if (!name.empty() && Short(name) == Short(NameOf(to))) return;
    check->Warn(host,
                absl::StrCat("finds ", name.empty() ? "no name" : absl::StrCat("the name ", name),
                             " for ", address, ", which is ", NameOf(to), "'s"),
                "only logs of ssh and the like need it: a reverse entry in the DNS or /etc/hosts");
  }

  void Ports() {
    Check check("ports", survey_);
    for (size_t host = 0; host < survey_.hosts.size(); ++host) {
      if (!survey_.hosts[host].opened) continue;
      for (const probe::Port& port : survey_.hosts[host].opened->ports()) {
        if (!port.problem().empty()) check.Fail(host, port.problem(), "a node would not start");
      }
    }
    for (const SurveyedPort& port : survey_.ports) CheckPort(port, &check);
    const bool all_answer =
        std::ranges::all_of(survey_.hosts, [](const auto& host) { return host.facts.has_value(); });
    const std::string where = survey_.all_pairs
                                  ? all_answer ? "between all hosts" : "between them"
                                  : absl::StrCat("along the edges, and to and from ", NameOf(0));
    const auto tried = static_cast<size_t>(std::ranges::count_if(
        survey_.ports, [](const SurveyedPort& port) { return port.reached.has_value(); }));
    check.AppendOfPairsTo(&findings_, Several()
                                          ? absl::StrCat(Counted(tried, "connection"), " ", where)
                                          : "nodes can listen here, and are reached");
  }

  void CheckPort(const SurveyedPort& port, Check* check) const {
    const auto [from, to] = port.hosts;
    const std::string where = FormatHostAddress({.host = NameOf(to), .port = port.port});
    if (!port.reached) {
      if (survey_.hosts[from].problem.ok()) {
        check->Fail(from, absl::StrCat("did not say in time whether it reaches ", where),
                    "see what keeps it busy");
      }
      return;
    }
    const probe::Trouble& trouble = port.reached->trouble();
    const std::string at =
        port.reached->address().empty() ? "" : absl::StrCat(port.reached->address(), ": ");
    switch (trouble.obstacle()) {
      case probe::NONE:
        return;
      case probe::NOBODY:
        return check->Fail(
            from, absl::StrCat("cannot reach ", where, " (", at, trouble.text(), ")"),
            "let firewalls pass it; HOST:PORT in the list fixes a node's port, which "
            "is any that is free otherwise");
      case probe::OTHER_HOST:
        return check->Fail(
            from,
            absl::StrCat(
                "reaches ",
                trouble.host() < survey_.hosts.size() ? NameOf(trouble.host()) : "another host",
                " as ", where),
            "correct the name there, or what translates addresses");
      default:
        return check->Fail(from,
                           absl::StrCat("cannot talk to ", where, " (", at, trouble.text(), ")"),
                           "see what is between them");
    }
  }

  void Packets() {
    Check check("packets", survey_);
    std::map<HostEdge, const probe::Reached*> reached;
    std::set<int> mtus;
    for (const SurveyedPort& port : survey_.ports) {
      if (!port.reached || port.reached->trouble().obstacle() != probe::NONE) continue;
      reached[port.hosts] = &*port.reached;
      mtus.insert(port.reached->interface_mtu());
    }
    for (const auto& [hosts, way] : reached) {
      const auto back = reached.find({hosts.second, hosts.first});
      CheckPackets(hosts, *way, back == reached.end() ? nullptr : back->second, &check);
    }
    if (!reached.empty()) {
      check.AppendTo(&findings_,
                     absl::StrCat("the largest pass whole, MTU ", absl::StrJoin(mtus, " and ")));
    }
  }

  void CheckPackets(const HostEdge& hosts, const probe::Reached& way, const probe::Reached* back,
                    Check* check) const {
    const auto [from, to] = hosts;
    const std::string mtu = absl::StrCat(way.interface(), " has MTU ", way.interface_mtu());
    if (!way.passes()) {
      return check->Fail(from,
                         absl::StrCat("packets of ", way.segment(), " bytes to or from ",
                                      NameOf(to), " are lost, small ones are not; ", mtu),
                         "something between them carries smaller ones, and says nothing: lower the "
                         "MTU of the interfaces, or let ICMP pass");
    }
    if (way.interface_mtu() >= kLoopbackMtu) return;
    if (back != nullptr && back->interface_mtu() != way.interface_mtu()) {
      // The difference is said once, of the host with the smaller MTU.
      if (way.interface_mtu() > back->interface_mtu()) return;
      return check->Warn(
          from, absl::StrCat(mtu, ", and that of ", NameOf(to), " ", back->interface_mtu()),
          "the same on both");
    }
    if (way.segment() < way.interface_mtu() - kHeaders) {
      check->Warn(
          from,
          absl::StrCat("packets to ", NameOf(to), " carry ", way.segment(), " bytes, though ", mtu),
          "a tunnel on the way, perhaps; it works, at more processor time");
    }
  }

  void Clocks() {
    Check check("clocks", survey_);
    nanoseconds furthest{}, error{};
    bool any = false;
    for (size_t host = 0; host < survey_.hosts.size(); ++host) {
      if (!survey_.hosts[host].clock) continue;
      any = true;
      const ClockOffset& clock = *survey_.hosts[host].clock;
      const nanoseconds off = clock.ahead < nanoseconds(0) ? -clock.ahead : clock.ahead;
      furthest = std::max(furthest, off);
      error = std::max(error, clock.error);
      if (off - clock.error <= kNoticedSkew) continue;
      const bool usable = off - clock.error <= kUsableSkew;
      check.Add(
          usable ? Severity::kWarning : Severity::kFailed, host,
          absl::StrCat("is ", HumanDuration(Seconds(off)),
                       clock.ahead < nanoseconds(0) ? " behind" : " ahead of",
                       " this machine's clock, give or take ", HumanDuration(Seconds(clock.error))),
          usable ? "start NTP there: time stamps of logs and traces will not agree"
                 : "set it: certificates may seem expired, or not valid yet");
    }
    if (!any) return;
    check.AppendTo(&findings_, absl::StrCat("within ", HumanDuration(Seconds(furthest)),
                                            " of this machine's, give or take ",
                                            HumanDuration(Seconds(error))));
  }

  void Certificates() {
    Check check("certificates", survey_);
    std::vector<PemFile> authorities;
    ForEachCertificate([&](size_t host, Rank, const probe::Certificate& one) {
      if (one.authority().empty()) return;
      authorities.push_back({absl::StrCat("the --tls-ca of ", NameOf(host)), one.authority()});
    });
    // Mostly all hosts have the same authority.
    std::ranges::stable_sort(authorities, {}, &PemFile::text);
    const auto same = [](const PemFile& a, const PemFile& b) { return a.text == b.text; };
    authorities.erase(std::unique(authorities.begin(), authorities.end(), same), authorities.end());
    ForEachCertificate([&](size_t host, Rank rank, const probe::Certificate& one) {
      CheckOne(host, rank, one, authorities, &check);
    });
    check.AppendTo(&findings_, "signed by one authority, valid, and with the right names");
  }

  // Calls `body` with the certificate of each rank; an empty one if its host has sent none.
  template <typename Body>
  void ForEachCertificate(const Body& body) const {
    ForEachKnown([&](size_t host, const SurveyedHost& one, const probe::Facts& facts) {
      for (size_t i = 0; i < one.ranks.size(); ++i) {
        const bool said = static_cast<int>(i) < facts.certificates_size();
        body(host, one.ranks[i],
             said ? facts.certificates(static_cast<int>(i)) : probe::Certificate());
      }
    });
  }

  void CheckOne(size_t host, Rank rank, const probe::Certificate& one,
                const std::vector<PemFile>& authorities, Check* check) const {
    constexpr char kRemedy[] = "docs/cluster.md shows how to make them";
    if (!one.problem().empty()) return check->Fail(host, one.problem(), kRemedy);
    if (!one.warning().empty()) check->Warn(host, one.warning(), kRemedy);
    const PemFile chain{.name = absl::StrCat("the certificate of rank ", rank),
                        .text = one.chain()};
    absl::Status status;
    for (const PemFile& authority : authorities) {
      if (!CheckAuthority(authority, chain).ok()) {
        status.Update(absl::InvalidArgumentError(
            absl::StrCat(chain.name, " is not signed by ", authority.name)));
      }
    }
    status.Update(needs_.names.given() ? CheckRankName(chain, needs_.names, rank)
                                       : CheckHostName(chain, NameOf(host)));
    if (!status.ok()) check->Fail(host, std::string(status.message()), kRemedy);
  }

  void Processors() {
    Check check("processors", survey_);
    std::map<std::string, size_t> having;  // how many hosts have an instruction set
    std::set<std::string> models;
    size_t known = 0;
    ForEachKnown([&](size_t, const SurveyedHost&, const probe::Facts& facts) {
      ++known;
      models.insert(facts.processor());
      const std::set<std::string> features(facts.features().begin(), facts.features().end());
      for (const std::string& feature : features) ++having[feature];
    });
    ForEachKnown([&](size_t host, const SurveyedHost&, const probe::Facts& facts) {
      std::vector<std::string> missing;
      for (const auto& [feature, count] : having) {
        const auto& own = facts.features();
        if (count < known && std::ranges::find(own, feature) == own.end()) {
          missing.push_back(feature);
        }
      }
      if (missing.empty()) return;
      check.Warn(host,
                 absl::StrCat(facts.processor(), " has no ", absl::StrJoin(missing, ", "),
                              ", which others have"),
                 "gradients there may differ in their last bits; runs repeat on one kind of "
                 "processor");
    });
    if (known == 0) return;
    check.AppendTo(&findings_, absl::StrCat(Several() ? "the same instruction sets: " : "",
                                            models.size() == 1 ? *models.begin()
                                                               : Counted(models.size(), "model")));
  }

  void Cores() {
    Check check("cores", survey_);
    std::vector<std::string> counts;
    ForEachKnown([&](size_t host, const SurveyedHost& one, const probe::Facts& facts) {
      counts.push_back(absl::StrCat(one.ranks.size(), " of ", facts.cores()));
      if (static_cast<int64_t>(one.ranks.size()) <= facts.cores()) return;
      check.Warn(host,
                 absl::StrCat("is to run ", Counted(one.ranks.size(), "node"), " on ",
                              Counted(static_cast<size_t>(facts.cores()), "core")),
                 "a node computes on one; they will take turns");
    });
    if (counts.empty()) return;
    std::ranges::sort(counts);
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    check.AppendTo(&findings_, absl::StrCat("nodes have a core each: ", Listed(counts)));
  }

  void Descriptors() {
    Check check("descriptors", survey_);
    std::optional<int64_t> least;
    ForEachKnown([&](size_t host, const SurveyedHost&, const probe::Facts& facts) {
      least = std::min(least.value_or(facts.descriptors()), facts.descriptors());
      const auto needed = static_cast<double>(needs_.descriptors);
      if (needed <= kClose * static_cast<double>(facts.descriptors())) return;
      check.Add(needs_.descriptors > facts.descriptors() ? Severity::kFailed : Severity::kWarning,
                host,
                absl::StrCat("grants ", facts.descriptors(),
                             " descriptors to a process, of which a "
                             "node may need ",
                             needs_.descriptors),
                "raise the limit (`ulimit -Hn`, LimitNOFILE=)");
    });
    if (!least) return;
    check.AppendTo(&findings_,
                   absl::StrCat("a node may need ", needs_.descriptors, " of ", *least));
  }

  void Memory() {
    Check check("memory", survey_);
    std::optional<int64_t> least;
    ForEachKnown([&](size_t host, const SurveyedHost& one, const probe::Facts& facts) {
      least = std::min(least.value_or(facts.memory()), facts.memory());
      if (!needs_.memory) return;
      const double needed =
          static_cast<double>(*needs_.memory) * static_cast<double>(one.ranks.size());
      const auto free = static_cast<double>(facts.memory());
      if (needed <= kClose * free) return;
      check.Add(needed > free ? Severity::kFailed : Severity::kWarning, host,
                absl::StrCat("has ", HumanSize(free), " free, of which the vectors of ",
                             Counted(one.ranks.size(), "node"), " take ", HumanSize(needed)),
                "fewer nodes there, or a graph with fewer neighbours");
    });
    if (!least) return;
    const std::string free =
        absl::StrCat("at least ", HumanSize(static_cast<double>(*least)), " free");
    check.AppendTo(&findings_, needs_.memory
                                   ? absl::StrCat(free, "; the vectors of a node take ",
                                                  HumanSize(static_cast<double>(*needs_.memory)))
                                   : absl::StrCat(free, " (--model says how much a node needs)"));
  }

  void Edges() {
    if (survey_.edges.empty()) return;
    Check check("edges", survey_);
    std::vector<double> rates;
    for (const SurveyedEdge& edge : survey_.edges) {
      if (const std::optional<double> rate = RateOf(edge.alone)) rates.push_back(*rate);
    }
    if (rates.empty()) return;
    std::ranges::sort(rates);
    const double median = rates[rates.size() / 2];
    for (const SurveyedEdge& edge : survey_.edges) {
      const auto [from, to] = edge.hosts;
      const std::optional<double> rate = RateOf(edge.alone);
      if (edge.alone && edge.alone->trouble().obstacle() != probe::NONE) {
        check.Fail(
            from,
            absl::StrCat("messages to ", NameOf(to), " got stuck: ", edge.alone->trouble().text()),
            "see what is between them");
      } else if (rate && *rate < kSlowEdge * median) {
        check.Warn(from,
                   absl::StrFormat("sends %s to %s, half of the edges at least %s",
                                   HumanRate(*rate), NameOf(to), HumanRate(median)),
                   "nodes wait for the slowest: a cable, a switch, a busy host; or a graph without "
                   "that edge (`grapevine topology --optimize`)");
      }
    }
    const std::string slowest = HumanRate(rates.front()), fastest = HumanRate(rates.back());
    check.AppendTo(&findings_,
                   absl::StrCat(Counted(rates.size(), "direction"), ", ", slowest,
                                slowest == fastest ? "" : absl::StrCat(" to ", fastest)));
  }

  static std::string HumanRate(double bits) {
    return absl::StrCat(FormatBandwidth(ThreeDigits(std::llround(bits))), "/s");
  }

  const Survey& survey_;
  const RunNeeds& needs_;
  std::vector<Finding> findings_;
};

}  // namespace

std::string_view SeverityName(Severity severity) {
  switch (severity) {
    case Severity::kOk:
      return "ok";
    case Severity::kNotTried:
      return "not tried";
    case Severity::kWarning:
      return "warning";
    case Severity::kFailed:
      break;
  }
  return "failed";
}

std::vector<Finding> FindingsOf(const Survey& survey, const RunNeeds& needs) {
  return Judge(survey, needs).All();
}

Severity WorstOf(const std::vector<Finding>& findings) {
  Severity worst = Severity::kOk;
  for (const Finding& finding : findings) worst = std::max(worst, finding.severity);
  return worst;
}

}  // namespace grapevine

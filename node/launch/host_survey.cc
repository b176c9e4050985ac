#include "node/launch/host_survey.h"

#include <signal.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "node/launch/host_groups.h"
#include "system/file_descriptor.h"

namespace grapevine {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

// The number of times that each clock is read.
constexpr int kClockSamples = 9;
// The most questions that a host is asked at once.
constexpr size_t kMostAtOnce = 32;
// The time that ssh and a busy machine may take, on top of the time of the request itself.
constexpr milliseconds kSlack{10000};
// The longest time for which the lookups of all names are awaited.
constexpr milliseconds kMostLookups{60000};
// The number of addresses of a name, each of which is tried, for which time is allowed.
constexpr int kMostTries = 4;
// The factor by which measurements are longer while all edges are in use, since it takes longer
// until each edge has its share.
constexpr int kTogether = 2;
// The most waits of a caller, each as long as its patience: for addresses, a handshake, small
// messages and a count.
constexpr int kStreamSteps = 2 * kMostTries + 24;
constexpr uint64_t kMostBytes = uint64_t{1} << 38;
constexpr milliseconds kLifetime{3600000};

nanoseconds Now() {
  return std::chrono::duration_cast<nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch());
}

// Questions to hosts, and their answers. An answer to a question that its host was not asked does
// not count.
class Inquiry {
 public:
  explicit Inquiry(RemoteHosts* hosts) : hosts_(*hosts) {
    for (size_t host = 0; host < hosts_.count(); ++host) {
      hosts_.host(host).OnAnswer([this, host](const probe::Answer& answer) {
        const auto asked = waiting_.find(answer.id());
        if (asked == waiting_.end() || asked->second != host) return;
        waiting_.erase(asked);
        back_[answer.id()] = Now();
        answers_[answer.id()] = answer;
      });
    }
  }

  uint64_t Ask(size_t host, probe::Request request) {
    request.set_id(++last_);
    if (!hosts_.host(host).ready()) return last_;
    waiting_[last_] = host;
    hosts_.host(host).Probe(request);
    return last_;
  }

  // Waits until all hosts have answered or are lost, for at most `patience`.
  absl::Status Await(milliseconds patience) {
    const absl::Status status = hosts_.Await(
        [this] {
          return std::ranges::none_of(
              waiting_, [this](const auto& asked) { return hosts_.host(asked.second).ready(); });
        },
        steady_clock::now() + patience);
    waiting_.clear();
    return status;
  }

  // Returns the answer to a question; null if none has come.
  const probe::Answer* AnswerTo(uint64_t id) const {
    const auto answer = answers_.find(id);
    return answer == answers_.end() ? nullptr : &answer->second;
  }
  nanoseconds BackAt(uint64_t id) const { return back_.at(id); }

 private:
  RemoteHosts& hosts_;
  uint64_t last_ = 0;
  std::map<uint64_t, size_t> waiting_;  // the host that was asked, by the question's id
  std::map<uint64_t, probe::Answer> answers_;
  std::map<uint64_t, nanoseconds> back_;
};

class Surveyor {
 public:
  Surveyor(const HostSurveyOptions& options, RemoteHosts* hosts)
      : options_(options), hosts_(*hosts), inquiry_(hosts) {
    for (const HostGroup& group : GroupByHost(options.hosts.slots).groups) {
      survey_.hosts.push_back({.name = group.name, .ranks = group.ranks});
    }
  }

  absl::StatusOr<Survey> Carry(const std::function<void(std::string_view)>& told) {
    RETURN_IF_ERROR(Inspect());
    RETURN_IF_ERROR(ReadClocks());
    RETURN_IF_ERROR(OpenDoors());
    ChoosePorts();
    told(absl::StrCat("trying ", survey_.ports.size(), " connections"));
    RETURN_IF_ERROR(TryPorts());
    RETURN_IF_ERROR(MeasureEdges(told));
    for (size_t host = 0; host < survey_.hosts.size(); ++host) {
      survey_.hosts[host].problem = hosts_.host(host).status();
    }
    return std::move(survey_);
  }

 private:
  absl::Status Inspect() {
    std::map<size_t, uint64_t> asked;
    for (size_t host = 0; host < survey_.hosts.size(); ++host) {
      probe::Request request;
      probe::Inspect& inspect = *request.mutable_inspect();
      inspect.set_folder(options_.hosts.folder.empty() ? "/" : options_.hosts.folder);
      for (const SurveyedHost& one : survey_.hosts) inspect.add_names(one.name);
      inspect.set_patience_ms(options_.patience.count());
      for (const Rank rank : survey_.hosts[host].ranks) {
        if (!options_.tls.empty()) *inspect.add_tls() = options_.tls[static_cast<size_t>(rank)];
      }
      asked[host] = inquiry_.Ask(host, request);
    }
    const auto names = static_cast<int64_t>(survey_.hosts.size());
    RETURN_IF_ERROR(inquiry_.Await(std::min(2 * names * options_.patience, kMostLookups) + kSlack));
    for (const auto& [host, id] : asked) {
      const probe::Answer* answer = inquiry_.AnswerTo(id);
      if (answer != nullptr && answer->has_facts()) survey_.hosts[host].facts = answer->facts();
    }
    return absl::OkStatus();
  }

  // Reads the clock of one host after the other, so that no other message is under way.
  absl::Status ReadClocks() {
    for (size_t host = 0; host < survey_.hosts.size(); ++host) {
      std::vector<ClockSample> samples;
      for (int sample = 0; sample < kClockSamples; ++sample) {
        probe::Request request;
        request.mutable_clock();
        const nanoseconds asked = Now();
        const uint64_t id = inquiry_.Ask(host, request);
        RETURN_IF_ERROR(inquiry_.Await(kSlack));
        const probe::Answer* answer = inquiry_.AnswerTo(id);
        if (answer == nullptr || !answer->has_time()) break;
        samples.push_back({.asked = asked,
                           .heard = nanoseconds(answer->time().heard_ns()),
                           .answered = nanoseconds(answer->time().answered_ns()),
                           .back = inquiry_.BackAt(id)});
      }
      survey_.hosts[host].clock = OffsetOf(samples);
    }
    return absl::OkStatus();
  }

  absl::Status OpenDoors() {
    std::map<size_t, uint64_t> asked;
    for (size_t host = 0; host < survey_.hosts.size(); ++host) {
      probe::Request request;
      probe::Open& open = *request.mutable_open();
      open.set_token(options_.token);
      open.set_host(static_cast<uint32_t>(host));
      for (const Rank rank : survey_.hosts[host].ranks) {
        open.add_ports(options_.hosts.slots[static_cast<size_t>(rank)].port);
      }
      open.set_lifetime_ms(kLifetime.count());
      asked[host] = inquiry_.Ask(host, request);
    }
    RETURN_IF_ERROR(inquiry_.Await(kSlack));
    for (const auto& [host, id] : asked) {
      const probe::Answer* answer = inquiry_.AnswerTo(id);
      // An answer without one port for each rank does not count.
      if (answer == nullptr || !answer->has_opened() ||
          answer->opened().ports_size() != static_cast<int>(survey_.hosts[host].ranks.size())) {
        continue;
      }
      survey_.hosts[host].opened = answer->opened();
    }
    return absl::OkStatus();
  }

  std::set<HostEdge> PairsToTry() {
    std::set<HostEdge> pairs;
    const size_t count = survey_.hosts.size();
    survey_.all_pairs = count <= kMostHostsInPairs;
    if (!survey_.all_pairs) {
      pairs.insert(options_.edges.begin(), options_.edges.end());
      for (size_t host = 1; host < count; ++host) {
        pairs.insert({host, 0});
        pairs.insert({0, host});
      }
    } else {
      for (size_t from = 0; from < count; ++from) {
        for (size_t to = 0; to < count; ++to) pairs.insert({from, to});
      }
    }
    // Only a host that is alone calls at itself.
    if (count > 1)
      std::erase_if(pairs, [](const HostEdge& pair) { return pair.first == pair.second; });
    return pairs;
  }

  void ChoosePorts() {
    for (const HostEdge& pair : PairsToTry()) {
      const SurveyedHost& to = survey_.hosts[pair.second];
      if (!to.opened || !survey_.hosts[pair.first].facts) continue;
      for (const probe::Port& port : to.opened->ports()) {
        if (port.problem().empty()) survey_.ports.push_back({.hosts = pair, .port = port.port()});
      }
    }
  }

  probe::Target TargetOf(size_t host, int port) const {
    probe::Target target;
    target.set_name(survey_.hosts[host].name);
    target.set_port(port);
    target.set_host(static_cast<uint32_t>(host));
    return target;
  }

  // Tries ports in waves, each of at most kMostAtOnce ports for every host that calls.
  absl::Status TryPorts() {
    std::map<size_t, std::vector<size_t>> left;  // positions of ports, by the host that calls
    for (size_t i = 0; i < survey_.ports.size(); ++i) {
      left[survey_.ports[i].hosts.first].push_back(i);
    }
    for (size_t from = 0; !left.empty(); from += kMostAtOnce) {
      std::map<size_t, uint64_t> asked;
      for (auto& [host, ports] : left) {
        const size_t end = std::min(ports.size(), from + kMostAtOnce);
        for (size_t i = from; i < end; ++i) {
          const SurveyedPort& port = survey_.ports[ports[i]];
          probe::Request request;
          *request.mutable_reach()->mutable_target() = TargetOf(port.hosts.second, port.port);
          request.mutable_reach()->set_patience_ms(options_.patience.count());
          asked[ports[i]] = inquiry_.Ask(host, request);
        }
      }
      RETURN_IF_ERROR(inquiry_.Await((kMostTries + 4) * options_.patience + kSlack));
      for (const auto& [port, id] : asked) {
        const probe::Answer* answer = inquiry_.AnswerTo(id);
        if (answer != nullptr && answer->has_reached()) {
          survey_.ports[port].reached = answer->reached();
        }
      }
      std::erase_if(left, [from](const auto& of_host) {
        return of_host.second.size() <= from + kMostAtOnce;
      });
    }
    return absl::OkStatus();
  }

  // Returns the first port of the edge's second host that its first host has reached or, within a
  // host, that is open; none if no port qualifies.
  std::optional<int> PortOf(const HostEdge& edge) const {
    const SurveyedHost& to = survey_.hosts[edge.second];
    if (!survey_.hosts[edge.first].facts || !to.opened) return std::nullopt;
    for (const SurveyedPort& port : survey_.ports) {
      if (port.hosts == edge && port.reached && port.reached->trouble().obstacle() == probe::NONE) {
        return port.port;
      }
    }
    if (edge.first != edge.second) return std::nullopt;
    for (const probe::Port& port : to.opened->ports()) {
      if (port.problem().empty()) return port.port();
    }
    return std::nullopt;
  }

  // Measures these edges at once; with a duration of 0, small messages only.
  absl::Status Stream(const std::vector<size_t>& edges, milliseconds duration,
                      std::optional<probe::Streamed> SurveyedEdge::*result) {
    std::map<size_t, uint64_t> asked;
    for (const size_t edge : edges) {
      const HostEdge& hosts = survey_.edges[edge].hosts;
      const std::optional<int> port = PortOf(hosts);
      if (!port) continue;
      probe::Request request;
      probe::Stream& stream = *request.mutable_stream();
      *stream.mutable_target() = TargetOf(hosts.second, *port);
      stream.set_patience_ms(options_.patience.count());
      stream.set_echoes(duration == milliseconds(0));
      stream.set_duration_ms(duration.count());
      stream.set_bytes(kMostBytes);
      asked[edge] = inquiry_.Ask(hosts.first, request);
    }
    RETURN_IF_ERROR(inquiry_.Await(2 * duration + kStreamSteps * options_.patience + kSlack));
    for (const auto& [edge, id] : asked) {
      const probe::Answer* answer = inquiry_.AnswerTo(id);
      if (answer != nullptr && answer->has_streamed()) {
        survey_.edges[edge].*result = answer->streamed();
      }
    }
    return absl::OkStatus();
  }

  absl::Status MeasureEdges(const std::function<void(std::string_view)>& told) {
    if (options_.duration == milliseconds(0)) return absl::OkStatus();
    for (const HostEdge& hosts : options_.edges) survey_.edges.push_back({.hosts = hosts});
    const std::vector<std::vector<size_t>> rounds = DisjointRounds(options_.edges);
    for (size_t round = 0; round < rounds.size(); ++round) {
      told(absl::StrCat("measuring edges, ", round + 1, " of ", rounds.size() + 1));
      RETURN_IF_ERROR(Stream(rounds[round], milliseconds(0), &SurveyedEdge::echoes));
      RETURN_IF_ERROR(Stream(rounds[round], options_.duration, &SurveyedEdge::alone));
    }
    told("measuring all edges at once");
    std::vector<size_t> all;
    // An edge within a host uses no network.
    for (size_t edge = 0; edge < survey_.edges.size(); ++edge) {
      const HostEdge& hosts = survey_.edges[edge].hosts;
      if (hosts.first != hosts.second) all.push_back(edge);
    }
    return Stream(all, kTogether * options_.duration, &SurveyedEdge::together);
  }

  const HostSurveyOptions& options_;
  RemoteHosts& hosts_;
  Inquiry inquiry_;
  Survey survey_;
};

}  // namespace

absl::StatusOr<Survey> SurveyHosts(const HostSurveyOptions& options,
                                   const std::function<void(std::string_view)>& told) {
  // Signals are blocked between two waits, too: SIGPIPE from an agent that is gone must not end
  // this program.
  ASSIGN_OR_RETURN(const std::unique_ptr<SignalDescriptor> signals,
                   SignalDescriptor::Open({SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGPIPE}));
  RemoteHostsOptions to_connect = options.hosts;
  // Agents start in a folder that every machine has; whether a host has the run's folder is asked
  // later.
  to_connect.folder = "/";
  to_connect.arguments.clear();
  told("connecting to the hosts");
  ASSIGN_OR_RETURN(const std::unique_ptr<RemoteHosts> hosts,
                   RemoteHosts::ConnectThoseThatCan(to_connect));
  return Surveyor(options, hosts.get()).Carry(told);
}

}  // namespace grapevine

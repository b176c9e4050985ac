// Shows what the nodes of a run did as a trace: one process per rank, with one lane each for
// rounds, gradients and exchange (mixing and waiting), and as many lanes for sends and for receives
// as overlap. Simulated and real runs look alike.
//
// The nodes of a real run record what they do, each on its own clock (RUN/node-RANK/trace.bin). All
// records are merged into one trace.
//
// Thread-safety: thread-compatible; functions are safe for different files.
#ifndef GRAPEVINE_RUN_TRACE_RUN_TRACE_H_
#define GRAPEVINE_RUN_TRACE_RUN_TRACE_H_

#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/ids.h"
#include "run/trace/chrome_trace.h"

namespace grapevine {

// An interval in nanoseconds since the start of the run, not negative.
struct TraceInterval {
  int64_t begin = 0;
  int64_t end = 0;
};

// The identity of a message, equal at its sender and its receiver.
struct TraceMessage {
  Rank from = 0;
  Rank to = 0;
  uint16_t channel = 0;
  Round round = 0;
  uint32_t step = 0;
};

// Writes intervals into a trace. Intervals of one rank and kind, except messages, must come in
// ascending order and must not overlap.
class RunTrace {
 public:
  // `trace` must outlive this object. Its owner finishes it.
  explicit RunTrace(ChromeTrace* trace) : trace_(trace) {}

  void Step(Rank rank, Round round, const TraceInterval& interval);
  void Gradient(Rank rank, Round round, const TraceInterval& interval);
  void Mix(Rank rank, const TraceInterval& interval);
  // Adds a wait: `rank` was idle until a message of `peer` came.
  void Wait(Rank rank, Rank peer, const TraceInterval& interval);
  // Add a message on either side, from the first byte to the last.
  void Sent(const TraceMessage& message, int64_t bytes, const TraceInterval& interval);
  void Received(const TraceMessage& message, const TraceInterval& interval);

 private:
  // The end of the last slice of each lane of a kind.
  using Lanes = std::vector<int64_t>;
  struct Node {
    Lanes sends;
    Lanes receives;
  };

  Node& NodeOf(Rank rank);
  // Returns a lane that is free from `interval.begin` on, if necessary a new one.
  ChromeTrace::Lane FreeLane(Rank rank, bool send, const TraceInterval& interval);

  ChromeTrace* const trace_;
  std::unordered_map<Rank, Node> nodes_;  // nodes seen so far
};

enum class TraceKind : uint32_t {
  kStep = 0,  // a round
  kGradient = 1,
  kMix = 2,
  kWait = 3,      // waiting for `peer`
  kSent = 4,      // to `peer`: from the request until the last byte leaves
  kReceived = 5,  // from `peer`: begins and ends when the last byte arrives
};

// An interval that a node recorded. Members that the kind does not need are 0.
struct TraceRecord {
  int64_t begin = 0;  // nanoseconds of the node's steady clock
  int64_t end = 0;
  int64_t bytes = 0;
  int64_t round = 0;
  uint32_t step = 0;
  uint32_t channel = 0;
  int32_t peer = 0;
  TraceKind kind = TraceKind::kStep;
};
static_assert(sizeof(TraceRecord) == 48 && std::is_trivially_copyable_v<TraceRecord>);

// The records of one node. Its file begins with a line of JSON that identifies the node and its
// clock. Records of fixed size follow, in the byte order of the machine that wrote them.
struct NodeTrace {
  int64_t rank = 0;
  std::string clock;    // equal if two nodes share a steady clock; may be empty
  int64_t start = 0;    // start of the run, on that clock
  int64_t dropped = 0;  // records lost before the first one here
  std::vector<TraceRecord> records;
};

// Returns the path of a node's trace in the node's folder.
std::string NodeTracePath(const std::string& folder);

// Writes the trace of one node. Errors are kOutput and name the path.
absl::Status WriteNodeTrace(const std::string& path, const NodeTrace& trace);
// Reads the trace of one node. Safe on hostile input: peers are in [0, nodes), no interval is
// negative or longer than a century. Errors are kInput and name the path.
absl::StatusOr<NodeTrace> ReadNodeTrace(const std::string& path, Rank nodes);

// Adds the contents of files[rank], one node at a time. Nodes on rank 0's machine share its clock
// and are placed exactly. Other nodes are aligned at the common start, which all nodes leave within
// one message's latency of each other. Returns the ranks whose file does not exist: it may be on
// another machine's disk. It is an error (kInput) if a file is malformed or of another rank.
absl::StatusOr<std::vector<Rank>> MergeTraces(std::span<const std::string> files,
                                              ChromeTrace* trace);

}  // namespace grapevine

#endif  // GRAPEVINE_RUN_TRACE_RUN_TRACE_H_

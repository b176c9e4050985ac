// Shared by the transport tests: sinks that record, and waiting with deadlines.
#ifndef GRAPEVINE_TESTS_NODE_TRANSPORT_TRANSPORT_HARNESS_H_
#define GRAPEVINE_TESTS_NODE_TRANSPORT_TRANSPORT_HARNESS_H_

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <utility>
#include <vector>

#include "kernels/vector/shared_vector.h"
#include "node/transport/transport.h"
#include "system/mutex.h"
#include "tests/testing/slowness.h"

namespace grapevine {

// A call of a sink.
struct Report {
  enum class Kind { kReceived, kOffered, kLost, kLeft, kSent, kDeclined, kFailed };
  Kind kind;
  Rank peer;
  Tag tag = {};
  int64_t bytes = 0;
  Note note = {};
  absl::Status why = {};  // of a failure
};

// Remembers every call. Thread-safe.
class RecordingSink : public TransportSink {
 public:
  void OnReceived(const Received& message) override;
  void OnOffered(const Offered& offer) override;
  void OnLost(Rank from, Tag tag) override;
  void OnLeft(Rank to, Tag tag) override;
  void OnSent(Rank to, Tag tag) override;
  void OnDeclined(Rank to, Tag tag) override;
  void OnPeerFailed(Rank peer, const absl::Status& why) override;

  // Called in OnReceived, and in every call, if set; set them before anything is posted.
  std::function<void()> on_received;
  std::function<void(const Report&)> on_report;

  // Each waits up to 20 s; false if it did not happen.
  bool AwaitReceived(Rank from, Tag tag);
  // The last message received.
  Received last_received() const;
  bool AwaitLeft(Rank to, Tag tag);
  bool AwaitSent(Rank to, Tag tag);
  bool AwaitOffered(Rank from, Tag tag, size_t times = 1);
  bool AwaitLost(Rank from, Tag tag);
  bool AwaitDeclined(Rank to, Tag tag, size_t times = 1);
  // The last offer.
  Offered last_offered() const;
  // The status of the failure; OK if none came.
  absl::Status AwaitFailure(Rank peer);

  int received() const { return Count(received_); }
  int left() const { return Count(left_); }
  int sent() const { return Count(sent_); }
  int offered() const { return Count(offered_); }
  int lost() const { return Count(lost_); }
  int declined() const { return Count(declined_); }
  int failures() const;
  bool HasReceived(Rank from, Tag tag) const;

 private:
  using Messages = std::multiset<std::pair<Rank, Tag>>;
  void Record(const Report& report, Messages* messages);
  bool AwaitMessage(const Messages& messages, Rank peer, Tag tag, size_t times = 1);
  int Count(const Messages& messages) const;
  bool Await(const std::function<bool()>& condition,
             std::chrono::milliseconds time = testing::Patient(std::chrono::seconds(20)));

  mutable Mutex mutex_;
  Condition changed_;
  Messages received_;
  Received last_received_ = {};
  Messages offered_;
  Offered last_offered_ = {};
  Messages lost_;
  Messages left_;
  Messages sent_;
  Messages declined_;
  std::multimap<Rank, absl::Status> failed_;
};

// `size` floats that depend on position and `seed`.
SharedSlice Pattern(int64_t size, float seed);
SharedSlice Zeros(int64_t size);
bool SameBits(const SharedSlice& a, const SharedSlice& b);

// n transports of one kind that can reach each other, each with a sink.
class TransportNetwork {
 public:
  virtual ~TransportNetwork() = default;
  virtual Transport& transport(Rank rank) = 0;
  RecordingSink& sink(Rank rank) { return *sinks_[rank]; }
  // Where no threads do it: lets the next thing happen. False if nothing more will.
  virtual bool Advance() { return false; }

 protected:
  explicit TransportNetwork(int nodes) {
    for (int i = 0; i < nodes; ++i) sinks_.push_back(std::make_unique<RecordingSink>());
  }

 private:
  std::vector<std::unique_ptr<RecordingSink>> sinks_;
};

}  // namespace grapevine

#endif  // GRAPEVINE_TESTS_NODE_TRANSPORT_TRANSPORT_HARNESS_H_

// The queue of everything that can reach a runner's thread, and the only way there: bounded, with a
// deadline on waits.
#ifndef GRAPEVINE_NODE_RUNNER_MAILBOX_H_
#define GRAPEVINE_NODE_RUNNER_MAILBOX_H_

#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <optional>
#include <variant>

#include "absl/status/status.h"
#include "algorithm/event.h"
#include "algorithm/view.h"
#include "node/runner/node_gradients.h"
#include "system/mutex.h"

namespace grapevine {

// Thread-safe: many writers, one reader.
class Mailbox {
 public:
  struct MessageLeft {  // TransportSink::OnLeft
    Rank to;
    Tag tag;
  };
  struct MessageSent {  // TransportSink::OnSent
    Rank to;
    Tag tag;
  };
  struct MessageDeclined {  // TransportSink::OnDeclined
    Rank to;
    Tag tag;
  };
  struct PeerFailed {
    Rank peer;
    absl::Status why;
  };
  struct LimitMoved {
    Round limit;
    bool final;
  };
  struct CutDue {
    Round round;
  };
  struct ViewAgreed {
    std::shared_ptr<const View> view;
    std::optional<Round> again;  // see Runner::ChangeView
    Rank lead = 0;               // see Runner::ChangeView
  };
  struct CheckpointDue {
    uint32_t ballot;
    std::optional<Round> round;  // see Runner::SaveAt
  };
  struct AverageDone {};
  struct StateWritten {};
  struct DeviceFailed {
    absl::Status why;
  };
  struct Aborted {
    absl::Status why;
  };
  using Item =
      std::variant<Received, Offered, Lost, MessageLeft, MessageSent, MessageDeclined,
                   GradientReady, GradientResult, LimitMoved, CutDue, Prepare, ViewAgreed,
                   CheckpointDue, AverageDone, StateWritten, PeerFailed, DeviceFailed, Aborted>;

  // The most items, far above the sum of the posts, sends and gradients of one node: more is a bug.
  static constexpr size_t kMaxItems = size_t{1} << 20;

  void Put(Item item);
  // Returns the oldest item, or nothing if `deadline` passes first.
  std::optional<Item> Take(std::chrono::steady_clock::time_point deadline);
  bool empty() const;

 private:
  mutable Mutex mutex_;
  Condition nonempty_;
  std::deque<Item> items_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_RUNNER_MAILBOX_H_

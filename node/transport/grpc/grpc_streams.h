// The parts of which the transport's gRPC streams, in both directions, are made: the completion
// queue and the one thread that serves it, the number of open streams, and byte buffers.
#ifndef GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_STREAMS_H_
#define GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_STREAMS_H_

#include <grpcpp/completion_queue.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/byte_buffer.h>

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "node/transport/message_memory.h"
#include "system/mutex.h"

namespace grapevine {

// The tag of one kind of operation of one stream, which is pending at most once at a time.
class GrpcTag {
 public:
  explicit GrpcTag(std::function<void(bool ok)> run) : run_(std::move(run)) {}

  // Returns the pointer to hand to gRPC. Keeps `owner`, in which this tag lives, alive until the
  // tag has run.
  void* Arm(std::shared_ptr<void> owner) {
    owner_ = std::move(owner);
    AnnotateHappensBefore(this);
    return this;
  }
  void Run(bool ok) {
    AnnotateHappensAfter(this);
    const std::shared_ptr<void> owner = std::move(owner_);
    run_(ok);
  }

 private:
  const std::function<void(bool ok)> run_;
  std::shared_ptr<void> owner_;
};

// GrpcQueue owns gRPC's completion queue and the thread on which all streams complete. A node has
// one such thread, because two would pass the sockets back and forth. The thread is our own,
// because the threads of gRPC's callback API sleep for 100 ms after a second without work, and in
// gRPC 1.51 destroy themselves when the last channel is released on one of them.
//
// Thread-compatible; cq() may be used from any thread.
class GrpcQueue {
 public:
  // Adds the queue to `builder`, and starts the thread at once: beside such a queue, gRPC gives the
  // server's synchronous services no poller of their own. Must be called once, before the server is
  // built.
  void AddTo(grpc::ServerBuilder& builder);
  // Waits for pending operations and ends the thread. Must be called while the server is shut down
  // but not yet destroyed.
  void Stop();

  grpc::ServerCompletionQueue* cq() { return queue_.get(); }

 private:
  void Serve();

  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::thread thread_;
};

// The number of open streams, for which Shutdown waits. Thread-safe. Held by shared_ptr, because
// streams may outlive the transport.
class StreamCount {
 public:
  void Add() {
    MutexLock lock(mutex_);
    ++count_;
  }
  void Remove() {
    MutexLock lock(mutex_);
    if (--count_ == 0) none_.NotifyAll();
  }
  // Waits until no stream is open; returns false if some still are at the deadline.
  bool AwaitNone(std::chrono::steady_clock::time_point deadline) {
    MutexLock lock(mutex_);
    while (count_ > 0) {
      if (!none_.WaitUntil(mutex_, deadline)) return count_ == 0;
    }
    return true;
  }

 private:
  Mutex mutex_;
  Condition none_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
};

// Returns the bytes of a message (edge/wire_format.h) as gRPC writes them.
grpc::ByteBuffer ToByteBuffer(const std::string& bytes);

// Returns `header` followed by `data`. The data is not copied: the buffer keeps it alive until gRPC
// releases the buffer.
grpc::ByteBuffer ToByteBuffer(const std::string& header, const SharedBytes& data);

}  // namespace grapevine

#endif  // GRAPEVINE_NODE_TRANSPORT_GRPC_GRPC_STREAMS_H_

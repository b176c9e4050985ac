#include "node/transport/credit_desk.h"

namespace grapevine {

CreditDesk::Due CreditDesk::Post(Rank from, Tag tag, Round round, int64_t bytes,
                                 Announce announce) {
  MutexLock lock(mutex_);
  order_.Post(from, tag, round, bytes);
  held_[{from, tag}] = std::move(announce);
  return Take();
}

void CreditDesk::Announced(Rank from, Tag tag) {
  MutexLock lock(mutex_);
  meter_.Announced(from, tag, now_());
}

CreditDesk::Due CreditDesk::Landed(Rank from, const ChunkHeader& chunk) {
  MutexLock lock(mutex_);
  meter_.Landed(from, chunk.tag, chunk.size, chunk.last(), now_());
  if (chunk.last()) {
    order_.Close(from, chunk.tag);
    // Of a peer that sent it without a credit.
    held_.erase({from, chunk.tag});
  } else {
    order_.Lacks(from, chunk.tag, chunk.total - chunk.offset - chunk.size);
  }
  return Take();
}

CreditDesk::Due CreditDesk::Lost(Rank from) {
  MutexLock lock(mutex_);
  order_.CloseAll(from);
  meter_.Forget(from);
  std::erase_if(held_, [from](const auto& held) { return held.first.first == from; });
  return Take();
}

CreditDesk::Due CreditDesk::Take() {
  Due due;
  if (held_.empty()) return due;
  const auto allowance = [this](Rank to) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    return meter_.BytesWhileACreditTravels(to);
  };
  for (const CreditOrder::Message& message : order_.Take(allowance)) {
    due.push_back(std::move(held_.extract({message.from, message.tag}).mapped()));
  }
  return due;
}

}  // namespace grapevine

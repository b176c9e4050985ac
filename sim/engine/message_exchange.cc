#include "sim/engine/message_exchange.h"

#include <glog/logging.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace grapevine {

CreditTurns::Receiver& CreditTurns::At(Rank to) {
  if (receivers_.empty()) receivers_.resize(nodes_);
  return receivers_[to];
}

void CreditTurns::Hold(Rank to, const Post& post, int64_t bytes) {
  Receiver& receiver = At(to);
  receiver.order.Post(post.from, post.tag, post.round, bytes);
  receiver.held.push_back(post);
}

const CreditTurns::Post* CreditTurns::Held(Rank to, Rank from, Tag tag) const {
  if (receivers_.empty()) return nullptr;
  const std::vector<Post>& held = receivers_[to].held;
  const auto post = std::ranges::find_if(
      held, [&](const Post& post) { return post.from == from && post.tag == tag; });
  return post == held.end() ? nullptr : &*post;
}

void CreditTurns::TakeBack(Rank to, Rank from, Tag tag) {
  std::erase_if(receivers_[to].held,
                [&](const Post& post) { return post.from == from && post.tag == tag; });
  Lose(to, from, tag);
}

void CreditTurns::Begin(FlowId flow, const MessageTimes& message, Nanoseconds now) {
  At(message.to)
      .coming.push_back({.flow = flow,
                         .from = message.from,
                         .tag = message.tag,
                         .bytes = static_cast<double>(message.bytes),
                         .arrival = -1});
}

void CreditTurns::Leave(FlowId flow, const MessageTimes& message) {
  Receiver& receiver = At(message.to);
  const auto beside = std::ranges::count(receiver.coming, -1, &Coming::arrival);
  std::ranges::find(receiver.coming, flow, &Coming::flow)->arrival = message.arrived;
  if (message.left == message.begun) return;
  receiver.rate = static_cast<double>(message.bytes * beside) /
                  static_cast<double>(message.left - message.begun);
}

void CreditTurns::Arrive(FlowId flow, const MessageTimes& message) {
  Receiver& receiver = At(message.to);
  receiver.order.Close(message.from, message.tag);
  std::erase_if(receiver.coming, [flow](const Coming& coming) { return coming.flow == flow; });
}

void CreditTurns::Forget(Rank to) {
  if (!receivers_.empty()) receivers_[to].held.clear();
}

void CreditTurns::Reset(Rank to) {
  if (!receivers_.empty()) receivers_[to] = {};
}

void CreditTurns::End(FlowId flow, Rank to) {
  std::erase_if(At(to).coming, [flow](const Coming& coming) { return coming.flow == flow; });
}

std::vector<Tag> CreditTurns::HeldFor(Rank to, Rank from) const {
  std::vector<Tag> tags;
  if (receivers_.empty()) return tags;
  for (const Post& post : receivers_[to].held) {
    if (post.from == from) tags.push_back(post.tag);
  }
  return tags;
}

double CreditTurns::Lacks(Rank to, const Receiver& receiver, const Coming& message,
                          Nanoseconds now) const {
  const double lacks = message.arrival >= 0
                           ? receiver.rate * static_cast<double>(message.arrival - now)
                           : network_->Left(message.flow, now) +
                                 network_->rate(message.flow) *
                                     static_cast<double>(network_->Latency(message.from, to));
  return std::min(lacks, message.bytes);
}

double CreditTurns::RateOf(const Receiver& receiver, Rank from) const {
  const bool flows = std::ranges::any_of(receiver.coming, [from](const Coming& message) {
    return message.from == from && message.arrival < 0;
  });
  return flows ? RateNow(receiver) : receiver.rate;
}

double CreditTurns::RateNow(const Receiver& receiver) const {
  double rate = 0;
  for (const Coming& message : receiver.coming) {
    if (message.arrival < 0) rate += network_->rate(message.flow);
  }
  return rate > 0 ? rate : receiver.rate;
}

std::vector<CreditTurns::Post> CreditTurns::Due(Rank to, Nanoseconds now) {
  std::vector<Post> due;
  Receiver& receiver = At(to);
  if (receiver.held.empty()) return due;
  for (const Coming& message : receiver.coming) {
    receiver.order.Lacks(message.from, message.tag,
                         std::llround(Lacks(to, receiver, message, now)));
  }
  const auto allowance = [&](Rank from, Rank lacking) {
    return RateOf(receiver, lacking) * static_cast<double>(network_->Latency(to, from));
  };
  for (const CreditOrder::Message& message : receiver.order.Take(allowance)) {
    const auto post = std::ranges::find_if(receiver.held, [&](const Post& held) {
      return held.from == message.from && held.tag == message.tag;
    });
    due.push_back(*post);
    receiver.held.erase(post);
  }
  if (!receiver.held.empty()) CheckLater(to, receiver.order.Excess(allowance), now);
  return due;
}

void CreditTurns::CheckLater(Rank to, double excess, Nanoseconds now) {
  Receiver& receiver = receivers_[to];
  const double rate = RateNow(receiver);
  // No time can be computed before a message has arrived, or while none is arriving.
  if (receiver.coming.empty() || rate == 0) return;
  const Nanoseconds when = now + std::max<Nanoseconds>(1, std::llround(std::ceil(excess / rate)));
  if (receiver.check > now && receiver.check <= when) return;
  receiver.check = when;
  queue_->Push(
      when,
      SimEvent{.kind = SimEventKind::kCredits, .version = 0, .index = static_cast<uint32_t>(to)});
}

namespace {

// Removes an element by moving the last one into its place. The order of pending elements does not
// matter, as their tags are unique.
template <typename T>
void RemoveAt(std::vector<T>& values, typename std::vector<T>::iterator at) {
  *at = values.back();
  values.pop_back();
}

}  // namespace

MessageExchange::MessageExchange(Rank nodes, NetworkModel* network, const MessageEffects* effects,
                                 VectorStore* vectors, SimQueue* queue)
    : network_(network),
      effects_(effects),
      vectors_(vectors),
      queue_(queue),
      turns_(nodes, network, queue),
      senders_(nodes),
      bytes_sent_(nodes) {}

MessageId MessageExchange::NewMessage(const MessageTimes& times) {
  if (free_.empty()) {
    messages_.push_back({.times = times, .into = {}});
    return static_cast<MessageId>(messages_.size() - 1);
  }
  const MessageId id = free_.back();
  free_.pop_back();
  messages_[id] = {.times = times, .into = {}};
  return id;
}

void MessageExchange::Free(MessageId id) {
  messages_[id].live = false;
  free_.push_back(id);
}

std::vector<MessageId>::iterator MessageExchange::Waiting(Rank from, Rank to, Tag tag) {
  return std::ranges::find_if(senders_[from].waiting, [&](MessageId id) {
    return messages_[id].times.to == to && messages_[id].times.tag == tag;
  });
}

SendId MessageExchange::Send(Rank from, Rank to, Tag tag, const Payload& payload, const Note& note,
                             bool offered, Nanoseconds when, Nanoseconds now) {
  const SendId send{++last_send_.id};
  const MessageId id = NewMessage({.from = from,
                                   .to = to,
                                   .tag = tag,
                                   .id = send,
                                   .round = 0,
                                   .bytes = BytesOf(payload),
                                   .note = note,
                                   .asked = when,
                                   .begun = 0,
                                   .left = 0,
                                   .arrived = 0});
  messages_[id].offered = offered;
  vectors_->Hold(id, payload);
  if (LeftOut(from, to)) {
    EndSend(id, when);
    Void(id);
    return send;
  }
  if (!offered) bytes_sent_[from] += messages_[id].times.bytes;
  Sender& sender = senders_[from];
  const auto credit = std::ranges::find_if(
      sender.credits, [&](const Granted& c) { return c.to == to && c.tag == tag; });
  if (credit == sender.credits.end()) {
    sender.waiting.push_back(id);
    messages_[id].waiting = true;
    if (offered) {
      Tell({.kind = Notice::Kind::kOffer,
            .from = from,
            .to = to,
            .tag = tag,
            .message = id,
            .id = send},
           when + network_->Delay(from, to, now));
    }
    return send;
  }
  messages_[id].times.round = credit->round;
  messages_[id].into = credit->into;
  messages_[id].in_turn = credit->in_turn;
  const Nanoseconds ready = credit->ready;
  RemoveAt(sender.credits, credit);
  DepartAt(id, std::max(when, ready), now);
  return send;
}

bool MessageExchange::Post(Rank to, CreditTurns::Post&& post, Credit credit, Nanoseconds now) {
  post.id = ++last_post_;
  if (LeftOut(to, post.from)) {
    EndPost(to, post.from, post.tag, false, post.when);
    return false;
  }
  if (credit == Credit::kAtOnce) return Grant(to, post, false, now);
  bool announced = false;
  if (announced_ > 0) {
    const auto waiting = Waiting(post.from, to, post.tag);
    announced = waiting != senders_[post.from].waiting.end() && messages_[*waiting].announced;
  }
  turns_.Hold(to, post, BytesOf(post.into));
  OnCredits(to, now);
  return announced;
}

void MessageExchange::Decline(Rank to, Rank from, Tag tag, Nanoseconds when) {
  const auto waiting = Waiting(from, to, tag);
  // The offer of a dead sender went with it.
  if (dead(from) && waiting == senders_[from].waiting.end()) return;
  CHECK(waiting != senders_[from].waiting.end() && messages_[*waiting].announced)
      << "rank " << to << " declined what rank " << from << " does not offer: " << Describe(tag);
  const MessageId id = *waiting;
  RemoveAt(senders_[from].waiting, waiting);
  messages_[id].waiting = false;
  --announced_;
  Tell({.kind = Notice::Kind::kDecline,
        .from = from,
        .to = to,
        .tag = tag,
        .message = id,
        .id = messages_[id].times.id},
       when + network_->Latency(to, from));
}

void MessageExchange::Withdraw(Rank to, Rank from, Tag tag, Nanoseconds when, Nanoseconds now) {
  Notice notice{.kind = Notice::Kind::kWithdraw, .from = from, .to = to, .tag = tag};
  const Sender& sender = senders_[from];
  const auto credit = std::ranges::find_if(
      sender.credits, [&](const Granted& c) { return c.to == to && c.tag == tag; });
  if (credit != sender.credits.end()) {
    notice.post = credit->post;
    return Tell(notice, when + network_->Delay(to, from, now));
  }
  const CreditTurns::Post* const held = turns_.Held(to, from, tag);
  if (held == nullptr) return;  // the message is on its way
  notice.kind = Notice::Kind::kTakeBack;
  notice.post = held->id;
  Tell(notice, when);
}

namespace {

// Returns whether the notice is for the message's receiver rather than for its sender.
template <typename Kind>
bool IsForReceiver(Kind kind) {
  return kind == Kind::kOffer || kind == Kind::kTakeBack || kind == Kind::kWithdrawn;
}

}  // namespace

void MessageExchange::Tell(Notice notice, Nanoseconds when) {
  notice.life = life(IsForReceiver(notice.kind) ? notice.to : notice.from);
  uint32_t index = static_cast<uint32_t>(notices_.size());
  if (free_notices_.empty()) {
    notices_.push_back(notice);
  } else {
    index = free_notices_.back();
    free_notices_.pop_back();
    notices_[index] = notice;
  }
  queue_->Push(when, SimEvent{.kind = SimEventKind::kNotice, .version = 0, .index = index});
}

std::optional<MessageExchange::News> MessageExchange::OnNotice(uint32_t index, Nanoseconds now) {
  const Notice notice = notices_[index];
  notices_[index].pending = false;
  free_notices_.push_back(index);
  if (!notice.pending) return std::nullopt;
  const bool is_heard = notice.life == life(IsForReceiver(notice.kind) ? notice.to : notice.from);
  if (!is_heard && notice.kind != Notice::Kind::kDecline) return std::nullopt;
  switch (notice.kind) {
    case Notice::Kind::kOffer:
      return OnOffer(notice);
    case Notice::Kind::kDecline:
      // Either node may be dead by now, and the message gone.
      if (!IsLive(notice)) return std::nullopt;
      vectors_->Release(notice.message);
      Free(notice.message);
      if (!is_heard) return std::nullopt;
      return News{notice.from, Sent{messages_[notice.message].times.id, false}};
    case Notice::Kind::kTakeBack:
      OnTakeBack(notice, now);
      return std::nullopt;
    case Notice::Kind::kWithdraw:
      OnWithdraw(notice, now);
      return std::nullopt;
    case Notice::Kind::kWithdrawn:
      if (notice.in_turn) {
        turns_.Lose(notice.to, notice.from, notice.tag);
        OnCredits(notice.to, now);
      }
      return News{notice.to, Lost{notice.from, notice.tag}};
    case Notice::Kind::kBuffered:
      return News{notice.from, Left{notice.id}};
    case Notice::Kind::kUndelivered:
      return News{notice.from, Sent{notice.id, false}};
  }
  return std::nullopt;
}

bool MessageExchange::IsLive(const Notice& notice) const {
  const Message& message = messages_[notice.message];
  return message.live && message.times.id == notice.id;
}

std::optional<MessageExchange::News> MessageExchange::OnOffer(const Notice& notice) {
  Message& message = messages_[notice.message];
  // A post may have met the offer, and its message may have ended.
  if (message.times.id != notice.id || !message.waiting) return std::nullopt;
  message.announced = true;
  ++announced_;
  if (turns_.Held(notice.to, notice.from, notice.tag) != nullptr) return std::nullopt;
  return News{notice.to, Offered{.from = notice.from,
                                 .tag = notice.tag,
                                 .bytes = message.times.bytes,
                                 .note = message.times.note}};
}

void MessageExchange::OnTakeBack(const Notice& notice, Nanoseconds now) {
  const Rank from = notice.from, to = notice.to;
  const Tag tag = notice.tag;
  const CreditTurns::Post* const held = turns_.Held(to, from, tag);
  if (held == nullptr || held->id != notice.post) {
    // The credit of the post has been sent in the meantime.
    Notice withdrawal = notice;
    withdrawal.kind = Notice::Kind::kWithdraw;
    return Tell(withdrawal, now + network_->Delay(to, from, now));
  }
  // A post that answers an offer always gets its message.
  const auto waiting = Waiting(from, to, tag);
  if (waiting != senders_[from].waiting.end() && messages_[*waiting].announced) return;
  turns_.TakeBack(to, from, tag);
  EndPost(to, from, tag, false, now);
  OnCredits(to, now);
}

void MessageExchange::OnWithdraw(const Notice& notice, Nanoseconds now) {
  std::vector<Granted>& credits = senders_[notice.from].credits;
  const auto credit = std::ranges::find(credits, notice.post, &Granted::post);
  if (credit == credits.end()) return;  // a message has used the credit
  Notice returned = notice;
  returned.kind = Notice::Kind::kWithdrawn;
  returned.in_turn = credit->in_turn;
  RemoveAt(credits, credit);
  Tell(returned, now + network_->Delay(notice.from, notice.to, now));
}

void MessageExchange::OnCredits(Rank to, Nanoseconds now) {
  for (CreditTurns::Post& post : turns_.Due(to, now)) {
    post.when = std::max(post.when, now);
    Grant(to, post, true, now);
  }
}

bool MessageExchange::Grant(Rank to, const CreditTurns::Post& post, bool in_turn, Nanoseconds now) {
  const Nanoseconds ready = post.when + network_->Reply(post.from, to, now);
  Sender& sender = senders_[post.from];
  const auto waiting = Waiting(post.from, to, post.tag);
  if (waiting == sender.waiting.end()) {
    sender.credits.push_back({to, post.tag, post.round, ready, post.into, in_turn, post.id});
    return false;
  }
  const MessageId id = *waiting;
  RemoveAt(sender.waiting, waiting);
  messages_[id].times.round = post.round;
  messages_[id].into = post.into;
  messages_[id].in_turn = in_turn;
  messages_[id].waiting = false;
  const bool announced = messages_[id].announced;
  if (announced) --announced_;
  DepartAt(id, std::max(ready, messages_[id].times.asked), now);
  return announced;
}

void MessageExchange::DepartAt(MessageId id, Nanoseconds when, Nanoseconds now) {
  messages_[id].granted = true;
  if (when > now) {
    queue_->Push(when, SimEvent{.kind = SimEventKind::kDepart, .version = 0, .index = id});
  } else {
    OnDepart(id, now);
  }
}

void MessageExchange::OnDepart(MessageId id, Nanoseconds now) {
  if (messages_[id].gone) return Free(id);
  const MessageTimes& times = messages_[id].times;
  std::vector<Stream>& streams = senders_[times.from].streams;
  const auto stream = std::ranges::find(streams, times.to, &Stream::to);
  if (stream != streams.end()) {
    messages_[std::exchange(stream->last, id)].next = id;
    return;
  }
  streams.push_back({times.to, id});
  BeginFlow(id, now);
}

void MessageExchange::Advance(MessageId id, Nanoseconds now) {
  const MessageTimes& times = messages_[id].times;
  MessageId next = messages_[id].next;
  while (next != kNone && messages_[next].gone) {
    const MessageId skipped = std::exchange(next, messages_[next].next);
    Free(skipped);
  }
  if (next != kNone) return BeginFlow(next, now);
  std::vector<Stream>& streams = senders_[times.from].streams;
  RemoveAt(streams, std::ranges::find(streams, times.to, &Stream::to));
}

void MessageExchange::BeginFlow(MessageId id, Nanoseconds now) {
  Message& message = messages_[id];
  MessageTimes& times = message.times;
  if (message.offered) bytes_sent_[times.from] += times.bytes;
  times.begun = now;
  ++begun_;
  Flow flow{.from = times.from, .to = times.to, .bytes = static_cast<double>(times.bytes)};
  if (effects_ != nullptr) {
    const MessageEffect effect =
        effects_->Of({.from = times.from,
                      .to = times.to,
                      .tag = times.tag,
                      .bytes = times.bytes,
                      .latency = network_->Latency(times.from, times.to),
                      .idle = connections_.Begin(times.from, times.to, now)});
    flow.bytes = effect.bytes;
    flow.max_rate = effect.max_rate;
    message.delay = effect.delay;
  }
  network_->Start(id, flow, now);
  if (!message.in_turn) return;
  turns_.Begin(id, times, now);
  if (turns_.holds(times.to)) paced_.push_back(times.to);
}

bool MessageExchange::OnSettled(Nanoseconds now) {
  const int64_t before = begun_;
  settled_.swap(paced_);
  for (const Rank to : settled_) OnCredits(to, now);
  settled_.clear();
  return begun_ > before;
}

void MessageExchange::Void(MessageId id) {
  Message& message = messages_[id];
  message.gone = true;
  vectors_->Release(id);
  if (std::exchange(message.waiting, false)) {
    std::vector<MessageId>& waiting = senders_[message.times.from].waiting;
    RemoveAt(waiting, std::ranges::find(waiting, id));
    if (message.announced) --announced_;
  }
  // A message that departs frees its slot at its next event.
  if (!message.granted || message.arrived) Free(id);
}

void MessageExchange::EndPost(Rank to, Rank from, Tag tag, bool in_turn, Nanoseconds when) {
  Tell({.kind = Notice::Kind::kWithdrawn, .from = from, .to = to, .tag = tag, .in_turn = in_turn},
       when);
}

void MessageExchange::EndSend(MessageId id, Nanoseconds when) {
  const MessageTimes& times = messages_[id].times;
  Tell({.kind = Notice::Kind::kUndelivered,
        .from = times.from,
        .to = times.to,
        .tag = times.tag,
        .id = times.id},
       when);
}

void MessageExchange::Kill(Rank lost) {
  if (dead_.empty()) {
    dead_.resize(senders_.size());
    lives_.resize(senders_.size());
  }
  dead_[lost] = true;
  turns_.Forget(lost);
  for (MessageId id = 0; id < messages_.size(); ++id) {
    Message& message = messages_[id];
    const MessageTimes& times = message.times;
    if (!message.live || times.from != lost) continue;
    message.widowed = true;
    if (message.gone || message.left) continue;
    if (message.granted) orphans_.push_back({times.to, lost, times.tag, message.in_turn});
    Void(id);
  }
}

void MessageExchange::Revive(Rank lost) {
  dead_[lost] = false;
  ++lives_[lost];
  turns_.Reset(lost);
  for (Sender& sender : senders_) {
    std::erase_if(sender.credits, [lost](const Granted& credit) { return credit.to == lost; });
  }
  std::erase_if(orphans_, [lost](const Orphan& orphan) { return orphan.to == lost; });
  std::erase_if(left_out_, [lost](const auto& pair) { return pair.first == lost; });
  // Messages of nodes that have died and have not left `lost` out are voided too.
  for (MessageId id = 0; id < messages_.size(); ++id) {
    const Message& message = messages_[id];
    if (!message.live || message.gone || message.received || message.times.to != lost) continue;
    Void(id);
  }
}

void MessageExchange::LeaveOut(Rank node, Rank lost, Nanoseconds now) {
  left_out_.insert({node, lost});
  std::erase_if(senders_[lost].credits, [&](const Granted& credit) {
    if (credit.to != node) return false;
    EndPost(node, lost, credit.tag, credit.in_turn, now);
    return true;
  });
  for (const Tag& tag : turns_.HeldFor(node, lost)) {
    turns_.TakeBack(node, lost, tag);
    EndPost(node, lost, tag, false, now);
  }
  std::erase_if(orphans_, [&](const Orphan& orphan) {
    if (orphan.to != node || orphan.from != lost) return false;
    EndPost(node, lost, orphan.tag, orphan.in_turn, now);
    return true;
  });
  // A fault may hold up the answers of `lost` for ever, so they arrive now.
  std::vector<Notice> withdrawn;
  for (Notice& notice : notices_) {
    if (!notice.pending || notice.kind != Notice::Kind::kWithdrawn) continue;
    if (notice.to != node || notice.from != lost) continue;
    withdrawn.push_back(notice);
    notice.pending = false;
  }
  for (const Notice& notice : withdrawn) Tell(notice, now);
  for (MessageId id = 0; id < messages_.size(); ++id) {
    Message& message = messages_[id];
    if (!message.live || message.gone) continue;
    const MessageTimes& times = message.times;
    if (times.from == node && times.to == lost) {
      // The receipt of a message that has arrived is still on its way: nothing waits for it any
      // more.
      if (!std::exchange(message.widowed, message.received || message.widowed)) EndSend(id, now);
      if (!message.received) Void(id);
    } else if (message.received) {
      continue;
    } else if (times.from == lost && times.to == node && message.left) {
      // The message is still on its way, and a fault may hold it up for ever.
      if (message.in_turn) turns_.End(id, node);
      EndPost(node, lost, times.tag, message.in_turn, now);
      Void(id);
    }
  }
}

void MessageExchange::OnBuffered(MessageId id, Nanoseconds now) {
  Message& message = messages_[id];
  if (message.gone) return;
  message.buffered = true;
  const MessageTimes& times = message.times;
  // Goes through the queue, as the sender may be about to send the message.
  Tell({.kind = Notice::Kind::kBuffered,
        .from = times.from,
        .to = times.to,
        .tag = times.tag,
        .id = times.id},
       now);
}

const MessageTimes* MessageExchange::OnAlarm(MessageId id, uint32_t version, Nanoseconds now) {
  if (!network_->OnAlarm(id, version, now)) return nullptr;
  Message& message = messages_[id];
  MessageTimes& times = message.times;
  if (effects_ != nullptr) connections_.End(times.from, times.to, now);
  Advance(id, now);
  if (message.gone) {
    if (message.in_turn) turns_.End(id, times.to);
    Free(id);
    return nullptr;
  }
  message.left = true;
  // Writes the receiver's buffer already now: a later message may be posted into the sender's part
  // (algorithm/host.h), and the receiver reads its buffer only when the message has arrived.
  message.squared_norm = vectors_->Deliver(id, message.into);
  times.left = now;
  times.arrived = network_->Arrival(id, times.from, times.to, now) + message.delay;
  queue_->Push(times.arrived, SimEvent{.kind = SimEventKind::kArrival, .version = 0, .index = id});
  if (message.in_turn) {
    turns_.Leave(id, times);
    if (turns_.holds(times.to)) paced_.push_back(times.to);
  }
  return message.buffered ? nullptr : &times;
}

const MessageTimes* MessageExchange::OnArrival(MessageId id, Nanoseconds now) {
  Message& message = messages_[id];
  const MessageTimes& times = message.times;
  message.arrived = true;
  if (message.gone) Free(id);
  if (message.gone || dead(times.to)) return nullptr;
  message.received = true;
  queue_->Push(now + network_->Reply(times.from, times.to, now),
               SimEvent{.kind = SimEventKind::kReceipt, .version = 0, .index = id});
  if (message.in_turn) {
    turns_.Arrive(id, times);
    OnCredits(times.to, now);
  }
  return &times;
}

std::optional<MessageTimes> MessageExchange::OnReceipt(MessageId id) {
  Free(id);
  if (messages_[id].widowed) return std::nullopt;
  return messages_[id].times;
}

}  // namespace grapevine

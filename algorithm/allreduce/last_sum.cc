#include "algorithm/allreduce/last_sum.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace grapevine {

void LastSum::Keep(const KeptSum& sum, Host& host) {
  if (kept_.vector) host.Drop(kept_.vector);
  kept_ = sum;
}

void LastSum::Ask(Round round, Vec replica, Host& host) {
  round_ = round;
  replica_ = replica;
  AskNext(host);
}

void LastSum::AskNext(Host& host) {
  if (++nth_ >= members_) {
    answer_ = Answer::kNobodyHasIt;
    return;
  }
  const int64_t least = std::min<int64_t>(1, host.replica_size());
  Offer(asked(), TagOf(kQuestion, round_), {replica_, 0, least}, {}, host);
}

KeptSum LastSum::Take() {
  answer_ = Answer::kNone;
  nth_ = 0;
  return std::exchange(given_, {});
}

void LastSum::Offer(Rank to, Tag tag, const Part& part, const Note& note, Host& host) {
  const SendId id = host.Offer(to, tag, part, note);
  sends_.push_back({id, {to, tag}});
}

void LastSum::On(const Offered& event, Host& host) {
  if (event.tag.step == kQuestion) return AnswerQuestion(event, host);
  const bool expected =
      asks() && !posted_ && event.from == asked() && event.tag == TagOf(kSum, round_);
  if (!expected) return host.Decline(event.from, event.tag);
  posted_ = host.New(host.replica_size(), "the last sum");
  host.Post(event.from, event.tag, host.Whole(posted_), round_);
}

void LastSum::AnswerQuestion(const Offered& event, Host& host) {
  const bool known = kept_.vector && kept_.round == event.tag.index;
  if (!known) return host.Decline(event.from, event.tag);
  Offer(event.from, TagOf(kSum, kept_.round), host.Whole(kept_.vector), {.clock = kept_.members},
        host);
}

absl::Status LastSum::CheckPosted(Rank from, const Tag& tag) const {
  if (posted_ && from == asked() && tag == TagOf(kSum, round_)) return absl::OkStatus();
  return absl::InternalError(absl::StrCat(Describe(tag), " came without a post from rank ", from,
                                          ", on the channel of the last sum"));
}

absl::Status LastSum::On(const Received& event) {
  RETURN_IF_ERROR(CheckPosted(event.from, event.tag));
  if (event.note.clock < 1) {
    return absl::InternalError(absl::StrCat("the sum of round ", round_, " that rank ", event.from,
                                            " has sent is over ", event.note.clock, " members"));
  }
  given_ = {.vector = std::exchange(posted_, Vec{}),
            .round = round_,
            .members = static_cast<Rank>(event.note.clock)};
  answer_ = Answer::kSum;
  return absl::OkStatus();
}

absl::Status LastSum::On(const Lost& event, Host& host) {
  if (!given_up_) return CheckForeseen(event);
  RETURN_IF_ERROR(CheckPosted(event.from, event.tag));
  host.Drop(std::exchange(posted_, Vec{}));
  return absl::OkStatus();
}

bool LastSum::On(const Left& event) const {
  return std::ranges::find(sends_, event.id, &OnItsWay::id) != sends_.end();
}

bool LastSum::On(const Sent& event, Host& host) {
  const auto sent = std::ranges::find(sends_, event.id, &OnItsWay::id);
  if (sent == sends_.end()) return false;
  const Waiting message = sent->message;
  sends_.erase(sent);
  if (given_up_) return true;
  if (message.tag.step == kSum) {
    host.Decline(message.peer, TagOf(kQuestion, message.tag.index));
  } else if (asks() && !posted_) {
    AskNext(host);
  }
  return true;
}

void LastSum::GiveUp(Host& host) {
  given_up_ = true;
  if (posted_) host.Withdraw(asked(), TagOf(kSum, round_));
}

void LastSum::Close(Host& host) {
  if (given_.vector) host.Drop(std::exchange(given_, {}).vector);
}

std::vector<Waiting> LastSum::waiting_for() const {
  std::vector<Waiting> waiting;
  if (posted_) waiting.push_back({asked(), TagOf(kSum, round_)});
  for (const OnItsWay& sent : sends_) waiting.push_back(sent.message);
  return waiting;
}

}  // namespace grapevine

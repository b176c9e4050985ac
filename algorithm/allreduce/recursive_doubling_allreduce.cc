// Recursive doubling (Thakur, Rabenseifner and Gropp 2005): ranks 1, 2, 4, ... apart exchange whole
// sums, and each rank adds what it receives. No way back is needed, so that for n = 2^k the sum
// takes log2 n (alpha + M beta), the fewest latencies of all kinds.
//
// For other n, let 2^k be the largest power of two below n. The ranks from 2^k on first add their
// vectors to those of the ranks 2^k below them, and get the sum back at the end: two levels more.
// For n = 2, a sum in place takes one latency more, in which a rank learns that its vector has
// arrived and may be replaced (Collective::later_in_place).
#include <bit>
#include <string>

#include "algorithm/allreduce/allreduce_kind.h"

namespace grapevine {
namespace {

class RecursiveDoublingAllreduce final : public AllreduceSchedule {
 public:
  RecursiveDoublingAllreduce(Rank rank, Rank size)
      : rank_(rank),
        size_(size),
        doubled_(static_cast<Rank>(std::bit_floor(static_cast<unsigned>(size)))) {}

  std::string name() const override { return "allreduce:recursive-doubling"; }
  int reduce_levels() const override { return doubled_ < size_ ? 1 : 0; }
  AllreduceStep ReduceStep(int, int64_t elements) const override {
    if (rank_ >= doubled_) return {.to = rank_ - doubled_, .sent = {ElementRange{0, elements}}};
    if (rank_ + doubled_ >= size_) return {};
    return {.from = rank_ + doubled_, .received = {ElementRange{0, elements}}};
  }
  int exchange_levels() const override { return std::countr_zero(static_cast<unsigned>(doubled_)); }
  Rank Partner(int level) const override {
    return rank_ < doubled_ ? rank_ ^ (Rank{1} << level) : kNobody;
  }

 private:
  const Rank rank_;
  const Rank size_;
  const Rank doubled_;  // the ranks that exchange: 2^k
};

const Registration kRecursiveDoublingAllreduce(
    Allreduces(),
    {.name = "recursive-doubling",
     .help = "whole vectors between ranks 1, 2, 4, ... apart: the fewest latencies, many bytes",
     .read = ReadPlainAllreduce<RecursiveDoublingAllreduce>});

}  // namespace
}  // namespace grapevine

// A kind of allreduce, the KIND of `allreduce:KIND`. It consists of a schedule, which says which
// rank sends what to which, and of a registration, which gives the kind's notation and reads its
// options.
//
// Each kind registers itself in the file of its schedule. Your own kind does so too:
// docs/extending.md.
//
// Thread-safety: schedules are immutable; kinds are immutable once registered. The functions are
// pure and safe from any thread.
#ifndef GRAPEVINE_ALGORITHM_ALLREDUCE_ALLREDUCE_KIND_H_
#define GRAPEVINE_ALGORITHM_ALLREDUCE_ALLREDUCE_KIND_H_

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/ids.h"
#include "base/registry.h"
#include "base/spec.h"

namespace grapevine {

inline constexpr Rank kNobody = -1;

// Ranks that take part in a phase together, such as all ranks, a row, a column or the leaders:
// first, first + stride, ..., `count` ranks in all. A value.
struct RankGroup {
  Rank first = 0;
  Rank stride = 1;
  Rank count = 1;

  // Returns the rank at a position 0 .. count-1.
  Rank At(Rank position) const { return first + stride * position; }
  // Returns the rank at a position modulo `count`.
  Rank Around(int64_t position) const {
    return At(static_cast<Rank>((position % count + count) % count));
  }
  // Returns the position of a rank that belongs to the group.
  Rank PositionOf(Rank rank) const { return (rank - first) / stride; }
};

// Elements [begin, end) of the vector that is summed.
struct ElementRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

// Returns piece `index` of `range` in `count` pieces whose sizes differ by at most one. Some pieces
// are empty if there are more pieces than elements.
inline ElementRange Piece(const ElementRange& range, Rank index, Rank count) {
  return {range.begin + range.size() * index / count,
          range.begin + range.size() * (index + 1) / count};
}

// What one rank does in one level: it sends and receives at the same time. Pieces on a circle may
// wrap around, hence two ranges. An empty range is no message.
struct AllreduceStep {
  using Ranges = std::array<ElementRange, 2>;

  Rank to = kNobody;
  Rank from = kNobody;
  Ranges sent{};
  Ranges received{};
};

// Says which rank sends what to which in an allreduce. A pure function, without messages.
//
// Every allreduce here has the same shape. In the first half, partial sums travel until each
// element's sum is complete at one rank: one addition per level, in a fixed order, so that all
// ranks end with the same bits. In the second half, the sums travel to all ranks from which partial
// sums came. In most kinds the second half mirrors the first, over the same edges in the opposite
// direction and order, and needs no description; around a ring the sums go on in the same
// direction.
//
// Between the halves, pairs of ranks may exchange whole vectors in some levels. After these levels
// the sum is complete at all ranks that have not given their vectors away. Both ranks of a pair add
// the same two sums, and addition commutes, so they also end with the same bits.
//
// A level is what happens at the same time when all ranks are equally fast. All ranks count the
// same levels, so that a level names a message; a rank may be idle in a level.
class AllreduceSchedule {
 public:
  virtual ~AllreduceSchedule() = default;

  // Returns the name for error messages, such as "allreduce:ring".
  virtual std::string name() const = 0;
  // Number of levels of the first half; equal on all ranks.
  virtual int reduce_levels() const = 0;
  // Returns this rank's step in `level` of the first half of a sum of vectors of `elements`. What
  // the rank receives is added to its own vector. It neither adds to what it has sent nor sends it
  // again in this half. The step's `to` and `from` do not depend on `elements`.
  virtual AllreduceStep ReduceStep(int level, int64_t elements) const = 0;

  // Returns this rank's step in `level` of the second half, which has as many levels as the first.
  // The rank receives, exactly once, each sum of which it has sent a part. In the mirror of the
  // first half, it receives first what it has sent last.
  virtual AllreduceStep ReturnStep(int level, int64_t elements) const {
    const AllreduceStep step = ReduceStep(SentIn(level), elements);
    return {.to = step.from, .from = step.to, .sent = step.received, .received = step.sent};
  }
  // Returns the level of the first half in which this rank has sent a part of what it receives in
  // `level` of the second half. The earlier that level, the earlier the rank can say that it is
  // ready to receive.
  virtual int SentIn(int level) const { return reduce_levels() - 1 - level; }

  // Number of levels of exchanges between the halves; equal on all ranks.
  virtual int exchange_levels() const { return 0; }
  // Returns the rank with which this rank exchanges whole vectors in exchange level `level`. The
  // partners of different levels differ. A rank that has given its vector away has kNobody in all
  // levels.
  virtual Rank Partner(int) const { return kNobody; }

  int levels() const { return 2 * reduce_levels() + exchange_levels(); }
  bool Reduces(int level) const { return level < reduce_levels(); }
  bool Exchanges(int level) const { return !Reduces(level) && level < first_levels(); }
  // Number of levels before the second half.
  int first_levels() const { return reduce_levels() + exchange_levels(); }
  // Returns this rank's step in any level.
  AllreduceStep Step(int level, int64_t elements) const {
    if (Reduces(level)) return ReduceStep(level, elements);
    if (Exchanges(level)) {
      const Rank partner = Partner(level - reduce_levels());
      if (partner == kNobody) return {};
      const AllreduceStep::Ranges whole = {ElementRange{0, elements}};
      return {.to = partner, .from = partner, .sent = whole, .received = whole};
    }
    return ReturnStep(level - first_levels(), elements);
  }
};

// Schedules of the equal parts of a vector, which are summed side by side. The parts are listed
// from the vector's end to its beginning. Most kinds have one part.
using AllreduceSchedules = std::vector<std::unique_ptr<const AllreduceSchedule>>;

// Makes the schedules of a rank; called once for each concurrent sum.
using AllreduceFactory = std::function<AllreduceSchedules(Rank)>;

template <typename Schedule, typename... Arguments>
AllreduceSchedules OneSchedule(Arguments&&... arguments) {
  AllreduceSchedules schedules;
  schedules.push_back(std::make_unique<Schedule>(std::forward<Arguments>(arguments)...));
  return schedules;
}

struct AllreduceKind {
  std::string name;     // "torus"
  std::string options;  // "[:4x8]"
  std::string help;     // one line
  // Reads what follows "allreduce:KIND" for `size` ranks. Errors are SpecErrors, and name the
  // nearest value that works. The caller finishes the reader.
  std::function<absl::StatusOr<AllreduceFactory>(const Spec&, SpecReader&, Rank size)> read;
};

// The `read` of a kind without options, whose schedule is constructed from (rank, size).
template <typename Schedule>
absl::StatusOr<AllreduceFactory> ReadPlainAllreduce(const Spec&, SpecReader&, Rank size) {
  return [size](Rank rank) { return OneSchedule<Schedule>(rank, size); };
}

// All kinds of allreduce of this program.
Registry<AllreduceKind>& Allreduces();

inline constexpr std::string_view kDefaultAllreduce = "ring";

// Returns how many messages all `size` ranks together send for one sum of more elements than ranks.
// The result is an estimate for more than some hundreds of ranks.
double MessagesOfASum(const AllreduceFactory& make, Rank size);

// Reads the kind from the next argument of "allreduce:KIND", and then the kind's own options. The
// caller finishes the reader. Errors are UnknownNameErrors, or those of the kind.
absl::StatusOr<AllreduceFactory> ReadAllreduce(const Spec& spec, SpecReader& reader, Rank size);

// Whether any number of ranks can make the sum that "allreduce:KIND" names, so that the ranks that
// are left of a run can. False for a grid of given sides, for example, and for a kind that this
// program does not know.
bool FitsAnySize(const Spec& spec);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_ALLREDUCE_KIND_H_

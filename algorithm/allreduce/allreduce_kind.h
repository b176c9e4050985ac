// A kind of allreduce, the KIND of `allreduce:KIND`: its schedule, which says who sends what to
// whom, and its registration, with its notation and the reading of its options.
//
// Each registers itself in the file of its schedule, as your own does: docs/extending.md.
//
// Thread-safety: a schedule is immutable, a kind once registered; functions are pure, safe from any
// thread.
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

// Ranks that take part in a phase together: all, a row, a column, the leaders. first, first +
// stride, ..., `count` of them. A value.
struct RankGroup {
  Rank first = 0;
  Rank stride = 1;
  Rank count = 1;

  // The rank at a position 0 .. count-1.
  Rank At(Rank position) const { return first + stride * position; }
  // The same, with positions modulo `count`.
  Rank Around(int64_t position) const {
    return At(static_cast<Rank>((position % count + count) % count));
  }
  // The position of a rank that belongs to the group.
  Rank PositionOf(Rank rank) const { return (rank - first) / stride; }
};

// Elements [begin, end) of the vector that is summed.
struct ElementRange {
  int64_t begin = 0;
  int64_t end = 0;

  int64_t size() const { return end - begin; }
  friend bool operator==(const ElementRange&, const ElementRange&) = default;
};

// Piece `index` of `range` in `count` pieces whose sizes differ by one at most.
// Some are empty where there are more pieces than elements.
inline ElementRange Piece(const ElementRange& range, Rank index, Rank count) {
  return {range.begin + range.size() * index / count,
          range.begin + range.size() * (index + 1) / count};
}

// What one rank does in one level: sends, and at the same time receives. Pieces on a circle may
// wrap around, hence two ranges. An empty range is no message.
struct AllreduceStep {
  using Ranges = std::array<ElementRange, 2>;

  Rank to = kNobody;
  Rank from = kNobody;
  Ranges sent{};
  Ranges received{};
};

// Who sends what to whom in an allreduce: a pure function, without messages.
//
// Every allreduce here has the same shape. In its first half partial sums travel until each
// element's sum is complete at one rank: one addition a level, in a fixed order, so that all
// ranks end with the same bits. In its second half sums come to all from which partial sums came:
// in most kinds it mirrors the first, over the same edges in the opposite direction and order, and
// needs no description; around a ring they go on in the same direction.
//
// Between the halves there may be levels in which pairs exchange whole vectors, after which the sum
// is complete at all ranks that have not given theirs away. Both of a pair add the same two sums,
// and addition commutes: they, too, end with the same bits.
//
// A level is what happens at the same time when all ranks are equally fast. All ranks count the
// same levels, so that a level names a message; a rank may be idle in one.
class AllreduceSchedule {
 public:
  virtual ~AllreduceSchedule() = default;

  // "allreduce:ring", for error messages.
  virtual std::string name() const = 0;
  // Levels of the first half; the same on all ranks.
  virtual int reduce_levels() const = 0;
  // This rank's step in `level` of the first half of a sum of vectors of `elements`. What it
  // receives is added to its own; what it has sent, it neither adds to nor sends again in this
  // half. The ranks do not depend on `elements`.
  virtual AllreduceStep ReduceStep(int level, int64_t elements) const = 0;

  // This rank's step in `level` of the second half, which has as many levels as the first: it
  // receives each sum once of which it has sent a part. In the mirror of the first half, what it
  // has sent last it receives first.
  virtual AllreduceStep ReturnStep(int level, int64_t elements) const {
    const AllreduceStep step = ReduceStep(SentIn(level), elements);
    return {.to = step.from, .from = step.to, .sent = step.received, .received = step.sent};
  }
  // The level of the first half in which this rank has sent a part of what it receives in `level`
  // of the second one. The earlier it was, the earlier it can say that it is ready to receive.
  virtual int SentIn(int level) const { return reduce_levels() - 1 - level; }

  // Levels of exchanges between the halves; the same on all ranks.
  virtual int exchange_levels() const { return 0; }
  // With whom this rank exchanges whole vectors in `level` of them; kNobody if it has given its own
  // away, in all levels. A rank exchanges with another one in each.
  virtual Rank Partner(int) const { return kNobody; }

  int levels() const { return 2 * reduce_levels() + exchange_levels(); }
  bool Reduces(int level) const { return level < reduce_levels(); }
  bool Exchanges(int level) const { return !Reduces(level) && level < first_levels(); }
  // Levels before the second half.
  int first_levels() const { return reduce_levels() + exchange_levels(); }
  // This rank's step in any level.
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

// Schedules of parts of a vector that are summed side by side: equal ones, from its end to its
// beginning. Most kinds have one.
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

// `read` of a kind without options, whose schedule is made of (rank, size).
template <typename Schedule>
absl::StatusOr<AllreduceFactory> ReadPlainAllreduce(const Spec&, SpecReader&, Rank size) {
  return [size](Rank rank) { return OneSchedule<Schedule>(rank, size); };
}

// All kinds of allreduce of this program.
Registry<AllreduceKind>& Allreduces();

inline constexpr std::string_view kDefaultAllreduce = "ring";

// How many messages all of `size` ranks send for one sum of more elements than ranks; an estimate
// for more than some hundreds of ranks.
double MessagesOfASum(const AllreduceFactory& make, Rank size);

// Reads the kind from the next argument of "allreduce:KIND", and the kind's own options. The
// caller finishes the reader. UnknownNameError, or the kind's errors.
absl::StatusOr<AllreduceFactory> ReadAllreduce(const Spec& spec, SpecReader& reader, Rank size);

// Whether as many ranks as are left of a run can make the sum that "allreduce:KIND" names, however
// many: not in a grid of given sides, say. False for a kind that this program does not know.
bool FitsAnySize(const Spec& spec);

}  // namespace grapevine

#endif  // GRAPEVINE_ALGORITHM_ALLREDUCE_ALLREDUCE_KIND_H_
